// Worker threads with names and, on request, fixed cores.
#pragma once

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
  std::string name = "worker";  // threads are called name-0, name-1, ... (15 characters at most)
  int threads = 0;              // 0: as many as there are cores
  std::vector<int> cores;       // worker i runs on cores[i % size()]; empty: anywhere
};

// Tasks run in the order of submission. Thread-safe. The destructor runs what is queued, then joins.
class ThreadPool {
 public:
  explicit ThreadPool(const ThreadPoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()); }
  // Workers that could not be pinned to their core (no such core, or not allowed).
  int unpinned() const { return unpinned_; }

  void submit(std::function<void()> task);

  template <class F>
  auto async(F function) -> std::future<std::invoke_result_t<F>> {
    auto task = std::make_shared<std::packaged_task<std::invoke_result_t<F>()>>(std::move(function));
    auto future = task->get_future();
    submit([task] { (*task)(); });
    return future;
  }

  // Calls body(i) for every i in [0, count) on the workers and the calling thread, and returns when
  // all are done. May be called from a worker.
  void parallel_for(int count, const std::function<void(int)>& body);

 private:
  void run();

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  int unpinned_ = 0;
};

// Cores this process may run on.
int available_cores();
// Names the calling thread, as debuggers and top -H show it.
void set_current_thread_name(const std::string& name);

}  // namespace sparing
