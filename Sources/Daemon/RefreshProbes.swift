package import Credentials

/// Told how far each refresh has come before it goes on, from any thread: so that a test can end the process there.
package struct RefreshProbes: Sendable {
  package let refresh: @Sendable (RefreshStep) -> Void
  package let store: @Sendable (StoreStep) -> Void

  package init(
    refresh: @escaping @Sendable (RefreshStep) -> Void, store: @escaping @Sendable (StoreStep) -> Void
  ) {
    self.refresh = refresh
    self.store = store
  }

  package static let none = RefreshProbes(refresh: { _ in }, store: { _ in })
}
