#include "sparing/streams/processor.h"

#include <algorithm>
#include <utility>

#include "sparing/base/check.h"
#include "sparing/pipeline/frame_job.h"
#include "sparing/streams/latency_meter.h"

namespace sparing {
namespace {

constexpr double kNominalNanosecondsPerPixel = 100;

// Small and large enough for a line through them; what runs in under a second.
constexpr Size kQuickSizes[] = {{160, 160}, {320, 320}, {640, 640}};

LatencyPoint nominal_point(int side) {
  return {side, side, kNominalNanosecondsPerPixel * side * side / 1e6};
}

}  // namespace

LatencyProfile nominal_profile(const std::string& model, const std::string& processor,
                               Size largest) {
  ProfiledProcessor profiled;
  profiled.model = model;
  profiled.processor = processor;
  profiled.largest_width = std::clamp(largest.width, 1, 32768);
  profiled.largest_height = std::clamp(largest.height, 1, 32768);
  LatencyOptions options;
  options.smoothing = 0;  // what is observed must not enter
  auto profile = LatencyProfile::create(std::move(profiled),
                                        {nominal_point(100), nominal_point(1000)}, options);
  SPARING_CHECK(profile.ok());
  return *std::move(profile);
}

Result<LatencyProfile> measure_profile(Detector& detector, const std::string& processor,
                                       std::vector<Size> sizes, int runs) {
  if (runs < 1 || runs > 1000) {
    return Error{ErrorCode::kInvalidArgument, "runs of a profile",
                 std::to_string(runs) + " is out of range", "give a value from 1 to 1000"};
  }
  const ModelManifest& manifest = detector.impl().manifest;
  if (manifest.input.fixed_size) {
    sizes = {manifest.input.default_size};
  } else if (sizes.empty()) {
    for (const Size& size : kQuickSizes) {
      if (input_size(manifest.input, size, size).ok()) sizes.push_back(size);
    }
    if (sizes.empty()) {
      SPARING_ASSIGN_OR_RETURN(sizes.emplace_back(), input_size(manifest.input, {320, 320}));
    }
  }
  for (const Size& size : sizes) {
    SPARING_RETURN_IF_ERROR(input_size(manifest.input, size, size));
  }
  SPARING_ASSIGN_OR_RETURN(LatencyMeter meter, LatencyMeter::create(detector));
  SPARING_RETURN_IF_ERROR(measure_all(meter, sizes, runs));
  return make_profile(manifest, meter, processor);
}

}  // namespace sparing
