#include "eval_masks_report.h"

#include <cstdio>
#include <optional>

#include <nlohmann/json.hpp>

namespace sparing::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string percent(const std::optional<double>& value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", 100 * *value);
  return text;
}

std::string line(const char* name, const std::string& value, const char* meaning) {
  char text[200];
  std::snprintf(text, sizeof text, "%-20s %8s%s%s\n", name, value.c_str(),
                *meaning != '\0' ? "   " : "", meaning);
  return text;
}

std::string counted(std::int64_t count, const char* thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// What stands beside the mIoU, and never without it.
void put_steadiness(Json& json, const MaskFigures& figures, bool has_miou) {
  json["ftc"] = has_miou ? number(figures.ftc) : Json();
  json["pc"] = has_miou ? number(figures.pc) : Json();
  json["flicker"] = has_miou ? number(figures.flicker) : Json();
}

}  // namespace

std::string masks_report_text(const MasksReport& report) {
  const MaskFigures& figures = report.figures;
  std::string text = line("class", "IoU %", "");
  for (std::size_t c = 0; c < figures.scores.iou.size(); ++c) {
    const bool named = c < report.labels.size() && !report.labels[c].empty();
    const std::string name = named ? report.labels[c] : std::to_string(c);
    text += line(name.c_str(), percent(figures.scores.iou[c]), "");
  }
  text += "\n";
  text += line("mIoU", percent(figures.scores.miou), "mean over the classes that occur");
  text += line("pixel accuracy", percent(figures.scores.pixel_accuracy), "");
  text +=
      line("mean accuracy", percent(figures.scores.mean_accuracy), "mean over the true classes");
  if (figures.scores.miou) {
    text += line("F-TC", percent(figures.ftc), "consistency along the optical flow");
    if (figures.pc) text += line("PC", percent(figures.pc), "perceptual consistency");
    text += line("flicker", percent(figures.flicker), "static pixels that change their class");
  }
  text += "\n" + counted(figures.frames, "frame") + ", " + std::to_string(figures.truth_frames) +
          " with ground truth (paired " + report.truth_paired + "), " +
          counted(figures.pairs, "pair") + " of frames; masks paired " + report.masks_paired + "\n";
  if (report.without_mask > 0) text += counted(report.without_mask, "frame") + " without a mask\n";
  if (report.unused_masks > 0) {
    text += counted(report.unused_masks, "mask") + " that belong to no frame\n";
  }
  if (report.unused_truth > 0) {
    text += counted(report.unused_truth, "ground truth picture") + " that belong to no frame\n";
  }
  return text;
}

std::string masks_report_json(const MasksReport& report) {
  const MaskFigures& figures = report.figures;
  Json json;
  json["schema"] = 1;
  json["masks"] = report.masks;
  json["ground_truth"] = report.truth;
  json["input"] = report.frames;
  json["masks_paired"] = report.masks_paired;
  json["ground_truth_paired"] = report.truth_paired;
  json["frames"] = figures.frames;
  json["ground_truth_frames"] = figures.truth_frames;
  json["pairs"] = figures.pairs;
  json["frames_without_mask"] = report.without_mask;
  json["unused_masks"] = report.unused_masks;
  json["unused_ground_truth"] = report.unused_truth;
  json["pixels"] = figures.scores.pixels;
  json["miou"] = number(figures.scores.miou);
  json["pixel_accuracy"] = number(figures.scores.pixel_accuracy);
  json["mean_accuracy"] = number(figures.scores.mean_accuracy);
  put_steadiness(json, figures, figures.scores.miou.has_value());
  json["classes"] = Json::array();
  for (std::size_t c = 0; c < figures.scores.iou.size(); ++c) {
    Json row{{"class", c}};
    if (c < report.labels.size() && !report.labels[c].empty()) row["label"] = report.labels[c];
    row["iou"] = number(figures.scores.iou[c]);
    json["classes"].push_back(std::move(row));
  }
  json["interrupted"] = report.interrupted;
  return dump(json);
}

std::string masks_frame_json(const SourceFrame& frame, const MaskEvaluation& evaluation) {
  const MaskFigures last = evaluation.last();
  const MaskFigures total = evaluation.total();
  const bool has_miou = total.scores.miou.has_value();
  Json json;
  json["schema"] = 1;
  json["frame"] = frame.index;
  if (!frame.file.empty()) json["file"] = frame.file;
  json["time"] = frame.frame.view().timestamp.seconds();
  json["miou"] = number(last.scores.miou);
  json["pixel_accuracy"] = number(last.scores.pixel_accuracy);
  put_steadiness(json, last, has_miou);
  Json so_far;
  so_far["miou"] = number(total.scores.miou);
  put_steadiness(so_far, total, has_miou);
  json["so_far"] = std::move(so_far);
  return dump(json) + "\n";
}

}  // namespace sparing::cli
