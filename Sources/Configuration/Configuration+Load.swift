import Glibc

extension Configuration {
  /// The surroundings of a file that decide what it means.
  package struct Surroundings: Sendable {
    /// The directory relative paths start from.
    package var baseDirectory: String
    /// What `~` is; nil when HOME is not set.
    package var home: String?
    /// `XDG_STATE_HOME`, if set.
    package var stateHome: String?
    /// `XDG_CONFIG_HOME`, if set.
    package var configHome: String?
    /// Processors that can run threads.
    package var cores: Int

    package init(
      baseDirectory: String, home: String?, stateHome: String? = nil, configHome: String? = nil, cores: Int = 1
    ) {
      self.baseDirectory = baseDirectory
      self.home = home
      self.stateHome = stateHome
      self.configHome = configHome
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
  ///   - environment: of the process: HOME, XDG_STATE_HOME, XDG_CONFIG_HOME, and the variables the file refers to.
  /// - Returns: as `parse`. A missing certificate file is an error, a missing secret a warning: it may still come.
  package static func load(
    path: String, environment: [String: String]
  ) -> (configuration: Configuration?, problems: [ConfigurationProblem]) {
    let problems = ProblemList(file: path)
    guard let bytes = contents(path, problems) else { return (nil, problems.sorted()) }
    let absolutePath = path.hasPrefix("/") ? path : ReadingContext.join(WorkingPlace.directory, path)
    let directory = absolutePath[..<(absolutePath.lastIndex(of: "/") ?? absolutePath.startIndex)]
    let surroundings = Surroundings(
      baseDirectory: directory.isEmpty ? "/" : String(directory), home: absolute(environment["HOME"]),
      stateHome: absolute(environment["XDG_STATE_HOME"]), configHome: absolute(environment["XDG_CONFIG_HOME"]),
      cores: WorkingPlace.processors)
    let context = ReadingContext(problems: problems, surroundings: surroundings)
    let configuration = context.readConfiguration(YAMLReader.read(bytes, problems: problems), file: path)
    context.checkNeeds(environment: environment)
    return (problems.hasErrors ? nil : configuration, problems.sorted())
  }

  /// The XDG specification has relative values ignored.
  private static func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }

  private static func contents(_ path: String, _ problems: ProblemList) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      problems.add(.wholeFile, "", errno == ENOENT ? "there is no such file" : "the file can't be read")
      return nil
    }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      problems.add(.wholeFile, "", "is a directory; a file is needed")
      return nil
    }
    guard let bytes = read(descriptor, bytesMax: YAMLReader.fileBytesMax) else {
      problems.add(.wholeFile, "", "the file can't be read")
      return nil
    }
    guard bytes.count <= YAMLReader.fileBytesMax else {
      problems.add(.wholeFile, "", "the file is larger than 1 MiB")
      return nil
    }
    return bytes
  }

  /// - Returns: all of a file, or one byte more than `bytesMax`; nil when it can't be read.
  private static func read(_ descriptor: Int32, bytesMax: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= bytesMax {
      let got = Glibc.read(descriptor, &piece, min(piece.count, bytesMax + 1 - bytes.count))
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return nil }
      if got == 0 { break }
      bytes += piece[..<got]
    }
    return bytes
  }
}

/// Where this process runs.
private enum WorkingPlace {
  static var directory: String {
    guard let path = getcwd(nil, 0) else { return "/" }  // it is gone
    defer { free(path) }
    return String(cString: path)
  }

  static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

extension ReadingContext {
  /// Reports what the configuration counts on and is not there.
  fileprivate func checkNeeds(environment: [String: String]) {
    for need in needs {
      switch need.kind {
      case .variable(let name):
        let value = environment[name, default: ""]
        if value.isEmpty {
          need.entry.warn("the environment variable is not set")
        } else if value.utf8.count < SecretReference.bytesMin {
          need.entry.warn(
            "the environment variable holds fewer than \(SecretReference.bytesMin) bytes, too few for a secret: it will not be used"
          )
        }
      case .secretFile(let path):
        if access(path, R_OK) != 0 {
          need.entry.warn("the file is not there or can't be read")
        }
      case .tlsFile(let path):
        if access(path, R_OK) != 0 {
          need.entry.report("the file is not there or can't be read")
        }
      }
    }
  }
}
