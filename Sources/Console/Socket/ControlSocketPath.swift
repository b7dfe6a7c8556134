/// Where the control socket is; the daemon and the commands agree on it here.
package enum ControlSocketPath {
  /// `$XDG_RUNTIME_DIR/proofd/control.sock`, else `control.sock` in the state directory.
  ///
  /// - Parameters:
  ///   - environment: of the process. A relative XDG_RUNTIME_DIR is ignored, as the XDG specification says.
  ///   - stateDirectory: absolute.
  package static func path(environment: [String: String], stateDirectory: String) -> String {
    inRuntimeDirectory(environment: environment) ?? stateDirectory + "/control.sock"
  }

  /// The path when it does not depend on the configuration.
  package static func inRuntimeDirectory(environment: [String: String]) -> String? {
    guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") else { return nil }
    return directory + "/proofd/control.sock"
  }
}
