import EventLoop
import HTTPWire
import OAuth
import Tracing

/// What is noted of a request before anything is decided about it.
extension Exchange {
  /// Forgets the request before, and notes of this one what later steps and its record need.
  func begin(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer, _ fields: FieldTable) {
    trace = ExchangeTrace(startMonotonic: SystemTime.monotonicNanoseconds)
    route = nil
    token = nil
    machine = ReplayMachine()
    resentAfterClose = false
    uploadAbandoned = false
    responseStarted = false
    hasWaited = false
    isOpen = true
    methodIsHEAD = head.knownMethod == .head
    methodIsIdempotent = head.knownMethod.isIdempotent
    clientPersistent = head.persistent
    clientMinorVersion = head.minorVersion
    clientExpectsContinue = head.expectsContinue
    clientNavigates = Self.isNavigation(bytes, fields)
    template.note(method: bytes[head.method], target: bytes[head.target], pool: gateway.scratch.blocks)
    body.begin(head.framing, limitBytes: 0)
  }

  static let neverForwarded = "CONNECT, TRACE and TRACK are never forwarded."

  static func isNeverForwarded(_ method: UnsafeRawBufferPointer) -> Bool {
    method.bytes(equalCaseInsensitively: "CONNECT") || method.bytes(equalCaseInsensitively: "TRACE")
      || method.bytes(equalCaseInsensitively: "TRACK")
  }

  private static func isNavigation(_ bytes: UnsafeRawBufferPointer, _ fields: FieldTable) -> Bool {
    guard let mode = fields.firstIndex(of: .secFetchMode) else { return false }
    return bytes[fields[mode].value].bytes(equal: "navigate")
  }
}
