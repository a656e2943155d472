// Fake graphs and shorthands for the tests of this folder.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sparing/backends/fake.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

// Holds graphs back until a test opens it.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --inside_;
  }
  // Waits until `count` runs are held.
  void wait_inside(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= count; });
  }
  int inside() {
    std::lock_guard lock(mutex_);
    return inside_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int inside_ = 0;
};

inline std::int32_t first_value(const FakeTensor& tensor) {
  std::int32_t value = 0;
  std::memcpy(&value, tensor.bytes.data(), sizeof value);
  return value;
}

inline void set_first_value(const FakeTensor& tensor, std::int32_t value) {
  std::memcpy(tensor.bytes.data(), &value, sizeof value);
}

// y = x + step, one int32; `before` is called first.
inline FakeGraph step_graph(std::int32_t step, std::function<Status()> before = {}) {
  FakeGraph graph;
  graph.inputs = {{"x", {DataType::kInt32, {1}}}};
  graph.outputs = {{"y", {DataType::kInt32, {1}}}};
  graph.run = [step, before](const auto& inputs, const auto& outputs) -> Status {
    if (before) SPARING_RETURN_IF_ERROR(before());
    set_first_value(outputs.at("y"), first_value(inputs.at("x")) + step);
    return {};
  };
  return graph;
}

inline Tensor make_int(Context& context) {
  return context.create_tensor({DataType::kInt32, {1}, true, true}).value();
}

inline std::span<const std::byte> bytes_of(const std::int32_t& value) {
  return std::as_bytes(std::span(&value, 1));
}

inline Status write_int(Context& context, const Tensor& tensor, std::int32_t value) {
  return context.write_tensor(tensor, bytes_of(value));
}

inline Result<std::int32_t> read_int(Context& context, const Tensor& tensor) {
  std::int32_t value = 0;
  SPARING_RETURN_IF_ERROR(
      context.read_tensor(tensor, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

}  // namespace sparing
