/// Lets only so many scenes play at once: each is a daemon, two servers and their threads, and what a scene does is counted in
/// milliseconds by the timeouts it is about.
actor Stage {
  static let shared = Stage(places: 4)

  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(places: Int) { free = places }

  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  func leave() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
