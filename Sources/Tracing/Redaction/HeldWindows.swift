import Cryptography
import Glibc
import Synchronization

/// Finds windows of eight bytes in a text: a hash table of where each may belong, with a bit set before it that tells
/// nearly every place where none of them stands.
///
/// Any thread searches while one, which holds the lock of the held secrets, adds and removes: every word is atomic, and a
/// place that is taken never moves. A table that is full is replaced.
final class HeldWindows: @unchecked Sendable {  // the counts that are no atomics belong to the holder of that lock
  /// What a window belongs to, in 32 bits: entry, form, place, and some bits of the window's hash.
  struct Owner {
    static let entriesMax = 1 << 17 - 2
    fileprivate static let empty: UInt32 = 0
    /// Entry 0 of any form is nobody.
    fileprivate static let removed: UInt32 = 1 << 17
    fileprivate let bits: UInt32

    fileprivate init(bits: UInt32) { self.bits = bits }

    /// - Parameter place: how many bytes the window is away from the last one of its form, 0 to 3.
    init(entry: Int, form: HeldForm, place: Int) {
      bits = UInt32(entry + 1) | UInt32(form.rawValue) << 17 | UInt32(place) << 21
    }

    var entry: Int { Int(bits & 0x1_FFFF) - 1 }
    var form: HeldForm? { HeldForm(rawValue: UInt8(truncatingIfNeeded: bits >> 17 & 15)) }
    var place: Int { Int(bits >> 21 & 3) }
  }

  static let byteCount = 8
  private static let countMin = 256
  /// Each window has 16 bits and more, so that one place in 16 at most is looked at in vain.
  private static let filterBitsPerSlot = 16

  /// The distance between the places of a text that are looked at, and the number of windows that each form has here.
  let stride: Int
  /// Odd, and nobody's guess: whoever chooses secrets or texts must not choose where they fall.
  private let factor: UInt64
  private let slotBits: UInt64
  private let slots: UnsafeMutablePointer<Atomic<UInt32>>
  private let filterBits: UInt64
  private let filter: UnsafeMutablePointer<Atomic<UInt64>>
  private let live = Atomic<Int>(0)
  private var removedCount = 0
  /// Windows whose bits are still set although they are gone.
  private var staleCount = 0

  init(stride: Int, countMax: Int) {
    self.stride = stride
    let slotCount = max(Self.countMin, countMax * 2)
    slotBits = UInt64(Int.bitWidth - (slotCount - 1).leadingZeroBitCount)
    filterBits = slotBits + UInt64(Self.filterBitsPerSlot.trailingZeroBitCount)
    slots = .allocate(capacity: 1 << Int(slotBits))
    filter = .allocate(capacity: 1 << Int(filterBits) / 64)
    for index in 0..<1 << Int(slotBits) { (slots + index).initialize(to: Atomic(Owner.empty)) }
    for index in 0..<1 << Int(filterBits) / 64 { (filter + index).initialize(to: Atomic(0)) }
    factor = SecureRandom.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } | 1
  }

  deinit {
    // Hashes tell something of what they are of.
    explicit_bzero(slots, MemoryLayout<UInt32>.stride << Int(slotBits))
    explicit_bzero(filter, 1 << Int(filterBits) / 8)
    slots.deallocate()
    filter.deallocate()
  }

  var count: Int { live.load(ordering: .relaxed) }

  func hasRoom(for more: Int) -> Bool { (count + removedCount + more) * 4 <= 3 << Int(slotBits) }

  /// Whether so much has been removed that a new table finds faster.
  var isWorn: Bool { staleCount > count + Self.countMin }

  // MARK: Adding and removing

  func add(_ window: UInt64, _ owner: Owner) {
    let hash = hash(window)
    filter[word(hash)].bitwiseOr(bit(hash), ordering: .relaxed)
    var slot = firstSlot(hash)
    while Owner(bits: slots[slot].load(ordering: .relaxed)).entry >= 0 { slot = next(slot) }
    if slots[slot].load(ordering: .relaxed) == Owner.removed { removedCount -= 1 }
    slots[slot].store(owner.bits | tag(hash), ordering: .relaxed)
    live.add(1, ordering: .relaxed)
  }

  func remove(_ window: UInt64, _ owner: Owner) {
    let hash = hash(window)
    var slot = firstSlot(hash)
    while slots[slot].load(ordering: .relaxed) != owner.bits | tag(hash) { slot = next(slot) }
    slots[slot].store(Owner.removed, ordering: .relaxed)
    live.subtract(1, ordering: .relaxed)
    removedCount += 1
    staleCount += 1
  }

  /// Whether so many owners share the window that one more would slow everything down.
  func isCrowded(_ window: UInt64) -> Bool {
    var sharers = 0
    forEachOwner(of: hash(window)) { _ in sharers += 1 }
    return sharers >= 16
  }

  // MARK: Searching

  /// Calls `body` with each window that may stand in `text`, and where.
  func scan(_ text: UnsafeRawBufferPointer, _ body: (Owner, Int) -> Void) {
    guard count > 0, let start = text.baseAddress else { return }
    // Every line of the log comes here: nothing is called or checked for a place where nothing stands.
    let (filter, shift, factor, stride) = (filter, 64 &- filterBits, factor, stride)
    let last = text.count - Self.byteCount
    var place = 0
    while place <= last {
      let hash = Self.hash(Self.folded((start + place).loadUnaligned(as: UInt64.self)), factor)
      let bit = hash &>> shift
      if filter[Int(truncatingIfNeeded: bit &>> 6)].load(ordering: .relaxed) &>> (bit & 63) & 1 == 1 {
        forEachOwner(of: hash) { body($0, place) }
      }
      place &+= stride
    }
  }

  private func forEachOwner(of hash: UInt64, _ body: (Owner) -> Void) {
    var slot = firstSlot(hash)
    while true {
      let bits = slots[slot].load(ordering: .relaxed)
      if bits == Owner.empty { return }
      if bits & Self.tagMask == tag(hash), Owner(bits: bits).entry >= 0 { body(Owner(bits: bits)) }
      slot = next(slot)
    }
  }

  // MARK: Hashes

  /// Lower and upper case are one, as they are in hexadecimal; so are a few other characters.
  @inline(__always)
  static func folded(_ window: UInt64) -> UInt64 { window | 0x2020_2020_2020_2020 }

  @inline(__always)
  private static func hash(_ window: UInt64, _ factor: UInt64) -> UInt64 { (window ^ window >> 32) &* factor }

  private static let tagMask: UInt32 = 0xFF80_0000

  private func hash(_ window: UInt64) -> UInt64 { Self.hash(window, factor) }
  private func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 6) & Self.tagMask }
  private func firstSlot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> (64 - slotBits)) }
  private func next(_ slot: Int) -> Int { (slot + 1) & (1 << Int(slotBits) - 1) }
  private func word(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> (70 - filterBits)) }
  private func bit(_ hash: UInt64) -> UInt64 { 1 << (hash >> (64 - filterBits) & 63) }
}
