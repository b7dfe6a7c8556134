import EventLoop
import LoopbackPeers

/// The owner of a socket: notes what it hears and reads what comes.
final class SocketRecorder: StreamSocketDelegate {
  var socket: StreamSocket?
  var connected = 0
  var writable = 0
  var failures: [SocketFailure] = []
  var received: [UInt8] = []
  var ending: IOResult?
  /// How much one `socketReadable` takes in one read.
  var readBytes = 65_536
  var reads = 0
  var onReadable: (StreamSocket) -> Void = { _ in }
  var onConnected: (StreamSocket) -> Void = { _ in }

  deinit { socket?.close() }

  func socketConnected(_ socket: StreamSocket) {
    connected += 1
    onConnected(socket)
  }

  func socketReadable(_ socket: StreamSocket) {
    reads += 1
    var buffer = [UInt8](repeating: 0, count: readBytes)
    let result = buffer.withUnsafeMutableBytes { socket.receive(into: $0) }
    switch result {
    case .moved(let count): received += buffer[..<count]
    case .wouldBlock: break
    case .end, .failed:
      ending = result
      socket.close()
    }
    onReadable(socket)
    socket.announcePendingInput()
  }

  func socketWritable(_ socket: StreamSocket) { writable += 1 }
  func socketFailed(_ socket: StreamSocket, _ failure: SocketFailure) { failures.append(failure) }

  var text: String { String(decoding: received, as: UTF8.self) }
}

extension StreamSocket {
  func send(_ text: String) -> IOResult { Array(text.utf8).withUnsafeBytes { send($0) } }
}
