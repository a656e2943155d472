#include "sparing/webnn/webnn.h"

#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include "sparing/base/check.h"
#include "sparing/webnn/impl.h"

namespace sparing {

using webnn::Access;
using webnn::Binding;
using webnn::OrderedTensors;
using webnn::RunResult;
using webnn::TensorImpl;

std::string_view to_string(DeviceType type) { return info(type).name; }
std::string_view to_string(Precision precision) { return info(precision).name; }

std::optional<DeviceType> device_type_from_name(std::string_view name) {
  for (const auto& row : kDeviceTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::optional<Precision> precision_from_name(std::string_view name) {
  for (const auto& row : kPrecisions) {
    if (row.name == name) return row.precision;
  }
  return std::nullopt;
}

// --- Tensor, Graph -------------------------------------------------------------------------------

DataType Tensor::data_type() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->descriptor.data_type;
}

const Shape& Tensor::shape() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->descriptor.shape;
}

bool Tensor::readable() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->descriptor.readable;
}

bool Tensor::writable() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->descriptor.writable;
}

std::size_t Tensor::byte_size() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->byte_size;
}

void Tensor::destroy() {
  if (!impl_) return;
  impl_->scheduler->destroy(impl_, [tensor = impl_] { tensor->memory = AlignedBuffer(); });
}

const std::vector<GraphOperand>& Graph::inputs() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->backend->inputs();
}

const std::vector<GraphOperand>& Graph::outputs() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->backend->outputs();
}

// --- Completion ----------------------------------------------------------------------------------

bool Completion::done() const {
  if (!state_) return true;
  std::lock_guard lock(state_->mutex);
  return state_->done;
}

Status Completion::wait() const {
  if (!state_) {
    return Error{ErrorCode::kInvalidArgument, "completion", "it belongs to no dispatch",
                 "wait for one that dispatch returned"};
  }
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->done; });
  return state_->status;
}

double Completion::inference_seconds() const {
  if (!state_) return 0;
  std::lock_guard lock(state_->mutex);
  return state_->seconds;
}

// --- Context -------------------------------------------------------------------------------------

namespace webnn {

Context make_context(const ContextOptions& options, std::unique_ptr<Backend> backend) {
  return Context(std::make_shared<ContextImpl>(options, std::move(backend)));
}

}  // namespace webnn

namespace {

Error empty_context() {
  return {ErrorCode::kInvalidArgument, "context", "it is empty",
          "make it with a backend's create function"};
}

// One queued run of a graph.
struct Dispatch {
  std::shared_ptr<webnn::GraphImpl> graph;
  OrderedTensors inputs;
  OrderedTensors outputs;
  std::shared_ptr<Completion::State> completion;
};

std::vector<Binding> bind(const OrderedTensors& tensors) {
  std::vector<Binding> bindings;
  bindings.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    bindings.push_back(
        {tensor->descriptor.data_type, tensor->descriptor.shape, tensor->memory.span()});
  }
  return bindings;
}

RunResult run_guarded(const Dispatch& dispatch) {
  // An input that could not be computed makes no outputs.
  for (const auto& input : dispatch.inputs) {
    if (input->failure) return {*input->failure, 0};
  }
  try {
    return dispatch.graph->backend->run(bind(dispatch.inputs), bind(dispatch.outputs));
  } catch (const std::exception& e) {
    return {Error{ErrorCode::kInternal, "dispatch", e.what(), ""}, 0};
  } catch (...) {
    return {Error{ErrorCode::kInternal, "dispatch", "an unknown exception", ""}, 0};
  }
}

// In the task's turn, on a thread of the context.
RunResult run_dispatch(const Dispatch& dispatch) {
  RunResult result = run_guarded(dispatch);
  for (const auto& output : dispatch.outputs) {
    output->failure.reset();
    if (!result.status.ok()) output->failure = result.status.error();
  }
  return result;
}

void complete(Completion::State& completion, RunResult result) {
  {
    std::lock_guard lock(completion.mutex);
    completion.status = std::move(result.status);
    completion.seconds = result.seconds;
    completion.done = true;
  }
  completion.changed.notify_all();
}

