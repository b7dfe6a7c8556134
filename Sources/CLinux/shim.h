#pragma once
// Kernel interfaces that Swift's Glibc module does not show.
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <netdb.h>
#include <netinet/tcp.h>

/// accept4 with the plain argument types (glibc declares a transparent union that Swift cannot call).
static inline int proofd_accept(int listener, struct sockaddr_storage *address, socklen_t *addressBytes) {
  return accept4(listener, (struct sockaddr *)address, addressBytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// Names the calling thread for ps and top; at most 15 bytes are kept.
static inline void proofd_name_thread(const char *name) { prctl(PR_SET_NAME, name); }
