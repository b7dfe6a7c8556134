import Cryptography
import Testing

@Suite struct SecretTests {
  static let text = "sentinel-4f1d9c"
  let secret = Secret(utf8: text)

  @Test func `no way of printing shows a secret`() {
    struct Holder {
      let name = "holder"
      let secret: Secret
      let more: [Secret?]
    }
    let holder = Holder(secret: secret, more: [secret, nil])
    var dumped = ""
    dump(holder, to: &dumped)
    dump(secret, to: &dumped)
    let shown = [
      String(describing: secret), String(reflecting: secret), "\(secret)", "\(holder)", String(reflecting: holder),
      dumped,
      "\(Mirror(reflecting: secret).children.map { "\($0)" })", "\(Mirror(reflecting: secret))",
      secret.debugDescription, [secret].description, "\(["key": secret])",
    ]
    for text in shown {
      #expect(!text.contains(Self.text))
      #expect(!text.contains("UnsafeMutableRawBufferPointer"))
      #expect(!text.contains("sentinel"))
    }
    #expect(String(describing: secret) == "[secret]")
    #expect(Mirror(reflecting: secret).children.isEmpty)
  }

  @Test func `a private key does not print either`() throws {
    let key = ProofKey.generate()
    var dumped = ""
    dump(key, to: &dumped)
    dump(ProofSigner(key: key), to: &dumped)
    let exported = try key.exportPrivate()
    let encoded = exported.withUnsafeBytes { Base64URL.encode($0) }
    #expect(!dumped.contains(encoded))
    #expect("\(exported)" == "[secret]")
  }

  @Test func `equal bytes are equal whatever they were made from`() {
    #expect(secret == Secret(Array(Self.text.utf8)))
    #expect(secret == Array(Self.text.utf8).withUnsafeBytes { Secret($0) })
    #expect(secret != Secret(utf8: "sentinel-4f1d9d"))
    #expect(secret != Secret(utf8: "sentinel-4f1d9"))
    #expect(secret != Secret(utf8: ""))
    #expect(Secret(utf8: "") == Secret([]))
  }

  @Test func `the bytes can be read where they are asked for`() {
    #expect(secret.revealedString() == Self.text)
    #expect(secret.count == 15)
    #expect(secret.withUnsafeBytes { Array($0) } == Array(Self.text.utf8))
  }

  @Test func `what a closure throws comes out as it is`() {
    #expect(throws: CryptographyError.bufferTooSmall) {
      try secret.withUnsafeBytes { _ throws(CryptographyError) in throw .bufferTooSmall }
    }
  }
}
