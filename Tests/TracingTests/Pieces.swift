import EventLoop
import Glibc
import HTTPWire

@testable import Tracing

/// 2026-11-30T06:14:12.345Z
let someTime: Int64 = 1_796_019_252_345_678_901

/// A record as a test wants it, from strings.
struct RecordDraft {
  var id = RequestID(value: 0x0123_4567_89AB_CDE)
  var event = RequestRecord.Event.request
  var method: [UInt8]? = Array("GET".utf8)
  var target: [UInt8]? = Array("/orders".utf8)
  var fill: (inout RequestRecord) -> Void = { _ in }

  init(target: String? = "/orders", fill: @escaping (inout RequestRecord) -> Void = { _ in }) {
    self.target = target.map { Array($0.utf8) }
    self.fill = fill
  }

  /// Lends the record while its bytes live.
  func withRecord(_ body: (borrowing RequestRecord) -> Void) {
    (method ?? []).withUnsafeBytes { methodBytes in
      (target ?? []).withUnsafeBytes { targetBytes in
        var record = RequestRecord(id: id, wallNanoseconds: someTime, event: event)
        record.method = method == nil ? nil : methodBytes
        record.target = target == nil ? nil : targetBytes
        fill(&record)
        body(record)
      }
    }
  }

  /// The line that the encoder makes of it.
  func line(heldSecrets: HeldSecrets = HeldSecrets()) -> String {
    var out = ByteBuffer()
    var encoder = RecordEncoder(heldSecrets: heldSecrets)
    withRecord { encoder.append($0, to: &out) }
    return String(decoding: out.copy(), as: UTF8.self)
  }
}

/// A target as the log shows it.
func redacted(_ target: String, _ heldSecrets: HeldSecrets = HeldSecrets()) -> String {
  redacted(Array(target.utf8), heldSecrets)
}

func redacted(_ target: [UInt8], _ heldSecrets: HeldSecrets = HeldSecrets()) -> String {
  target.withUnsafeBytes { bytes in
    TargetRedactor(heldSecrets: heldSecrets).withRedacted(bytes) { String(decoding: $0, as: UTF8.self) }
  }
}

extension String {
  var lines: [String] { split(separator: "\n").map(String.init) }
}
