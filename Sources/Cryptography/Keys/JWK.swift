/// A public key as a JSON Web Key: EC P-256, RSA or Ed25519. RFC 7517, RFC 7518 §6, RFC 8037 §2
///
/// A value that exists is a key one can verify with. Members that are not part of the key (`kid`, `use`, …) are neither
/// kept nor compared.
package struct JWK: Sendable, Equatable {
  /// 2048 bits at least, says RFC 7518 §3.3; the upper end bounds the work of a verification.
  static let modulusBytes = 256...1024
  static let exponentBytesMax = 4

  enum Material: Sendable, Equatable {
    case p256(x: [UInt8], y: [UInt8])
    case rsa(modulus: [UInt8], exponent: [UInt8])
    case ed25519([UInt8])
  }

  let material: Material
  let key: PublicKey

  /// The required members only, in lexicographic order and without white space: the input of the thumbprint.
  /// RFC 7638 §3
  package let json: String

  /// The base64url SHA-256 thumbprint, 43 characters; what `jkt` holds. RFC 7638 §3, RFC 9449 §6
  package let thumbprint: String

  /// Reads a public key.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)``; also if there is any private member, so that a key that leaked
  ///   into a public place is never mistaken for an ordinary one.
  package init(json: [UInt8]) throws(CryptographyError) {
    guard let members = JSONReader.object(json) else { throw .malformedKey(.notJSON) }
    try self.init(members: members)
  }

  init(members: [String: JSONTree]) throws(CryptographyError) {
    guard members.keys.allSatisfy({ !Self.privateMembers.contains($0) }) else { throw .malformedKey(.privateMember) }
    func bytes(_ name: String) throws(CryptographyError) -> [UInt8] {
      guard let text = members[name]?.text, let bytes = Base64URL.decode(text) else {
        throw .malformedKey(.memberMissing)
      }
      return bytes
    }
    switch (members["kty"]?.text, members["crv"]?.text) {
    case ("EC", "P-256"): try self.init(.p256(x: bytes("x"), y: bytes("y")))
    case ("RSA", _): try self.init(.rsa(modulus: bytes("n"), exponent: bytes("e")))
    case ("OKP", "Ed25519"): try self.init(.ed25519(bytes("x")))
    default: throw .malformedKey(.unsupportedType)
    }
  }

  init(_ material: Material) throws(CryptographyError) {
    switch material {
    case .p256(let x, let y):
      // Always the curve's full 32 bytes, leading zeros included. RFC 7518 §6.2.1.2
      guard x.count == 32, y.count == 32 else { throw .malformedKey(.coordinateSize) }
      key = try PublicKey.p256(x: x, y: y)
      json = #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}"#
    case .rsa(let modulus, let exponent):
      guard Self.modulusBytes.contains(modulus.count), modulus.first != 0 else { throw .malformedKey(.modulusSize) }
      guard exponent.count <= Self.exponentBytesMax, let low = exponent.last, low % 2 == 1, exponent.first != 0,
        exponent != [1]
      else { throw .malformedKey(.exponent) }
      key = try PublicKey.rsa(modulus: modulus, exponent: exponent)
      json = #"{"e":"\#(Base64URL.encode(exponent))","kty":"RSA","n":"\#(Base64URL.encode(modulus))"}"#
    case .ed25519(let bytes):
      guard bytes.count == 32 else { throw .malformedKey(.coordinateSize) }
      key = try PublicKey.ed25519(bytes)
      json = #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.encode(bytes))"}"#
    }
    self.material = material
    thumbprint = Base64URL.encode(SHA256.hash(Array(json.utf8)))
  }

  package static func == (a: JWK, b: JWK) -> Bool { a.material == b.material }

  /// Every member that is private for some key type. RFC 7518 §6.2.2, §6.3.2, §6.4.1
  static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
}
