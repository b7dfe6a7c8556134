import EventLoop

/// The three turning points in the life of a token, measured from its receipt.
struct TokenLifetime: Sendable, Equatable {
  /// From here on a use starts a fetch in the background.
  let refreshAfterNanoseconds: Int64
  /// From here on requests wait for the fetch, unless it can't be had now.
  let waitAfterNanoseconds: Int64
  /// From here on the token is not sent.
  let endsAfterNanoseconds: Int64
  /// Whether a token that is in use is also renewed by a timer.
  let renewedByTimer: Bool

  /// How long a token is used whose issuer gave it no time at all: enough that not every request costs a fetch.
  static let reuseFloor = Duration.seconds(1)
  /// How long a token is used whose issuer does not say how long it lives. Never taken for endless.
  static let unknownLifetime = Duration.seconds(5)
  /// The longest part of a life that is not used, so that a token does not end on its way.
  static let marginMax = Duration.seconds(30)
  /// Tokens of at least this life are renewed by a timer while in use, so that even rare requests don't wait.
  static let timerFloor = Duration.seconds(60)

  /// The life of a token an issuer gave; the margin is min(30 s, 10 %), the refresh starts at 80 %.
  ///
  /// - Parameter expiresInSeconds: as the issuer said; nil if it did not. RFC 6749 §5.1
  static func issued(expiresInSeconds: Int64?) -> TokenLifetime {
    let stated = expiresInSeconds.map { Duration.seconds($0) } ?? unknownLifetime
    let life = max(stated, reuseFloor).nanoseconds
    return TokenLifetime(
      refreshAfterNanoseconds: life / 10 * 8,
      waitAfterNanoseconds: life - min(marginMax.nanoseconds, life / 10),
      endsAfterNanoseconds: life,
      renewedByTimer: life >= timerFloor.nanoseconds)
  }

  /// How often a file is asked whether it changed.
  static let fileCheckInterval = Duration.seconds(1)

  /// The life of what a file held: if the file can't be read any more, the last value serves one `reread` longer.
  static func file(reread: Duration) -> TokenLifetime {
    let check = fileCheckInterval.nanoseconds
    return TokenLifetime(
      refreshAfterNanoseconds: check, waitAfterNanoseconds: check,
      endsAfterNanoseconds: max(check * 2, reread.nanoseconds), renewedByTimer: false)
  }

  /// The life of what a command printed: if the command fails, the last value serves one `reread` longer.
  static func command(reread: Duration) -> TokenLifetime {
    let life = max(reread, reuseFloor).nanoseconds
    return TokenLifetime(
      refreshAfterNanoseconds: life / 10 * 8, waitAfterNanoseconds: life,
      endsAfterNanoseconds: life.multipliedReportingOverflow(by: 2).overflow ? .max : life * 2,
      renewedByTimer: life >= timerFloor.nanoseconds)
  }

  /// The life of a value that is there once and for all.
  static let endless = TokenLifetime(
    refreshAfterNanoseconds: .max, waitAfterNanoseconds: .max, endsAfterNanoseconds: .max, renewedByTimer: false)
}
