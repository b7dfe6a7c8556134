import FoundationEssentials

extension Configuration {
  /// The surroundings of a file that decide what it means.
  package struct Surroundings: Sendable {
    /// The directory relative paths start from.
    package var baseDirectory: String
    /// What `~` is; nil when HOME is not set.
    package var home: String?
    /// `XDG_STATE_HOME`, if set.
    package var stateHome: String?
    /// Processors that can run threads.
    package var cores: Int

    package init(baseDirectory: String, home: String?, stateHome: String? = nil, cores: Int = 1) {
      self.baseDirectory = baseDirectory
      self.home = home
      self.stateHome = stateHome
      self.cores = cores
    }
  }

  /// Reads a configuration out of the bytes of a file. Looks at nothing else.
  ///
  /// - Parameters:
  ///   - fileName: as problems are to name the file.
  ///   - baseDirectory: absolute, the directory of the file.
  ///   - home: what `~` is.
  /// - Returns: the configuration, nil if there is any error; and every problem, warnings included, from top to bottom.
  package static func parse(
    bytes: [UInt8], fileName: String, baseDirectory: String, home: String?
  ) -> (configuration: Configuration?, problems: [ConfigurationProblem]) {
    parse(bytes: bytes, fileName: fileName, surroundings: Surroundings(baseDirectory: baseDirectory, home: home))
  }

  /// As `parse(bytes:fileName:baseDirectory:home:)`, with all that a file may depend on.
  package static func parse(
    bytes: [UInt8], fileName: String, surroundings: Surroundings
  ) -> (configuration: Configuration?, problems: [ConfigurationProblem]) {
    let problems = ProblemList(file: fileName)
    let context = ReadingContext(problems: problems, surroundings: surroundings)
    let configuration = context.readConfiguration(YAMLReader.read(bytes, problems: problems), file: fileName)
    return (configuration, problems.sorted())
  }

  /// `$XDG_CONFIG_HOME/proofd/proofd.yaml`; nil when neither that nor HOME is set.
  package static func defaultPath(environment: [String: String]) -> String? {
    if let directory = absolute(environment["XDG_CONFIG_HOME"]) {
      return ReadingContext.join(directory, "proofd/proofd.yaml")
    }
    return absolute(environment["HOME"]).map { ReadingContext.join($0, ".config/proofd/proofd.yaml") }
  }

  /// The state directory of a configuration that names none; nil when neither XDG_STATE_HOME nor HOME is set.
  package static func defaultStateDirectory(environment: [String: String]) -> String? {
    if let directory = absolute(environment["XDG_STATE_HOME"]) { return ReadingContext.join(directory, "proofd") }
    return absolute(environment["HOME"]).map { ReadingContext.join($0, ".local/state/proofd") }
  }

  /// Reads a configuration file and looks whether the files and variables it counts on are there.
  ///
  /// - Parameters:
  ///   - path: absolute, or relative to the working directory; problems name it as it is given.
  ///   - environment: of the process: HOME, XDG_STATE_HOME, and the variables the file refers to.
  /// - Returns: as `parse`. A missing certificate file is an error, a missing secret a warning: it may still come.
  package static func load(
    path: String, environment: [String: String]
  ) -> (configuration: Configuration?, problems: [ConfigurationProblem]) {
    let problems = ProblemList(file: path)
    guard let bytes = contents(path, problems) else { return (nil, problems.sorted()) }
    let absolutePath = path.hasPrefix("/") ? path : ReadingContext.join(FileManager.default.currentDirectoryPath, path)
    let directory = absolutePath[..<(absolutePath.lastIndex(of: "/") ?? absolutePath.startIndex)]
    let surroundings = Surroundings(
      baseDirectory: directory.isEmpty ? "/" : String(directory), home: absolute(environment["HOME"]),
      stateHome: absolute(environment["XDG_STATE_HOME"]), cores: ProcessInfo.processInfo.activeProcessorCount)
    let context = ReadingContext(problems: problems, surroundings: surroundings)
    let configuration = context.readConfiguration(YAMLReader.read(bytes, problems: problems), file: path)
    context.checkNeeds(environment: environment)
    return (problems.hasErrors ? nil : configuration, problems.sorted())
  }

  /// The XDG specification has relative values ignored.
  private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

  private static func contents(_ path: String, _ problems: ProblemList) -> [UInt8]? {
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      if let type = attributes[.type] as? FileAttributeType, type == .typeDirectory {
        problems.add(.wholeFile, "", "is a directory; a file is needed")
        return nil
      }
      if let size = attributes[.size] as? UInt64, size > YAMLReader.fileBytesMax {
        problems.add(.wholeFile, "", "the file is larger than 1 MiB")
        return nil
      }
      return Array(try Data(contentsOf: URL(filePath: path)))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      problems.add(.wholeFile, "", "there is no such file")
    } catch {
      problems.add(.wholeFile, "", "the file can't be read")
    }
    return nil
  }
}

extension ReadingContext {
  /// Reports what the configuration counts on and is not there.
  fileprivate func checkNeeds(environment: [String: String]) {
    for need in needs {
      switch need.kind {
      case .variable(let name):
        if environment[name, default: ""].isEmpty { need.entry.warn("the environment variable is not set") }
      case .secretFile(let path):
        if !FileManager.default.isReadableFile(atPath: path) {
          need.entry.warn("the file is not there or can't be read")
        }
      case .certificates(let path):
        if !FileManager.default.isReadableFile(atPath: path) {
          need.entry.report("the file is not there or can't be read")
        }
      }
    }
  }
}
