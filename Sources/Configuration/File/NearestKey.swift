/// Finds what the user probably meant to write.
package enum NearestKey {
  /// The candidate nearest to `word`, if a third of its letters or fewer differ.
  package static func find(_ word: String, among candidates: some Sequence<String>) -> String? {
    let spelled = fold(word)
    guard !spelled.isEmpty, spelled.count <= KeyPath.keyCharactersMax else { return nil }
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let target = fold(candidate)
      let allowed = max(1, max(target.count, spelled.count) / 3)
      let nearer = min(allowed, best.map { $0.distance - 1 } ?? allowed)
      if let distance = distance(spelled, target, max: nearer) { best = (candidate, distance) }
    }
    return best?.candidate
  }

  /// `passAuthorization`, `pass-authorization` and `PASS_AUTHORIZATION` are the same slip.
  private static func fold(_ word: String) -> [UInt8] {
    word.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }.map {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
    }
  }

  /// Edits (insert, delete, replace, swap two neighbours) between `a` and `b`; nil beyond `max`.
  private static func distance(_ a: [UInt8], _ b: [UInt8], max: Int) -> Int? {
    guard max >= 0, abs(a.count - b.count) <= max else { return nil }
    var before: [Int] = []
    var previous = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let replaced = previous[j] + (a[i] == b[j] ? 0 : 1)
        var least = min(replaced, previous[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        row.append(least)
      }
      before = previous
      previous = row
    }
    return previous[b.count] <= max ? previous[b.count] : nil
  }
}
