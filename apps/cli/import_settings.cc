#include "import_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "runtime.h"
#include "sparing/base/check.h"
#include "sparing/models/registry.h"
#include "sparing/pipeline/detector.h"

namespace sparing::cli {
namespace {

constexpr std::int64_t kMaxTensorBytes = std::int64_t{1} << 31;

Error usage(std::string thing, std::string problem, std::string fix) {
  return {ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
}

// Sets `value` where the option was given. Its word was validated against the table's.
template <class Enum, std::size_t size>
void set_choice(const std::string& word, const std::array<Choice<Enum>, size>& choices,
                Enum& value) {
  if (word.empty()) return;
  for (const Choice<Enum>& choice : choices) {
    if (choice.name == word) {
      value = choice.value;
      return;
    }
  }
  SPARING_CHECK(false);
}

template <class Number>
bool parse(const std::string& text, Number& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

// A number as it is written, but one that the type does not hold.
template <class Number>
bool is_too_far(const std::string& text) {
  Number value;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc::result_out_of_range && end == text.data() + text.size();
}

// The values that an option's channels may have. The library checks the same of its own fields.
struct ChannelRule {
  const char* option;
  const char* allowed;
  bool (*holds)(float);
};
constexpr ChannelRule kMeanRule{"--mean", "finite numbers of a 32-bit float",
                                [](float v) { return std::isfinite(v); }};
constexpr ChannelRule kStdRule{"--std", "finite numbers of a 32-bit float other than 0",
                               [](float v) { return std::isfinite(v) && v != 0; }};
constexpr ChannelRule kPadRule{"--pad", "pixel values from 0 to 255 (before normalisation)",
                               [](float v) { return v >= 0 && v <= 255; }};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// One value for all channels, or one each.
Status set_per_channel(const ChannelRule& rule, const std::vector<std::string>& words, int channels,
                       std::array<float, 3>& values) {
  if (words.empty()) return {};
  const std::size_t colors = channels == 1 ? 1 : 3;
  const std::string counts = colors == 1 ? "1 number" : "1 number, or 3 in the tensor's order";
  if (words.size() != 1 && words.size() != colors) {
    return usage(rule.option,
                 "'" + joined(words) + "' has " + std::to_string(words.size()) + " values",
                 "give " + counts);
  }
  for (std::size_t c = 0; c < values.size(); ++c) {
    const std::string& word = words[std::min(c, words.size() - 1)];
    const bool is_number = parse(word, values[c]);
    if (!is_number && !is_too_far<float>(word)) {
      return usage(rule.option, "'" + joined(words) + "' is not a list of numbers",
                   "give " + counts);
    }
    if (!is_number || !rule.holds(values[c])) {
      return usage(rule.option, "'" + word + "' is out of range",
                   std::string("give ") + rule.allowed);
    }
  }
  return {};
}

Status set_rect(const std::vector<std::string>& words, std::optional<Rect>& rect) {
  if (words.empty()) return {};
  Rect r;
  if (words.size() != 4 || !parse(words[0], r.x) || !parse(words[1], r.y) ||
      !parse(words[2], r.width) || !parse(words[3], r.height)) {
    return usage("--rect", "'" + joined(words) + "' is not a rectangle",
                 "give X,Y,WIDTH,HEIGHT in pixels, e.g. 100,50.5,320,240");
  }
  rect = r;
  return {};
}

Status set_quantization(const ImportSettings& settings, DataType type, Quantization& value) {
  if (settings.quantize.empty()) return {};
  const auto& words = settings.quantize;
  if (type == DataType::kFloat32 || type == DataType::kFloat16 || type == DataType::kBfloat16) {
    return usage(
        "--quantize",
        "the tensor's type " + std::string(name_of(kTypes, type)) + " is not an integer type",
        "choose one with --type, e.g. i8");
  }
  if (words.size() != 2 || !parse(words[0], value.scale) || !parse(words[1], value.zero_point)) {
    return usage("--quantize", "'" + joined(words) + "' is not a scale and a whole zero point",
                 "give SCALE,ZERO, e.g. 0.0078125,-128");
  }
  if (!std::isfinite(value.scale) || value.scale == 0) {
    return usage("--quantize", "its scale '" + words[0] + "' cannot divide",
                 "give a finite scale other than 0, e.g. 0.0078125,-128");
  }
  return {};
}

Result<ModelInput> find_model_input(const std::string& spec) {
  if (spec.ends_with(".json")) {
    SPARING_ASSIGN_OR_RETURN(const ModelManifest manifest, load_manifest(spec));
    return manifest.input;
  }
  SPARING_ASSIGN_OR_RETURN(const std::vector<ModelListEntry> models,
                           list_models(default_model_paths(share_dir())));
  std::string known;
  for (const ModelListEntry& entry : models) {
    if (entry.manifest.name == spec) {
      if (entry.problem.empty()) return entry.manifest.input;
      return Error{ErrorCode::kModel, "model '" + spec + "'", entry.problem, "mend its manifest"};
    }
    known += (known.empty() ? "" : ", ") + entry.manifest.name;
  }
  return Error{ErrorCode::kModel, "model '" + spec + "'", "there is no manifest of that name",
               "give one of " + known + ", or a manifest file (.json)"};
}

void take_from_model(const ModelInput& input, ImportRequest& request) {
  request.layout = input.layout;
  request.options.order = input.order;
  request.options.mean = input.mean;
  request.options.std = input.std;
  request.options.fit = input.fit;
  request.options.pad = input.pad;
  request.options.anchor = input.anchor;
}

void set_words(const ImportSettings& settings, ImportRequest& request) {
  ImportOptions& options = request.options;
  set_choice(settings.layout, kLayouts, request.layout);
  set_choice(settings.channels, kChannels, request.channels);
  set_choice(settings.type, kTypes, request.type);
  set_choice(settings.order, kOrders, options.order);
  set_choice(settings.fit, kFits, options.fit);
  set_choice(settings.anchor, kAnchors, options.anchor);
  set_choice(settings.filter, kFilters, options.filter);
  set_choice(settings.outside, kOutsides, options.outside);
  set_choice(settings.chroma, kChromas, options.chroma);
  set_choice(settings.matrix, kMatrices, options.color_space.matrix);
  set_choice(settings.range, kRanges, options.color_space.range);
  set_choice(settings.siting, kSitings, options.color_space.siting);
  if (!settings.rotate.empty() || settings.flip) {
    options.orientation.emplace();
    set_choice(settings.rotate, kRotations, options.orientation->rotation);
    options.orientation->flip = settings.flip;
  }
}

}  // namespace

Result<ImportRequest> make_request(const ImportSettings& settings) {
  SPARING_RETURN_IF_ERROR(validate_options(settings));
  if (settings.frame >= 0 && settings.time >= 0) {
    return usage("--frame and --time", "both were given", "give one of them");
  }
  ImportRequest request;
  if (!settings.model.empty()) {
    SPARING_ASSIGN_OR_RETURN(request.model, find_model_input(settings.model));
    take_from_model(*request.model, request);
  }
  set_words(settings, request);
  ImportOptions& options = request.options;
  options.alpha = static_cast<float>(settings.alpha);
  const int channels = request.channels;
  SPARING_RETURN_IF_ERROR(set_per_channel(kMeanRule, settings.mean, channels, options.mean));
  SPARING_RETURN_IF_ERROR(set_per_channel(kStdRule, settings.std, channels, options.std));
  SPARING_RETURN_IF_ERROR(set_per_channel(kPadRule, settings.pad, channels, options.pad));
  SPARING_RETURN_IF_ERROR(set_rect(settings.rect, options.visible_rect));
  SPARING_RETURN_IF_ERROR(set_quantization(settings, request.type, options.quantization));
  if (!settings.size.empty()) {
    SPARING_ASSIGN_OR_RETURN(request.size, parse_size(settings.size));
  }
  return request;
}

VideoFrame oriented(const ImportRequest& request, const VideoFrame& frame) {
  VideoFrame turned = frame;
  if (request.options.orientation) {
    turned.rotation = request.options.orientation->rotation;
    turned.flip = request.options.orientation->flip;
  }
  return turned;
}

Rect source_rect(const ImportRequest& request, const VideoFrame& frame) {
  return request.options.visible_rect.value_or(display_rect(oriented(request, frame)));
}

Result<Size> tensor_size(const ImportRequest& request, const VideoFrame& frame) {
  const Rect rect = source_rect(request, frame);
  static constexpr double kMaxSide = 1e9;
  const bool is_huge = rect.width > kMaxSide || rect.height > kMaxSide;
  if (is_huge && request.size == Size{} && !request.model) {
    return usage(
        "--rect",
        "a tensor of its size is larger than " + std::to_string(kMaxTensorBytes) + " bytes",
        "give a smaller rectangle, or a --size");
  }
  // A rectangle that is not one is import's to refuse, in any size.
  const auto side = [](double extent) {
    return extent >= 1 ? static_cast<int>(std::floor(std::min(extent, kMaxSide) + 0.5)) : 1;
  };
  const Size natural{side(rect.width), side(rect.height)};
  Size size = request.size == Size{} ? natural : request.size;
  if (request.model) {
    SPARING_ASSIGN_OR_RETURN(size, input_size(*request.model, natural, request.size));
  }
  const auto elements =
      element_count(std::array<std::int64_t, 3>{size.width, size.height, request.channels});
  const auto bytes = static_cast<std::int64_t>(info(request.type).size);
  if (!elements || *elements > kMaxTensorBytes / bytes) {
    return usage("tensor of " + std::to_string(size.width) + "x" + std::to_string(size.height),
                 "it is larger than " + std::to_string(kMaxTensorBytes) + " bytes",
                 "give a smaller --size");
  }
  return size;
}

}  // namespace sparing::cli
