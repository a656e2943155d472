#include "figures.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>

#include "sparing/backends/openvino.h"
#include "sparing/base/thread_pool.h"
#include "sparing/base/version.h"
#include "sparing/kernels/import.h"

namespace sparing::bench {
namespace {

using Json = nlohmann::ordered_json;

Json machine() {
  return {{"cpu", cpu_model()},           {"cores", available_cores()},
          {"simd", import_simd_target()}, {"openvino", openvino_version()},
          {"compiler", __VERSION__},      {"sparing", version()}};
}

}  // namespace

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

void Report::add(Figure figure) {
  std::printf("%-24s %12.4f %-4s %s\n", figure.id.c_str(), figure.value, figure.unit.c_str(),
              figure.note.c_str());
  std::fflush(stdout);
  record(std::move(figure));
}

void Report::record(Figure figure) { figures_.push_back(std::move(figure)); }

void Report::skip(const std::string& id, const std::string& reason) {
  std::printf("%-24s %12s      %s\n", id.c_str(), "skipped", reason.c_str());
  skipped_.push_back({id, reason});
}

Status Report::write_json(const std::filesystem::path& file) const {
  Json json;
  json["schema"] = 1;
  json["machine"] = machine();
  json["figures"] = Json::array();
  for (const Figure& figure : figures_) {
    json["figures"].push_back(
        {{"id", figure.id}, {"value", figure.value}, {"unit", figure.unit}, {"note", figure.note}});
  }
  json["skipped"] = Json::array();
  for (const Skipped& skipped : skipped_) {
    json["skipped"].push_back({{"id", skipped.id}, {"reason", skipped.reason}});
  }
  std::ofstream out(file);
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  out.close();
  if (out) return {};
  return Error{ErrorCode::kOutput, "file '" + file.string() + "'", "cannot be written",
               "check the folder's permissions and free space"};
}

}  // namespace sparing::bench
