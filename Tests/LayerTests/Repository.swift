import Foundation

/// The files of this repository, read from disk.
enum Repository {
  static let root = URL(filePath: #filePath)  // Tests/LayerTests/Repository.swift
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func entries(of folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted()
  }

  /// Every path below `folder`, relative to the root.
  static func paths(under folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path).map { "\(folder)/\($0)" }
  }

  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  static func swiftFiles(under folder: String) throws -> [SwiftFile] {
    try paths(under: folder).filter { $0.hasSuffix(".swift") }.sorted().map { path in
      SwiftFile(path: path, text: try text(of: path))
    }
  }
}
