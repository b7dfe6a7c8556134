import HTTPTransport
import LoopbackPeers
import Testing

/// What the fuzzers of the response head and the chunk scanner begin with, through a whole connection.
struct CorpusResponseTests {
  static let seeds =
    Corpus.seeds(of: "ResponseHead")
    + Corpus.seeds(of: "ChunkScanner", behind: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

  @Test func `there is a corpus`() { #expect(Self.seeds.count > 100) }

  @Test(arguments: seeds)
  func `a stream hears the same however the bytes of its response are cut`(seed: Corpus.Seed) throws {
    let rig = try UpstreamRig()
    let whole = try hear([seed.bytes[...]], on: rig)
    for pieces in seed.cuttings(cutsMax: 10) {
      let cut = try hear(pieces, on: rig)
      #expect(cut.heard == whole.heard, "\(pieces.count) pieces, the first of \(pieces[0].count) bytes")
      #expect(cut.failure == whole.failure)
    }
  }

  /// All that is heard of a response whose server sends it and closes.
  private func hear(
    _ pieces: [ArraySlice<UInt8>], on rig: UpstreamRig
  ) throws -> (heard: [String], failure: UpstreamFailure?) {
    let exchange = rig.start(fresh: true)
    let peer = try #require(rig.accept())
    #expect(rig.turned.turn { peer.text.hasSuffix("\r\n\r\n") })
    for piece in pieces {
      peer.send(piece)
      rig.turned.settle(rounds: 2)
    }
    peer.finishSending()
    #expect(rig.turned.turn { exchange.isOver })
    rig.dropIdle(peer)
    return (exchange.heard, exchange.failure)
  }
}
