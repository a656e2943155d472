// How long one inference takes, by the shape of the network's input.
#pragma once

#include <stop_token>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/models/registry.h"
#include "sparing/webnn/webnn.h"

namespace sparing::cli {

struct ShapeLatency {
  Size size;
  double seconds = 0;  // median
  double least = 0;
};

// One graph in one context, with dynamic shapes where the model has them: as detection uses it. The
// context outlives the meter.
class LatencyMeter {
 public:
  // kModel: as Context::load_graph and check_graph.
  static Result<LatencyMeter> create(Context& context, const Model& model);

  // Runs the network `warm` + `runs` times at that size and keeps the engine's times of the last
  // `runs`. Calls of several sizes in turn, repeated, spread slow phases of the machine over all.
  Status measure(Size size, int warm, int runs);
  // Of all sizes so far, in the order of their first call.
  std::vector<ShapeLatency> results() const;

 private:
  struct Samples {
    Size size;
    std::vector<double> seconds;
  };
  struct Tensors {
    NamedTensors inputs;
    NamedTensors outputs;
  };
  Result<Tensors> make_tensors(Size size);

  Context* context_ = nullptr;
  Graph graph_;
  Layout layout_ = Layout::kNchw;
  std::vector<Samples> samples_;
};

// All sizes in turn, several times over. kInterrupted after a stop.
Status measure_all(LatencyMeter& meter, const std::vector<Size>& sizes, int runs,
                   const std::stop_token& stop);

}  // namespace sparing::cli
