/// Writes JSON into a buffer. Strings are written so that a terminal or a line-based reader cannot be fooled by them:
/// besides what RFC 8259 §7 asks for, DEL, the C1 controls, U+2028, U+2029 and the bidirectional controls are escaped, and
/// bytes that are not UTF-8 become U+FFFD.
package enum JSONWriter {
  /// Appends `bytes` as a JSON string, in quotes.
  package static func append(string bytes: UnsafeRawBufferPointer, to out: inout ByteBuffer) {
    out.append(byte: UInt8(ascii: "\""))
    appendEscaped(bytes, to: &out)
    out.append(byte: UInt8(ascii: "\""))
  }

  /// Appends `text` as a JSON string, in quotes.
  package static func append(string text: some StringProtocol, to out: inout ByteBuffer) {
    out.append(byte: UInt8(ascii: "\""))
    if text.utf8.withContiguousStorageIfAvailable({ appendEscaped(UnsafeRawBufferPointer($0), to: &out) }) == nil {
      Array(text.utf8).withUnsafeBytes { appendEscaped($0, to: &out) }
    }
    out.append(byte: UInt8(ascii: "\""))
  }

  /// Appends what stands between the quotes of a JSON string.
  package static func appendEscaped(_ bytes: UnsafeRawBufferPointer, to out: inout ByteBuffer) {
    var at = 0
    while at < bytes.count {
      let runEnd = endOfPlainRun(bytes, from: at)
      out.append(bytes.slice(at..<runEnd))
      at = runEnd
      guard at < bytes.count else { return }
      at += appendSpecial(bytes.slice(at..<bytes.count), to: &out)
    }
  }

  package static func append(_ value: JSONValue, to out: inout ByteBuffer) {
    switch value {
    case .null: out.append("null")
    case .bool(let flag): out.append(flag ? "true" : "false" as StaticString)
    case .number(let text): out.append(text)
    case .string(let text): append(string: text, to: &out)
    case .array(let elements):
      out.append(byte: UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { out.append(byte: UInt8(ascii: ",")) }
        append(element, to: &out)
      }
      out.append(byte: UInt8(ascii: "]"))
    case .object(let members):
      out.append(byte: UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { out.append(byte: UInt8(ascii: ",")) }
        append(string: member.0, to: &out)
        out.append(byte: UInt8(ascii: ":"))
        append(member.1, to: &out)
      }
      out.append(byte: UInt8(ascii: "}"))
    }
  }

  /// The position of the first byte that is not copied as it is, or the count.
  private static func endOfPlainRun(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var at = start
    while at + 8 <= bytes.count {
      let word = WordScan.load(bytes, at: at)
      let found =
        WordScan.bytesBelow(word, 0x20) | WordScan.bytesEqual(word, to: UInt8(ascii: "\""))
        | WordScan.bytesEqual(word, to: UInt8(ascii: "\\")) | WordScan.bytesEqual(word, to: 0x7F)
        | (word & WordScan.highs)
      if found != 0 { return at + found.trailingZeroBitCount / 8 }
      at += 8
    }
    while at < bytes.count, isPlain(bytes[at]) { at += 1 }
    return at
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Writes what `bytes` begins with, which is not plain; returns how many bytes that was.
  private static func appendSpecial(_ bytes: UnsafeRawBufferPointer, to out: inout ByteBuffer) -> Int {
    let byte = bytes[0]
    switch byte {
    case UInt8(ascii: "\""): out.append("\\\"")
    case UInt8(ascii: "\\"): out.append("\\\\")
    case 0x0A: out.append("\\n")
    case 0x0D: out.append("\\r")
    case 0x09: out.append("\\t")
    case ..<0x80: appendEscape(UInt32(byte), to: &out)
    default:
      guard let (scalar, length) = scalar(bytes) else {
        out.append("\u{FFFD}")
        return 1
      }
      if isDeceptive(scalar) {
        appendEscape(scalar, to: &out)
      } else {
        out.append(bytes.slice(0..<length))
      }
      return length
    }
    return 1
  }

  /// C1 controls, line and paragraph separators, bidirectional controls. All are below U+10000.
  private static func isDeceptive(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x80...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }

  private static func appendEscape(_ scalar: UInt32, to out: inout ByteBuffer) {
    out.append("\\u")
    for shift in [12, 8, 4, 0] as [UInt32] {
      out.append(byte: ASCII.lowerHexDigit(UInt8(truncatingIfNeeded: scalar >> shift & 0x0F)))
    }
  }

  /// The scalar that well-formed UTF-8 begins with, and its length. Unicode 16 §3.9, table 3-7
  private static func scalar(_ bytes: UnsafeRawBufferPointer) -> (UInt32, Int)? {
    let lead = UInt32(bytes[0])
    let (length, least): (Int, UInt32) =
      switch lead {
      case 0xC2...0xDF: (2, 0x80)
      case 0xE0...0xEF: (3, 0x800)
      case 0xF0...0xF4: (4, 0x10000)
      default: (0, 0)
      }
    guard length > 0, bytes.count >= length else { return nil }
    var scalar = lead & (0x7F >> UInt32(length))
    for index in 1..<length {
      guard bytes[index] & 0xC0 == 0x80 else { return nil }
      scalar = scalar << 6 | UInt32(bytes[index] & 0x3F)
    }
    guard scalar >= least, scalar <= 0x10FFFF, !(0xD800...0xDFFF).contains(scalar) else { return nil }
    return (scalar, length)
  }
}
