/// What the fields of a head say about framing and the connection, gathered while they are parsed.
struct FieldSection {
  var contentLength: UInt64?
  var isChunked = false
  var host: ByteRange?
  var closeListed = false
  var keepAliveListed = false
  var upgradeListed = false
  var otherOptionListed = false
  var upgradePresent = false
  var continueExpected = false

  /// Parses the field lines of `head` from `start` to its last byte, and what they say.
  static func parse(
    _ head: UnsafeRawBufferPointer, from start: Int, limits: HeadLimits, fields: FieldTable
  ) throws(HeadViolation) -> FieldSection {
    var section = FieldSection()
    try parseLines(head, from: start, limits: limits, fields: fields) { field throws(HeadViolation) in
      if field.id != .other { try section.note(field, in: head) }
    }
    if section.isChunked, section.contentLength != nil { throw .contentLengthWithTransferEncoding }
    return section
  }

  /// Parses the field lines of `head` from `start` to its last byte, strictly. RFC 9112 §5
  ///
  /// Every scan ends at a control byte, and is bounded by the count besides.
  @inline(__always)
  static func parseLines(
    _ head: UnsafeRawBufferPointer, from start: Int, limits: HeadLimits, fields: FieldTable,
    note: (Field) throws(HeadViolation) -> Void
  ) throws(HeadViolation) {
    fields.removeAll()
    var index = start
    while true {
      guard index + 1 < head.count else { throw .unterminated }
      if head[index] == ASCII.carriageReturn {
        guard head[index + 1] == ASCII.lineFeed else { throw .bareCarriageReturn }
        guard index + 2 == head.count else { throw .unterminated }
        return
      }
      let field = try parseLine(head, &index, fields)
      guard fields.count < limits.fieldCountMax, fields.append(field) else { throw .tooManyFields }
      try note(field)
    }
  }

  /// One field line; leaves `index` behind its CR LF. `fields` is told of an unusual name.
  @inline(__always)
  static func parseLine(
    _ head: UnsafeRawBufferPointer, _ index: inout Int, _ fields: FieldTable
  ) throws(HeadViolation) -> Field {
    let nameStart = index
    var at = endOfName(head, from: index, fields)
    guard at < head.count else { throw .unterminated }
    guard head[at] == UInt8(ascii: ":"), at > nameStart else { throw nameViolation(head, nameStart, at) }
    let name = nameStart..<at
    at += 1
    while at < head.count, ASCII.isWhitespace(head[at]) { at += 1 }
    let valueStart = at
    at = endOfValue(head, from: at)
    guard at + 1 < head.count else { throw .unterminated }
    guard head[at] == ASCII.carriageReturn else {
      throw head[at] == ASCII.lineFeed ? .bareLineFeed : .fieldValue
    }
    guard head[at + 1] == ASCII.lineFeed else { throw .bareCarriageReturn }
    index = at + 2
    while at > valueStart, ASCII.isWhitespace(head[at - 1]) { at -= 1 }
    return Field(
      name: ByteRange(name), value: ByteRange(valueStart..<at), id: FieldID(name: head.slice(name)))
  }

  /// The position of the first byte that is not a `tchar`, or the count.
  @inline(__always)
  private static func endOfName(_ bytes: UnsafeRawBufferPointer, from start: Int, _ fields: FieldTable) -> Int {
    let count = bytes.count
    var index = start
    while index &+ 8 <= count {
      let uncommon = WordScan.bytesUncommonInNames(WordScan.load(bytes, at: index))
      if uncommon == 0 {
        index &+= 8
        continue
      }
      index &+= uncommon.trailingZeroBitCount / 8
      guard ASCII.isTokenByte(bytes[index]) else { return index }
      if !FoldedName.isPlain(bytes[index]) { fields.noteUnusualName() }
      index &+= 1
    }
    while index < count, ASCII.isTokenByte(bytes[index]) {
      if !FoldedName.isPlain(bytes[index]) { fields.noteUnusualName() }
      index &+= 1
    }
    return index
  }

  /// The position of the first byte that a field value may not hold, or the count. RFC 9110 §5.5
  @inline(__always)
  static func endOfValue(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let count = bytes.count
    var index = start
    while index &+ 8 <= count {
      let word = WordScan.load(bytes, at: index)
      let found = WordScan.bytesBelow(word, 0x20) | WordScan.bytesEqual(word, to: 0x7F)
      if found == 0 {
        index &+= 8
        continue
      }
      index &+= found.trailingZeroBitCount / 8
      guard bytes[index] == ASCII.horizontalTab else { return index }
      index &+= 1
    }
    while index < count, ASCII.isFieldValueByte(bytes[index]) { index &+= 1 }
    return index
  }

  /// Says what is wrong with a name that did not end at a colon.
  private static func nameViolation(_ head: UnsafeRawBufferPointer, _ start: Int, _ end: Int) -> HeadViolation {
    switch head[end] {
    case ASCII.space, ASCII.horizontalTab: return end == start ? .foldedLine : .whitespaceBeforeColon
    case ASCII.carriageReturn: return .missingColon
    case ASCII.lineFeed: return .bareLineFeed
    default: return .fieldName
    }
  }

  private mutating func note(_ field: Field, in head: UnsafeRawBufferPointer) throws(HeadViolation) {
    switch field.id {
    case .host:
      guard host == nil else { throw .hostRepeated }
      host = field.value
    case .contentLength:
      guard contentLength == nil else { throw .contentLengthRepeated }
      contentLength = try FieldSection.contentLength(head[field.value])
    case .transferEncoding:
      guard !isChunked, head[field.value].bytes(equalCaseInsensitively: "chunked") else { throw .transferEncoding }
      isChunked = true
    case .connection: try noteConnection(head[field.value])
    case .upgrade: upgradePresent = true
    case .expect:
      guard !continueExpected, head[field.value].bytes(equalCaseInsensitively: "100-continue") else {
        throw .expectation
      }
      continueExpected = true
    default: break
    }
  }

  /// RFC 9110 §7.6.1
  private mutating func noteConnection(_ value: UnsafeRawBufferPointer) throws(HeadViolation) {
    // What nearly every message says.
    if value.bytes(equalCaseInsensitively: "keep-alive") { return keepAliveListed = true }
    for option in CommaList(value) {
      for byte in option where !ASCII.isTokenByte(byte) { throw .connection }
      if option.bytes(equalCaseInsensitively: "close") {
        closeListed = true
      } else if option.bytes(equalCaseInsensitively: "keep-alive") {
        keepAliveListed = true
      } else if option.bytes(equalCaseInsensitively: "upgrade") {
        upgradeListed = true
      } else {
        otherOptionListed = true
      }
    }
  }

  /// `1*DIGIT`, below 2^63; a list of equal numbers is refused like any other. RFC 9110 §8.6, RFC 9112 §6.3
  private static func contentLength(_ value: UnsafeRawBufferPointer) throws(HeadViolation) -> UInt64 {
    guard !value.isEmpty else { throw .contentLength }
    var length: UInt64 = 0
    for byte in value {
      guard ASCII.isDigit(byte) else {
        throw byte == UInt8(ascii: ",") ? .contentLengthRepeated : .contentLength
      }
      guard length <= UInt64(Int64.max) / 10 else { throw .contentLengthTooLarge }
      length = length * 10 + UInt64(byte & 0x0F)
      guard length <= UInt64(Int64.max) else { throw .contentLengthTooLarge }
    }
    return length
  }

  /// RFC 9112 §9.3
  func isPersistent(minorVersion: UInt8) -> Bool {
    !closeListed && (minorVersion == 1 || keepAliveListed)
  }
}
