import Foundation

/// A child process whose output is of interest.
enum Program {
  /// - Returns: what it wrote to standard output.
  static func run(_ path: String, _ arguments: [String]) async throws -> String {
    let output = Pipe()
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardOutput = output
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        do {
          try process.run()
          let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
          process.waitUntilExit()
          continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
        } catch { continuation.resume(throwing: error) }
      }
    }
  }
}
