import CLinux
import Glibc

/// What becomes of memory that is free again. A gateway lives for weeks, and its busiest minute must not stay.
package enum ProcessMemory {
  /// Blocks of this size and more are mapped one by one, and go back to the system when they are freed: kept bodies.
  private static let mappedBytesMin: Int32 = 128 << 10

  /// Keeps the allocator from raising that size with each large block it sees freed, as glibc does by itself: later
  /// ones would come from its arenas and stay there.
  package static func returnLargeBlocks() { _ = mallopt(M_MMAP_THRESHOLD, mappedBytesMin) }

  /// Lets go of the code of the program and its libraries that is mapped now. What goes on being used is mapped again,
  /// out of the kernel's cache; what only the start needed no longer counts as this process's memory.
  package static func releaseCode() {
    for range in executableRanges() { madvise(range.start, range.byteCount, MADV_DONTNEED) }
  }

  /// The mapped code: never written to, unlike what the dynamic linker relocates and then protects. proc_pid_maps(5)
  private static func executableRanges() -> [(start: UnsafeMutableRawPointer, byteCount: Int)] {
    guard let file = fopen("/proc/self/maps", "re") else { return [] }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var ranges: [(start: UnsafeMutableRawPointer, byteCount: Int)] = []
    while getline(&line, &capacity, file) > 0, let line {
      let parts = String(cString: line).split(separator: " ", omittingEmptySubsequences: true)
      guard parts.count >= 6, parts[1] == "r-xp", parts[5].hasPrefix("/") else { continue }
      let bounds = parts[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard bounds.count == 2, bounds[0] < bounds[1], let start = UnsafeMutableRawPointer(bitPattern: bounds[0]) else {
        continue
      }
      ranges.append((start, Int(bounds[1] - bounds[0])))
    }
    return ranges
  }

  /// Gives back the pages between blocks in use: for the quiet after a burst. Takes milliseconds.
  package static func trim() { _ = malloc_trim(0) }
}
