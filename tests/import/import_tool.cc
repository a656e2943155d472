// One import for the tests in Python, without decoder or command line between: raw planes on
// standard input, the tensor's raw bytes on standard output. Not installed.
//
// usage: import_tool FORMAT WIDTHxHEIGHT [KEY=VALUE]... <planes >tensor
// The planes are dense, in the format's order. Keys are the members of ImportOptions, and `size`,
// `layout`, `type`, `channels` of the tensor, `reference=1` for the definition in place of the fast
// path, `visible=x,y,w,h` of the frame. The map from tensor to frame goes to standard error: a b tx
// c d ty.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/tensor_view.h"
#include "sparing/frame/video_frame.h"
#include "sparing/kernels/import.h"

namespace sparing {
namespace {

[[noreturn]] void die(const std::string& problem) {
  std::fprintf(stderr, "import_tool: %s\n", problem.c_str());
  std::exit(1);
}

template <typename T>
struct Name {
  std::string_view name;
  T value;
};

constexpr Name<Filter> kFilters[] = {{"bilinear", Filter::kBilinear},
                                     {"nearest", Filter::kNearest},
                                     {"area", Filter::kArea},
                                     {"triangle", Filter::kTriangle},
                                     {"auto", Filter::kAuto}};
constexpr Name<Fit> kFits[] = {
    {"stretch", Fit::kStretch}, {"letterbox", Fit::kLetterbox}, {"crop", Fit::kCrop}};
constexpr Name<ChannelOrder> kOrders[] = {{"rgb", ChannelOrder::kRgb}, {"bgr", ChannelOrder::kBgr}};
constexpr Name<Outside> kOutsides[] = {{"clamp", Outside::kClamp}, {"pad", Outside::kPad}};
constexpr Name<ChromaUpsampling> kChromas[] = {{"interpolate", ChromaUpsampling::kInterpolate},
                                               {"replicate", ChromaUpsampling::kReplicate}};
constexpr Name<ColorMatrix> kMatrices[] = {
    {"601", ColorMatrix::kBt601}, {"709", ColorMatrix::kBt709}, {"2020", ColorMatrix::kBt2020}};
constexpr Name<ColorRange> kRanges[] = {{"limited", ColorRange::kLimited},
                                        {"full", ColorRange::kFull}};
constexpr Name<ChromaSiting> kSitings[] = {{"left", ChromaSiting::kLeft},
                                           {"center", ChromaSiting::kCenter},
                                           {"topleft", ChromaSiting::kTopLeft}};

// What was said on the command line; each key is taken once, and what is left over was misspelt.
class Arguments {
 public:
  explicit Arguments(std::span<char*> words) {
    for (std::string_view word : words) {
      const std::size_t equals = word.find('=');
      if (equals == word.npos) die("argument '" + std::string(word) + "' is not KEY=VALUE");
      values_[std::string(word.substr(0, equals))] = word.substr(equals + 1);
    }
  }

  std::optional<std::string> take(const std::string& key) {
    auto node = values_.extract(key);
    return node ? std::optional(node.mapped()) : std::nullopt;
  }

  std::string take(const std::string& key, const char* absent) {
    return take(key).value_or(absent);
  }

  template <std::size_t kCount, typename T>
  void choose(const std::string& key, const Name<T> (&names)[kCount], T& value) {
    const std::optional<std::string> text = take(key);
    if (!text) return;
    for (const Name<T>& row : names) {
      if (row.name == *text) {
        value = row.value;
        return;
      }
    }
    die("unknown " + key + " '" + *text + "'");
  }

  // Numbers between commas (or an x); the count must fit.
  template <typename T, std::size_t kCount>
  bool numbers(const std::string& key, std::array<T, kCount>& values) {
    std::optional<std::string> text = take(key);
    if (!text) return false;
    for (char& c : *text) c = c == ',' || c == 'x' ? ' ' : c;
    std::istringstream stream(*text);
    for (T& value : values) {
      if (!(stream >> value)) die(key + " needs " + std::to_string(kCount) + " numbers");
    }
    return true;
  }

  void done() const {
    if (!values_.empty()) die("unknown key '" + values_.begin()->first + "'");
  }

