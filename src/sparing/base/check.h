// SPARING_CHECK: a broken invariant of our own. Never for a user's input: that is an Error.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SPARING_CHECK(condition)                                                             \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
