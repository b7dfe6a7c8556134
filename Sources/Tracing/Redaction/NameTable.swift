/// The known names by their identities: open addressing over two flat blocks, so that a look costs a few instructions.
final class NameTable: @unchecked Sendable {  // nothing changes after init
  private let identities: UnsafeMutableBufferPointer<UInt64>
  private let classes: UnsafeMutableBufferPointer<NameClass>
  private let mask: Int

  /// - Parameter lists: of names that belong to a class, with white space between them. A later list overrides.
  init(_ lists: [(names: String, class: NameClass)]) {
    var known: [UInt64: NameClass] = [:]
    for list in lists {
      for name in list.names.split(whereSeparator: \.isWhitespace) {
        known[Self.identity(name.utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: ".") })] = list.class
      }
    }
    let capacity = 1 << (Int.bitWidth - (known.count * 4).leadingZeroBitCount)
    mask = capacity - 1
    identities = .allocate(capacity: capacity)
    identities.initialize(repeating: 0)
    classes = .allocate(capacity: capacity)
    classes.initialize(repeating: [])
    for (identity, nameClass) in known {
      let place = place(of: identity)
      identities[place] = identity
      classes[place] = nameClass
    }
  }

  deinit {
    identities.deallocate()
    classes.deallocate()
  }

  /// The class of the name, or `nil` if it is in no list.
  subscript(identity: UInt64) -> NameClass? {
    let place = place(of: identity)
    return identities[place] == identity ? classes[place] : nil
  }

  /// Where the identity is, or the free place where it would be.
  private func place(of identity: UInt64) -> Int {
    var place = Int(truncatingIfNeeded: identity) & mask
    while identities[place] != identity, identities[place] != 0 { place = (place + 1) & mask }
    return place
  }

  /// FNV-1a of a folded name. A name that collides with a listed one is treated like it, which harms nobody.
  static func identity(_ folded: some Sequence<UInt8>) -> UInt64 {
    folded.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
