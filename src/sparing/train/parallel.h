// Threads of the trainer: those of GNU OpenMP, which oneDNN uses too, so that the two share one
// pool instead of fighting. Its functions are declared here because clang has no header for them.
#pragma once

#include <algorithm>
#include <cstddef>

// NOLINTBEGIN: names that libgomp gives
extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}
// NOLINTEND

namespace sparing::train {

// While it lives, OpenMP (and so oneDNN) uses so many threads for the calling thread's work: the
// number belongs to the thread that asks, so each call of the trainer sets it.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(omp_get_max_threads()) {
    if (threads != before_) omp_set_num_threads(threads);
  }
  ~ThreadScope() {
    if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
  }
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// Calls work(part, begin, end) for `parts` consecutive ranges of [0, count), on as many threads.
// What is cut where depends on the numbers alone, so that sums by part come out the same each time.
template <class Work>
void parallel_parts(int parts, std::size_t count, const Work& work) {
  const auto range = [&](int part) {
    const auto p = static_cast<std::size_t>(part);
    const auto n = static_cast<std::size_t>(parts);
    work(part, count * p / n, count * (p + 1) / n);
  };
  if (parts == 1) return range(0);
  struct Call {
    const decltype(range)* run;
    int parts;
  } call{&range, parts};
  const auto body = [](void* data) {
    const Call& all = *static_cast<Call*>(data);
    for (int part = omp_get_thread_num(); part < all.parts; part += omp_get_num_threads()) {
      (*all.run)(part);
    }
  };
  GOMP_parallel(body, &call, static_cast<unsigned>(parts), 0);
}

// The same on threads that each get at least `least` of the count: small work stays where it is.
template <class Work>
void parallel_for(int threads, std::size_t count, std::size_t least, const Work& work) {
  const std::size_t useful = count / std::max<std::size_t>(least, 1);
  const int parts =
      static_cast<int>(std::clamp<std::size_t>(useful, 1, static_cast<std::size_t>(threads)));
  parallel_parts(parts, count, [&](int, std::size_t begin, std::size_t end) { work(begin, end); });
}

}  // namespace sparing::train
