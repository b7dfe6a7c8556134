/// What a sealed field belongs to, as associated data of the seal: in another store, table, column or row it does not open.
///
/// A grant's place names what its secrets may be used for, so that nobody who can write to the file sends them elsewhere.
struct SealedPlace {
  let column: SealedColumn
  let bytes: [UInt8]

  private init(_ column: SealedColumn, store: String, _ parts: [String?]) {
    self.column = column
    var bytes: [UInt8] = []
    for part in ["proofd", store, column.table, column.rawValue] + parts {
      guard let part else {
        bytes += [UInt8](repeating: 0xFF, count: 4)
        continue
      }
      // Lengths, so that no two lists of parts have the same bytes.
      withUnsafeBytes(of: UInt32(part.utf8.count).bigEndian) { bytes += $0 }
      bytes += part.utf8
    }
    self.bytes = bytes
  }

  static func dataKey(store: String) -> SealedPlace { SealedPlace(.dataKey, store: store, []) }

  static func grant(_ column: SealedColumn, of record: GrantRecord, store: String) -> SealedPlace {
    SealedPlace(
      column, store: store,
      [
        record.id.text, record.profile, record.account, record.issuer, record.clientID, record.proofKeyThumbprint,
        "\(record.createdAtUnixSeconds)", record.sessionExpiresAtUnixSeconds.map { "\($0)" },
        StoredList.text(record.origins),
      ])
  }

  static func accessToken(_ token: TokenRow, store: String) -> SealedPlace {
    SealedPlace(
      .accessToken, store: store,
      [
        token.grant.text, token.profile, token.account, token.target, token.scheme,
        "\(token.receivedAtWallNanoseconds)", "\(token.receivedAtBootNanoseconds)", token.bootID,
        token.expiresInSeconds.map { "\($0)" },
      ])
  }
}

/// The columns that hold sealed bytes.
enum SealedColumn: String, CaseIterable {
  case dataKey = "data_key"
  case refreshToken = "refresh_token"
  case previousRefreshToken = "previous_refresh_token"
  case idToken = "id_token"
  case proofKey = "proof_key"
  case authorizationServerNonce = "authorization_server_nonce"
  case accessToken = "access_token"

  /// In the order of their columns.
  static let ofGrant: [SealedColumn] = [
    .refreshToken, .previousRefreshToken, .idToken, .proofKey, .authorizationServerNonce,
  ]

  var table: String {
    switch self {
    case .dataKey: "store"
    case .accessToken: "tokens"
    default: "grants"
    }
  }

  /// For a message.
  var name: String {
    switch self {
    case .dataKey: "the data key"
    case .refreshToken: "the refresh token"
    case .previousRefreshToken: "the previous refresh token"
    case .idToken: "the ID token"
    case .proofKey: "the proof key"
    case .authorizationServerNonce: "the authorization server's nonce"
    case .accessToken: "an access token"
    }
  }
}
