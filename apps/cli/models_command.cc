// sparing models: list, get, inspect; quantize and profile have files of their own.
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "exit_codes.h"
#include "program.h"
#include "runtime.h"
#include "sparing/models/head.h"
#include "sparing/models/registry.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

int list() {
  auto models = list_models(default_model_paths(share_dir()));
  if (!models.ok()) return report(models.error());
  std::printf("%-20s %-8s %-8s %-12s %s\n", "name", "here", "task", "licence", "what");
  for (const ModelListEntry& entry : *models) {
    const bool broken = !entry.problem.empty();
    std::printf("%-20s %-8s %-8s %-12s %s\n", entry.manifest.name.c_str(),
                broken ? "broken" : (entry.present ? "yes" : "no"),
                broken ? "" : std::string(task_name(entry.manifest.task)).c_str(),
                entry.manifest.licence.spdx.c_str(),
                broken ? entry.problem.c_str() : entry.manifest.title.c_str());
  }
  return kExitOk;
}

// The manifest file of a model that can be fetched.
Result<fs::path> manifest_to_fetch(const std::string& name,
                                   const std::vector<ModelListEntry>& models) {
  std::string known;
  for (const ModelListEntry& entry : models) {
    if (entry.manifest.source.kind.empty()) continue;
    if (entry.manifest.name == name) return entry.manifest_file;
    known += (known.empty() ? "" : ", ") + entry.manifest.name;
  }
  return Error{ErrorCode::kModel, "model '" + name + "'", "cannot be fetched",
               known.empty() ? "no manifest with a source was found" : "choose from: " + known};
}

int get(const std::vector<std::string>& names) {
  const ModelPaths paths = default_model_paths(share_dir());
  auto models = list_models(paths);
  if (!models.ok()) return report(models.error());
  const fs::path tool = share_dir() / "tools" / "get_model.py";
  std::vector<std::string> command{tool_python(), tool.string()};
  for (const std::string& name : names) {
    auto manifest = manifest_to_fetch(name, *models);
    if (!manifest.ok()) return report(manifest.error());
    command.push_back(manifest->string());
  }
  command.insert(command.end(), {"--out", paths.model_dir.string()});
  const int code = run_program(command);
  if (code == 0) return kExitOk;
  if (code < 0 || code == 126 || code == 127) {
    return report({ErrorCode::kModel, "model '" + names[0] + "'",
                   "cannot run '" + tool_python() + "'",
                   "install Python 3.11 or later, or set SPARING_PYTHON to one"});
  }
  // The tool has said what is wrong.
  return code == kExitInterrupted || code == -SIGINT ? kExitInterrupted : kExitModel;
}

std::string type_and_shape(const GraphOperand& operand) {
  return std::string(info(operand.descriptor.data_type).name) + " " +
         to_string_shape(operand.descriptor.shape);
}

// The guessed manifest as JSON: what to edit where the guess is wrong.
int print_manifest(const std::string& file, Context& context) {
  auto model = resolve_model(file, default_model_paths(share_dir()), context);
  if (!model.ok()) return report(model.error());
  // Wherever the text is saved, it finds the file.
  std::error_code error;
  model->manifest.file = fs::absolute(model->file, error).string();
  std::fputs(to_json(model->manifest).c_str(), stdout);
  return kExitOk;
}

int inspect(const std::string& file, bool as_manifest) {
  RuntimeOptions options;
  options.precision = "f32";
  options.no_cache = true;
  auto context = create_context(options);
  if (!context.ok()) return report(context.error());
  if (as_manifest) return print_manifest(file, *context);
  auto graph = context->load_graph(file);
  if (!graph.ok()) return report(graph.error());
  for (const GraphOperand& input : graph->inputs()) {
    std::printf("input   %-24s %s\n", input.name.c_str(), type_and_shape(input).c_str());
  }
  for (const GraphOperand& output : graph->outputs()) {
    std::printf("output  %-24s %s\n", output.name.c_str(), type_and_shape(output).c_str());
  }
  auto manifest = match_head(*graph, fs::path(file).stem().string());
  if (!manifest.ok()) return report(manifest.error());
  if (manifest->task == ModelTask::kDetect) {
    const HeadInfo& head = info(manifest->head.type);
    std::printf("head    %s: %s\n", std::string(head.name).c_str(),
                std::string(head.description).c_str());
  } else {
    std::printf("segment %s\n", describe(manifest->segmentation).c_str());
  }
  std::printf("classes %zu\n", manifest->labels.size());
  std::printf(manifest->task == ModelTask::kDetect
                  ? "usable as it is: sparing detect VIDEO --model %s --out boxes.jsonl\n"
                  : "usable as it is: sparing segment VIDEO --model %s --render out.mp4\n",
              file.c_str());
  return kExitOk;
}

}  // namespace

void add_models_command(CLI::App& parent, Command& run) {
  struct Arguments {
    std::vector<std::string> names;
    std::string file;
    bool manifest = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app =
      parent.add_subcommand("models", "list, fetch, inspect, quantise and profile models");
  app->footer(
      "Examples:\n"
      "  sparing models list                what is known, and what is here\n"
      "  sparing models get nanodet-g       fetch, verify and convert; the only command that downloads\n"
      "  sparing models inspect yolo.onnx   inputs, outputs, and the head that reads them\n"
      "  sparing models quantize nanodet-g --calib clip.mp4    a model in 8-bit integers\n"
      "  sparing models profile nanodet-g --threads 1          how long it takes, by size");
  app->require_subcommand(1);
  app->add_subcommand("list", "the known models, and which are here")->callback([&run] {
    run = [] { return list(); };
  });
  CLI::App* get_app = app->add_subcommand("get", "fetch models, verify them, and convert them");
  get_app->add_option("name", arguments->names, "as `sparing models list` prints it")->required();
  get_app->callback([arguments, &run] { run = [arguments] { return get(arguments->names); }; });
  CLI::App* inspect_app =
      app->add_subcommand("inspect", "inputs, outputs and head of a model file");
  inspect_app->add_option("file", arguments->file, "an .onnx or OpenVINO .xml file")->required();
  inspect_app->add_flag("--manifest", arguments->manifest,
                        "print the guess as a manifest, to be corrected and used as --model");
  inspect_app->callback([arguments, &run] {
    run = [arguments] { return inspect(arguments->file, arguments->manifest); };
  });
  add_quantize_command(*app, run);
  add_profile_command(*app, run);
}

}  // namespace sparing::cli
