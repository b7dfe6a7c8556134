import Foundation
import Locking
import Testing

@testable import Credentials

@Suite struct StoreLeaseTests {
  @Test func `one holds it at a time, also within the process`() throws {
    let fixture = try StoreFixture()
    let (id, other) = (GrantID.random(), GrantID.random())
    let lease = try #require(try fixture.store.lease(id))
    #expect(try fixture.store.lease(id) == nil)
    #expect(try fixture.another().lease(id) == nil)
    #expect(try fixture.store.lease(other) != nil)
    lease.release()
    lease.release()
    #expect(try fixture.another().lease(id) != nil)
    #expect(try fixture.folder.entries(of: "state/leases").isEmpty)
  }

  @Test func `it ends with its last reference`() throws {
    let fixture = try StoreFixture()
    let id = GrantID.random()
    do { withExtendedLifetime(try fixture.store.lease(id)) {} }
    #expect(try fixture.store.lease(id) != nil)
  }

  @Test func `many who take and release it never hold it together`() throws {
    let fixture = try StoreFixture()
    let id = GrantID.random()
    let holders = Protected((now: 0, most: 0, taken: 0, failed: 0))
    let stores = (0..<8).map { _ in fixture.another() }
    DispatchQueue.concurrentPerform(iterations: stores.count) { index in
      for _ in 0..<200 {
        do throws(StoreError) {
          guard let lease = try stores[index].lease(id) else { continue }
          holders.withLock {
            $0.now += 1
            $0.taken += 1
            $0.most = max($0.most, $0.now)
          }
          holders.withLock { $0.now -= 1 }
          lease.release()
        } catch {
          holders.withLock { $0.failed += 1 }
        }
      }
    }
    let sum = holders.withLock { $0 }
    #expect(sum.most == 1 && sum.failed == 0 && sum.taken > 0)
  }

  @Test(arguments: ["../x", "", "a/b", ".", String(repeating: "a", count: 65)])
  func `an identity that is no name of a file has no lease`(id: String) throws {
    let fixture = try StoreFixture()
    #expect(throws: StoreError.unusable(path: "\(fixture.state)/leases", reason: "a grant has an impossible identity"))
    {
      try fixture.store.lease(GrantID(id))
    }
  }
}
