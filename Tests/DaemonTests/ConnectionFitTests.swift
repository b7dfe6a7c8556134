import Configuration
import Testing

@testable import Daemon

struct ConnectionFitTests {
  private func fit(_ connections: Int, threads: Int = 2, descriptors: Int) -> ConnectionFit {
    var configuration = Configuration(
      file: "f", stateDirectory: "/s", store: StoreConfiguration(key: .passphrase), threads: threads)
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
    let fit = fit(9_999, descriptors: descriptors - 2)
    #expect(fit.connections == max(1, connections - 1))
    let warning = try #require(fit.warning)
    #expect(warning.hasPrefix("limits.connections is 9999, but the system allows \(descriptors - 2) open files: "))
    #expect(warning.contains(" \(fit.connections) connections") && warning.hasSuffix("to at least 20072"))
  }

  @Test(arguments: [(20_073, 9_999, false), (10_074, 5_000, false), (10_073, 4_999, true)])
  func `the default is fitted in silence down to its half`(descriptors: Int, connections: Int, isTold: Bool) {
    let fit = fit(10_000, descriptors: descriptors)
    #expect(fit.connections == connections)
    #expect((fit.warning != nil) == isTold)
  }
}
