#include "signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace sparing::cli {
namespace {

// Who started us wants it to have no effect: nohup SIGHUP, a shell without job control the Ctrl-C
// of what it started in the background.
bool is_ignored(int number) {
  struct sigaction action = {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

std::stop_token stop_on_signals() {
  // std::stop_source may not be used in a signal handler, so one thread waits for the signals that
  // all others (made after this call) have blocked.
  static const std::stop_token token = [] {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (!is_ignored(number)) sigaddset(&set, number);
    }
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::stop_source source;
    std::thread([set, source]() mutable {
      int number = 0;
      // With all of them ignored, it waits for ever.
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
