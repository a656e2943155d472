// How long one inference takes, by the shape of the network's input: what a latency profile is made
// from (Mondrian, section 4.3.1).
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/models/registry.h"
#include "sparing/packing/latency_profile.h"
#include "sparing/pipeline/detector.h"
#include "sparing/webnn/webnn.h"

namespace sparing {

struct ShapeLatency {
  Size size;
  double seconds = 0;  // median
  double least = 0;
};

// One graph in one context, with dynamic shapes where the model has them: as detection uses it. Not
// thread-safe.
class LatencyMeter {
 public:
  LatencyMeter() = default;
  // kModel: as Context::load_graph and check_graph.
  static Result<LatencyMeter> create(Context context, const Model& model);
  // On the graph that the detector has loaded.
  static Result<LatencyMeter> create(const Detector& detector);

  // Runs the network `warm` + `runs` times at that size, on all the context's streams at once, and
  // keeps the engine's times of the last `runs`. Calls of several sizes in turn, repeated, spread
  // slow phases of the machine over all. Errors as Context::create_tensor and dispatch.
  Status measure(Size size, int warm, int runs);
  // Of all sizes so far, in the order of their first call.
  std::vector<ShapeLatency> results() const;

  const Context& context() const { return context_; }

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

  Context context_;
  Graph graph_;
  Layout layout_ = Layout::kNchw;
  std::vector<Samples> samples_;
};

// All sizes in turn, `runs` times over, after one run each that does not count: an inference after
// one of another size, as canvases are run, takes longer than after one of its own (on CPUs with
// OpenVINO by 1.5 to 2.5 ms). kInterrupted after a stop.
Status measure_all(LatencyMeter& meter, const std::vector<Size>& sizes, int runs,
                   const std::stop_token& stop = {});

// "cpu:bf16:2", device:precision:cores; with several streams ":" and their number follows, because
// one of them is slower than all cores together.
std::string processor_name(const ContextOptions& options);

// A profile of what the meter measured, which is at least one size. The largest canvas: on a CPU,
// which runs what its memory holds, the model's own limit; elsewhere the largest size measured.
// kInvalidArgument: as LatencyProfile::create.
Result<LatencyProfile> make_profile(const ModelManifest& manifest, const LatencyMeter& meter,
                                    const std::string& processor);

}  // namespace sparing
