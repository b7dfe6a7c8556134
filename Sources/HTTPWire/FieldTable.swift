/// One field line of a parsed head: where its name and value are, and what the name is.
@usableFromInline
package struct Field: Sendable, Equatable {
  @usableFromInline package var name: ByteRange
  /// Without the whitespace around it.
  @usableFromInline package var value: ByteRange
  @usableFromInline package var id: FieldID

  package init(name: ByteRange, value: ByteRange, id: FieldID) {
    self.name = name
    self.value = value
    self.id = id
  }
}

/// The fields of the head parsed last, in order. One per loop, reused: a parse allocates nothing.
///
/// The ranges are offsets into the bytes that were parsed; they must outlive the use of the table.
@usableFromInline
package final class FieldTable {
  package let capacity: Int
  @usableFromInline let storage: UnsafeMutablePointer<Field>
  /// Behind a pointer, because every access to a stored `var` of a class is checked for exclusivity at run time: half the
  /// time of a parse.
  @usableFromInline let countStorage: UnsafeMutablePointer<Int>
  /// A bit for each `FieldID` that is there: most questions are about fields that are not. The last bit is for a name
  /// that is not plain, see `FoldedName`.
  private let presence: UnsafeMutablePointer<UInt64>

  package init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    storage = .allocate(capacity: capacity)
    countStorage = .allocate(capacity: 1)
    countStorage.initialize(to: 0)
    presence = .allocate(capacity: 1)
    presence.initialize(to: 0)
  }

  deinit {
    storage.deallocate()
    countStorage.deallocate()
    presence.deallocate()
  }

  @inlinable package var count: Int { countStorage.pointee }

  @inlinable
  package subscript(index: Int) -> Field {
    precondition(index >= 0 && index < count)
    return storage[index]
  }

  package func removeAll() {
    countStorage.pointee = 0
    presence.pointee = 0
  }

  /// Adds a field; false when the table is full.
  @inline(__always)
  func append(_ field: Field) -> Bool {
    let count = countStorage.pointee
    guard count < capacity else { return false }
    (storage + count).initialize(to: field)
    countStorage.pointee = count + 1
    presence.pointee |= 1 &<< UInt64(field.id.rawValue)
    return true
  }

  /// The position of the first field with `id`, from `start` on.
  package func firstIndex(of id: FieldID, from start: Int = 0) -> Int? {
    guard has(id) else { return nil }
    var index = start
    while index < count {
      if storage[index].id == id { return index }
      index += 1
    }
    return nil
  }

  /// Whether any name holds other bytes than letters, digits and `-`, so that a server may fold it onto another one.
  package var hasUnusualNames: Bool { presence.pointee & Self.unusualBit != 0 }
  private static let unusualBit: UInt64 = 1 << 63

  func noteUnusualName() { presence.pointee |= Self.unusualBit }

  /// Whether any field has `id`.
  package func has(_ id: FieldID) -> Bool { presence.pointee &>> UInt64(id.rawValue) & 1 == 1 }

  /// How many fields have `id`.
  package func count(of id: FieldID) -> Int {
    var found = 0
    for index in 0..<count where storage[index].id == id { found += 1 }
    return found
  }

  /// The values of every field with `id`, in order, as text: for the rare fields that are parsed further.
  package func values(of id: FieldID, in head: UnsafeRawBufferPointer) -> [String] {
    (0..<count).filter { storage[$0].id == id }.map { String(decoding: head[storage[$0].value], as: UTF8.self) }
  }

  /// Whether a `Connection` field of `head` names the field called `name`, so that an intermediary must drop it.
  /// RFC 9110 §7.6.1
  package func isConnectionOption(_ name: UnsafeRawBufferPointer, in head: UnsafeRawBufferPointer) -> Bool {
    for index in 0..<count where storage[index].id == .connection {
      if CommaList(head[storage[index].value]).contains(caseInsensitively: name) { return true }
    }
    return false
  }
}
