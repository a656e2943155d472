// Whatever the bytes, each reader of masks gives a label map, which reads back the same when it is
// written as run lengths, or an error of one line. The first byte chooses the reader.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "sparing/frame/video_frame.h"
#include "sparing/io/label_png.h"
#include "sparing/io/mask_lines.h"
#include "sparing/io/rle.h"

namespace sparing {
namespace {

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

void check(const Error& error) {
  const std::string message = error.to_string();
  require(error.code == ErrorCode::kInput, message);
  require(message.find('\n') == std::string::npos, "several lines: " + message);
  require(!error.fix.empty(), "no fix: " + message);
}

LabelMap blank(Size size) {
  LabelMap map;
  map.resize(size);
  std::fill(map.labels.begin(), map.labels.end(), kIgnoreLabel);
  return map;
}

void check(const LabelMap& map) {
  require(std::min(map.size.width, map.size.height) >= 1 &&
              std::max(map.size.width, map.size.height) <= kMaxFrameExtent,
          "size");
  require(map.labels.size() ==
              static_cast<std::size_t>(map.size.width) * static_cast<std::size_t>(map.size.height),
          "number of labels");
  LabelMap back = blank(map.size);
  for (const auto& [label, counts] : encode_masks(map)) {
    const std::string problem = decode_mask(counts, label, back);
    require(problem.empty(), problem);
  }
  require(back == map, "reads back otherwise");
}

void check_counts(std::span<const std::uint8_t> data) {
  if (data.size() < 2) return;
  const Size size{1 + data[0] % 64, 1 + data[1] % 64};
  LabelMap map = blank(size);
  const std::string counts(data.begin() + 2, data.end());
  const std::string problem = decode_mask(counts, 7, map);
  check(map);
  require(problem.find('\n') == std::string::npos, "several lines: " + problem);
}

void run(std::span<const std::uint8_t> data) {
  const std::span<const std::uint8_t> rest = data.subspan(1);
  switch (data[0] % 3) {
    case 0: {
      const auto line = parse_mask_line({reinterpret_cast<const char*>(rest.data()), rest.size()},
                                        "file 'f', line 1");
      return line.ok() ? check(line->labels) : check(line.error());
    }
    case 1: {
      const auto map = parse_label_png(rest, "f.png");
      return map.ok() ? check(*map) : check(map.error());
    }
    default: return check_counts(rest);
  }
}

}  // namespace
}  // namespace sparing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  sparing::run({data, size});
  return 0;
}
