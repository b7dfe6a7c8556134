import EventLoop

/// The TLS contexts of one configuration, one for each set of trusted certificates.
struct TrustStore {
  private var contexts: [String?: TLSContext] = [:]

  /// - Parameters:
  ///   - file: PEM certificates to trust instead of the system's, or nil.
  ///   - name: whose setting this is, for the error.
  mutating func context(_ file: String?, for name: String) throws(DaemonError) -> TLSContext {
    if let known = contexts[file] { return known }
    do throws(TLSConfigurationError) {
      let context = try TLSContext(certificateAuthorityFile: file)
      contexts[file] = context
      return context
    } catch {
      throw .trust(route: name, reason: error.description)
    }
  }
}
