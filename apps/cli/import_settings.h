// The options of `sparing import`, and what they ask of the import kernel.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/kernels/import.h"
#include "sparing/models/manifest.h"

namespace sparing::cli {

template <class Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

// The words of each option, in the order of the help.
// clang-format off: one line a table
inline constexpr std::array<Choice<Layout>, 2> kLayouts{{
    {"nchw", Layout::kNchw}, {"nhwc", Layout::kNhwc}}};
inline constexpr std::array<Choice<int>, 3> kChannels{{{"1", 1}, {"3", 3}, {"4", 4}}};
inline constexpr std::array<Choice<DataType>, 7> kTypes{{
    {"f32", DataType::kFloat32}, {"f16", DataType::kFloat16}, {"bf16", DataType::kBfloat16},
    {"u8", DataType::kUint8}, {"i8", DataType::kInt8}, {"i32", DataType::kInt32},
    {"i64", DataType::kInt64}}};
inline constexpr std::array<Choice<ChannelOrder>, 2> kOrders{{
    {"rgb", ChannelOrder::kRgb}, {"bgr", ChannelOrder::kBgr}}};
inline constexpr std::array<Choice<Fit>, 3> kFits{{
    {"stretch", Fit::kStretch}, {"letterbox", Fit::kLetterbox}, {"crop", Fit::kCrop}}};
inline constexpr std::array<Choice<Anchor>, 2> kAnchors{{
    {"center", Anchor::kCenter}, {"top-left", Anchor::kTopLeft}}};
inline constexpr std::array<Choice<Filter>, 5> kFilters{{
    {"bilinear", Filter::kBilinear}, {"nearest", Filter::kNearest}, {"area", Filter::kArea},
    {"triangle", Filter::kTriangle}, {"auto", Filter::kAuto}}};
inline constexpr std::array<Choice<Outside>, 2> kOutsides{{
    {"clamp", Outside::kClamp}, {"pad", Outside::kPad}}};
inline constexpr std::array<Choice<ChromaUpsampling>, 2> kChromas{{
    {"interpolate", ChromaUpsampling::kInterpolate}, {"replicate", ChromaUpsampling::kReplicate}}};
inline constexpr std::array<Choice<Rotation>, 4> kRotations{{
    {"0", Rotation::k0}, {"90", Rotation::k90}, {"180", Rotation::k180}, {"270", Rotation::k270}}};
inline constexpr std::array<Choice<ColorMatrix>, 3> kMatrices{{
    {"bt601", ColorMatrix::kBt601}, {"bt709", ColorMatrix::kBt709},
    {"bt2020", ColorMatrix::kBt2020}}};
inline constexpr std::array<Choice<ColorRange>, 2> kRanges{{
    {"limited", ColorRange::kLimited}, {"full", ColorRange::kFull}}};
inline constexpr std::array<Choice<ChromaSiting>, 3> kSitings{{
    {"left", ChromaSiting::kLeft}, {"center", ChromaSiting::kCenter},
    {"top-left", ChromaSiting::kTopLeft}}};
// clang-format on

// The word of a value; "unspecified" of one that has none.
template <class Enum, std::size_t size>
std::string_view name_of(const std::array<Choice<Enum>, size>& choices, Enum value) {
  for (const Choice<Enum>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return "unspecified";
}

namespace internal {
// "nchw|nhwc" of a table, as OptionField::choices wants it.
template <const auto& table>
inline constexpr auto kJoined = [] {
  constexpr std::size_t length = [] {
    std::size_t sum = table.size() - 1;
    for (const auto& choice : table) sum += choice.name.size();
    return sum;
  }();
  std::array<char, length> text{};
  std::size_t at = 0;
  for (const auto& choice : table) {
    if (at > 0) text[at++] = '|';
    for (const char c : choice.name) text[at++] = c;
  }
  return text;
}();
template <const auto& table>
constexpr std::string_view choices_of() {
  return {kJoined<table>.data(), kJoined<table>.size()};
}
}  // namespace internal

// As given on the command line; what is empty was not given.
struct ImportSettings {
  int frame = -1;
  double time = -1;
  std::vector<std::string> rect;
  std::string size;
  std::string model;
  std::string layout, channels, type, order;
  std::vector<std::string> mean, std;
  std::string fit, anchor;
  std::vector<std::string> pad;
  std::string filter, outside, chroma;
  std::vector<std::string> quantize;
  double alpha = 255;
  std::string rotate;
  bool flip = false;
  std::string matrix, range, siting;
  bool reference = false;
  int threads = 1;

  static constexpr auto fields() {
    using internal::choices_of;
    using S = ImportSettings;
    return std::tuple{
        option("frame", &S::frame)
            .help("the frame's number, from 0 (default: 0)")
            .range(0, 2147483646)
            .unset(-1),
        option("time", &S::time)
            .help("the frame that is shown at this time, in place of --frame")
            .unit("SECONDS")
            .range(0, 1e9)
            .unset(-1),
        option("rect", &S::rect)
            .help("rectangle of the upright picture, fractions allowed (default: all of it)")
            .unit("X,Y,W,H"),
        option("size", &S::size)
            .help("size of the tensor (default: the rectangle's, rounded)")
            .unit("WxH"),
        option("model", &S::model)
            .help("a model's name or manifest (.json): takes size, layout, order, mean, std, fit, "
                  "anchor and pad from it where they are not given"),
        option("layout", &S::layout)
            .help("order of the tensor's dimensions (default: nchw)")
            .choices(choices_of<kLayouts>()),
        option("channels", &S::channels)
            .help("1 is luma; 4 has alpha, too (default: 3)")
            .choices(choices_of<kChannels>()),
        option("type", &S::type)
            .help("type of the tensor (default: f32)")
            .choices(choices_of<kTypes>()),
        option("order", &S::order)
            .help("order of the channels (default: rgb)")
            .choices(choices_of<kOrders>()),
        option("mean", &S::mean)
            .help("taken off a pixel of 0..255; one for all channels, or one each in the tensor's "
                  "order (default: 0)")
            .unit("A[,B,C]"),
        option("std", &S::std).help("what it is then divided by (default: 1)").unit("A[,B,C]"),
        option("fit", &S::fit)
            .help("how the rectangle's shape becomes the tensor's (default: stretch)")
            .choices(choices_of<kFits>()),
        option("anchor", &S::anchor)
            .help("where a letterboxed picture lies, and what crop keeps (default: center)")
            .choices(choices_of<kAnchors>()),
        option("pad", &S::pad)
            .help("pixel value of borders, 0..255 (default: 114)")
            .unit("A[,B,C]"),
        option("filter", &S::filter)
            .help("how pixels are sampled (default: bilinear)")
            .choices(choices_of<kFilters>()),
        option("outside", &S::outside)
            .help("what a rectangle shows beyond the picture (default: clamp)")
            .choices(choices_of<kOutsides>()),
        option("chroma", &S::chroma)
            .help("how chroma is brought to luma's resolution (default: interpolate)")
            .choices(choices_of<kChromas>()),
        option("quantize", &S::quantize)
            .help("integer types: stored = round(value / SCALE) + ZERO (default: 1,0)")
            .unit("SCALE,ZERO"),
        option("alpha", &S::alpha)
            .help("value of a fourth channel, not normalised")
            .range(-1e9, 1e9),
        option("rotate", &S::rotate)
            .help("clockwise turn of the coded picture, in place of the file's own turn and flip")
            .choices(choices_of<kRotations>()),
        option("flip", &S::flip)
            .help("mirror it left to right after the turn, in place of the file's own"),
        option("matrix", &S::matrix)
            .help("colour matrix, in place of what the stream says")
            .choices(choices_of<kMatrices>()),
        option("range", &S::range)
            .help("range of the samples, in place of what the stream says")
            .choices(choices_of<kRanges>()),
        option("siting", &S::siting)
            .help("where chroma samples lie, in place of what the stream says")
            .choices(choices_of<kSitings>()),
        option("reference", &S::reference)
            .help("compute by the plain definition in double precision: slow, one thread"),
        option("threads", &S::threads)
            .help("threads of the import; the result is the same")
            .range(1, 1024),
    };
  }
};

// What is asked for, as far as it does not depend on the frame.
struct ImportRequest {
  ImportOptions options;
  Layout layout = Layout::kNchw;
  DataType type = DataType::kFloat32;
  int channels = 3;
  Size size;                        // {0, 0}: not given
  std::optional<ModelInput> model;  // whose size counts when `size` is not given
};

// kInvalidArgument: an option out of its range or choices, a list with a number of values that does
// not fit, options that exclude each other; kModel: an unknown or broken manifest.
Result<ImportRequest> make_request(const ImportSettings& settings);

// The tensor's size for a frame. kInvalidArgument: a size that the model does not take, a tensor
// larger than 2^31 bytes.
Result<Size> tensor_size(const ImportRequest& request, const VideoFrame& frame);

// The rectangle that is shown, in display coordinates of the orientation in use.
Rect source_rect(const ImportRequest& request, const VideoFrame& frame);
// The frame in the orientation that the request asks for.
VideoFrame oriented(const ImportRequest& request, const VideoFrame& frame);

}  // namespace sparing::cli
