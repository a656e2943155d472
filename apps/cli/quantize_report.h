// What `sparing models quantize` found, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sparing/base/geometry.h"

namespace sparing::cli {

// The quantised model against the original in f32, at one size and precision.
struct QuantizeCheck {
  Size size;
  std::string precision;  // of what stays in floating point
  // Of detectors:
  long long boxes = 0;                        // the original's
  double agreement = 0;                       // F1
  std::optional<double> ap_before, ap_after;  // with ground truth
  // Of segmentation, against the original's labels:
  std::optional<double> miou;
  double pixel_accuracy = 0;
  std::int64_t pixels = 0;
  double drop = 0;  // of AP where there is ground truth, else 1 - agreement or 1 - mIoU
};

// Medians on one thread.
struct QuantizeSpeed {
  Size size;
  double f32_seconds = 0;
  std::optional<double> bf16_seconds;  // where the machine computes in it
  double int8_seconds = 0;
};

struct QuantizeReport {
  std::string name;
  std::string original;
  std::string clip;
  std::string folder;
  std::int64_t calibration_frames = 0;
  std::int64_t check_frames = 0;
  double quantize_seconds = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  double max_drop = 0;
  std::vector<QuantizeCheck> checks;
  std::vector<QuantizeSpeed> speeds;

  const QuantizeCheck& worst() const;
  bool accepted() const { return worst().drop <= max_drop; }
};

std::string report_text(const QuantizeReport& report);
std::string report_json(const QuantizeReport& report);

}  // namespace sparing::cli
