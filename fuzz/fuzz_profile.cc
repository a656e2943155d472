// Whatever the bytes: the readers of latency profiles and scale models give a value or a one-line
// error with a fix, and what they accept can be written, read back and used.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sparing/packing/scale_predictor.h"
#include "sparing/streams/profile_store.h"
#include "sparing/streams/scale_model_json.h"

namespace {

const sparing::ProfileIdentity kIdentity{"net", "cpu:f32:1", "machine", "engine"};

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

void check_error(const sparing::Error& error) {
  const std::string message = error.to_string();
  require(message.find('\n') == std::string::npos, "several lines: " + message);
  require(!error.fix.empty(), "no fix: " + message);
}

void read_profile(std::string_view text) {
  const auto first = sparing::parse_profile(text, "fuzz", kIdentity);
  if (!first.ok()) return check_error(first.error());
  const std::string written = to_json(*first, kIdentity);
  const auto second = sparing::parse_profile(written, "again", kIdentity);
  require(second.ok(), second.ok() ? "" : second.error().to_string());
  require(to_json(*second, kIdentity) == written, "read back otherwise: " + written);
  for (const sparing::Size size : {sparing::Size{1, 1}, {320, 320}, {32768, 32768}}) {
    require(first->estimate(size) > 0 && std::isfinite(first->estimate(size)),
            "no time: " + written);
  }
}

void read_scales(std::string_view text) {
  const auto first = sparing::parse_scale_model(text, "fuzz");
  if (!first.ok()) return check_error(first.error());
  const std::string written = to_json(*first);
  const auto second = sparing::parse_scale_model(written, "again");
  require(second.ok(), second.ok() ? "" : second.error().to_string());
  require(to_json(*second) == written, "read back otherwise: " + written);
  sparing::ScaleFeatures features;
  features.area = 5000;
  features.max_edge = features.height = 100;
  features.aspect_ratio = 0.5;
  const double scale = sparing::ScalePredictor::create(*first)->predict(features).scale;
  require(scale >= first->min_scale && scale <= first->max_scale, "beyond the limits: " + written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_profile(text);
  read_scales(text);
  return 0;
}
