#include "sparing/webnn/scheduler.h"

#include <algorithm>
#include <future>
#include <set>
#include <string>
#include <utility>

#include "sparing/base/check.h"

namespace sparing::webnn {

Status Scheduler::check_alive(const Task& task) const {
  for (const ResourceUse& use : task.uses) {
    if (use.resource->destroyed) {
      return Error{ErrorCode::kInvalidArgument, "tensor", "it has been destroyed",
                   "create a new one, or destroy it later"};
    }
  }
  return {};
}

// The unfinished tasks that must end before `task` (not yet added) may run.
std::vector<Task*> Scheduler::obstacles(const Task& task) const {
  std::vector<Task*> result;
  for (const auto& [resource, access] : task.uses) {
    if (resource->last_writer) result.push_back(resource->last_writer.get());
    if (access == Access::kRead) continue;
    for (const auto& reader : resource->readers) result.push_back(reader.get());
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// A body (visit_tensor's callback) may wait for further tasks. Such a task can never run if one of
// its obstacles waits, directly or through others, for the body to end.
bool Scheduler::would_wait_for_itself(const Task& task) const {
  if (!task.outer) return false;
  const std::vector<Task*> blocking = obstacles(task);
  std::set<const Task*> seen;
  std::vector<const Task*> open{task.outer.get()};
  while (!open.empty()) {
    const Task* current = open.back();
    open.pop_back();
    if (current == nullptr || !seen.insert(current).second) continue;
    if (std::binary_search(blocking.begin(), blocking.end(), current)) return true;
    open.push_back(current->outer.get());
    for (const auto& follower : current->followers) open.push_back(follower.get());
  }
  return false;
}

// True when the task may start at once.
bool Scheduler::enqueue(const std::shared_ptr<Task>& task) {
  const std::vector<Task*> blocking = obstacles(*task);
  for (Task* obstacle : blocking) obstacle->followers.push_back(task);
  task->blockers = static_cast<int>(blocking.size());
  for (const auto& [resource, access] : task->uses) {
    if (access == Access::kRead) {
      resource->readers.push_back(task);
    } else {
      resource->last_writer = task;
      resource->readers.clear();
    }
  }
  ++unfinished_;
  return task->blockers == 0;
}

void Scheduler::start(const std::shared_ptr<Task>& task) {
  // Moved out: what it holds on to must not live as long as the task.
  auto on_ready = std::exchange(task->on_ready, nullptr);
  on_ready(task);
}

Status Scheduler::add(const std::shared_ptr<Task>& task) {
  {
    std::lock_guard lock(mutex_);
    SPARING_RETURN_IF_ERROR(check_alive(*task));
    if (unfinished_ >= kMaxQueued) {
      return Error{ErrorCode::kInvalidArgument, "dispatch",
                   std::to_string(unfinished_) + " operations are queued already",
                   "wait for a completion before dispatching more"};
    }
    if (!enqueue(task)) return {};
  }
  start(task);
  return {};
}

Status Scheduler::run_here(std::vector<ResourceUse> uses, const std::function<void()>& body) {
  const auto task = std::make_shared<Task>();
  task->uses = std::move(uses);
  // Shared: the other thread may still be inside set_value when the wait here is over.
  const auto ready = std::make_shared<std::promise<void>>();
  task->on_ready = [ready](const auto&) { ready->set_value(); };
  const std::thread::id self = std::this_thread::get_id();
  bool at_once = false;
  {
    std::lock_guard lock(mutex_);
    SPARING_RETURN_IF_ERROR(check_alive(*task));
    if (const auto body_here = bodies_.find(self); body_here != bodies_.end()) {
      task->outer = body_here->second;
    }
    if (would_wait_for_itself(*task)) {
      return Error{ErrorCode::kInvalidArgument, "tensor",
                   "the call would wait for the visit_tensor it is made from",
                   "make it after visit_tensor has returned"};
    }
    at_once = enqueue(task);
    bodies_[self] = task;
  }
  if (!at_once) ready->get_future().wait();

  struct Finish {  // also when the body throws: it is the caller's
    Scheduler* scheduler;
    const std::shared_ptr<Task>& task;
    std::thread::id self;
    ~Finish() {
      {
        std::lock_guard lock(scheduler->mutex_);
        if (task->outer) {
          scheduler->bodies_[self] = task->outer;
        } else {
          scheduler->bodies_.erase(self);
        }
      }
      scheduler->finish(task);
    }
  } finish_at_end{this, task, self};
  body();
  return {};
}

bool Scheduler::destroy(const std::shared_ptr<Resource>& resource, std::function<void()> release) {
  const auto task = std::make_shared<Task>();
  task->uses = {{resource, Access::kWrite}};
  task->on_ready = [this, release = std::move(release)](const std::shared_ptr<Task>& self) {
    release();
    finish(self);
  };
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(resource->destroyed, true)) return false;
    if (!enqueue(task)) return true;
  }
  start(task);
  return true;
}

void Scheduler::finish(const std::shared_ptr<Task>& task, const std::function<void()>& announce) {
  std::vector<std::shared_ptr<Task>> ready;
  std::vector<ResourceUse> uses;  // may be the last to hold a resource: freed without the lock
  {
    std::lock_guard lock(mutex_);
    uses.swap(task->uses);
    for (const auto& [resource, access] : uses) {
      if (resource->last_writer == task) resource->last_writer.reset();
      std::erase(resource->readers, task);
    }
    for (auto& follower : task->followers) {
      if (--follower->blockers == 0) ready.push_back(std::move(follower));
    }
    task->followers.clear();
    SPARING_CHECK(unfinished_ > 0);
    if (--unfinished_ == 0) idle_.notify_all();
  }
  uses.clear();
  if (announce) announce();
  for (const auto& follower : ready) start(follower);
}

bool Scheduler::is_destroyed(const Resource& resource) {
  std::lock_guard lock(mutex_);
  return resource.destroyed;
}

void Scheduler::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return unfinished_ == 0; });
}

}  // namespace sparing::webnn
