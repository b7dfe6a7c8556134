extension ReadingContext {
  /// The `ca` of a `tls` mapping.
  func readCertificateAuthorityFile(_ section: Section) -> String? { section["ca"].flatMap(readTLSFile) }

  /// The `certificate` and `key` of a `tls` mapping: both or neither.
  func readClientCertificate(_ section: Section) -> ClientCertificate? {
    let chain = section["certificate"].flatMap(readTLSFile)
    let key = section["key"].flatMap(readTLSFile)
    switch (section["certificate"], section["key"]) {
    case (.some, nil): _ = section.required("key", "is required by certificate")
    case (nil, .some): _ = section.required("certificate", "is required by key")
    case (nil, nil), (.some, .some): break
    }
    guard let chain, let key else { return nil }
    return ClientCertificate(chainFile: chain, keyFile: key)
  }

  private func readTLSFile(_ entry: Entry) -> String? {
    guard let path = readPath(entry) else { return nil }
    need(.tlsFile(path), entry)
    return path
  }
}
