import CLinux
import Glibc

/// Asks the kernel which user owns the other end of a local connection.
///
/// For TCP over loopback the answer comes from `NETLINK_SOCK_DIAG` (sock_diag(7)): the peer's socket is looked up by
/// its exact four-tuple. The kernel answers with the owner of a *listening* socket when it has no such connection, and
/// with root for one that nobody holds open any more: neither is a peer. One lookup is one request and one answer, some
/// ten microseconds; one object serves one loop.
package final class PeerUser {
  /// TCP_LISTEN of the kernel's tcp_states.h.
  private static let listening: UInt8 = 10

  private let netlink: Int32
  private var sequence: UInt32 = 0

  /// - Throws: `SocketError` when the kernel has no sock_diag; callers must then refuse TCP peers.
  package init() throws(SocketError) {
    netlink = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), NETLINK_SOCK_DIAG)
    guard netlink >= 0 else { throw SocketError("socket(NETLINK_SOCK_DIAG)") }
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(netlink) }

  /// The uid this process runs as.
  package static var ownUID: UInt32 { geteuid() }

  /// The uid that owns the remote socket of `descriptor`; nil when it is not a socket of this machine or has
  /// already been closed.
  package func uid(ofPeerOf descriptor: Int32) -> UInt32? {
    guard let local = SocketAddress.local(of: descriptor) else { return nil }
    if local.isUnix { return Self.unixPeer(of: descriptor) }
    guard let remote = SocketAddress.peer(of: descriptor), remote.family == local.family else { return nil }
    return lookUp(source: remote, destination: local)
  }

  private static func unixPeer(of descriptor: Int32) -> UInt32? {
    // struct ucred of unix(7): pid, uid, gid, 32 bits each; Glibc's module does not show it.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, .max, .max)
    var byteCount = socklen_t(12)
    let failed = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &byteCount) != 0
    return failed || byteCount != 12 ? nil : credentials.uid
  }

  private func lookUp(source: SocketAddress, destination: SocketAddress) -> UInt32? {
    sequence &+= 1
    var request = inet_diag_req_v2()
    request.sdiag_family = UInt8(source.family)
    request.sdiag_protocol = UInt8(IPPROTO_TCP)
    request.idiag_states = .max
    request.id.idiag_sport = (source.port ?? 0).bigEndian
    request.id.idiag_dport = (destination.port ?? 0).bigEndian
    withUnsafeMutableBytes(of: &request.id.idiag_src) { $0.copyBytes(from: source.hostBytes) }
    withUnsafeMutableBytes(of: &request.id.idiag_dst) { $0.copyBytes(from: destination.hostBytes) }
    request.id.idiag_cookie = (.max, .max)
    var header = nlmsghdr()
    header.nlmsg_len = UInt32(MemoryLayout<nlmsghdr>.size + MemoryLayout<inet_diag_req_v2>.size)
    header.nlmsg_type = UInt16(SOCK_DIAG_BY_FAMILY)
    header.nlmsg_flags = UInt16(NLM_F_REQUEST)
    header.nlmsg_seq = sequence

    var message: [UInt8] = []
    withUnsafeBytes(of: header) { message.append(contentsOf: $0) }
    withUnsafeBytes(of: request) { message.append(contentsOf: $0) }
    guard send(netlink, message, message.count, 0) == message.count else { return nil }
    return answer()
  }

  private func answer() -> UInt32? {
    var reply = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(netlink, &reply, reply.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count >= MemoryLayout<nlmsghdr>.size else { return nil }
      let uid: UInt32?? = reply.withUnsafeBytes { bytes in
        let header = bytes.loadUnaligned(as: nlmsghdr.self)
        guard header.nlmsg_seq == sequence else { return .none }  // a late answer to an earlier question
        guard header.nlmsg_type == UInt16(SOCK_DIAG_BY_FAMILY),
          count >= MemoryLayout<nlmsghdr>.size + MemoryLayout<inet_diag_msg>.size
        else { return .some(nil) }
        let found = bytes.loadUnaligned(fromByteOffset: MemoryLayout<nlmsghdr>.size, as: inet_diag_msg.self)
        let isHeldOpen = found.idiag_inode != 0 && found.idiag_state != Self.listening
        return .some(isHeldOpen ? found.idiag_uid : nil)
      }
      if let uid { return uid }
    }
  }
}
