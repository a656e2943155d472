#include "sparing/models/manifest_segmentation.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sparing/base/class_map.h"
#include "sparing/models/manifest_fields.h"
#include "sparing/models/manifest_names.h"

namespace sparing {
namespace {

// Null in the list is a channel that stands for no label.
std::vector<int> parse_class_map(JsonObject& object) {
  const nlohmann::json* list = object.any("class_map");
  if (list == nullptr) return {};
  const std::string fix = "write a label index or null for each channel";
  if (!list->is_array() || list->empty() || list->size() > kMaxSegmentationChannels) {
    object.fail("class_map",
                "not a list of 1 to " + std::to_string(kMaxSegmentationChannels) + " elements",
                fix);
    return {};
  }
  std::vector<int> map;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const nlohmann::json& element = (*list)[i];
    if (element.is_null()) {
      map.push_back(kIgnoredChannel);
      continue;
    }
    const bool whole = element.is_number_integer() && element >= 0 && element < kMaxClasses;
    if (!whole) {
      object.fail("class_map[" + std::to_string(i) + "]", "no label index", fix);
      return {};
    }
    map.push_back(element.get<int>());
  }
  if (std::all_of(map.begin(), map.end(), [](int label) { return label == kIgnoredChannel; })) {
    object.fail("class_map", "all channels are ignored", fix);
  }
  return map;
}

Activation parse_activation(JsonObject& object, SegmentationKind kind) {
  const Activation activation =
      object.choice<Activation>("activation", kActivationNames, Activation::kNone);
  if (object.ok() && kind == SegmentationKind::kForeground && activation == Activation::kSoftmax) {
    object.fail("activation", "a softmax of one channel is always 1", "use none or sigmoid");
  }
  return activation;
}

SegmentationSpec parse_spec(JsonObject object) {
  SegmentationSpec out;
  out.kind =
      object.choice<SegmentationKind>("kind", kSegmentationKindNames, SegmentationKind::kScores);
  out.output = name_field(object, "output", false);
  // Fields that a kind has no use for stay unknown to finish().
  if (out.kind != SegmentationKind::kLabels) out.activation = parse_activation(object, out.kind);
  if (out.kind == SegmentationKind::kScores) {
    out.layout = object.choice<Layout>("layout", kLayoutNames, Layout::kNchw);
  }
  if (out.kind != SegmentationKind::kForeground) out.class_map = parse_class_map(object);
  object.finish();
  return out;
}

std::optional<Rgb> palette_color(const nlohmann::json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  // Names are for people on a command line.
  if (text.size() != 7 || text[0] != '#') return std::nullopt;
  return parse_color(text);
}

std::vector<Rgb> parse_palette(JsonObject& root) {
  const nlohmann::json* list = root.any("palette");
  if (list == nullptr) return {};
  const std::string fix = R"(write a colour "#rrggbb" for each label)";
  if (!list->is_array() || list->empty()) {
    root.fail("palette", "not a list with elements", fix);
    return {};
  }
  std::vector<Rgb> palette;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::optional<Rgb> color = palette_color((*list)[i]);
    if (!color) {
      root.fail("palette[" + std::to_string(i) + "]", "no colour", fix);
      return {};
    }
    palette.push_back(*color);
  }
  return palette;
}

}  // namespace

void parse_segmentation(JsonObject& root, ModelManifest& out) {
  out.segmentation = parse_spec(root.object("segmentation", true));
  out.palette = parse_palette(root);
  out.aux = name_field(root, "aux", false);
  if (!root.ok() || out.aux.empty()) return;
  if (!is_model_name(out.aux)) {
    root.fail("aux", "'" + out.aux + "' is not a model's name", std::string(kModelNameRule));
  } else if (out.aux == out.name) {
    root.fail("aux", "the model itself", "name another model's manifest");
  }
}

void check_segmentation_labels(const ModelManifest& manifest, JsonErrors& errors) {
  const std::size_t count = manifest.labels.size();
  const std::string labels = std::to_string(count) + " labels";
  const SegmentationSpec& spec = manifest.segmentation;
  if (count > static_cast<std::size_t>(kMaxClasses)) {
    errors.add("labels", labels, "at most " + std::to_string(kMaxClasses) + " are possible");
  }
  if (spec.kind == SegmentationKind::kForeground && count != 2) {
    errors.add("labels", labels, "a foreground mask has two: the background, then what it shows");
  }
  const auto beyond = std::find_if(spec.class_map.begin(), spec.class_map.end(),
                                   [&](int label) { return label >= static_cast<int>(count); });
  if (beyond != spec.class_map.end()) {
    errors.add("segmentation.class_map[" + std::to_string(beyond - spec.class_map.begin()) + "]",
               "label " + std::to_string(*beyond) + ", but there are " + labels,
               "correct it, or add the label");
  }
  if (!manifest.palette.empty() && manifest.palette.size() != count) {
    errors.add("palette", std::to_string(manifest.palette.size()) + " colours for " + labels,
               "write one for each label");
  }
}

std::string color_text(const Rgb& color) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (const std::uint8_t value : {color.r, color.g, color.b}) {
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::string_view task_name(ModelTask task) {
  return kTaskNames[static_cast<std::size_t>(task)].first;
}

std::string describe(const SegmentationSpec& spec) {
  const std::string activation = name_of(kActivationNames, spec.activation);
  const bool raw = spec.activation != Activation::kNone;
  const std::string what = raw ? "logits (" + activation + ")" : std::string("probabilities");
  if (spec.kind == SegmentationKind::kForeground) return "foreground " + what + ", [1,1,h,w]";
  const std::string channels = std::to_string(
      spec.class_map.empty() ? static_cast<std::size_t>(spec.classes) : spec.class_map.size());
  if (spec.kind == SegmentationKind::kLabels)
    return "indices of " + channels + " channels, [1,h,w]";
  return what + " of " + channels + " channels, " +
         (spec.layout == Layout::kNchw ? "[1," + channels + ",h,w]" : "[1,h,w," + channels + "]");
}

std::vector<Rgb> label_colors(const ModelManifest& manifest) {
  if (!manifest.palette.empty()) return manifest.palette;
  // The bits of the index in turn to red, green and blue, each from the highest bit down.
  std::vector<Rgb> colors;
  for (std::size_t i = 0; i < manifest.labels.size(); ++i) {
    std::array<unsigned, 3> parts{};
    for (unsigned bit = 0; bit < 8; ++bit) {
      const unsigned value = (static_cast<unsigned>(i) >> bit) & 1u;
      parts[bit % 3] |= value << (7 - bit / 3);
    }
    colors.push_back({static_cast<std::uint8_t>(parts[0]), static_cast<std::uint8_t>(parts[1]),
                      static_cast<std::uint8_t>(parts[2])});
  }
  return colors;
}

}  // namespace sparing
