/// What the daemon has to say outside the log, because it is about the log.
package enum StandardError {
  /// Writes one line, if anybody takes it now; held values are masked in it.
  package static func say(_ line: String) {
    guard let output = try? LogOutput(.standardError) else { return }  // it opens nothing that could fail
    _ = Array("proofd: \(HeldSecrets.mask(line))\n".utf8).withUnsafeBytes { output.write($0) }
  }
}
