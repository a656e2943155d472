// Whatever the bytes: parse_manifest gives a manifest or a one-line error, and a manifest it
// accepts can be written and read back.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sparing/models/manifest.h"

namespace {

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const sparing::Result<sparing::ModelManifest> first = sparing::parse_manifest(text, "fuzz");
  if (!first.ok()) {
    const std::string message = first.error().to_string();
    require(message.find('\n') == std::string::npos, "several lines: " + message);
    require(!first.error().fix.empty(), "no fix: " + message);
    return 0;
  }
  sparing::ModelManifest manifest = *first;
  // The writer leaves out where the file comes from.
  manifest.source = {};
  const std::string written = to_json(manifest);
  const sparing::Result<sparing::ModelManifest> second = sparing::parse_manifest(written, "again");
  require(second.ok(), second.ok() ? "" : second.error().to_string());
  require(*second == manifest, "read back otherwise: " + written);
  (void)input_size(manifest.input, {1920, 1080});
  return 0;
}
