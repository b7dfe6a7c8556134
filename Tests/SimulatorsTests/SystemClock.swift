import EventLoop

/// The clock the simulations of these tests run on.
enum SystemClock {
  static var unixSeconds: Int64 { SystemTime().wallNanoseconds / 1_000_000_000 }
}
