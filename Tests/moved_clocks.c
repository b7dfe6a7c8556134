// A machine whose clocks a test moves: preloaded into a program, it adds to what the clocks say.
//
//   cc -shared -fPIC -o moved_clocks.so moved_clocks.c
//   MOVED_CLOCKS=FILE LD_PRELOAD=./moved_clocks.so proofd serve
//
// FILE holds two 64-bit numbers in the machine's byte order: nanoseconds to add to the wall clock, and to the boot clock.
// They may change while the program runs. CLOCK_MONOTONIC stays as it is: it stands still while a machine sleeps.
// The kernel's timers know nothing of this, so a timer for a moment of a moved clock is set for the moment it stands for.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define DESCRIPTORS 4096

struct moves {
  _Atomic int64_t wall, boot;
};
static const struct moves *moves;
static _Atomic int timer_clocks[DESCRIPTORS]; // of each timer's descriptor: its clock, plus one

__attribute__((constructor)) static void map_moves(void) {
  const char *path = getenv("MOVED_CLOCKS");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *place = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *moves, PROT_READ, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) abort();
  close(file);
  moves = place;
}

static int64_t move(clockid_t clock) {
  if (!moves) return 0;
  switch (clock) {
  case CLOCK_REALTIME:
  case CLOCK_REALTIME_COARSE: return atomic_load(&moves->wall);
  case CLOCK_BOOTTIME: return atomic_load(&moves->boot);
  default: return 0;
  }
}

static void add(struct timespec *time, int64_t nanoseconds) {
  int64_t sum = time->tv_sec * SECOND + time->tv_nsec + nanoseconds;
  time->tv_sec = sum / SECOND;
  time->tv_nsec = sum % SECOND;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  int64_t nanoseconds = move(clock);
  if (result == 0 && nanoseconds != 0) add(time, nanoseconds);
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place) *place = now.tv_sec;
  return now.tv_sec;
}

int timerfd_create(clockid_t clock, int flags) {
  int descriptor = (int)syscall(SYS_timerfd_create, clock, flags);
  if (descriptor >= 0 && descriptor < DESCRIPTORS) atomic_store(&timer_clocks[descriptor], clock + 1);
  return descriptor;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
  struct itimerspec real = *new;
  int clock = descriptor < DESCRIPTORS ? atomic_load(&timer_clocks[descriptor]) - 1 : -1;
  if ((flags & TFD_TIMER_ABSTIME) && clock >= 0 && (real.it_value.tv_sec || real.it_value.tv_nsec)) {
    add(&real.it_value, -move(clock));
    if (real.it_value.tv_sec < 0 || real.it_value.tv_nsec < 0) real.it_value = (struct timespec){0, 1};
  }
  return (int)syscall(SYS_timerfd_settime, descriptor, flags, &real, old);
}
