import CLinux

/// What becomes of memory that is free again. A gateway lives for weeks, and its busiest minute must not stay.
package enum ProcessMemory {
  /// Blocks of this size and more are mapped one by one, and go back to the system when they are freed: kept bodies.
  private static let mappedBytesMin: Int32 = 128 << 10

  /// Keeps the allocator from raising that size with each large block it sees freed, as glibc does by itself: later
  /// ones would come from its arenas and stay there.
  package static func returnLargeBlocks() { _ = mallopt(M_MMAP_THRESHOLD, mappedBytesMin) }

  /// Gives back the pages between blocks in use: for the quiet after a burst. Takes milliseconds.
  package static func trim() { _ = malloc_trim(0) }
}
