import Testing

@testable import Gateway

struct WaitingRoomTests {
  @Test func `a room takes as many as it has places, again and again`() {
    let room = WaitingRoom(limit: 2)
    for _ in 0..<3 {
      #expect(room.enter() && room.enter())
      #expect(!room.enter() && !room.enter())
      room.leave()
      #expect(room.enter() && !room.enter())
      room.leave()
      room.leave()
    }
  }
}
