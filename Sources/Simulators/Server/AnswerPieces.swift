/// A body cut into the pieces it is written in; a chunked body has one chunk for each.
struct AnswerPieces: Sequence, IteratorProtocol {
  struct Piece {
    var bytes: [UInt8]
    var pauseMilliseconds = 0
  }

  private let body: AnswerBody
  private let pieceBytes: Int
  private var position: UInt64 = 0

  init(of body: AnswerBody, pieceBytes: Int) {
    self.body = body
    self.pieceBytes = pieceBytes
  }

  mutating func next() -> Piece? {
    switch body {
    case .bytes(let bytes):
      guard position < bytes.count else { return nil }
      let end = Swift.min(Int(position) + pieceBytes, bytes.count)
      defer { position = UInt64(end) }
      return Piece(bytes: Array(bytes[Int(position)..<end]))
    case .pattern(let count):
      guard position < count else { return nil }
      let size = Int(Swift.min(UInt64(pieceBytes), count - position))
      defer { position += UInt64(size) }
      let phase = Int(position % 251)
      return Piece(bytes: Array(Self.period[phase..<(phase + size)]))
    case .events(let count, let pauseMilliseconds):
      guard position < count else { return nil }
      defer { position += 1 }
      let event = "id: \(position)\ndata: event \(position)\n\n"
      return Piece(bytes: Array(event.utf8), pauseMilliseconds: position == 0 ? 0 : pauseMilliseconds)
    }
  }

  /// Long enough that any piece, at any phase, is one slice of it.
  private static let period: [UInt8] = (0..<(251 + AnswerWriter.pieceBytes)).map { UInt8($0 % 251) }
}