std::shared_ptr<webnn::Task> make_task(const Dispatch& dispatch) {
  auto task = std::make_shared<webnn::Task>();
  for (const auto& input : dispatch.inputs) task->uses.push_back({input, Access::kRead});
  for (const auto& output : dispatch.outputs) task->uses.push_back({output, Access::kWrite});
  return task;
}

}  // namespace

const ContextOptions& Context::options() const {
  SPARING_CHECK(impl_ != nullptr);
  return impl_->options;
}

std::string Context::backend_name() const {
  return impl_ ? impl_->backend->name() : std::string("none");
}

Result<Tensor> Context::create_tensor(const TensorDescriptor& descriptor) {
  if (!impl_) return empty_context();
  SPARING_ASSIGN_OR_RETURN(const std::size_t size, webnn::check_tensor_descriptor(descriptor));
  auto tensor = std::make_shared<TensorImpl>(descriptor, size, impl_->scheduler);
  if (tensor->memory.data() == nullptr) {
    return Error{ErrorCode::kInternal, "tensor " + to_string_shape(descriptor.shape),
                 "no memory for " + std::to_string(size) + " bytes", "free some memory"};
  }
  return Tensor(std::move(tensor));
}

Result<Graph> Context::load_graph(const std::filesystem::path& model_file,
                                  const std::map<std::string, Shape>& fixed_input_shapes) {
  if (!impl_) return empty_context();
  SPARING_ASSIGN_OR_RETURN(auto graph, impl_->backend->load_graph(model_file, fixed_input_shapes));
  return Graph(std::make_shared<webnn::GraphImpl>(std::move(graph), impl_->scheduler));
}

Status Context::write_tensor(const Tensor& tensor, std::span<const std::byte> bytes) {
  if (!impl_) return empty_context();
  SPARING_ASSIGN_OR_RETURN(const auto target, webnn::check_tensor(tensor, impl_->scheduler));
  if (!target->descriptor.writable) {
    return Error{ErrorCode::kInvalidArgument, "tensor", "it is not writable",
                 "create it with writable = true"};
  }
  if (bytes.size() != target->byte_size) {
    return Error{ErrorCode::kInvalidArgument, "tensor",
                 std::to_string(bytes.size()) + " bytes given",
                 "give " + std::to_string(target->byte_size)};
  }
  return impl_->scheduler->run_here({{target, Access::kWrite}}, [&] {
    std::memcpy(target->memory.data(), bytes.data(), bytes.size());
    target->failure.reset();
  });
}

Result<Affine> Context::write_tensor(const Tensor& tensor, const VideoFrameImport& source) {
  if (!impl_) return empty_context();
  SPARING_ASSIGN_OR_RETURN(const auto target, webnn::check_tensor(tensor, impl_->scheduler));
  const DataType data_type = target->descriptor.data_type;
  const Shape& shape = target->descriptor.shape;
  if (!target->descriptor.writable) {
    return Error{ErrorCode::kInvalidArgument, "tensor", "it is not writable",
                 "create it with writable = true"};
  }
  const bool nchw = source.layout == Layout::kNchw;
  const auto channels = shape.size() == 4 ? shape[nchw ? 1 : 3] : 0;
  if (channels != 1 && channels != 3 && channels != 4) {
    return Error{ErrorCode::kInvalidArgument, "tensor " + to_string_shape(shape),
                 "no video frame fits",
                 nchw ? "use shape [n,3,h,w], [n,1,h,w] or [n,4,h,w]"
                      : "use shape [n,h,w,3], [n,h,w,1] or [n,h,w,4]"};
  }
  for (const std::int64_t dimension : shape) {
    if (dimension > std::numeric_limits<int>::max()) {
      return Error{ErrorCode::kInvalidArgument, "tensor " + to_string_shape(shape),
                   "a dimension is too large", "use a smaller shape"};
    }
  }
  std::optional<Result<Affine>> drawn;
  SPARING_RETURN_IF_ERROR(impl_->scheduler->run_here({{target, Access::kWrite}}, [&] {
    drawn = import_frame(source.frame, source.options,
                         dense_view(target->memory.data(), data_type, shape, source.layout));
    if (drawn->ok()) target->failure.reset();
  }));
  return *std::move(drawn);
}

