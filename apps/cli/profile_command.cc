// sparing models profile: how long a model takes on this machine, by the size of its input.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "commands.h"
#include "exit_codes.h"
#include "option_flags.h"
#include "runtime.h"
#include "signals.h"
#include "sparing/packing/latency_profile.h"
#include "sparing/pipeline/detector.h"
#include "sparing/streams/latency_meter.h"
#include "sparing/streams/profile_store.h"

namespace sparing::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelp =
    "Examples:\n"
    "  sparing models profile nanodet-g                  as `detect` runs it\n"
    "  sparing models profile nanodet-g --threads 1\n"
    "  sparing models profile nanodet-g-int8 --shapes 320x320,640x480 --json\n\n"
    "Best on a machine that does nothing else. The profile is kept in the user's cache folder.";

// Sides of 128 and 1920 pixels, and what lies between, in the usual aspect ratios.
constexpr Size kDefaultShapes[] = {{128, 128}, {192, 192}, {256, 256},  {320, 320},
                                   {384, 288}, {416, 416}, {512, 384},  {640, 480},
                                   {768, 576}, {960, 544}, {1280, 736}, {1920, 1088}};

struct ProfileCommand {
  std::string model;
  std::vector<std::string> shapes;
  std::string out;
  int runs = 9;
  bool json = false;
  bool quiet = false;
  RuntimeOptions runtime;

  int run();

 private:
  Result<std::vector<Size>> sizes(const ModelInput& input) const;
  // The largest size that runs is the last of `meter.results()`; `problem` says why larger do not.
  Status measure(LatencyMeter& meter, const std::vector<Size>& wanted, std::string& problem) const;
  Result<fs::path> file(const ProfileIdentity& identity) const;
};

// A default shape is a size that nobody asked for: made fit, or left out.
void add_default_sizes(const ModelInput& input, std::vector<Size>& sizes) {
  if (input.default_size.width > 0) sizes.push_back(input.default_size);
  for (const Size& shape : kDefaultShapes) {
    if (input_size(input, shape, shape).ok()) sizes.push_back(shape);
  }
}

bool smaller(const Size& a, const Size& b) {
  const auto key = [](const Size& s) {
    return std::pair(std::int64_t{s.width} * s.height, s.width);
  };
  return key(a) < key(b);
}

Result<std::vector<Size>> ProfileCommand::sizes(const ModelInput& input) const {
  std::vector<Size> sizes;
  for (const std::string& text : shapes) {
    auto size = parse_size(text);
    if (size.ok()) size = input_size(input, *size, *size);
    if (!size.ok()) {
      Error error = size.error();
      error.thing = "--shapes '" + text + "'";
      return error;
    }
    sizes.push_back(*size);
  }
  if (input.fixed_size) {
    sizes = {input.default_size};
  } else if (shapes.empty()) {
    add_default_sizes(input, sizes);
  }
  std::sort(sizes.begin(), sizes.end(), smaller);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.empty()) {
    return Error{ErrorCode::kInvalidArgument, "--shapes", "the model takes none of the usual ones",
                 "name some, e.g. --shapes 300x300,512x512"};
  }
  return sizes;
}

Status ProfileCommand::measure(LatencyMeter& meter, const std::vector<Size>& wanted,
                               std::string& problem) const {
  const std::stop_token stop = stop_on_signals();
  // What the device cannot hold ends the list, and is itself a result.
  std::vector<Size> run;
  for (const Size& size : wanted) {
    if (Status status = measure_all(meter, {size}, 1, stop); !status.ok()) {
      if (run.empty() || status.error().code == ErrorCode::kInterrupted) return status;
      problem = status.error().to_string();
      break;
    }
    run.push_back(size);
  }
  return measure_all(meter, run, runs, stop);
}

