/// A host in the one form it is compared and sent in: lower case, IPv6 as RFC 5952 writes it, without brackets.
struct HostName {
  var text: String
  var isIPv6: Bool

  /// - Parameter bytes: the host as in a URL, an IPv6 address in brackets.
  ///
  /// Nil for what RFC 3986 §3.2.2 does not allow, for percent-encoded and non-ASCII names (an internationalised name is
  /// written as its A-label), and for the numeric forms of an IPv4 address other than four decimal numbers, which
  /// resolvers read in different ways.
  init?(_ bytes: some BidirectionalCollection<UInt8>) {
    if bytes.first == UInt8(ascii: "[") {
      guard bytes.last == UInt8(ascii: "]"), let address = IPv6Address(Array(bytes.dropFirst().dropLast())) else {
        return nil
      }
      text = address.description
      isIPv6 = true
      return
    }
    guard !bytes.isEmpty, bytes.count <= 253, bytes.allSatisfy(HostSyntax.isNameByte) else { return nil }
    var labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
    guard labels.allSatisfy({ !$0.isEmpty && $0.count <= 63 }) else { return nil }
    if let last = labels.last, HostName.looksNumeric(last) {
      guard labels.count == 4, bytes.last != UInt8(ascii: "."), labels.allSatisfy({ HostName.octet($0) != nil })
      else { return nil }
    }
    text = String(decoding: bytes.map { ASCII.lowercased($0) }, as: UTF8.self)
    isIPv6 = false
  }

  /// Whether a name that ends in this label is read as an IPv4 address by some resolver.
  private static func looksNumeric(_ label: some Collection<UInt8>) -> Bool {
    if label.allSatisfy({ ASCII.isDigit($0) }) { return true }
    let prefix = Array(label.prefix(2))
    return prefix.count == 2 && prefix[0] == UInt8(ascii: "0") && prefix[1] | 0x20 == UInt8(ascii: "x")
      && label.dropFirst(2).allSatisfy { ASCII.hexValue($0) != nil }
  }

  /// A decimal number of 0 to 255 without leading zeros.
  static func octet(_ digits: some Collection<UInt8>) -> UInt8? {
    guard (1...3).contains(digits.count), digits.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
    if digits.count > 1, digits.first == UInt8(ascii: "0") { return nil }
    let value = digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    return value <= 255 ? UInt8(value) : nil
  }
}

/// An IPv6 address. RFC 4291 §2.2, RFC 5952 §4
struct IPv6Address {
  /// Eight groups.
  private var groups: [UInt16]

  /// Parses the text form; zone identifiers are refused, as they mean something on one host only.
  init?(_ text: [UInt8]) {
    guard text.count >= 2, text.count <= 45 else { return nil }
    var head: [UInt16] = []
    var tail: [UInt16]?
    var at = 0
    if text.starts(with: [0x3A, 0x3A]) {
      tail = []
      at = 2
    }
    while at < text.count {
      let end = text[at...].firstIndex(of: UInt8(ascii: ":")) ?? text.count
      let part = text[at..<end]
      if end == text.count, part.contains(UInt8(ascii: ".")) {
        guard let pair = IPv6Address.embeddedIPv4(part) else { return nil }
        if tail == nil { head += pair } else { tail? += pair }
        at = end
        break
      }
      guard let group = IPv6Address.group(part) else { return nil }
      if tail == nil { head.append(group) } else { tail?.append(group) }
      at = end
      guard at < text.count else { break }
      at += 1
      guard at < text.count else { return nil }
      if text[at] == UInt8(ascii: ":") {
        guard tail == nil else { return nil }
        tail = []
        at += 1
      }
    }
    if let tail {
      guard head.count + tail.count <= 7 else { return nil }
      groups = head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    } else {
      guard head.count == 8 else { return nil }
      groups = head
    }
  }

  private static func group(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard (1...4).contains(digits.count) else { return nil }
    var value: UInt16 = 0
    for digit in digits {
      guard let nibble = ASCII.hexValue(digit) else { return nil }
      value = value << 4 | UInt16(nibble)
    }
    return value
  }

  private static func embeddedIPv4(_ text: ArraySlice<UInt8>) -> [UInt16]? {
    let octets = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).compactMap {
      HostName.octet($0)
    }
    guard octets.count == 4, text.count(where: { $0 == UInt8(ascii: ".") }) == 3 else { return nil }
    return [UInt16(octets[0]) << 8 | UInt16(octets[1]), UInt16(octets[2]) << 8 | UInt16(octets[3])]
  }

  /// The longest run of two or more zero groups, the first of equals.
  private var longestZeroRun: Range<Int>? {
    var best: Range<Int>?
    var start = 0
    while start < 8 {
      var end = start
      while end < 8, groups[end] == 0 { end += 1 }
      if end - start >= 2, end - start > best?.count ?? 0 { best = start..<end }
      start = max(end, start + 1)
    }
    return best
  }

  var description: String {
    if groups[0..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
      return "::ffff:\(groups[6] >> 8).\(groups[6] & 0xFF).\(groups[7] >> 8).\(groups[7] & 0xFF)"
    }
    func joined(_ part: ArraySlice<UInt16>) -> String {
      part.map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard let run = longestZeroRun else { return joined(groups[...]) }
    return joined(groups[..<run.lowerBound]) + "::" + joined(groups[run.upperBound...])
  }
}
