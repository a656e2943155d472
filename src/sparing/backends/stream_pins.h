// Ties an engine's inference threads to cores.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <map>
#include <mutex>
#include <vector>

#include "sparing/base/result.h"

namespace sparing::openvino {

// The engine creates its own threads, and shows them only where it calls back: there each new one
// gets the next core. The destructor gives them their old cores back, because the engine keeps its
// threads for later graphs. Thread-safe.
class StreamPins {
 public:
  explicit StreamPins(std::vector<int> cores) : cores_(std::move(cores)) {}
  ~StreamPins();
  StreamPins(const StreamPins&) = delete;
  StreamPins& operator=(const StreamPins&) = delete;

  // Called on an inference thread. With no cores given it does nothing.
  void pin_this_thread();

 private:
  const std::vector<int> cores_;
  std::mutex mutex_;
  std::map<pid_t, cpu_set_t> previous_;
};

// True when `cores` are all that this process may use, so that there is nothing to pin.
bool are_all_cores(const std::vector<int>& cores);

// kInvalidArgument: a core that this process may not use.
Status check_cores(const std::vector<int>& cores);

}  // namespace sparing::openvino
