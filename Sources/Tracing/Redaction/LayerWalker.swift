/// Shows a text as it is and as it reads after each way of taking some layers of encoding off.
final class LayerWalker {
  /// Nobody encodes a URL more often than this on purpose.
  static let percentLayersMax = 5

  /// Buffers larger than this are given back after a walk.
  private static let keptBytesMax = 4_096

  private let encodings: [LayerEncoding]
  /// For each depth one decoder per encoding.
  private let decoders: [[LayerDecoder]]

  init(_ encodings: [LayerEncoding], depthMax: Int) {
    self.encodings = encodings
    decoders = (0..<depthMax).map { _ in encodings.map { _ in LayerDecoder() } }
  }

  /// Calls `body` with `text` and every decoded form of it.
  ///
  /// - Returns: whether that was all of it: `false` if even the deepest form could be decoded further.
  func walk(_ text: UnsafeRawBufferPointer, _ body: (TextView) -> Void) -> Bool {
    let isComplete = walk(TextView(bytes: text, origins: nil), depth: 0, body)
    if text.count > Self.keptBytesMax {
      for decoder in decoders.joined() { decoder.releaseBuffers() }
    }
    return isComplete
  }

  private func walk(_ view: TextView, depth: Int, _ body: (TextView) -> Void) -> Bool {
    body(view)
    guard depth < decoders.count else { return !LayerDecoder.hasLayer(view, encodings) }
    var isComplete = true
    for (encoding, decoder) in zip(encodings, decoders[depth]) where decoder.decode(view, encoding) {
      decoder.withView { isComplete = walk($0, depth: depth + 1, body) && isComplete }
    }
    return isComplete
  }
}