Result<fs::path> ProfileCommand::file(const ProfileIdentity& identity) const {
  if (!out.empty()) return fs::path(out);
  fs::path stored = profile_file(identity);
  if (stored.empty()) {
    return Error{ErrorCode::kOutput, "cache folder", "there is no home folder",
                 "name a file with --out, or set XDG_CACHE_HOME"};
  }
  return stored;
}

void print_table(const LatencyProfile& profile, const std::vector<ShapeLatency>& results) {
  std::printf("%s on %s\n", profile.processor().model.c_str(),
              profile.processor().processor.c_str());
  std::printf("%-12s %10s %10s %12s\n", "size", "median ms", "least ms", "ns per pixel");
  for (const ShapeLatency& row : results) {
    const double pixels = static_cast<double>(row.size.width) * row.size.height;
    const std::string size = std::to_string(row.size.width) + "x" + std::to_string(row.size.height);
    std::printf("%-12s %10.2f %10.2f %12.1f\n", size.c_str(), row.seconds * 1e3, row.least * 1e3,
                row.seconds * 1e9 / pixels);
  }
  if (const auto& line = profile.line()) {
    std::printf("time = %.2f ms + %.1f ns per pixel\n", line->fixed * 1e3, line->per_pixel * 1e9);
  }
}

int ProfileCommand::run() {
  stop_on_signals();
  if (runs < 1 || runs > 1000) {
    return report({ErrorCode::kInvalidArgument, "--runs", std::to_string(runs) + " is out of range",
                   "give a value from 1 to 1000"});
  }
  auto context = create_context(runtime);
  if (!context.ok()) return report(context.error());
  auto resolved = resolve_model(model, default_model_paths(share_dir()), *context);
  if (!resolved.ok()) return report(resolved.error());
  auto wanted = sizes(resolved->manifest.input);
  if (!wanted.ok()) return report(wanted.error());
  auto meter = LatencyMeter::create(*context, *resolved);
  if (!meter.ok()) return report(meter.error());
  std::string problem;
  if (Status status = measure(*meter, *wanted, problem); !status.ok()) {
    return report(status.error());
  }
  const std::vector<ShapeLatency> results = meter->results();
  const ProfileIdentity identity = profile_identity(resolved->manifest.name, *context);
  auto profile = make_profile(resolved->manifest, *meter, identity.processor);
  if (!profile.ok()) return report(profile.error());
  auto path = file(identity);
  if (!path.ok()) return report(path.error());
  if (Status status = save_profile(*path, *profile, identity); !status.ok()) {
    return report(status.error());
  }
  if (json) {
    std::fputs(to_json(*profile, identity).c_str(), stdout);
  } else if (!quiet) {
    print_table(*profile, results);
    if (!problem.empty()) std::printf("no larger size runs here: %s\n", problem.c_str());
    std::printf("written: %s\n", path->c_str());
  }
  return kExitOk;
}

}  // namespace

void add_profile_command(CLI::App& parent, Command& run) {
  auto command = std::make_shared<ProfileCommand>();
  CLI::App* app =
      parent.add_subcommand("profile", "measure a model's time by the size of its input");
  app->footer(kHelp);
  app->add_option("model", command->model, "a model's name, manifest (.json) or ONNX file")
      ->required();
  app->add_option("--shapes", command->shapes,
                  "sizes of the network's input, e.g. 320x320,640x480 (default: 12 from 128x128 to "
                  "1920x1088, those that the model takes)")
      ->delimiter(',')
      ->type_name("WxH,...");
  app->add_option("--runs", command->runs, "timed runs of each size; the median counts")
      ->capture_default_str();
  app->add_option("-o,--out", command->out, "the JSON file (default: in the user's cache folder)");
  add_flags(*app, command->runtime);
  app->add_flag("--json", command->json, "print the profile as JSON");
  app->add_flag("-q,--quiet", command->quiet, "print nothing");
  app->callback([command, &run] { run = [command] { return command->run(); }; });
}

}  // namespace sparing::cli
