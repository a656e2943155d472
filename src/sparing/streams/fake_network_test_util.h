// A network over the fake engine that counts its runs by size of the input, and finds nothing.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sparing/backends/fake.h"
#include "sparing/models/manifest.h"
#include "sparing/pipeline/detector.h"
#include "sparing/streams/end2end_model_test_util.h"

namespace sparing {

class FakeNetwork {
 public:
  explicit FakeNetwork(ContextOptions options, Shape input = {1, 3, -1, -1})
      : counts_(std::make_shared<Counts>()) {
    FakeGraph graph;
    if (input[2] > 0) {
      model_.manifest.input.default_size = {static_cast<int>(input[3]), static_cast<int>(input[2])};
    }
    graph.inputs = {{"input", {DataType::kFloat32, std::move(input)}}};
    graph.outputs = {{"boxes", {DataType::kFloat32, {1, 1, 6}}}};
    graph.run = [counts = counts_](const auto& inputs, const auto& outputs) -> Status {
      const Shape& shape = inputs.at("input").shape;
      const std::lock_guard lock(counts->mutex);
      counts->order.emplace_back(static_cast<int>(shape[3]), static_cast<int>(shape[2]));
      ++counts->runs[counts->order.back()];
      (void)outputs;  // a row of zeros: a score of 0
      return {};
    };
    if (options.threads == 0) options.threads = options.streams;
    context_ = create_fake_context(options, {{"net", graph}}).value();
  }

  Model& model() { return model_; }
  Context& context() { return context_; }
  Detector detector() const { return Detector::create(context_, model_).value(); }
  // Width and height of every run; not while one runs.
  const std::vector<std::pair<int, int>>& order() const { return counts_->order; }
  std::map<std::pair<int, int>, int> runs() const {
    const std::lock_guard lock(counts_->mutex);
    return counts_->runs;
  }

 private:
  struct Counts {
    mutable std::mutex mutex;
    std::vector<std::pair<int, int>> order;
    std::map<std::pair<int, int>, int> runs;
  };
  std::shared_ptr<Counts> counts_;
  Context context_;
  Model model_ = testing::end2end_model({"person", "car"});
};

}  // namespace sparing
