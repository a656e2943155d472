// sparing eval: detections against ground truth.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "eval_classes.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "sparing/io/annotations.h"
#include "sparing/metrics/average_precision.h"
#include "sparing/pipeline/detector.h"

namespace sparing::cli {
namespace {

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing eval boxes.jsonl --gt gt.txt                 MOT ground truth\n"
    "  sparing eval results.json --gt instances.json        COCO\n"
    "  sparing eval boxes.jsonl --gt labels/ --image-size 640x480 --labels person,car   YOLO\n\n"
    "AP needs all detections, the unsure ones too: run detect with --score 0.05 or lower.";

struct EvalCommand {
  std::string detections;
  std::optional<std::int64_t> stream;  // of several in one file
  std::string ground_truth;
  GroundTruthOptions reading;
  std::string image_size;
  EvaluationOptions evaluation;
  std::vector<std::string> classes;
  bool json = false;

  int run();
};

void print_table(const Evaluation& result, const EvaluationOptions& options, long long removed) {
  std::printf("%-20s %9s %10s %8s %8s %8s %8s %8s %8s\n", "class", "objects", "detections",
              "AP50voc", "AP50coco", "APcoco", "prec", "recall", "F1");
  const auto number = [](double value) {
    char text[16];
    std::snprintf(text, sizeof text, value < 0 ? "-" : "%.4f", value);
    return std::string(text);
  };
  for (const ClassEvaluation& row : result.classes) {
    const std::string name = row.label.empty() ? std::to_string(row.class_id) : row.label;
    std::printf("%-20s %9lld %10lld %8s %8s %8s %8s %8s %8s\n", name.c_str(), row.ground_truth,
                row.detections, number(row.ap50_voc).c_str(), number(row.ap50_coco).c_str(),
                number(row.ap_coco).c_str(), number(row.precision).c_str(),
                number(row.recall).c_str(), number(row.f1).c_str());
  }
  std::printf("%-20s %9s %10s %8s %8s %8s %8s %8s %8s\n", "all", "", "",
              number(result.ap50_voc).c_str(), number(result.ap50_coco).c_str(),
              number(result.ap_coco).c_str(), number(result.precision).c_str(),
              number(result.recall).c_str(), number(result.f1).c_str());
  std::printf(
      "\n%lld images. AP50voc: area under the precision envelope at IoU 0.5 (VOC 2010); "
      "AP50coco: the same at 101 recalls;\nAPcoco: mean over IoU 0.50 to 0.95. prec, recall "
      "and F1: detections of confidence %.2f or more, IoU %.2f.\n",
      result.images, options.confidence, options.iou);
  if (removed > 0) {
    std::printf(
        "%lld detections of classes that the ground truth has no object of (or --classes does not name) were left out.\n",
        removed);
  }
}

void print_json(const Evaluation& result, long long removed) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["schema"] = 1;
  json["images"] = result.images;
  json["ap50_voc"] = result.ap50_voc;
  json["ap50_coco"] = result.ap50_coco;
  json["ap_coco"] = result.ap_coco;
  json["precision"] = result.precision;
  json["recall"] = result.recall;
  json["f1"] = result.f1;
  json["detections_without_class"] = removed;
  json["classes"] = Json::array();
  for (const ClassEvaluation& row : result.classes) {
    json["classes"].push_back({{"class", row.class_id},
                               {"label", row.label},
                               {"objects", row.ground_truth},
                               {"detections", row.detections},
                               {"ap50_voc", row.ap50_voc},
                               {"ap50_coco", row.ap50_coco},
                               {"ap_coco", row.ap_coco},
                               {"precision", row.precision},
                               {"recall", row.recall},
                               {"f1", row.f1}});
  }
  std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

int EvalCommand::run() {
  if (!image_size.empty()) {
    auto size = parse_size(image_size);
    if (!size.ok()) {
      Error error = size.error();
      error.thing = "--image-size";
      return report(error);
    }
    reading.image_size = *size;
  }
  auto truth = read_ground_truth(ground_truth, reading);
  if (!truth.ok()) return report(truth.error());
  auto found = read_detections(detections, stream);
  if (!found.ok()) return report(found.error());
  long long removed = 0;
  DetectionSet mapped = map_classes(*found, *truth, &removed);
  for (const std::string& name : classes) {
    const auto it = std::find(truth->labels.begin(), truth->labels.end(), name);
    if (it == truth->labels.end()) {
      return report({ErrorCode::kInvalidArgument, "--classes",
                     "the ground truth has no class '" + name + "'",
                     "check its labels, or --labels"});
    }
    evaluation.classes.push_back(static_cast<int>(it - truth->labels.begin()));
  }
  if (classes.empty()) evaluation.classes = annotated_classes(*truth);
  removed += remove_other_classes(mapped, evaluation.classes);
  auto result = evaluate(mapped, *truth, evaluation);
  if (!result.ok()) return report(result.error());
  if (json) {
    print_json(*result, removed);
  } else {
    print_table(*result, evaluation, removed);
  }
  return kExitOk;
}

}  // namespace

void add_eval_command(CLI::App& parent, Command& run) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* app = parent.add_subcommand("eval", "compare detections with ground truth");
  app->footer(kHelp);
  app->add_option("detections", command->detections,
                  "JSON Lines, COCO results or MOT text, as `sparing detect` writes them")
      ->required();
  check_range<std::int64_t>(app->add_option("--stream", command->stream,
                                            "of several streams' JSON Lines this one, from 0"),
                            0, 1e9);
  app->add_option("--gt", command->ground_truth,
                  "ground truth: MOT gt.txt, COCO instances, YOLO folder")
      ->required();
  app->add_option("--gt-format", command->reading.format,
                  "mot, coco or yolo (default: from the content)");
  app->add_option("--labels", command->reading.labels,
                  "class names of a MOT or YOLO ground truth, in the order of its ids")
      ->delimiter(',');
  app->add_option("--image-size", command->image_size,
                  "size of the pictures, for YOLO's relative boxes")
      ->type_name("WxH");
  app->add_option("--classes", command->classes, "evaluate these classes only")->delimiter(',');
  add_flags(*app, command->evaluation);
  app->add_flag("--json", command->json, "print one JSON object");
  app->callback([command, &run] { run = [command] { return command->run(); }; });
}

}  // namespace sparing::cli
