import CLinux
import Glibc

/// An IPv4, IPv6 or UNIX-domain address.
package struct SocketAddress: @unchecked Sendable, Hashable, CustomStringConvertible {  // plain bytes, never changed
  fileprivate var storage = sockaddr_storage()
  fileprivate var byteCount: socklen_t = 0

  /// The longest path a UNIX-domain socket can have, in bytes.
  package static let unixPathBytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  private init() {}

  /// A numeric address such as `127.0.0.1` or `::1`; nil for a name.
  package init?(numericHost host: String, port: UInt16) {
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, host, &v4) == 1 {
      self.init(
        bytesOf: sockaddr_in(
          sin_family: sa_family_t(AF_INET), sin_port: port.bigEndian, sin_addr: v4, sin_zero: (0, 0, 0, 0, 0, 0, 0, 0)))
    } else if inet_pton(AF_INET6, host, &v6) == 1 {
      self.init(
        bytesOf: sockaddr_in6(
          sin6_family: sa_family_t(AF_INET6), sin6_port: port.bigEndian, sin6_flowinfo: 0, sin6_addr: v6,
          sin6_scope_id: 0))
    } else {
      return nil
    }
  }

  /// - Returns: nil when `path` is longer than `unixPathBytesMax` or empty.
  package init?(unixPath path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.unixPathBytesMax, !bytes.contains(0) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    self.init(bytesOf: address)
    // As the kernel reports it, so that equal addresses are equal: the family, the path and its NUL.
    byteCount = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + 1)
  }

  private init<Address>(bytesOf address: Address) {
    withUnsafeBytes(of: address) { source in
      withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: source) }
    }
    byteCount = socklen_t(MemoryLayout<Address>.size)
  }

  /// Copies an address the system filled in.
  init(copying address: UnsafePointer<sockaddr>, byteCount: socklen_t) {
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: min(Int(byteCount), $0.count)))
    }
    self.byteCount = min(byteCount, socklen_t(MemoryLayout<sockaddr_storage>.size))
  }

  /// The local (`getsockname`) or remote (`getpeername`) address of a socket.
  package static func local(of descriptor: Int32) -> SocketAddress? { read(descriptor, getsockname) }
  package static func peer(of descriptor: Int32) -> SocketAddress? { read(descriptor, getpeername) }

  private static func read(
    _ descriptor: Int32, _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> SocketAddress? {
    var address = SocketAddress()
    address.byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutableBytes(of: &address.storage) { bytes -> Int32 in
      guard let base = bytes.baseAddress else { return -1 }
      return call(descriptor, base.assumingMemoryBound(to: sockaddr.self), &address.byteCount)
    }
    return result == 0 ? address : nil
  }

  package var family: Int32 { Int32(storage.ss_family) }
  package var isUnix: Bool { family == AF_UNIX }

  /// The port in host order; nil for UNIX-domain addresses.
  package var port: UInt16? {
    get {
      guard family == AF_INET || family == AF_INET6 else { return nil }
      return withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }
  }

  /// The address bytes in network order: 4 or 16 of them, none for UNIX-domain addresses.
  package var hostBytes: [UInt8] {
    withUnsafeBytes(of: storage) { bytes in
      switch family {
      case AF_INET: Array(bytes[4..<8])
      case AF_INET6: Array(bytes[8..<24])
      default: []
      }
    }
  }

  /// 127.0.0.0/8, ::1, the IPv4-mapped forms of 127.0.0.0/8, and UNIX-domain sockets.
  package var isLoopback: Bool {
    if isUnix { return true }
    let host = hostBytes
    if host.count == 4 { return host[0] == 127 }
    let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    if host.starts(with: mapped) { return host[12] == 127 }
    return host.dropLast().allSatisfy { $0 == 0 } && host.last == 1
  }

  /// `127.0.0.1:80`, `[::1]:80` or `unix:/path`.
  package var description: String {
    switch family {
    case AF_INET, AF_INET6:
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      let host = hostBytes
      inet_ntop(family, host, &text, socklen_t(text.count))
      let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      return family == AF_INET6 ? "[\(name)]:\(port ?? 0)" : "\(name):\(port ?? 0)"
    case AF_UNIX:
      let path = withUnsafeBytes(of: storage) { Array($0.dropFirst(2).prefix { $0 != 0 }) }
      return "unix:\(String(decoding: path, as: UTF8.self))"
    default:
      return "unknown"
    }
  }

  package static func == (left: SocketAddress, right: SocketAddress) -> Bool {
    left.byteCount == right.byteCount
      && withUnsafeBytes(of: left.storage) { l in
        withUnsafeBytes(of: right.storage) { r in
          l.prefix(Int(left.byteCount)).elementsEqual(r.prefix(Int(left.byteCount)))
        }
      }
  }

  package func hash(into hasher: inout Hasher) {
    withUnsafeBytes(of: storage) { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0.prefix(Int(byteCount)))) }
  }

  /// Lends the bytes of the address, for those who call the system themselves.
  package func withRawAddress<Result>(_ body: (UnsafeRawPointer, UInt32) -> Result) -> Result {
    withUnsafePointer(to: storage) { body(UnsafeRawPointer($0), UInt32(byteCount)) }
  }

  /// Lends the address to a system call.
  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, byteCount) }
    }
  }
}

extension SocketAddress {
  /// Whether somebody listens at this UNIX-domain address right now: tells a live socket from one that a crash left
  /// behind. Never waits.
  package var isAccepting: Bool {
    guard isUnix else { return false }
    let descriptor = socket(
      family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // EAGAIN: the listener's queue is full (unix(7)).
    return withSockaddr { connect(descriptor, $0, $1) } == 0 || errno == EAGAIN
  }
}
