package import EventLoop

/// The server's side of a TLS connection, on the test's thread like `Peer`.
package final class TLSPeer {
  package let peer: Peer
  private let session: TLSSession
  private var isOpen = false
  package private(set) var received: [UInt8] = []
  /// How many bytes each record brought.
  package private(set) var recordSizes: [Int] = []
  /// What ended the connection: close_notify is `.end`.
  package private(set) var ending: IOResult?
  /// Why there will be no connection.
  package private(set) var refusal: SocketFailure?

  package init(_ peer: Peer, _ context: TLSContext) {
    self.peer = peer
    session = TLSSession(server: context)
    session.attach(peer.descriptor)
  }

  /// Does what can be done now. - Returns: whether the handshake is over.
  @discardableResult
  package func pump() -> Bool {
    if !isOpen, refusal == nil {
      switch session.handshake() {
      case .done: isOpen = true
      case .failed(let failure): refusal = failure
      case .wantsRead, .wantsWrite: break
      }
    }
    guard isOpen else { return refusal != nil }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while ending == nil {
      switch buffer.withUnsafeMutableBytes({ session.read(into: $0) }) {
      case .moved(let count):
        received += buffer[..<count]
        recordSizes.append(count)
      case .wouldBlock: return true
      case let other: ending = other
      }
    }
    return true
  }

  package var text: String {
    pump()
    return String(decoding: received, as: UTF8.self)
  }

  /// One TLS record for each 16 KiB, as long as the kernel takes them. - Returns: how many bytes went.
  @discardableResult
  package func send(_ bytes: some Collection<UInt8>) -> Int {
    let bytes = Array(bytes)
    var sent = 0
    while sent < bytes.count {
      let result = bytes.withUnsafeBytes { session.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
      guard case .moved(let count) = result else { break }
      sent += count
    }
    return sent
  }

  @discardableResult
  package func send(_ text: String) -> Int { send(text.utf8) }

  /// Sends close_notify; the socket stays open.
  package func sendCloseNotify() { session.shutdown() }

  /// Whether the client took up an earlier session.
  package var isResumed: Bool { session.isResumed }

  package func forgetReceived() { received = [] }
}
