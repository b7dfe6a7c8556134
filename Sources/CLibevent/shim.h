#pragma once
// event-config.h defines _GNU_SOURCE; glibc must have been read without it first, or Swift's Glibc module and
// this one disagree about fd_set in debug builds.
#include <sys/select.h>
#include <event2/event.h>
