import HTTPTransport
import LoopbackPeers
import Testing

/// What the fuzzers of the request head and the chunk scanner begin with, through a whole connection.
struct CorpusRequestTests {
  static let seeds =
    Corpus.seeds(of: "RequestHead")
    + Corpus.seeds(of: "ChunkScanner", behind: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")

  @Test func `there is a corpus`() { #expect(Self.seeds.count > 100) }

  @Test(arguments: seeds)
  func `a connection hears the same however its bytes are cut`(seed: Corpus.Seed) throws {
    let turned = TurnedLoop()
    let whole = try hear([seed.bytes[...]], on: turned)
    #expect(whole.last == "closed")
    for pieces in seed.cuttings(cutsMax: 40) {
      #expect(try hear(pieces, on: turned) == whole, "\(pieces.count) pieces, the first of \(pieces[0].count) bytes")
    }
  }

  /// All that is heard until the client has sent everything and closed its side.
  private func hear(_ pieces: [ArraySlice<UInt8>], on turned: TurnedLoop) throws -> [String] {
    let rig = try ServerRig(on: turned)
    for piece in pieces { #expect(rig.send(piece)) }
    rig.client.finishSending()
    #expect(rig.turn { rig.isClosed })
    return rig.heard
  }
}
