import Testing

@testable import Cryptography

@Suite struct SealingKeyTests {
  let secret = Secret(utf8: "sentinel-refresh-token")
  let place = Array("grants/refresh_token/1".utf8)

  @Test func `a sealed secret opens with its key, in its place`() throws {
    let key = SealingKey()
    let sealed = key.seal(secret, for: place)
    #expect(sealed.count == secret.count + SealingKey.overheadBytes)
    #expect(try key.open(sealed, for: place) == secret)
    #expect(try key.open(key.seal(Secret([]), for: []), for: []) == Secret([]))
  }

  @Test func `no two seals are the same`() {
    let key = SealingKey()
    #expect(Set((0..<100).map { _ in key.seal(secret, for: place) }).count == 100)
  }

  @Test func `a changed bit, a byte more or less, another key or place: it does not open`() throws {
    let key = SealingKey()
    let sealed = key.seal(secret, for: place)
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptographyError.sealBroken) { try key.open(changed, for: place) }
    }
    for count in 0..<sealed.count {
      #expect(throws: CryptographyError.sealBroken) { try key.open(Array(sealed[..<count]), for: place) }
    }
    #expect(throws: CryptographyError.sealBroken) { try key.open(sealed + [0], for: place) }
    #expect(throws: CryptographyError.sealBroken) { try key.open(sealed, for: place + [0]) }
    #expect(throws: CryptographyError.sealBroken) { try key.open(sealed, for: []) }
    #expect(throws: CryptographyError.sealBroken) { try SealingKey().open(sealed, for: place) }
  }

  @Test func `a key has 32 bytes`() {
    #expect(SealingKey(Secret([UInt8](repeating: 1, count: 31))) == nil)
    #expect(SealingKey(Secret([UInt8](repeating: 1, count: 33))) == nil)
    #expect(SealingKey(Secret([UInt8](repeating: 1, count: 32))) != nil)
  }

  @Test func `a key is sealed under another`() throws {
    let (outer, inner) = (SealingKey(), SealingKey())
    let wrapped = try #require(SealingKey(try outer.open(inner.sealed(under: outer, for: place), for: place)))
    #expect(try wrapped.open(inner.seal(secret, for: place), for: place) == secret)
  }
}