 private:
  std::map<std::string, std::string> values_;
};

SharedFrame read_frame(const std::string& format_name, const std::string& size_text) {
  const std::optional<PixelFormat> format = pixel_format_from_name(format_name);
  if (!format) die("unknown format '" + format_name + "'");
  Size size;
  if (std::sscanf(size_text.c_str(), "%dx%d", &size.width, &size.height) != 2) die("bad size");
  Result<SharedFrame> frame = allocate_frame(*format, size);
  if (!frame) die(frame.error().to_string());
  for (int p = 0; p < info(*format).planes; ++p) {
    const PlaneExtent extent = plane_extent(*format, p, size);
    std::uint8_t* row = mutable_plane(*frame, p);
    for (int y = 0; y < extent.rows; ++y, row += frame->view().planes[p].stride) {
      if (!std::cin.read(reinterpret_cast<char*>(row), extent.row_bytes)) die("input too short");
    }
  }
  if (std::cin.peek() != std::char_traits<char>::eof()) die("input too long");
  return std::move(*frame);
}

ImportOptions read_options(Arguments& arguments) {
  ImportOptions options;
  if (std::array<double, 4> r; arguments.numbers("rect", r)) {
    options.visible_rect = Rect{r[0], r[1], r[2], r[3]};
  }
  arguments.numbers("mean", options.mean);
  arguments.numbers("std", options.std);
  arguments.numbers("pad", options.pad);
  arguments.choose("order", kOrders, options.order);
  arguments.choose("fit", kFits, options.fit);
  arguments.choose("filter", kFilters, options.filter);
  arguments.choose("outside", kOutsides, options.outside);
  arguments.choose("chroma", kChromas, options.chroma);
  arguments.choose("matrix", kMatrices, options.color_space.matrix);
  arguments.choose("range", kRanges, options.color_space.range);
  arguments.choose("siting", kSitings, options.color_space.siting);
  return options;
}

int run(int argc, char** argv) {
  if (argc < 3) die("usage: import_tool FORMAT WIDTHxHEIGHT [KEY=VALUE]...");
  std::ios::sync_with_stdio(false);
  Arguments arguments(std::span(argv + 3, argv + argc));
  SharedFrame frame = read_frame(argv[1], argv[2]);
  if (std::array<double, 4> r; arguments.numbers("visible", r)) {
    frame.view().visible_rect = {r[0], r[1], r[2], r[3]};
  }
  const ImportOptions options = read_options(arguments);
  std::array<int, 2> size{};
  if (!arguments.numbers("size", size)) die("size=WIDTHxHEIGHT is missing");
  const std::optional<DataType> type = data_type_from_name(arguments.take("type", "float32"));
  if (!type) die("unknown type");
  const Layout layout = arguments.take("layout", "nhwc") == "nchw" ? Layout::kNchw : Layout::kNhwc;
  const int channels = std::atoi(arguments.take("channels", "3").c_str());
  const bool reference = arguments.take("reference", "0") == "1";
  arguments.done();

  const Shape shape = layout == Layout::kNchw ? Shape{1, channels, size[1], size[0]}
                                              : Shape{1, size[1], size[0], channels};
  const std::optional<std::int64_t> count = element_count(shape);
  if (!count || *count <= 0) die("bad size or channels");
  std::vector<std::byte> memory(static_cast<std::size_t>(*count) * info(*type).size);
  const TensorView tensor = dense_view(memory.data(), *type, shape, layout);
  const Result<Affine> map = reference ? import_frame_reference(frame.view(), options, tensor)
                                       : import_frame(frame.view(), options, tensor);
  if (!map) die(map.error().to_string());
  std::fprintf(stderr, "%.17g %.17g %.17g %.17g %.17g %.17g\n", map->a, map->b, map->tx, map->c,
               map->d, map->ty);
  std::cout.write(reinterpret_cast<const char*>(memory.data()),
                  static_cast<std::streamsize>(memory.size()));
  return std::cout.flush() ? 0 : 1;
}

}  // namespace
}  // namespace sparing

int main(int argc, char** argv) { return sparing::run(argc, argv); }
