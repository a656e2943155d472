#include "stream_processors.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "sparing/pipeline/detector.h"
#include "sparing/streams/latency_meter.h"
#include "sparing/streams/profile_store.h"
#include "sparing/streams/scale_model_json.h"

namespace sparing::cli {
namespace {

Error bad_processor(const std::string& text, std::string problem) {
  return {ErrorCode::kInvalidArgument, "--processors '" + text + "'", std::move(problem),
          "give device:precision:cores, e.g. cpu:int8:1,cpu:bf16:1"};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Result<ProcessorName> parse_one(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 3) return bad_processor(text, "it has not three parts");
  ProcessorName name{text, parts[0], parts[1], 0};
  if (!device_type_from_name(name.device)) {
    return bad_processor(text, "'" + name.device + "' is no device (cpu, gpu, npu)");
  }
  if (name.precision != "int8" && !precision_from_name(name.precision)) {
    return bad_processor(text, "'" + name.precision + "' is no precision (int8, bf16, f16, f32)");
  }
  const auto [end, code] =
      std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), name.cores);
  if (code != std::errc() || end != parts[2].data() + parts[2].size() || name.cores < 1) {
    return bad_processor(text, "'" + parts[2] + "' is no number of cores");
  }
  return name;
}

// The cores that this process may use, ascending.
std::vector<int> own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// A context of its own for each, those of the CPU on cores apart.
Result<std::vector<RuntimeOptions>> runtimes(const std::vector<ProcessorName>& names,
                                             const RuntimeOptions& base) {
  const std::vector<int> cores = own_cores();
  std::size_t next = 0;
  std::vector<RuntimeOptions> result;
  for (const ProcessorName& name : names) {
    RuntimeOptions runtime = base;
    runtime.device = name.device;
    // What is left of a quantised network in floating point runs in the fastest one.
    runtime.precision = name.precision == "int8" ? "auto" : name.precision;
    runtime.threads = runtime.streams = name.cores;
    runtime.cores.clear();
    if (name.device == "cpu") {
      for (int i = 0; i < name.cores && next < cores.size(); ++i, ++next) {
        runtime.cores.push_back(std::to_string(cores[next]));
      }
      if (static_cast<int>(runtime.cores.size()) < name.cores) {
        return bad_processor(name.text, "all together want more than the " +
                                            std::to_string(cores.size()) +
                                            " cores of this process");
      }
    }
    result.push_back(std::move(runtime));
  }
  return result;
}

std::string model_name(const std::string& model, const ProcessorName& name) {
  const bool quantised =
      name.precision == "int8" && !model.ends_with("-int8") && model.find('.') == std::string::npos;
  return quantised ? model + "-int8" : model;
}

Size largest_input(const ModelInput& input) {
  return input.fixed_size ? input.default_size : Size{input.max_size, input.max_size};
}

Result<LatencyProfile> profile_of(const DetectSettings& settings, std::size_t index,
                                  const ProfileIdentity& identity, const ModelInput& input,
                                  Detector& detector, LoadedProcessors& loaded) {
  if (index < settings.profiles.size()) {
    loaded.profiles.push_back(settings.profiles[index]);
    return load_profile(settings.profiles[index], identity, settings.tuning.latency);
  }
  if (settings.streams.deterministic) {
    loaded.profiles.emplace_back("nominal, 100 ns a pixel");
    return nominal_profile(identity.model, identity.processor, largest_input(input));
  }
  SPARING_ASSIGN_OR_RETURN(
      ObtainedProfile profile,
      obtain_profile(detector, identity, profile_file(identity), settings.tuning.latency));
  loaded.profiles.emplace_back(profile.reason.empty() ? profile_file(identity).string()
                                                      : "measured when this run began");
  if (!profile.saved.ok()) {
    loaded.notes.push_back("the measured profile is not kept: " +
                           profile.saved.error().to_string());
  }
  return std::move(profile.profile);
}

Result<ScaleModel> scales_of(const DetectSettings& settings, const std::string& model,
                             const std::string& precision, const ModelPaths& paths) {
  if (!settings.scales.empty()) return load_scale_model(settings.scales);
  SPARING_ASSIGN_OR_RETURN(FoundScales found, find_scale_model(model, precision, paths));
  return std::move(found.scales);
}

struct Wanted {
  std::string name;  // empty: as the context has it
  std::string model;
  RuntimeOptions runtime;
};

Status load_one(const DetectSettings& settings, const Wanted& wanted, LoadedProcessors& loaded) {
  const ModelPaths paths = default_model_paths(share_dir());
  SPARING_ASSIGN_OR_RETURN(Context context, create_context(wanted.runtime));
  auto model = resolve_model(wanted.model, paths, context);
  if (!model.ok()) {
    Error error = std::move(model).error();
    if (wanted.model != settings.model && error.code == ErrorCode::kModel) {
      error.fix = "make it: sparing models quantize " + settings.model + " --calib CLIP";
    }
    return error;
  }
  SPARING_ASSIGN_OR_RETURN(Detector detector, Detector::create(context, *model, settings.detect));
  const ProfileIdentity identity = profile_identity(model->manifest.name, context);
  SPARING_ASSIGN_OR_RETURN(LatencyProfile profile,
                           profile_of(settings, loaded.processors.size(), identity,
                                      model->manifest.input, detector, loaded));
  SPARING_ASSIGN_OR_RETURN(ScaleModel scales,
                           scales_of(settings, model->manifest.name,
                                     scales_precision(model->manifest.name, context), paths));
  if (loaded.processors.empty()) {
    loaded.model = model->manifest.name;
    loaded.threads = context.options().threads;
    loaded.streams = context.options().streams;
  }
  loaded.processors.push_back({wanted.name.empty() ? identity.processor : wanted.name,
                               std::move(detector), std::move(profile), std::move(scales)});
  return {};
}

}  // namespace

std::string scales_precision(const std::string& model, const Context& context) {
  return model.ends_with("-int8") ? "int8" : std::string(to_string(context.options().precision));
}

Result<std::vector<ProcessorName>> parse_processors(const std::string& text) {
  std::vector<ProcessorName> names;
  for (const std::string& part : split(text, ',')) {
    SPARING_ASSIGN_OR_RETURN(names.emplace_back(), parse_one(part));
  }
  return names;
}

Result<LoadedProcessors> load_processors(const DetectSettings& settings) {
  std::vector<Wanted> wanted;
  if (settings.processors.empty()) {
    wanted.push_back({"", settings.model, settings.runtime});
  } else {
    SPARING_ASSIGN_OR_RETURN(const auto names, parse_processors(settings.processors));
    SPARING_ASSIGN_OR_RETURN(auto runtime, runtimes(names, settings.runtime));
    for (std::size_t i = 0; i < names.size(); ++i) {
      wanted.push_back(
          {names[i].text, model_name(settings.model, names[i]), std::move(runtime[i])});
    }
  }
  if (settings.profiles.size() > wanted.size()) {
    return Error{ErrorCode::kInvalidArgument, "--profile",
                 std::to_string(settings.profiles.size()) + " were given for " +
                     std::to_string(wanted.size()) + " processors",
                 "give one for each, in their order"};
  }
  LoadedProcessors loaded;
  for (const Wanted& one : wanted) SPARING_RETURN_IF_ERROR(load_one(settings, one, loaded));
  return loaded;
}

}  // namespace sparing::cli
