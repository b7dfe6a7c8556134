import HTTPWire

/// Takes the data out of server-sent events, however they are cut into reads (WHATWG HTML §9.2).
struct EventStreamParser {
  private var line: [UInt8] = []
  private var data: [UInt8]?

  /// More bytes of one line or event are cut off: a record has some kilobytes.
  static let lineBytesMax = 1 << 20
  private static let dataField = Array("data:".utf8)

  /// - Returns: the data of each event that became complete.
  mutating func parse(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
    var complete: [[UInt8]] = []
    for byte in bytes {
      guard byte == ASCII.lineFeed else {
        if line.count < Self.lineBytesMax, byte != ASCII.carriageReturn { line.append(byte) }
        continue
      }
      if line.isEmpty {
        if let data { complete.append(data) }
        data = nil
      } else if line.starts(with: Self.dataField) {
        append(line.dropFirst(Self.dataField.count))
      }
      line.removeAll(keepingCapacity: true)
    }
    return complete
  }

  private mutating func append(_ value: ArraySlice<UInt8>) {
    let value = value.first == ASCII.space ? value.dropFirst() : value
    guard let before = data else { return data = Array(value) }
    guard before.count + value.count < Self.lineBytesMax else { return }
    data = before + [ASCII.lineFeed] + value
  }
}
