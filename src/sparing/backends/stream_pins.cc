#include "sparing/backends/stream_pins.h"

#include <unistd.h>

#include <string>

namespace sparing::openvino {
namespace {

bool may_use(const cpu_set_t& set, int core) {
  return core >= 0 && core < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(core), &set);
}

}  // namespace

StreamPins::~StreamPins() {
  for (const auto& [thread, cores] : previous_) sched_setaffinity(thread, sizeof cores, &cores);
}

void StreamPins::pin_this_thread() {
  if (cores_.empty()) return;
  const pid_t thread = gettid();
  std::lock_guard lock(mutex_);
  if (previous_.count(thread) > 0) return;
  cpu_set_t before;
  if (sched_getaffinity(thread, sizeof before, &before) != 0) return;
  const std::size_t core = static_cast<std::size_t>(cores_[previous_.size() % cores_.size()]);
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  CPU_SET(core, &wanted);
  if (sched_setaffinity(thread, sizeof wanted, &wanted) == 0) previous_[thread] = before;
}

bool are_all_cores(const std::vector<int>& cores) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return false;
  for (const int core : cores) {
    if (!may_use(set, core)) return false;
  }
  return static_cast<int>(cores.size()) == CPU_COUNT(&set);
}

Status check_cores(const std::vector<int>& cores) {
  cpu_set_t set;
  if (cores.empty() || sched_getaffinity(0, sizeof set, &set) != 0) return {};
  for (const int core : cores) {
    if (may_use(set, core)) continue;
    return Error{ErrorCode::kInvalidArgument, "core " + std::to_string(core),
                 "this process may not use it",
                 "name some of the " + std::to_string(CPU_COUNT(&set)) + " that nproc counts"};
  }
  return {};
}

}  // namespace sparing::openvino
