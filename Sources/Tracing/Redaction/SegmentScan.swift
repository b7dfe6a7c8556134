import HTTPWire

/// Judges path segments: random ones of 32 characters and more are secrets unless they name content; shorter ones are if
/// the segment before says so.
struct SegmentScan {
  private static let byteCountMin = 32

  /// Where the segment that was looked at last begins: it precedes the next one.
  private var previous: Range<Int>?

  /// Looks at the segment that begins at `start`, which a `/` precedes.
  mutating func segment(
    _ text: UnsafeRawBufferPointer, from start: Int, _ judge: NameJudge, _ found: (Range<Int>) -> Void
  ) {
    var end = start
    while end < text.count, !Self.endsSegment(text[end]) { end += 1 }
    let range = start..<end
    let before = previous
    previous = range
    guard range.count >= SecretLikeness.byteCountMin else { return }
    let segment = UnsafeRawBufferPointer(rebasing: text[range])
    if let before, Self.announcesSecret(text, before, judge), SecretLikeness.isLikely(segment) {
      return found(range)
    }
    guard range.count >= Self.byteCountMin, Self.hasRandomRun(segment) else { return }
    if let before, Self.announcesContent(text, before) { return }
    found(range)
  }

  /// Whether a segment is the everyday name of a thing, and the one before it does not make it a secret.
  static func isOrdinaryUUID(
    _ text: UnsafeRawBufferPointer, _ segment: Range<Int>, behind previous: Range<Int>, _ judge: NameJudge
  ) -> Bool {
    isUUID(UnsafeRawBufferPointer(rebasing: text[segment])) && !announcesSecret(text, previous, judge)
  }

  /// `/reset/…`, `/token/…`
  private static func announcesSecret(
    _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ judge: NameJudge
  ) -> Bool {
    guard !range.isEmpty else { return false }
    if isPlace(text, range, in: secretPlaces) || isChatWebhook(text, range) { return true }
    return judge.judge(UnsafeRawBufferPointer(rebasing: text[range])).class.contains(.secret)
  }

  /// `/commits/…`: the hash of something public to those who may see it.
  private static func announcesContent(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    isPlace(text, range, in: contentPlaces)
  }

  /// `/services/T…/B…/…`, the address of a Slack webhook, is all it takes to use it.
  private static func isChatWebhook(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    range.count >= 9 && text[range.lowerBound] == UInt8(ascii: "B")
      && text[range].allSatisfy { $0 &- UInt8(ascii: "A") < 26 || ASCII.isDigit($0) }
  }

  private static func isPlace(
    _ text: UnsafeRawBufferPointer, _ range: Range<Int>, in places: [StaticString]
  ) -> Bool {
    places.contains { range.count == $0.utf8CodeUnitCount && text.holds(caseless: $0, at: range.lowerBound) }
  }

  private static let secretPlaces: [StaticString] = [
    "reset", "reset-password", "password-reset", "verify", "verify-email", "confirm", "activate", "activation",
    "invite", "invites", "invitation", "invitations", "join", "magic", "magic-link", "unsubscribe", "share", "shared",
    "session",
    "sessions", "auth", "key", "keys", "webhook", "webhooks", "hooks", "callback",
  ]
  private static let contentPlaces: [StaticString] = [
    "commit", "commits", "blob", "blobs", "tree", "trees", "compare", "sha", "raw", "objects", "digests", "manifests",
    "checksums", "cas", "refs", "tags", "hash", "hashes", "block", "blocks", "tx", "layers",
  ]

  /// Whether a part of the segment, between characters that tokens don't have, is long and random.
  private static func hasRandomRun(_ segment: UnsafeRawBufferPointer) -> Bool {
    var start = 0
    for index in 0...segment.count where index == segment.count || !isRunByte(segment[index]) {
      let run = UnsafeRawBufferPointer(rebasing: segment[start..<index])
      let isDigest = start > 3 && segment.holds(":", at: start - 1) && isDigestName(segment[..<(start - 1)])
      if run.count >= byteCountMin, !isUUID(run), !isDigest, Randomness.isRandom(run) { return true }
      start = index + 1
    }
    return false
  }

  /// `sha256:…`, as registries of container images write it.
  private static func isDigestName(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
    let name = UnsafeRawBufferPointer(rebasing: name)
    return name.holds(caseless: "sha", at: name.count - 6) || name.holds(caseless: "sha1", at: name.count - 4)
      || name.holds(caseless: "md5", at: name.count - 3)
  }

  /// The everyday name of a thing in an API. RFC 9562 §4
  private static func isUUID(_ run: UnsafeRawBufferPointer) -> Bool {
    run.count == 36
      && run.indices.allSatisfy { index in
        let isHyphen = index == 8 || index == 13 || index == 18 || index == 23
        return isHyphen ? run[index] == UInt8(ascii: "-") : ASCII.hexValue(run[index]) != nil
      }
  }

  private static func isRunByte(_ byte: UInt8) -> Bool {
    byte.isWordByte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }

  private static func endsSegment(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "&"), UInt8(ascii: ";"),
      UInt8(ascii: "\""), UInt8(ascii: " "), UInt8(ascii: "<"), UInt8(ascii: ">"):
      true
    default: false
    }
  }
}
