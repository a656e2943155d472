#include "quantize_report.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace sparing::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string format_size(const Size& size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string number(const std::optional<double>& value, const char* format) {
  return value ? number(*value, format) : "-";
}

// Segmentation has columns of its own.
std::string check_heading(const QuantizeReport& report) {
  char line[200];
  if (report.checks.front().miou) {
    std::snprintf(line, sizeof line, "%-12s %-6s %12s %10s %12s %9s\n", "size", "rest", "pixels",
                  "mIoU", "same label", "drop");
  } else {
    std::snprintf(line, sizeof line, "%-12s %-6s %8s %10s %10s %10s %9s\n", "size", "rest", "boxes",
                  "agreement", "AP before", "AP after", "drop");
  }
  return line;
}

std::string check_line(const QuantizeCheck& check) {
  char line[200];
  if (check.miou) {
    std::snprintf(line, sizeof line, "%-12s %-6s %12lld %10.4f %12.4f %9.4f\n",
                  format_size(check.size).c_str(), check.precision.c_str(),
                  static_cast<long long>(check.pixels), *check.miou, check.pixel_accuracy,
                  check.drop);
    return line;
  }
  std::snprintf(line, sizeof line, "%-12s %-6s %8lld %10.4f %10s %10s %9.4f\n",
                format_size(check.size).c_str(), check.precision.c_str(), check.boxes,
                check.agreement, number(check.ap_before, "%.4f").c_str(),
                number(check.ap_after, "%.4f").c_str(), check.drop);
  return line;
}

std::string speed_line(const QuantizeSpeed& speed) {
  std::string gain = number(speed.f32_seconds / speed.int8_seconds, "%.2f times f32");
  if (speed.bf16_seconds) {
    gain += number(*speed.bf16_seconds / speed.int8_seconds, ", %.2f times bf16");
  }
  std::optional<double> bf16;
  if (speed.bf16_seconds) bf16 = *speed.bf16_seconds * 1e3;
  char line[200];
  std::snprintf(line, sizeof line, "%-12s %8.1f ms %8s ms %8.1f ms   %s\n",
                format_size(speed.size).c_str(), speed.f32_seconds * 1e3,
                number(bf16, "%.1f").c_str(), speed.int8_seconds * 1e3, gain.c_str());
  return line;
}

}  // namespace

const QuantizeCheck& QuantizeReport::worst() const {
  return *std::max_element(checks.begin(), checks.end(),
                           [](const auto& a, const auto& b) { return a.drop < b.drop; });
}

std::string report_text(const QuantizeReport& report) {
  std::string text = report.name + " from " + report.original + ": " +
                     number(static_cast<double>(report.bytes_before) / 1e6, "%.1f MB -> ") +
                     number(static_cast<double>(report.bytes_after) / 1e6, "%.1f MB; ") +
                     std::to_string(report.calibration_frames) + " frames of '" + report.clip +
                     "', quantised in " + number(report.quantize_seconds, "%.1f s\n\n");
  text += check_heading(report);
  char line[200];
  for (const QuantizeCheck& check : report.checks) text += check_line(check);
  std::snprintf(line, sizeof line, "\n%-12s %11s %11s %11s   on one thread\n", "size", "f32",
                "bf16", "int8");
  text += line;
  for (const QuantizeSpeed& speed : report.speeds) text += speed_line(speed);
  text += "\n";
  return text;
}

std::string report_json(const QuantizeReport& report) {
  Json json;
  json["schema"] = 1;
  json["name"] = report.name;
  json["original"] = report.original;
  json["clip"] = report.clip;
  json["kept"] = report.accepted();
  json["folder"] = report.folder;
  json["calibration_frames"] = report.calibration_frames;
  json["check_frames"] = report.check_frames;
  json["quantize_seconds"] = report.quantize_seconds;
  json["bytes_before"] = report.bytes_before;
  json["bytes_after"] = report.bytes_after;
  json["max_drop"] = report.max_drop;
  const auto optional = [](const std::optional<double>& v) { return v ? Json(*v) : Json(); };
  json["checks"] = Json::array();
  for (const QuantizeCheck& check : report.checks) {
    Json row = {{"size", {check.size.width, check.size.height}}, {"precision", check.precision}};
    if (check.miou) {
      row["pixels"] = check.pixels;
      row["miou"] = *check.miou;
      row["pixel_accuracy"] = check.pixel_accuracy;
    } else {
      row["boxes"] = check.boxes;
      row["agreement"] = check.agreement;
      row["ap_before"] = optional(check.ap_before);
      row["ap_after"] = optional(check.ap_after);
    }
    row["drop"] = check.drop;
    json["checks"].push_back(std::move(row));
  }
  json["one_thread"] = Json::array();
  for (const QuantizeSpeed& speed : report.speeds) {
    json["one_thread"].push_back({{"size", {speed.size.width, speed.size.height}},
                                  {"f32_seconds", speed.f32_seconds},
                                  {"bf16_seconds", optional(speed.bf16_seconds)},
                                  {"int8_seconds", speed.int8_seconds}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sparing::cli
