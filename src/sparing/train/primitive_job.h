// One oneDNN primitive with what must be reordered on the way in or out, because the primitive
// wants another layout or data type than our pictures have.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace sparing::train {

class PrimitiveJob {
 public:
  explicit PrimitiveJob(const dnnl::engine& engine) : engine_(engine) {}

  template <class Descriptor, class Primitive>
  void set(const Descriptor& descriptor, const Primitive& primitive) {
    primitive_ = primitive;
    scratchpad_ = descriptor.scratchpad_desc();
  }
  // `ours` is how the caller's memory lies, `theirs` what the primitive takes.
  void input(int argument, const dnnl::memory::desc& ours, const dnnl::memory::desc& theirs) {
    ports_.push_back({argument, true, ours, theirs});
  }
  void output(int argument, const dnnl::memory::desc& ours, const dnnl::memory::desc& theirs) {
    ports_.push_back({argument, false, ours, theirs});
  }
  // Memory of the caller's that stays where it is.
  void fixed(int argument, const dnnl::memory& memory) { arguments_[argument] = memory; }

  // Bytes that bind() needs at `scratch`; they may be shared with others that do not run meanwhile.
  std::size_t scratch_bytes() const;
  void bind(const std::unordered_map<int, void*>& pointers, std::byte* scratch);
  void run(dnnl::stream& stream) const;

 private:
  struct Port {
    int argument;
    bool is_input;
    dnnl::memory::desc ours;
    dnnl::memory::desc theirs;
  };
  struct Reorder {
    dnnl::reorder primitive;
    dnnl::memory from;
    dnnl::memory to;
  };

  dnnl::engine engine_;
  dnnl::primitive primitive_;
  dnnl::memory::desc scratchpad_;
  std::vector<Port> ports_;
  std::unordered_map<int, dnnl::memory> arguments_;
  std::vector<Reorder> before_;
  std::vector<Reorder> after_;
};

// Sizes in scratch are multiples of this, so that each thing begins at a cache line.
inline constexpr std::size_t kScratchAlignment = 64;
constexpr std::size_t align_up(std::size_t bytes) {
  return (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
}

inline dnnl::primitive_attr scratchpad_attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace sparing::train
