import CLinux
import Glibc
import Locking

/// Turns host names into addresses on threads of its own, since getaddrinfo blocks.
package final class Resolver: Sendable {
  package enum Failure: Error, Sendable, Equatable {
    /// getaddrinfo's own words, or the system's.
    case notFound(String)
    /// More than `queuedMax` names wait.
    case overloaded
  }
  package typealias Completion = @Sendable (Result<[SocketAddress], Failure>) -> Void

  /// Names waiting for a thread.
  package static let queuedMax = 1024
  private static let threadCount = 2

  private struct Job: Sendable {
    let host: String
    let port: UInt16
    let mailbox: LoopMailbox
    let completion: Completion
  }

  private final class Queue: Sendable {
    private let jobs = Protected<[Job]>([])
    private let available = Semaphore()

    func push(_ job: Job) -> Bool {
      let fits = jobs.withLock { jobs in
        guard jobs.count < Resolver.queuedMax else { return false }
        jobs.append(job)
        return true
      }
      if fits { available.signal() }
      return fits
    }

    func pop() -> Job? {
      available.wait()
      return jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    /// Makes one waiting thread find nothing and end.
    func close() { available.signal() }
  }

  private let queue = Queue()

  package init() {
    for index in 0..<Self.threadCount {
      let queue = queue
      // Never joined: a name server that hangs must not hold up the end of the process.
      _ = NamedThread(name: "resolver-\(index)") {
        while let job = queue.pop() {
          let result = Self.lookUp(job.host, job.port)
          job.mailbox.post { job.completion(result) }
        }
      }
    }
  }

  deinit { for _ in 0..<Self.threadCount { queue.close() } }

  /// Names that always mean this machine, whatever a name server says (RFC 6761 §6.3). `getaddrinfo` may not know
  /// those below `localhost`, and leaves `::1` out on a machine without another IPv6 address.
  private static func isLocal(_ host: String) -> Bool {
    let name = host.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost")
  }

  /// Looks `host` up and calls `completion` on the loop of `mailbox` with at least one address, in the order to try.
  package func resolve(host: String, port: UInt16, on mailbox: LoopMailbox, completion: @escaping Completion) {
    let job = Job(host: host, port: port, mailbox: mailbox, completion: completion)
    if !queue.push(job) { mailbox.post { completion(.failure(.overloaded)) } }
  }

  private static func lookUp(_ host: String, _ port: UInt16) -> Result<[SocketAddress], Failure> {
    if isLocal(host) {
      return .success(["::1", "127.0.0.1"].compactMap { SocketAddress(numericHost: $0, port: port) })
    }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let failure = getaddrinfo(host, String(port), &hints, &list)
    if failure == EAI_SYSTEM { return .failure(.notFound(String(cString: strerror(errno)))) }
    guard failure == 0 else { return .failure(.notFound(String(cString: gai_strerror(failure)))) }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var entry = list
    while let info = entry?.pointee {
      if let address = info.ai_addr { addresses.append(SocketAddress(copying: address, byteCount: info.ai_addrlen)) }
      entry = info.ai_next
    }
    return addresses.isEmpty ? .failure(.notFound("no address")) : .success(addresses)
  }
}
