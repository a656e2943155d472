// Worker threads with names and, on request, fixed cores.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace sparing {

struct ThreadPoolOptions {
  std::string name = "worker";  // threads are called name-0, name-1, ...; cut to 15 characters
  int threads = 0;              // 0: as many as there are cores
  std::vector<int> cores;       // worker i runs on cores[i % size()]; empty: anywhere
  // Idle workers, and a parallel_for that waits for its last, look for what is to come this long
  // before they sleep. Waking up takes tens of microseconds, as long as many a task; but who looks
  // keeps a core busy.
  std::chrono::microseconds spin{0};
};

// Tasks start in the order of submission. Thread-safe. The destructor runs what is queued, then
// joins; it must not run on one of the pool's own workers. Tasks and loop bodies must not throw
// (the program ends if one does), but for those of async(), whose exceptions come out of
// future.get().
class ThreadPool {
 public:
  explicit ThreadPool(const ThreadPoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // May be less than asked for when the system has no more threads; with none at all, submit() runs
  // the task itself.
  int size() const { return static_cast<int>(workers_.size()); }
  // Workers that could not be pinned to their core (no such core, or not allowed).
  int unpinned() const { return unpinned_; }

  void submit(std::function<void()> task);

  template <class F>
  auto async(F function) -> std::future<std::invoke_result_t<F>> {
    auto task =
        std::make_shared<std::packaged_task<std::invoke_result_t<F>()>>(std::move(function));
    auto future = task->get_future();
    submit([task] { (*task)(); });
    return future;
  }

  // Calls body(i) for every i in [0, count) on the workers and the calling thread, and returns when
  // all are done. May be called from a worker.
  void parallel_for(int count, const std::function<void(int)>& body);

 private:
  void run() noexcept;
  // Until `ready`, but no longer than the options' spin.
  template <class Ready>
  void spin_until(const Ready& ready) const;

  std::chrono::microseconds spin_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::atomic<int> queued_{0};  // tasks_.size(), for those that look without the lock
  bool stopping_ = false;
  int unpinned_ = 0;
};

// Cores this process may run on.
int available_cores();
// Names the calling thread, as debuggers and top -H show it.
void set_current_thread_name(const std::string& name);

}  // namespace sparing
