#include "sparing/train/primitive_job.h"

namespace sparing::train {

std::size_t PrimitiveJob::scratch_bytes() const {
  std::size_t bytes = align_up(scratchpad_.get_size());
  for (const Port& port : ports_) {
    if (port.ours != port.theirs) bytes += align_up(port.theirs.get_size());
  }
  return bytes;
}

void PrimitiveJob::bind(const std::unordered_map<int, void*>& pointers, std::byte* scratch) {
  const auto take = [&](const dnnl::memory::desc& desc) {
    dnnl::memory memory(desc, engine_, scratch);
    scratch += align_up(desc.get_size());
    return memory;
  };
  arguments_[DNNL_ARG_SCRATCHPAD] = take(scratchpad_);
  for (const Port& port : ports_) {
    const dnnl::memory ours(port.ours, engine_, pointers.at(port.argument));
    if (port.ours == port.theirs) {
      arguments_[port.argument] = ours;
      continue;
    }
    const dnnl::memory theirs = take(port.theirs);
    arguments_[port.argument] = theirs;
    if (port.is_input) {
      before_.push_back({dnnl::reorder(ours, theirs), ours, theirs});
    } else {
      after_.push_back({dnnl::reorder(theirs, ours), theirs, ours});
    }
  }
}

void PrimitiveJob::run(dnnl::stream& stream) const {
  for (const Reorder& reorder : before_) {
    dnnl::memory from = reorder.from;
    dnnl::memory to = reorder.to;
    reorder.primitive.execute(stream, from, to);
  }
  primitive_.execute(stream, arguments_);
  for (const Reorder& reorder : after_) {
    dnnl::memory from = reorder.from;
    dnnl::memory to = reorder.to;
    reorder.primitive.execute(stream, from, to);
  }
}

}  // namespace sparing::train
