#include "signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace sparing::cli {

std::stop_token stop_on_signals() {
  // std::stop_source may not be used in a signal handler, so one thread waits for the signals that
  // all others (made after this call) have blocked.
  static const std::stop_token token = [] {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::stop_source source;
    std::thread([set, source]() mutable {
      int number = 0;
      if (sigwait(&set, &number) != 0) return;
      source.request_stop();
      signal(number, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      while (true) pause();
    }).detach();
    return source.get_token();
  }();
  return token;
}

}  // namespace sparing::cli
