package import Configuration
package import Credentials
import EventLoop
import HTTPTransport
import OAuth

/// The accounts of a configuration without a daemon: for commands, on the same store and by the same rules.
package final class LocalAccounts: Sendable {
  private let control: ControlLoop
  private let book: AccountBook

  /// - Throws: `DaemonError` for a configuration that can't be served.
  package init(_ configuration: Configuration) throws(DaemonError) {
    let control = ControlLoop(resolver: Resolver())
    do throws(DaemonError) {
      var trust = TrustStore()
      book = try CredentialAssembly(
        configuration, control: control, hub: nil, skews: ClockSkewTable(), trust: &trust, probes: .none
      ).book
    } catch {
      control.stop()
      throw error
    }
    self.control = control
  }

  package var service: any AccountService { book }

  /// Blocks until refreshes that are under way have come to their end.
  package func close() {
    let settled = ThreadGate()
    Task {
      await book.stop()
      settled.open()
    }
    settled.wait()
    control.stop()
  }
}
