// The objects behind the public handles.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "sparing/base/aligned_buffer.h"
#include "sparing/base/thread_pool.h"
#include "sparing/webnn/backend.h"
#include "sparing/webnn/scheduler.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

struct Completion::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Status status;
  double seconds = 0;
};

namespace webnn {

// The scheduler doubles as the identity of a context: a tensor or graph belongs to the context
// whose scheduler it holds.
class TensorImpl : public Resource {
 public:
  TensorImpl(TensorDescriptor tensor_descriptor, std::size_t byte_size,
             std::shared_ptr<Scheduler> owner)
      : descriptor(std::move(tensor_descriptor)),
        byte_size(byte_size),
        scheduler(std::move(owner)),
        memory(byte_size) {}

  const TensorDescriptor descriptor;
  const std::size_t byte_size;
  const std::shared_ptr<Scheduler> scheduler;
  // Touched only in a task that uses the tensor.
  AlignedBuffer memory;
  // Why the contents are not what was asked for: the dispatch that should have written them failed.
  std::optional<Error> failure;
};

class GraphImpl {
 public:
  GraphImpl(std::unique_ptr<BackendGraph> backend_graph, std::shared_ptr<Scheduler> owner)
      : scheduler(std::move(owner)), backend(std::move(backend_graph)) {}

  const std::shared_ptr<Scheduler> scheduler;
  const std::unique_ptr<BackendGraph> backend;
};

class ContextImpl {
 public:
  ContextImpl(ContextOptions context_options, std::unique_ptr<Backend> context_backend)
      : options(std::move(context_options)),
        backend(std::move(context_backend)),
        scheduler(std::make_shared<Scheduler>()),
        // The threads only wait for the engine, whose own threads do the work.
        pool({.name = "webnn", .threads = backend->max_in_flight(), .cores = {}}) {}
  // Lets queued dispatches end, so that every Completion becomes done.
  ~ContextImpl() { scheduler->drain(); }
  ContextImpl(const ContextImpl&) = delete;
  ContextImpl& operator=(const ContextImpl&) = delete;

  const ContextOptions options;
  const std::unique_ptr<Backend> backend;
  const std::shared_ptr<Scheduler> scheduler;
  ThreadPool pool;  // last: joined first
};

// Tensors of a dispatch in the order of the graph's operands.
using OrderedTensors = std::vector<std::shared_ptr<TensorImpl>>;

// The error conditions of WebNN's createTensor; gives the size in bytes.
Result<std::size_t> check_tensor_descriptor(const TensorDescriptor& descriptor);

// The error conditions of WebNN's dispatch for one direction ("input" or "output").
Result<OrderedTensors> match_operands(const char* direction,
                                      const std::vector<GraphOperand>& operands,
                                      const NamedTensors& tensors,
                                      const std::shared_ptr<Scheduler>& scheduler);

// kInvalidArgument: one tensor stands for two operands.
Status check_distinct(const OrderedTensors& inputs, const OrderedTensors& outputs);

// kInvalidArgument: an input that is missing or unknown, or a shape that does not fit it or has a
// dimension < 1.
Status check_input_shapes(const std::vector<GraphOperand>& inputs, const ShapeMap& shapes);

// The context's tensor behind a handle, for a write, read or visit.
Result<std::shared_ptr<TensorImpl>> check_tensor(const Tensor& tensor,
                                                 const std::shared_ptr<Scheduler>& scheduler);

}  // namespace webnn
}  // namespace sparing