Result<Completion> Context::dispatch(const Graph& graph, const NamedTensors& inputs,
                                     const NamedTensors& outputs) {
  if (!impl_) return empty_context();
  if (!graph) {
    return Error{ErrorCode::kInvalidArgument, "graph", "it is empty", "make it with load_graph"};
  }
  const auto& scheduler = impl_->scheduler;
  if (graph.impl()->scheduler != scheduler) {
    return Error{ErrorCode::kInvalidArgument, "graph", "it belongs to another context",
                 "use the context that loaded it"};
  }
  Dispatch dispatch{graph.impl(), {}, {}, std::make_shared<Completion::State>()};
  SPARING_ASSIGN_OR_RETURN(dispatch.inputs,
                           webnn::match_operands("input", graph.inputs(), inputs, scheduler));
  SPARING_ASSIGN_OR_RETURN(dispatch.outputs,
                           webnn::match_operands("output", graph.outputs(), outputs, scheduler));
  SPARING_RETURN_IF_ERROR(webnn::check_distinct(dispatch.inputs, dispatch.outputs));

  const auto completion = dispatch.completion;
  const auto task = make_task(dispatch);
  // Raw pointers: the context waits for its tasks before it goes.
  task->on_ready = [pool = &impl_->pool, scheduler = scheduler.get(),
                    dispatch =
                        std::move(dispatch)](const std::shared_ptr<webnn::Task>& self) mutable {
    pool->submit([scheduler, self, dispatch = std::move(dispatch)]() mutable {
      RunResult result = run_dispatch(dispatch);
      const auto state = std::move(dispatch.completion);
      // First released, then reported: who sees the completion done finds the tensors free.
      dispatch = {};
      scheduler->finish(self, [&] { complete(*state, std::move(result)); });
    });
  };
  SPARING_RETURN_IF_ERROR(scheduler->add(task));
  return Completion(completion);
}

Result<std::map<std::string, Shape>> Context::infer_output_shapes(
    const Graph& graph, const std::map<std::string, Shape>& input_shapes) {
  if (!impl_) return empty_context();
  if (!graph || graph.impl()->scheduler != impl_->scheduler) {
    return Error{ErrorCode::kInvalidArgument, "graph", "it is empty or of another context",
                 "use the context that loaded it"};
  }
  SPARING_RETURN_IF_ERROR(webnn::check_input_shapes(graph.inputs(), input_shapes));
  return graph.impl()->backend->infer_output_shapes(input_shapes);
}

Status Context::read_tensor(const Tensor& tensor, std::span<std::byte> bytes) {
  if (impl_ && tensor && bytes.size() != tensor.byte_size()) {
    return Error{ErrorCode::kInvalidArgument, "tensor",
                 std::to_string(bytes.size()) + " bytes of room",
                 "give " + std::to_string(tensor.byte_size())};
  }
  return visit_tensor(tensor, [&](std::span<const std::byte> source) {
    std::memcpy(bytes.data(), source.data(), source.size());
  });
}

Status Context::visit_tensor(const Tensor& tensor,
                             const std::function<void(std::span<const std::byte>)>& visit) {
  if (!impl_) return empty_context();
  SPARING_ASSIGN_OR_RETURN(const auto source, webnn::check_tensor(tensor, impl_->scheduler));
  if (!source->descriptor.readable) {
    return Error{ErrorCode::kInvalidArgument, "tensor", "it is not readable",
                 "create it with readable = true"};
  }
  Status status;
  SPARING_RETURN_IF_ERROR(impl_->scheduler->run_here({{source, Access::kRead}}, [&] {
    if (source->failure) {
      status = *source->failure;
    } else {
      visit(std::as_const(source->memory).span());
    }
  }));
  return status;
}

}  // namespace sparing
