import Configuration
import Testing

@testable import Daemon

struct ConnectionFitTests {
  private func fit(_ connections: Int, threads: Int = 2, descriptors: Int) -> ConnectionFit {
    var configuration = Configuration(file: "f", stateDirectory: "/s", threads: threads)
    configuration.limits.connectionsMax = connections
    return ConnectionFit(configuration, descriptors: descriptors)
  }

  @Test(arguments: [20_074, 1_048_576])
  func `what fits is taken as it is`(descriptors: Int) {
    let fit = fit(10_000, descriptors: descriptors)
    #expect(fit.connections == 10_000)
    #expect(fit.warning == nil)
  }

  @Test(arguments: [(20_073, 9_999), (1024, 475), (100, 13), (10, 2)])
  func `otherwise as many as two descriptors each allow, and a warning that names the figures`(
    descriptors: Int, connections: Int
  ) throws {
    let fit = fit(10_000, descriptors: descriptors)
    #expect(fit.connections == connections)
    let warning = try #require(fit.warning)
    #expect(warning.hasPrefix("limits.connections is 10000, but the system allows \(descriptors) open files: "))
    #expect(warning.contains(" \(connections) connections") && warning.hasSuffix("to at least 20074"))
  }
}
