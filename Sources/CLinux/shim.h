#pragma once
// Kernel interfaces that Swift's Glibc module does not show.
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <netdb.h>
#include <netinet/tcp.h>

/// accept4 with the plain argument types (glibc declares a transparent union that Swift cannot call).
static inline int proofd_accept(int listener, struct sockaddr_storage *address, socklen_t *addressBytes) {
  return accept4(listener, (struct sockaddr *)address, addressBytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// The process's environment (Swift cannot tell that nothing here changes it).
static inline char *const *proofd_environment(void) { return __environ; }

/// POLLRDHUP, which glibc shows to _GNU_SOURCE only.
static const short proofd_poll_peer_ended = 0x2000;

/// To open what a path names and neither to read nor to follow it; glibc shows O_PATH to _GNU_SOURCE only.
static const int proofd_open_path_only = 010000000 | O_NOFOLLOW | O_CLOEXEC;

/// Names the calling thread for ps and top; at most 15 bytes are kept.
static inline void proofd_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

// prctl takes what it takes as variadic arguments, which Swift cannot pass.
static inline int proofd_set_dumpable(unsigned long allowed) { return prctl(PR_SET_DUMPABLE, allowed, 0, 0, 0); }
static inline int proofd_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

// recv and send without glibc's bookkeeping for pthread_cancel, two atomic exchanges a call in a process with threads.
// Nothing here cancels threads.
static inline ssize_t proofd_receive(int descriptor, void *bytes, size_t count) {
  return syscall(SYS_recvfrom, descriptor, bytes, count, 0, NULL, NULL);
}

static inline ssize_t proofd_send(int descriptor, const void *bytes, size_t count) {
  return syscall(SYS_sendto, descriptor, bytes, count, MSG_NOSIGNAL, NULL, 0);
}
