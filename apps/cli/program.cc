#include "program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "exit_codes.h"
#include "runtime.h"

extern char** environ;

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPoll{50};

// Signals that we block to hear of them as a stop (signals.h) must reach the program as usual.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&value_);
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&value_, &set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    posix_spawnattr_setsigdefault(&value_, &set);
    posix_spawnattr_setflags(&value_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { posix_spawnattr_destroy(&value_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &value_; }

 private:
  posix_spawnattr_t value_;
};

// The value of an environment variable, or empty.
std::string environment(const char* name) {
  const char* set = std::getenv(name);
  return set != nullptr ? set : "";
}

}  // namespace

int run_program(const std::vector<std::string>& words, const std::stop_token& stop) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const SpawnAttributes attributes;
  if (posix_spawnp(&child, arguments[0], nullptr, attributes.get(), arguments.data(), environ) !=
      0) {
    return -1;
  }
  int state = 0;
  bool told = false;
  while (true) {
    const pid_t ended = waitpid(child, &state, stop.stop_possible() ? WNOHANG : 0);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return -1;
    if (stop.stop_requested() && !told) {
      kill(child, SIGTERM);
      told = true;
    }
    if (stop.stop_possible()) std::this_thread::sleep_for(kPoll);
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : kExitInterrupted;
}

std::string tool_python() {
  if (const std::string set = environment("SPARING_PYTHON"); !set.empty()) return set;
  const fs::path own = deps_dir() / "python" / "bin" / "python3";
  std::error_code error;
  return fs::exists(own, error) ? own.string() : "python3";
}

fs::path quantize_python() {
  if (const std::string set = environment("SPARING_QUANTIZE_PYTHON"); !set.empty()) return set;
  const fs::path own = deps_dir() / "python-quantize" / "bin" / "python3";
  std::error_code error;
  return fs::exists(own, error) ? own : fs::path();
}

}  // namespace sparing::cli
