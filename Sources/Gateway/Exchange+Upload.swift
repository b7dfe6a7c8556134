import HTTPTransport

/// The part of a request's body that is read before anybody takes it: counted, and bounded.
extension Exchange {
  /// The loop's uploads share what may be read ahead of upstreams that take nothing.
  func countUpload() {
    isUpload = true
    gateway.scratch.uploads += 1
  }

  func forgetUpload() {
    isUpload = false
    gateway.scratch.uploads -= 1
  }

  /// Leaves a body that is not passed on yet with its client when there is no more room to keep it.
  func holdUpload() {
    if !body.isComplete, !body.reserve(gateway.scratch.bodyReadBytes, within: gateway.budget) { client?.pauseBody() }
  }
}
