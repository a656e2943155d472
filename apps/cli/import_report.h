// What `sparing import` tells about a tensor, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "import_settings.h"
#include "sparing/base/geometry.h"
#include "sparing/io/source.h"
#include "tensor_picture.h"

namespace sparing::cli {

struct ImportReport {
  SourceInfo source;
  SourceFrame frame;
  ImportRequest request;
  Size size;  // of the tensor
  Affine map;
  std::vector<ChannelStatistics> channels;
  std::vector<std::string> notes;
  std::vector<std::string> outputs;
};

std::string report_text(const ImportReport& report);
// One JSON object in one line; the fields are documented in docs/cli.md.
std::string report_json(const ImportReport& report);

}  // namespace sparing::cli
