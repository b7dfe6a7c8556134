import HTTPWire

/// The lines of a head, found by looking at one line end after another. RFC 9112 §2
enum HeadLines: Equatable {
  case incomplete
  case refused
  /// The lines before the empty one, and how many bytes they all take.
  case complete([Bytes], byteCount: Int)

  init(_ bytes: Bytes) {
    guard let first = bytes.first else {
      self = .incomplete
      return
    }
    guard Grammar.isTokenByte(first) else {
      self = .refused
      return
    }
    var lines: [Bytes] = []
    var start = 0
    while let end = bytes[start...].firstIndex(where: { $0 == 0x0D || $0 == 0x0A }) {
      if bytes[end] == 0x0A {
        self = .refused
        return
      }
      guard end + 1 < bytes.count else { break }
      if bytes[end + 1] != 0x0A {
        self = .refused
        return
      }
      if start == end {
        self = .complete(lines, byteCount: end + 2)
        return
      }
      lines.append(Array(bytes[start..<end]))
      start = end + 2
    }
    self = .incomplete
  }

  /// Holds `HeadBoundary` to the lines, to itself at every split, and to looking at no byte twice.
  ///
  /// - Returns: the head, its last line end included; nil when there is none.
  static func checkedHead(of bytes: Bytes) -> Bytes? {
    let whole = boundary(bytes, cuts: [])
    for cut in Cuts.single(bytes.count) {
      check(boundary(bytes, cuts: [cut]), equals: whole, "the boundary differs when cut at \(cut)")
    }
    let cuts = Cuts.several(bytes)
    check(boundary(bytes, cuts: cuts), equals: whole, "the boundary differs when cut at \(cuts)")
    check(boundary(bytes, cuts: Array(0...bytes.count)), equals: whole, "the boundary differs byte by byte")

    let lines = HeadLines(bytes)
    switch whole {
    case .incomplete: check(lines, equals: .incomplete, "the boundary is not seen")
    case .violation(let violation): check(lines, equals: .refused, "the boundary is refused as \(violation)")
    case .end(let headBytes):
      guard case .complete(_, let byteCount) = lines else { fatalError("broken property: a head ends at \(headBytes)") }
      check(headBytes, equals: byteCount, "the head ends elsewhere")
      return Array(bytes[..<headBytes])
    }
    return nil
  }

  private static func boundary(_ bytes: Bytes, cuts: [Int]) -> HeadBoundary.Boundary {
    var scanned = 0
    for cut in cuts {
      let found = withExactCopy(of: bytes[..<cut]) { HeadBoundary.find($0, scanned: &scanned) }
      guard found == .incomplete else { return found }
      check(scanned >= min(cut, max(0, cut - 3)), "\(cut - scanned) bytes would be looked at again")
    }
    return withExactCopy(of: bytes) { HeadBoundary.find($0, scanned: &scanned) }
  }
}
