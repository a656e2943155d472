// A processor: a device, a precision and its cores, with the network loaded on it and the profile
// of its times. Packed detection gives each canvas to one.
#pragma once

#include <string>

#include "sparing/packing/latency_profile.h"
#include "sparing/packing/scale_predictor.h"
#include "sparing/pipeline/detector.h"

namespace sparing {

struct Processor {
  std::string name;  // "cpu:bf16:2", as the profile has it
  // The detector that runs the canvases. Its context's `streams` canvases run at the same time.
  Detector detector;
  // Seconds of one inference by the size of its input. With several streams in the context, of one
  // of them while the others are busy, too.
  LatencyProfile profile;
  ScaleModel scales;  // of this network and precision
};

// A profile for runs in which no measured time may enter: time is proportional to the area, 100 ns
// a pixel, up to `largest`.
LatencyProfile nominal_profile(const std::string& model, const std::string& processor,
                               Size largest);

// Measures a few sizes of canvas, each `runs` times on all the context's streams at once: under a
// second for small networks. For a machine that has no stored profile of the processor.
Result<LatencyProfile> measure_profile(Detector& detector, const std::string& processor,
                                       std::vector<Size> sizes, int runs = 3);

}  // namespace sparing
