package import HTTPWire

/// A request head as it arrived: every value in the sender's spelling and order.
package struct ReceivedHead: Sendable {
  package let method: String
  package let target: String
  package let minorVersion: UInt8
  package let fields: [HTTPField]
  package let framing: BodyFraming
  package let isPersistent: Bool
  package let expectsContinue: Bool

  /// The target's part before `?`, undecoded.
  package var path: String { String(target.prefix { $0 != "?" }) }

  /// The target's part after `?`, undecoded.
  package var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }

  /// Decoded query parameters in order; none if the query is no form.
  package var parameters: [(name: String, value: String)] {
    query.flatMap { FormURLEncoded.decode(Array($0.utf8)) }?.map { (name: $0.0, value: $0.1) } ?? []
  }

  package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// The values of all fields of that name, whatever their case. RFC 9110 §5.2
  package func values(of name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name }.map(\.value)
  }
}

extension ReceivedHead {
  /// Parses exactly one head.
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ limits: HeadLimits, _ fields: FieldTable
  ) -> Result<ReceivedHead, HeadViolation> {
    RequestHead.parse(bytes, limits: limits, fields: fields).map { head in
      ReceivedHead(
        method: text(bytes[head.method]), target: text(bytes[head.target]), minorVersion: head.minorVersion,
        fields: (0..<fields.count).map {
          HTTPField(name: text(bytes[fields[$0].name]), value: text(bytes[fields[$0].value]))
        }, framing: head.framing, isPersistent: head.persistent, expectsContinue: head.expectsContinue)
    }
  }

  /// UTF-8, or else each byte as the character of that number, so that no byte is lost.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

/// A request body after all of it was read.
package struct ReceivedBody: Sendable {
  /// How much of a body is kept to be looked at; all of it is hashed.
  package static let keptBytesMax = 65_536

  package var byteCount: UInt64 = 0
  /// The first ``keptBytesMax`` bytes.
  package var kept: [UInt8] = []
  /// SHA-256 of all of it.
  package var digest: [UInt8] = []
  /// The lines behind a chunked body, as they came.
  package var trailers: [UInt8] = []

  package var isComplete: Bool { UInt64(kept.count) == byteCount }
}
