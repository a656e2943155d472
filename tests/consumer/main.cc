// Uses something of every installed layer, so that a missing header or library fails to build.
#include <cstdio>

#include "sparing/backends/openvino.h"
#include "sparing/io/source.h"
#include "sparing/pipeline/detector.h"

int main() {
  sparing::Result<sparing::Context> context = sparing::create_openvino_context({});
  if (!context.ok()) {
    std::fprintf(stderr, "%s\n", context.error().to_string().c_str());
    return 1;
  }
  std::printf("consumer: Sparing %s, OpenVINO %s\n", CONSUMER_SPARING_VERSION,
              sparing::openvino_version().c_str());

  const auto source = sparing::open_source("no-such-file.mp4");
  if (source.ok() || source.error().code != sparing::ErrorCode::kInput) {
    std::fprintf(stderr, "a missing file was not refused as an input error\n");
    return 1;
  }
  std::printf("consumer: %s\n", source.error().to_string().c_str());
  return 0;
}
