import Locking
import Synchronization
import Testing

@testable import Gateway

struct PlacesTests {
  @Test func `there are as many places as there are, again and again`() {
    let places = Places(limit: 2)
    for _ in 0..<3 {
      #expect(places.enter() && places.enter() && places.isFull)
      #expect(!places.enter() && !places.enter())
      places.leave()
      #expect(places.enter() && !places.enter())
      places.leave()
      places.leave()
    }
  }

  @Test func `threads share them exactly`() {
    let places = Places(limit: 3)
    let inside = Atomic(0)
    let most = Atomic(0)
    onThreads(4) {
      for _ in 0..<50_000 where places.enter() {
        most.max(inside.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
        inside.subtract(1, ordering: .relaxed)
        places.leave()
      }
    }
    let mostInside = most.load(ordering: .relaxed)
    #expect(mostInside <= 3)
    let isFree = (0..<4).map { _ in places.enter() }
    #expect(isFree == [true, true, true, false])
  }

  @Test func `who finds no connection's place is called in turn, one for each that is left`() {
    let places = ConnectionPlaces(limit: 1)
    let called = Called()
    #expect(places.enter() && !places.enter())
    for name in ["a", "b", "a"] { places.wait { called.names.withLock { $0.append(name) } } }
    #expect(called.all == [])
    for expected in [["a"], ["a", "b"], ["a", "b", "a"], ["a", "b", "a"]] {
      places.leave()
      #expect(called.all == expected)
      #expect(places.enter())
    }
  }

  @Test func `a place that was left in the meantime is told at once`() {
    let places = ConnectionPlaces(limit: 1)
    let called = Called()
    places.wait { called.names.withLock { $0.append("a") } }
    #expect(called.all == ["a"])
  }

  private final class Called: Sendable {
    let names = Protected<[String]>([])
    var all: [String] { names.withLock { $0 } }
  }
}
