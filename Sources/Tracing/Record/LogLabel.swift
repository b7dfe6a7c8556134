import HTTPWire

/// A text that many records repeat, such as the name of a route, escaped for JSON once.
package final class LogLabel: Sendable {
  /// Names longer than this are cut.
  private static let charactersMax = 256

  /// With its quotes.
  let json: [UInt8]

  /// A name from the configuration, an error code.
  package init(_ text: String) {
    var buffer = ByteBuffer()
    // Before the cut, which would leave half a value that nothing recognises.
    let text = HeldSecrets.mask(text)
    let isShort = text.unicodeScalars.count <= Self.charactersMax
    JSONWriter.append(
      string: isShort ? text : String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.charactersMax))) + "…",
      to: &buffer)
    json = buffer.copy()
  }

  /// A URL, redacted.
  package init(url: String) {
    var buffer = ByteBuffer()
    JSONWriter.append(string: TargetRedactor.redacted(url), to: &buffer)
    json = buffer.copy()
  }
}
