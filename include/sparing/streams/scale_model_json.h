// Scale models as files: what `sparing train-scale` learns on a user's own clips, for one model and
// precision (Mondrian, section 4.2.2).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "sparing/base/result.h"
#include "sparing/models/registry.h"
#include "sparing/packing/scale_predictor.h"

namespace sparing {

// The JSON form (schema 1): model, precision, predictor, min-scale, max-scale, `height` with the
// options of HeightParameters, `tree` (where there is one) with ScaleTreeData's fields and
// level-areas, and height-under-rate and tree-under-rate, where they were measured.
std::string to_json(const ScaleModel& model);

// Reads the JSON form, strictly. `name_for_errors` is the file's name. kModel: not JSON, a missing,
// unknown, twice given or wrong field, named with its value and the fix, or what ScalePredictor and
// ScaleTree refuse; kNotSupported: of a newer schema.
Result<ScaleModel> parse_scale_model(std::string_view json, const std::string& name_for_errors);
// The same from a file. kModel also: missing, unreadable, over 4 MB.
Result<ScaleModel> load_scale_model(const std::filesystem::path& file);
// Files as by write_file (sparing/io/file.h). kOutput: cannot be written.
Status save_scale_model(const std::filesystem::path& file, const ScaleModel& model);

struct FoundScales {
  ScaleModel scales;
  std::filesystem::path file;  // empty: none was found, the defaults
};

// The scales of a network: the user's own (model_dir/scales/NAME.PRECISION.json), else those that
// come with Sparing (`scales` in the folders of manifests), else the defaults. A file that is there
// must be right: errors as load_scale_model, and kModel when it is of another model or precision.
Result<FoundScales> find_scale_model(const std::string& model, const std::string& precision,
                                     const ModelPaths& paths);

}  // namespace sparing
