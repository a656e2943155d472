// The fields of manifests for segmentation.
#pragma once

#include "sparing/models/json_reader.h"
#include "sparing/models/manifest.h"

namespace sparing {

// Reads `segmentation`, `palette` and `aux` of the document into `out`.
void parse_segmentation(JsonObject& root, ModelManifest& out);

// What only shows once the labels are known: their number against that of the class map, the
// palette and the kind.
void check_segmentation_labels(const ModelManifest& manifest, JsonErrors& errors);

// "#1a2b3c".
std::string color_text(const Rgb& color);

}  // namespace sparing
