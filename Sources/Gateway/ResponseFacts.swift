import HTTPWire
import OAuth

/// Reads from a response what the DPoP and token rules need to know.
enum ResponseFacts {
  /// The `DPoP-Nonce`; nil when there is none or more than one, which is malformed (RFC 9449 §8.1).
  static func nonce(_ bytes: UnsafeRawBufferPointer, _ fields: FieldTable) -> UnsafeRawBufferPointer? {
    guard let first = fields.firstIndex(of: .dpopNonce), fields.firstIndex(of: .dpopNonce, from: first + 1) == nil
    else { return nil }
    return bytes[fields[first].value]
  }

  /// What all `WWW-Authenticate` fields together say (RFC 9110 §11.6.1).
  static func challenge(
    _ bytes: UnsafeRawBufferPointer, _ fields: FieldTable, proofWasSent: Bool
  ) -> ChallengeVerdict {
    var values: [String] = []
    for index in 0..<fields.count where fields[index].id == .wwwAuthenticate {
      values.append(String(decoding: bytes[fields[index].value], as: UTF8.self))
    }
    return ChallengeClassifier.verdict(fieldValues: values, proofWasSent: proofWasSent)
  }

  /// The `Date` of a response that does not come from a cache (RFC 9111 §5.1).
  static func dateUnixSeconds(
    _ bytes: UnsafeRawBufferPointer, _ fields: FieldTable, nowUnixSeconds: Int64
  ) -> Int64? {
    guard let index = fields.firstIndex(of: .date) else { return nil }
    for index in 0..<fields.count
    where fields[index].id == .other && bytes[fields[index].name].bytes(equalCaseInsensitively: "age") { return nil }
    return HTTPDate.parse(
      String(decoding: bytes[fields[index].value], as: UTF8.self), nowUnixSeconds: nowUnixSeconds)
  }

  /// `application/json` or any `+json` type.
  static func isJSON(_ bytes: UnsafeRawBufferPointer, _ fields: FieldTable) -> Bool {
    guard let index = fields.firstIndex(of: .contentType), fields.firstIndex(of: .contentEncoding) == nil else {
      return false
    }
    let type = ASCII.lowercased(String(decoding: bytes[fields[index].value], as: UTF8.self))
    let essence = type.prefix { $0 != ";" && $0 != " " }
    return essence == "application/json" || essence.hasSuffix("+json")
  }
}
