extension ReadingContext {
  func readListenAddresses(_ entry: Entry) -> [ListenAddress] {
    let items = entry.list()
    guard (1...Self.listenersMax).contains(items.count) else {
      if case .sequence = entry.node.content { entry.report("must be from 1 to \(Self.listenersMax) addresses") }
      return []
    }
    var addresses: [ListenAddress] = []
    for item in items {
      guard let address = readListenAddress(item) else { continue }
      if addresses.contains(address), !address.isChosenBySystem {
        item.report("the same address is listed twice")
      } else {
        addresses.append(address)
      }
    }
    return addresses
  }

  private func readListenAddress(_ entry: Entry) -> ListenAddress? {
    guard let text = entry.string(expected: "an address such as 127.0.0.1:9449") else { return nil }
    do { return try ListenAddress(parsing: unixPathExpanded(text)) } catch {
      switch error {
      case .malformed:
        let isPort = ScalarFormat.integer(text) != nil
        entry.report(
          "must be an address such as 127.0.0.1:9449, [::1]:9449 or unix:/path",
          suggestion: isPort ? "127.0.0.1:\(text)" : nil)
      case .port: entry.report("must end in a port from 0 to 65535")
      case .bareIPv6: entry.report("an IPv6 address stands in brackets", suggestion: "[::1]:9449")
      case .hostName: entry.report("must be a loopback address such as 127.0.0.1 or [::1], not a name")
      case .notLoopback:
        entry.report("must be a loopback address: to listen elsewhere needs callers: keys, \(LaterVersions.message)")
      case .unixPath:
        entry.report("the path of a socket has at most \(ListenAddress.unixPathBytesMax) bytes, and at least one")
      }
      return nil
    }
  }

  /// `unix:~/x` and `unix:x` as any other path of the file.
  private func unixPathExpanded(_ text: String) -> String {
    guard text.hasPrefix("unix:") else { return text }
    let path = String(text.dropFirst("unix:".count))
    if path.hasPrefix("~/"), let home = surroundings.home {
      return "unix:" + Self.join(home, String(path.dropFirst(2)))
    }
    if path.isEmpty || path.hasPrefix("/") || path.hasPrefix("~") { return text }
    return "unix:" + Self.join(surroundings.baseDirectory, path)
  }

  /// Host field values, exact: a name or an address and, where it is not 80, a port.
  func readAllowedHosts(_ entry: Entry) -> [String] {
    let items = entry.list()
    guard items.count <= Self.allowedHostsMax else {
      entry.report("more than \(Self.allowedHostsMax) hosts")
      return []
    }
    return items.compactMap { item in
      guard let text = item.string(expected: "a host such as proofd.internal:9449") else { return nil }
      guard Self.isAuthority(text) else {
        item.report("must be HOST or HOST:PORT, exactly as clients send it in Host")
        return nil
      }
      return text.lowercased()
    }
  }

  private static func isAuthority(_ text: String) -> Bool {
    var host = Substring(text)
    var port = Substring()
    if let end = text.lastIndex(of: "]") {
      host = text[...end]
      port = text[text.index(after: end)...]
    } else if let colon = text.lastIndex(of: ":") {
      host = text[..<colon]
      port = text[colon...]
    }
    if !port.isEmpty {
      guard port.hasPrefix(":"), let number = ScalarFormat.integer(port.dropFirst()), (1...65535).contains(number)
      else {
        return false
      }
    }
    if host.hasPrefix("[") {
      let address = host.dropFirst().dropLast()
      return host.hasSuffix("]") && address.contains(":")
        && address.utf8.allSatisfy {
          ASCII.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0 | 0x20) || ":.".utf8.contains($0)
        }
    }
    return !host.isEmpty && host.utf8.count <= 253
      && host.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-._".utf8.contains($0) }
  }
}

extension ListenAddress {
  /// Two sockets with port 0 are two addresses.
  fileprivate var isChosenBySystem: Bool {
    if case .tcp(_, 0) = self { true } else { false }
  }
}
