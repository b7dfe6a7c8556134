import HTTPWire
import Testing

/// What a scanner made of `bytes` read in pieces that end at `cuts`.
struct ScannedBody: Equatable {
  var payload: [UInt8] = []
  /// What follows the body; nil while it is incomplete.
  var rest: [UInt8]?
  var violation: ChunkViolation?

  init(_ bytes: [UInt8], cuts: [Int] = []) {
    var scanner = ChunkScanner()
    var start = 0
    for cut in cuts + [bytes.count] {
      while true {
        var isWaiting = false
        Array(bytes[start..<cut]).withUnsafeBytes { piece in
          switch scanner.next(piece) {
          case .payload(let range, let consumed):
            payload += piece.slice(range)
            start += consumed
          case .needMore(let consumed):
            start += consumed
            isWaiting = true
          case .end(let consumed):
            start += consumed
            rest = Array(bytes[start...])
            isWaiting = true
          case .violation(let violation):
            self.violation = violation
            isWaiting = true
          }
        }
        if isWaiting { break }
      }
      if rest != nil || violation != nil { return }
    }
  }
}

struct ChunkScannerTests {
  @Test func `chunks are joined`() {
    let body = ScannedBody(latin1("4\r\nWiki\r\n00A;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\nGET"))
    #expect(body.payload == latin1("Wiki0123456789"))
    #expect(body.rest == latin1("GET"))
  }
}
