/// Bytes that differ from place to place, made fast enough for a debug build.
enum Pattern {
  /// As the simulators' `/bytes/N`: byte i is i mod 251.
  static func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + period.count)
    while bytes.count < count { bytes += period }
    return Array(bytes.prefix(count))
  }

  /// 251 is prime: no power of two is a whole number of periods, so that a lost or doubled buffer shows.
  private static let period: [UInt8] = (0..<251 * 64).map { UInt8($0 % 251) }
}
