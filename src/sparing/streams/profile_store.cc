#include "sparing/streams/profile_store.h"

#include <cctype>
#include <span>
#include <utility>

#include "sparing/io/file.h"
#include "sparing/models/json_reader.h"
#include "sparing/models/registry.h"
#include "sparing/streams/json_options.h"
#include "sparing/streams/processor.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 1;
constexpr JsonLimits kLimits{std::size_t{1} << 20, 4};

Status check_same(const std::string& thing, const char* what, const std::string& found,
                  const std::string& wanted) {
  if (found == wanted) return {};
  return Error{ErrorCode::kNotSupported, thing,
               std::string("is of the ") + what + " '" + found + "', not '" + wanted + "'",
               "measure again: sparing models profile"};
}

Status check_identity(const std::string& thing, const ProfileIdentity& found,
                      const ProfileIdentity& wanted) {
  SPARING_RETURN_IF_ERROR(check_same(thing, "model", found.model, wanted.model));
  SPARING_RETURN_IF_ERROR(check_same(thing, "processor", found.processor, wanted.processor));
  SPARING_RETURN_IF_ERROR(check_same(thing, "machine", found.machine, wanted.machine));
  return check_same(thing, "engine", found.engine, wanted.engine);
}

std::vector<LatencyPoint> read_points(JsonObject& object, JsonErrors& errors) {
  std::vector<LatencyPoint> points;
  const nlohmann::json* list = object.any("points");
  if (list == nullptr || !list->is_array() || list->empty()) {
    object.fail("points", "no measured points",
                R"(give at least one: [{"width":320,"height":320,"ms":9.5}])");
    return points;
  }
  for (std::size_t i = 0; i < list->size() && errors.ok(); ++i) {
    JsonObject item((*list)[i], "points[" + std::to_string(i) + "]", errors);
    read_options(item, points.emplace_back());
    item.finish();
  }
  return points;
}

}  // namespace

fs::path profile_file(const ProfileIdentity& identity) {
  const fs::path cache = user_cache_dir();
  if (cache.empty()) return {};
  std::string name = identity.model + "." + identity.processor;
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (!plain) c = '-';
  }
  return cache / "profiles" / (name + ".json");
}

std::string to_json(const LatencyProfile& profile, const ProfileIdentity& identity) {
  nlohmann::ordered_json json;
  json["schema"] = kSchema;
  write_options(profile.processor(), json);
  json["machine"] = identity.machine;
  json["engine"] = identity.engine;
  json["points"] = nlohmann::ordered_json::array();
  for (const LatencyPoint& point : profile.current_points()) {
    write_options(point, json["points"].emplace_back());
  }
  return to_text(json);
}

Result<LatencyProfile> parse_profile(std::string_view json, const std::string& name_for_errors,
                                     const ProfileIdentity& identity,
                                     const LatencyOptions& options) {
  const std::string thing = "latency profile '" + name_for_errors + "'";
  JsonErrors errors(ErrorCode::kModel, thing, "docs/models.md");
  const auto document = parse_json(json, kLimits, errors);
  if (!document) return errors.status().error();
  JsonObject object(*document, "", errors);
  SPARING_RETURN_IF_ERROR(check_schema(object, kSchema, thing));
  ProfiledProcessor processor;
  read_options(object, processor);
  ProfileIdentity found{processor.model, processor.processor, object.text("machine"),
                        object.text("engine")};
  std::vector<LatencyPoint> points = read_points(object, errors);
  object.finish();
  if (!errors.ok()) return errors.status().error();
  SPARING_RETURN_IF_ERROR(check_identity(thing, found, identity));
  return LatencyProfile::create(std::move(processor), std::move(points), options);
}

Result<LatencyProfile> load_profile(const fs::path& file, const ProfileIdentity& identity,
                                    const LatencyOptions& options) {
  SPARING_ASSIGN_OR_RETURN(const std::string text,
                           read_small_file(file.string(), kLimits.max_bytes));
  return parse_profile(text, file.string(), identity, options);
}

Status save_profile(const fs::path& file, const LatencyProfile& profile,
                    const ProfileIdentity& identity) {
  if (file.empty()) {
    return Error{ErrorCode::kOutput, "cache folder", "there is no home folder",
                 "set XDG_CACHE_HOME"};
  }
  const std::string text = to_json(profile, identity);
  const auto bytes = std::as_bytes(std::span(text));
  return write_file(file, std::span(&bytes, 1));
}

Result<ObtainedProfile> obtain_profile(Detector& detector, const ProfileIdentity& identity,
                                       const fs::path& file, const LatencyOptions& options) {
  std::string reason = "there is no cache folder";
  if (!file.empty()) {
    auto stored = load_profile(file, identity, options);
    if (stored.ok()) return ObtainedProfile{*std::move(stored), "", {}};
    reason = stored.error().thing + ": " + stored.error().problem;
  }
  SPARING_ASSIGN_OR_RETURN(const LatencyProfile measured,
                           measure_profile(detector, identity.processor, {}));
  SPARING_ASSIGN_OR_RETURN(
      LatencyProfile profile,
      LatencyProfile::create(measured.processor(), measured.points(), options));
  Status saved;
  if (!file.empty()) saved = save_profile(file, profile, identity);
  return ObtainedProfile{std::move(profile), std::move(reason), std::move(saved)};
}

}  // namespace sparing
