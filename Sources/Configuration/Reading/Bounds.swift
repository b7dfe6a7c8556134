/// What a number, a size or a duration may be.
enum Bounds {
  static let threads = 1...64
  static let connections = 1...1_000_000
  static let waiting = 1...1_000_000
  static let body = 0...1 << 40
  static let head = 1024...1 << 20
  static let fields = 10...1000
  static let target = 256...1 << 20
  static let idleUpstreamConnections = 0...10_000

  static let wait = Duration.milliseconds(10)...Duration.seconds(3600)
  static let longWait = Duration.milliseconds(10)...Duration.seconds(86_400)
  static let connect = wait
  static let response = longWait
  static let token = wait
  /// Without waiting at all, too.
  static let drain = Duration.zero...Duration.seconds(3600)

  static let replayLimit = 0...64 << 20
  static let replayTotal = 0...1 << 30
}
