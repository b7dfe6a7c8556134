import COpenSSL

/// How long OpenSSL stays whole.
package enum LibraryLifetime {
  /// Lets OpenSSL outlive every thread. By itself it takes itself apart in exit(3), under the feet of threads that still use
  /// it: a daemon that is stopped in the middle of a refresh crashed there. To be called before anything else uses it.
  ///
  /// OPENSSL_init_crypto(3)
  package static func lastsUntilProcessEnds() {
    let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    precondition(isReady == 1, "OpenSSL does not start")
  }
}
