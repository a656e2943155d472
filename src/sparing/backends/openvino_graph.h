// A compiled model and its inference requests.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <openvino/openvino.hpp>
#include <span>
#include <string>
#include <vector>

#include "sparing/backends/openvino_model.h"
#include "sparing/backends/stream_pins.h"
#include "sparing/base/clock.h"
#include "sparing/webnn/backend.h"

namespace sparing::openvino {

struct CompileSettings {
  std::string device;  // "CPU"
  ov::AnyMap properties;
  int requests = 1;
  std::vector<int> cores;  // one for each stream, or empty
};

class OpenVinoGraph : public webnn::BackendGraph {
 public:
  // kModel: what the file, its operators or `fixed_input_shapes` have against it. kNotSupported:
  // the device would compute in another precision than asked for.
  static Result<std::unique_ptr<OpenVinoGraph>> load(ov::Core& core,
                                                     const std::filesystem::path& file,
                                                     const webnn::ShapeMap& fixed_input_shapes,
                                                     const CompileSettings& settings);

  const std::vector<GraphOperand>& inputs() const override { return operands_.inputs; }
  const std::vector<GraphOperand>& outputs() const override { return operands_.outputs; }
  Result<webnn::ShapeMap> infer_output_shapes(const webnn::ShapeMap& input_shapes) override;
  webnn::RunResult run(std::span<const webnn::Binding> inputs,
                       std::span<const webnn::Binding> outputs) override;

  // Outputs that the engine put into memory of its own, so that they had to be copied.
  std::uint64_t copied_outputs() const { return copied_outputs_; }

 private:
  struct Slot {
    ov::InferRequest request;
    Clock::time_point end;  // written by the engine's thread before wait() returns
  };

  OpenVinoGraph(std::string thing, Operands operands, ov::CompiledModel compiled,
                const CompileSettings& settings);

  Slot& take_slot();
  void give_back(Slot& slot);
  Status collect_outputs(Slot& slot, std::span<const webnn::Binding> outputs);
  Status explain_failure(std::span<const webnn::Binding> inputs,
                         std::span<const webnn::Binding> outputs, const std::exception& exception);
  Error wrong_output_shape(std::size_t index, const Shape& given, const Shape& right) const;

  const std::string thing_;  // "model 'a.onnx'"
  const Operands operands_;
  // Kept for shape inference, when shapes are dynamic; its own are those inferred last. Under
  // shapes_mutex_.
  std::shared_ptr<ov::Model> model_;
  ov::CompiledModel compiled_;
  StreamPins pins_;  // after compiled_: released before the threads are
  std::atomic<std::uint64_t> copied_outputs_{0};

  std::mutex slots_mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_slots_;

  std::mutex shapes_mutex_;
  std::map<webnn::ShapeMap, webnn::ShapeMap> shapes_;  // output shapes by input shapes
};

}  // namespace sparing::openvino
