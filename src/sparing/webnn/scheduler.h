// Orders operations on shared resources (tensors): each runs after the earlier ones that it
// conflicts with, and independent ones run at the same time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sparing/base/result.h"

namespace sparing::webnn {

struct Task;

// What tasks are ordered by. All members belong to the scheduler and its lock.
struct Resource {
  std::shared_ptr<Task> last_writer;           // the newest unfinished task that writes
  std::vector<std::shared_ptr<Task>> readers;  // unfinished, newer than last_writer
  bool destroyed = false;
};

enum class Access { kRead, kWrite };

struct ResourceUse {
  std::shared_ptr<Resource> resource;
  Access access;
};

// One operation. `uses` and `on_ready` are set before it is added; the rest is the scheduler's.
struct Task {
  std::vector<ResourceUse> uses;
  // Called once with the task itself, when nothing stands before it any more, on the thread that
  // removed the last obstacle and without the lock.
  std::function<void(const std::shared_ptr<Task>&)> on_ready;

  int blockers = 0;
  std::vector<std::shared_ptr<Task>> followers;
  std::shared_ptr<Task> outer;  // the task inside which this one's thread waits for it
};

// Thread-safe.
class Scheduler {
 public:
  // Dispatches that may wait; a bound that a caller reaches only by never waiting for any.
  static constexpr std::size_t kMaxQueued = 1024;

  // Adds a task that runs elsewhere and ends with finish(). kInvalidArgument: a resource is
  // destroyed, or kMaxQueued tasks wait already.
  Status add(const std::shared_ptr<Task>& task);

  // Adds a task, waits for its turn and runs `body` on this thread. kInvalidArgument: a resource is
  // destroyed, or the task could never run because it waits for one in whose body it was called.
  Status run_here(std::vector<ResourceUse> uses, const std::function<void()>& body);

  // Marks the resource as destroyed; `release` runs when all tasks on it are finished. False when
  // it was destroyed before.
  bool destroy(const std::shared_ptr<Resource>& resource, std::function<void()> release);

  bool is_destroyed(const Resource& resource);

  // Ends a task that add() took. `announce` is called when its resources are released and before
  // later tasks start.
  void finish(const std::shared_ptr<Task>& task, const std::function<void()>& announce = {});

  // Waits until no task is left.
  void drain();

 private:
  Status check_alive(const Task& task) const;
  std::vector<Task*> obstacles(const Task& task) const;
  bool would_wait_for_itself(const Task& task) const;
  bool enqueue(const std::shared_ptr<Task>& task);
  static void start(const std::shared_ptr<Task>& task);

  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t unfinished_ = 0;
  // The task whose body each thread is in (innermost).
  std::map<std::thread::id, std::shared_ptr<Task>> bodies_;
};

}  // namespace sparing::webnn
