import Glibc

/// What the calling thread has computed: a measure that other work on the machine does not blur.
enum ThreadTime {
  static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
}
