import Credentials
import HTTPWire
import EventLoop
import Tracing

extension RecordHub {
  /// Writes a call of an authorization server into the log, as a record of event `oauth` (design §6).
  func append(_ event: OAuthEvent) {
    let method = Array(event.method.utf8)
    let path = Array(((try? HTTPURL(parsing: event.url))?.path ?? "/").utf8)  // the URL is one of ours
    method.withUnsafeBytes { method in
      path.withUnsafeBytes { path in
        var record = RequestRecord(id: nextID(), wallNanoseconds: SystemTime().wallNanoseconds, event: .oauth)
        record.subject = RecordSubject(credential: LogLabel(event.credential), upstream: LogLabel(url: event.url))
        record.method = method
        record.target = path
        record.status = event.status.flatMap(UInt16.init(exactly:))
        record.source = event.status == nil ? .gateway : .upstream
        record.durationNanoseconds = UInt64(max(0, event.durationNanoseconds))
        record.attempts = UInt8(clamping: event.attempts)
        record.error = event.errorCode.map { LogLabel($0) }
        append(record)
      }
    }
  }

  /// Writes why a credential can't serve into the log, as a record of event `credential`.
  func append(_ trouble: CredentialTrouble) {
    appendNotice(
      event: "credential",
      [
        ("credential", trouble.credential), ("error", trouble.code), ("detail", trouble.detail), ("next", trouble.next),
      ])
  }
}
