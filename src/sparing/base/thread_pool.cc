#include "sparing/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <system_error>

namespace sparing {
namespace {

constexpr std::size_t kMaxThreadName = 15;  // the kernel's limit

bool pin(std::thread& thread, int core) {
  if (core < 0 || core >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return pthread_setaffinity_np(thread.native_handle(), sizeof set, &set) == 0;
}

}  // namespace

int available_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void set_current_thread_name(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, kMaxThreadName).c_str());
}

ThreadPool::ThreadPool(const ThreadPoolOptions& options) : spin_(options.spin) {
  const int count = options.threads > 0 ? options.threads : available_cores();
  workers_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const std::string number = "-" + std::to_string(i);  // stays readable when the name is cut
    const std::string name =
        options.name.substr(0, kMaxThreadName - std::min(kMaxThreadName, number.size())) + number;
    try {
      workers_.emplace_back([this, name] {
        set_current_thread_name(name);
        run();
      });
    } catch (const std::system_error&) {
      break;  // the system has no more threads to give: work with those there are
    }
    if (!options.cores.empty() &&
        !pin(workers_.back(), options.cores[static_cast<std::size_t>(i) % options.cores.size()])) {
      ++unpinned_;
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::submit(std::function<void()> task) {
  if (workers_.empty()) {
    task();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    queued_.store(static_cast<int>(tasks_.size()), std::memory_order_relaxed);
  }
  wake_.notify_one();
}

template <class Ready>
void ThreadPool::spin_until(const Ready& ready) const {
  if (spin_.count() <= 0) return;
  const auto end = std::chrono::steady_clock::now() + spin_;
  while (!ready() && std::chrono::steady_clock::now() < end) {
  }
}

void ThreadPool::run() noexcept {
  while (true) {
    std::function<void()> task;
    spin_until([&] { return queued_.load(std::memory_order_relaxed) > 0; });
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      queued_.store(static_cast<int>(tasks_.size()), std::memory_order_relaxed);
    }
    task();
  }
}

void ThreadPool::parallel_for(int count, const std::function<void(int)>& body) {
  if (count <= 0) return;
  // The caller takes part, so the loop ends even when every worker is busy (or is the caller); a
  // helper task that starts late finds no index left and must not touch the caller's frame.
  struct Shared {
    std::atomic<std::int64_t> next{0};  // passes `count` by one for each helper: no int
    std::atomic<int> done{0};
    std::mutex mutex;
    std::condition_variable all_done;
  };
  auto shared = std::make_shared<Shared>();
  const auto work = [shared, count, &body]() noexcept {
    int finished = 0;
    for (auto i = shared->next.fetch_add(1); i < count; i = shared->next.fetch_add(1)) {
      body(static_cast<int>(i));
      ++finished;
    }
    if (finished > 0 && shared->done.fetch_add(finished) + finished == count) {
      std::lock_guard lock(shared->mutex);
      shared->all_done.notify_all();
    }
  };
  const int helpers = std::min(size(), count - 1);
  for (int i = 0; i < helpers; ++i) submit(work);
  work();
  spin_until([&] { return shared->done.load() == count; });
  std::unique_lock lock(shared->mutex);
  shared->all_done.wait(lock, [&] { return shared->done.load() == count; });
}

}  // namespace sparing
