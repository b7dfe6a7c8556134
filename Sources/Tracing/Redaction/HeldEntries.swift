import Cryptography

/// The held values and the windows they are found by. Guarded by the lock of ``HeldSecrets``.
///
/// Of each form the last bytes, the part of a token that is most its own, are what a text is searched for.
struct HeldEntries {
  private struct Entry {
    let secret: Secret
    let label: String
    var holders: Int32 = 1
    /// So many bytes at the end are passed over: too many others end the same, as all PEM files do.
    let cut: Int32
  }

  /// A value as the key of a dictionary, without a copy of it.
  private struct Value: Hashable {
    let secret: Secret
    func hash(into hasher: inout Hasher) { secret.withUnsafeBytes { hasher.combine(bytes: $0) } }
  }

  /// Windows of a form that is long enough, and so the stride of the search for them.
  private static let windowsPerForm = 4
  private static let longFormBytesMin = HeldWindows.byteCount + windowsPerForm - 1
  private static let windowsMax = HeldForm.allCases.count * windowsPerForm
  /// A value is cut only if this much stays.
  private static let cutBytesMin = 32

  private var entries: [Entry?] = []
  private var freeNumbers: [Int] = []
  private var numbers: [Value: Int] = [:]
  private(set) var long = HeldWindows(stride: windowsPerForm, countMax: 0)
  private(set) var short = HeldWindows(stride: 1, countMax: 0)

  var count: Int { numbers.count }
  var labels: [String] { entries.compactMap { $0?.label } }

  /// - Returns: false if it is not held yet and `countMax` others are.
  mutating func hold(_ secret: Secret, label: String, countMax: Int) -> Bool {
    if let number = numbers[Value(secret: secret)] {
      entries[number]?.holders += 1
      return true
    }
    guard count < countMax else { return false }
    if !long.hasRoom(for: Self.windowsMax) || !short.hasRoom(for: Self.windowsMax) { rebuild() }
    let number = freeNumbers.popLast() ?? entries.count
    let entry = Entry(secret: secret, label: label, cut: cut(of: secret))
    if number == entries.count { entries.append(entry) } else { entries[number] = entry }
    numbers[Value(secret: secret)] = number
    Self.forEachWindow(of: entry, number) { window, owner, isLong in (isLong ? long : short).add(window, owner) }
    return true
  }

  mutating func release(_ secret: Secret) {
    guard let number = numbers[Value(secret: secret)], var entry = entries[number] else { return }
    entry.holders -= 1
    guard entry.holders == 0 else { return entries[number] = entry }
    Self.forEachWindow(of: entry, number) { window, owner, isLong in (isLong ? long : short).remove(window, owner) }
    numbers[Value(secret: secret)] = nil
    entries[number] = nil
    freeNumbers.append(number)
    if long.isWorn || short.isWorn { rebuild() }
  }

  private mutating func rebuild() {
    long = HeldWindows(stride: Self.windowsPerForm, countMax: long.count + Self.windowsMax)
    short = HeldWindows(stride: 1, countMax: short.count + Self.windowsMax)
    for (number, entry) in entries.enumerated() {
      guard let entry else { continue }
      Self.forEachWindow(of: entry, number) { window, owner, isLong in (isLong ? long : short).add(window, owner) }
    }
  }

  /// Where the value that owns a window found at `place` stands, if it does.
  func range(of owner: HeldWindows.Owner, at place: Int, in text: UnsafeRawBufferPointer) -> Range<Int>? {
    guard entries.indices.contains(owner.entry), let entry = entries[owner.entry], let form = owner.form else {
      return nil
    }
    let windowEnd = form.count(ofBytes: entry.secret.count - Int(entry.cut)) - owner.place
    return entry.secret.withUnsafeBytes {
      form.range(of: $0, at: place + HeldWindows.byteCount - windowEnd, in: text)
    }
  }

  private func cut(of secret: Secret) -> Int32 {
    secret.withUnsafeBytes { value in
      let cuts = (0..<4).map { value.count / 4 * $0 }.filter { $0 == 0 || value.count - $0 >= Self.cutBytesMin }
      let cut = cuts.first { !long.isCrowded(HeldForm.plain.window(endingAt: value.count - $0, of: value)) }
      return Int32(cut ?? 0)
    }
  }

  private static func forEachWindow(
    of entry: Entry, _ number: Int, _ body: (UInt64, HeldWindows.Owner, _ isLong: Bool) -> Void
  ) {
    entry.secret.withUnsafeBytes { value in
      for form in HeldForm.allCases {
        if form == .spacesAsPlusSigns, !value.contains(UInt8(ascii: " ")) { continue }
        let end = form.count(ofBytes: value.count - Int(entry.cut))
        let isLong = end >= longFormBytesMin
        for place in 0..<(isLong ? windowsPerForm : 1) {
          let window = form.window(endingAt: end - place, of: value)
          let standard = form.inStandardAlphabet
          if form != standard, window == standard.window(endingAt: end - place, of: value) { continue }
          body(window, HeldWindows.Owner(entry: number, form: form, place: place), isLong)
        }
      }
    }
  }
}
