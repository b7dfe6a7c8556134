import Testing

@testable import Cryptography

@Suite struct ES256SignatureTests {
  private func raw(_ der: [UInt8]) -> [UInt8]? {
    var raw = [UInt8](repeating: 0xEE, count: 64)
    let converted = der.withUnsafeBytes { der in
      raw.withUnsafeMutableBytes { ES256Signature.writeRaw(der: der, into: $0) }
    }
    return converted ? raw : nil
  }

  @Test func `numbers of any length come out as 32 bytes and go back`() {
    for rBytes in 1...32 {
      for sBytes in 1...32 {
        for first: UInt8 in [0x01, 0x80] {
          let r = [UInt8](repeating: 0, count: 32 - rBytes) + [first] + [UInt8](repeating: 0x5A, count: rBytes - 1)
          let s = [UInt8](repeating: 0, count: 32 - sBytes) + [first] + [UInt8](repeating: 0xA5, count: sBytes - 1)
          let der = ES256Signature.der(raw: r + s)
          #expect(der.count <= ES256Signature.derBytesMax)
          #expect(raw(der) == r + s)
        }
      }
    }
  }

  @Test func `DER that is cut, lengthened or of another shape is refused`() {
    let der = ES256Signature.der(raw: [UInt8](repeating: 0x81, count: 64))
    for count in 0..<der.count { #expect(raw(Array(der[..<count])) == nil) }
    #expect(raw(der + [0]) == nil)
    for index in [0, 1, 2, 3, 37, 38] {
      var altered = der
      altered[index] ^= 0x41
      #expect(raw(altered) == nil, "byte \(index)")
    }
    // An INTEGER of 33 bytes without a sign byte.
    #expect(raw([0x30, 0x26, 0x02, 0x21] + [UInt8](repeating: 1, count: 33) + [0x02, 0x01, 0x01]) == nil)
  }
}
