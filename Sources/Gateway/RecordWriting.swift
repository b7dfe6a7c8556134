import Credentials
import EventLoop
import HTTPWire
import Tracing

extension GatewayLoop {
  /// Writes the one record of an exchange (design §6).
  func record(_ exchange: Exchange) {
    let trace = exchange.trace
    let now = SystemTime.monotonicNanoseconds
    exchange.template.withMethod { method in
      exchange.template.withLocalTarget { target in
        var record = RequestRecord(id: log.nextID(), wallNanoseconds: wallNanoseconds(at: now))
        record.subject = exchange.route?.subject
        record.caller = callerLabel(exchange.callerUID)
        if !method.isEmpty { record.method = method }
        if !target.isEmpty { record.target = target }
        record.status = trace.clientLeft ? 499 : trace.status
        record.source = trace.error == nil && !trace.clientLeft ? .upstream : .gateway
        record.durationNanoseconds = now &- trace.startMonotonic
        if trace.firstSentMonotonic > 0 {
          record.upstreamNanoseconds = (exchange.client?.undeliveredSince ?? now) &- trace.firstSentMonotonic
        }
        record.requestBytes = trace.requestBytes
        record.responseBytes = trace.responseBytes
        record.attempts = UInt8(clamping: trace.attempts)
        record.auth = trace.auth
        if trace.attempts > 0 { record.reused = trace.reused }
        if let error = trace.error { record.error = Self.errorLabels[error] }
        log.append(record)
      }
    }
  }

  private static let errorLabels: [OwnAnswer: LogLabel] = Dictionary(
    uniqueKeysWithValues: OwnAnswer.allCases.map { ($0, LogLabel($0.rawValue)) })

  /// `uid:1000`; nearly always the same one.
  private func callerLabel(_ uid: UInt32?) -> LogLabel? {
    guard let uid else { return nil }
    if let known = lastCaller, known.uid == uid { return known.label }
    let label = LogLabel("uid:\(uid)")
    lastCaller = (uid, label)
    return label
  }
}
