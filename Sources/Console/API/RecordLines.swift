import HTTPWire

/// The forms in which lines of the request log go out. Lines hold no line feed but the one that ends them.
enum RecordLines {
  /// One JSON array.
  static func array(_ lines: [UInt8]) -> [UInt8] {
    var out = ByteBuffer()
    out.append("[")
    var isFirst = true
    forEach(lines) { line in
      if !isFirst { out.append(",") }
      isFirst = false
      out.append(line)
    }
    out.append("]\n")
    return out.copy()
  }

  /// Server-sent events of type `record`, one for each line.
  static func appendEvents(_ lines: [UInt8], to out: inout ByteBuffer) {
    forEach(lines) { line in
      out.append("event: record\ndata: ")
      out.append(line)
      out.append("\n\n")
    }
  }

  private static func forEach(_ lines: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) {
    lines.withUnsafeBytes { bytes in
      var start = 0
      while let end = bytes[start...].firstIndex(of: ASCII.lineFeed) {
        body(bytes.slice(start..<end))
        start = end + 1
      }
    }
  }
}
