// sparing info: versions, devices, SIMD target, cores.
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "exit_codes.h"
#include "runtime.h"
#include "sparing/backends/openvino.h"
#include "sparing/base/thread_pool.h"
#include "sparing/base/version.h"
#include "sparing/io/source.h"
#include "sparing/kernels/import.h"

namespace sparing::cli {
namespace {

int print_info(bool as_json) {
  auto devices = openvino_devices();
  if (!devices.ok()) return report(devices.error());
  const ModelPaths paths = default_model_paths(share_dir());
  nlohmann::ordered_json json;
  json["version"] = version();
  json["openvino"] = openvino_version();
  json["ffmpeg"] = ffmpeg_version();
  json["simd"] = import_simd_target();
  json["cores"] = available_cores();
  json["models"] = paths.model_dir.string();
  json["share"] = share_dir().string();
  json["devices"] = nlohmann::ordered_json::array();
  for (const DeviceInfo& device : *devices) {
    nlohmann::ordered_json precisions = nlohmann::ordered_json::array();
    for (const Precision precision : device.precisions) precisions.push_back(to_string(precision));
    json["devices"].push_back(
        {{"name", device.name}, {"full_name", device.full_name}, {"precisions", precisions}});
  }
  if (as_json) {
    std::printf(
        "%s\n",
        json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
    return kExitOk;
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "devices") continue;
    std::printf("%-10s %s\n", key.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
  }
  for (const auto& device : json["devices"]) {
    std::string precisions;
    for (const auto& precision : device["precisions"])
      precisions += " " + precision.get<std::string>();
    std::printf("device     %s: %s,%s\n", device["name"].get<std::string>().c_str(),
                device["full_name"].get<std::string>().c_str(), precisions.c_str());
  }
  return kExitOk;
}

}  // namespace

void add_info_command(CLI::App& parent, Command& run) {
  auto json = std::make_shared<bool>(false);
  CLI::App* app = parent.add_subcommand("info", "versions, devices, SIMD target and cores");
  app->add_flag("--json", *json, "print one JSON object");
  app->callback([json, &run] { run = [json] { return print_info(*json); }; });
}

}  // namespace sparing::cli
