import Cryptography
import Locking

/// Keeps the redactor told of the secrets of every grant that is known, the current ones and the ones before. Any thread.
final class HeldGrants: Sendable {
  private struct Entry {
    let revision: Int64
    let secrets: [Secret]
  }
  private let announcer: SecretAnnouncer
  private let held = Protected<[GrantID: Entry]>([:])

  init(_ announcer: SecretAnnouncer) { self.announcer = announcer }

  deinit { for entry in held.withLock({ Array($0.values) }) { entry.secrets.forEach(announcer.release) } }

  /// From now on the secrets of this state of a grant are masked, and those of an older state no more, unless this one has
  /// them too.
  ///
  /// - Throws: if one of them can't be masked; then it must not be used.
  func hold(_ grant: StoredGrant) throws(UnmaskableSecret) {
    let (id, new) = (grant.record.id, Entry(revision: grant.record.revision, secrets: grant.secrets.all))
    try announcer.hold(all: new.secrets)
    let released = held.withLock { held -> Entry? in
      if let known = held[id], known.revision > new.revision { return new }  // somebody knows better
      defer { held[id] = new }
      return held[id]
    }
    released?.secrets.forEach(announcer.release)
  }

  /// The revision whose secrets are held; nil for none.
  func revision(of id: GrantID) -> Int64? { held.withLock { $0[id]?.revision } }

  /// Forgets the grants that are gone.
  func forget(_ ids: Set<GrantID>) {
    let gone = held.withLock { held in ids.compactMap { held.removeValue(forKey: $0) } }
    for entry in gone { entry.secrets.forEach(announcer.release) }
  }

  func forgetAll() {
    let gone = held.withLock { held in
      defer { held = [:] }
      return Array(held.values)
    }
    for entry in gone { entry.secrets.forEach(announcer.release) }
  }
}

extension GrantSecrets {
  /// Everything that must not show; of the key its private number as well, which is what a JWK holds. RFC 7518 §6.2.2.1
  var all: [Secret] {
    [refreshToken, previousRefreshToken, idToken, proofKey, proofKey.flatMap(Self.privateNumber)].compactMap { $0 }
  }

  /// `ECPrivateKey { version 1, OCTET STRING (32) … }` within the PKCS #8. RFC 5915 §3
  private static func privateNumber(_ der: Secret) -> Secret? {
    let head: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20]
    return der.withUnsafeBytes { bytes in
      guard bytes.count >= head.count + 32 else { return nil }
      let start = (0...bytes.count - head.count - 32).first { bytes[$0..<$0 + head.count].elementsEqual(head) }
      return start.map { Secret(UnsafeRawBufferPointer(rebasing: bytes[$0 + head.count..<$0 + head.count + 32])) }
    }
  }
}
