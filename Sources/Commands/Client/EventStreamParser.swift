/// Takes the data out of server-sent events, however they are cut into reads (WHATWG HTML §9.2).
struct EventStreamParser {
  private var line: [UInt8] = []
  private var data: [UInt8]?
  /// Longer lines are cut off: a record is at most some kilobytes.
  static let lineBytesMax = 1 << 20

  /// - Returns: the data of each event that became complete.
  mutating func parse(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
    var complete: [[UInt8]] = []
    for byte in bytes {
      guard byte == 0x0A else {
        if line.count < Self.lineBytesMax, byte != 0x0D { line.append(byte) }
        continue
      }
      if line.isEmpty {
        if let data { complete.append(data) }
        data = nil
      } else if line.starts(with: Array("data:".utf8)) {
        var value = line.dropFirst(5)
        if value.first == 0x20 { value = value.dropFirst() }
        data = data.map { $0 + [0x0A] + value } ?? Array(value)
      }
      line.removeAll(keepingCapacity: true)
    }
    return complete
  }
}
