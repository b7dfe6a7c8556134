import Foundation
import Testing

/// The committed inputs of the fuzzers.
enum Corpus {
  struct Seed: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    var testDescription: String { name }

    /// In how many pieces it is sent: whole, cut in two in up to `cutsMax` places, byte by byte (a long one in sevens).
    func cuttings(cutsMax: Int) -> [[ArraySlice<UInt8>]] {
      let inTwo = stride(from: 1, to: bytes.count, by: 1 + bytes.count / cutsMax).map { [bytes[..<$0], bytes[$0...]] }
      let length = bytes.count > 200 ? 7 : 1
      let inMany = stride(from: 0, to: bytes.count, by: length).map { bytes[$0..<min($0 + length, bytes.count)] }
      return inTwo + [inMany]
    }
  }

  private static let root = URL(filePath: #filePath)  // Tests/HTTPTransportTests/Support/Corpus.swift
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fuzzing/Corpus")

  /// The seeds of one fuzzer, each behind `prefix`.
  static func seeds(of target: String, behind prefix: String = "") -> [Seed] {
    let folder = root.appending(path: target)
    // A folder that is gone is an empty one: the tests ask for more.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().compactMap { name in
      FileManager.default.contents(atPath: folder.appending(path: name).path).map {
        Seed(name: name, bytes: Array(prefix.utf8) + Array($0))
      }
    }
  }
}
