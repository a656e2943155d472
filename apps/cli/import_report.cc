#include "import_report.h"

#include <cstdio>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sparing::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string size_text(Size size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

// One property of the colour that was used, and who decided about it.
struct ColorFact {
  std::string_view name;
  std::string_view value;
  std::string_view from;  // "option", "stream" or "rule"
};

template <class Enum, std::size_t size>
ColorFact color_fact(std::string_view name, const std::array<Choice<Enum>, size>& words,
                     Enum option, Enum stream, Enum resolved) {
  const std::string_view from = option != Enum::kUnspecified   ? "option"
                                : stream != Enum::kUnspecified ? "stream"
                                                               : "rule";
  return {name, name_of(words, resolved), from};
}

// Only what the values depend on.
std::vector<ColorFact> color_facts(const ImportReport& report) {
  const VideoFrame& frame = report.frame.frame.view();
  const ImportRequest& request = report.request;
  const ColorSpace& option = request.options.color_space;
  const ColorSpace& stream = frame.color_space;
  ColorSpace merged = stream;
  if (option.matrix != ColorMatrix::kUnspecified) merged.matrix = option.matrix;
  if (option.range != ColorRange::kUnspecified) merged.range = option.range;
  if (option.siting != ChromaSiting::kUnspecified) merged.siting = option.siting;
  ColorSpace used = resolve(merged, frame.format, frame.coded_size);
  const PixelFormatInfo& format = info(frame.format);
  const bool luma_only = request.channels == 1;
  // The luma of RGB needs a matrix, which is BT.601 when nothing says otherwise.
  if (used.matrix == ColorMatrix::kUnspecified) used.matrix = ColorMatrix::kBt601;
  const bool yuv = format.model == ColorModel::kYuv;
  std::vector<ColorFact> facts;
  if (yuv ? !luma_only : format.model == ColorModel::kRgb && luma_only) {
    facts.push_back(color_fact("matrix", kMatrices, option.matrix, stream.matrix, used.matrix));
  }
  facts.push_back(color_fact("range", kRanges, option.range, stream.range, used.range));
  if (yuv && !luma_only && format.chroma_shift_x > 0 &&
      request.options.chroma == ChromaUpsampling::kInterpolate) {
    facts.push_back(color_fact("siting", kSitings, option.siting, stream.siting, used.siting));
  }
  return facts;
}

std::string_view channel_name(const ImportRequest& request, std::size_t channel) {
  if (request.channels == 1) return "Y";
  constexpr std::string_view kNames[] = {"R", "G", "B", "A"};
  const bool reversed = request.options.order == ChannelOrder::kBgr && channel < 3;
  return kNames[reversed ? 2 - channel : channel];
}

std::string tensor_text(const ImportReport& report) {
  const ImportRequest& request = report.request;
  const ImportOptions& options = request.options;
  const std::string height = std::to_string(report.size.height);
  const std::string width = std::to_string(report.size.width);
  const std::string channels = std::to_string(request.channels);
  const bool planar = request.layout == Layout::kNchw;
  std::string text(info(request.type).name);
  text += planar ? " [1," + channels + "," + height + "," + width + "] nchw"
                 : " [1," + height + "," + width + "," + channels + "] nhwc";
  if (request.channels > 1) text += ", " + std::string(name_of(kOrders, options.order));
  text += ", " + std::string(name_of(kFits, options.fit));
  text += ", " + std::string(name_of(kFilters, options.filter));
  return text;
}

std::string picture_text(const ImportReport& report) {
  const VideoFrame& frame = report.frame.frame.view();
  const VideoFrame shown = oriented(report.request, frame);
  std::string text = size_text(display_size(shown)) + " ";
  if (report.frame.converted) {
    text += std::string(report.frame.stream_format) + ", converted to ";
  }
  text += std::string(info(frame.format).name) + ", " + report.source.codec;
  if (shown.rotation != Rotation::k0) {
    text += ", turned by " + std::to_string(static_cast<int>(shown.rotation));
  }
  if (shown.flip) text += ", mirrored";
  return text;
}

std::string color_text(const ImportReport& report) {
  std::string text;
  for (const ColorFact& fact : color_facts(report)) {
    text += (text.empty() ? "" : ", ") + std::string(fact.name) + " " + std::string(fact.value) +
            " (" + std::string(fact.from) + ")";
  }
  return text;
}

// "x = 1.5 tx + 100": a turned picture is upright here, so each axis depends on its own only.
std::string map_text(const Affine& map) {
  const auto axis = [](const char* name, double scale, double offset) {
    return std::string(name) + " = " + number(scale) + " t" + name + (offset < 0 ? " - " : " + ") +
           number(std::abs(offset));
  };
  return axis("x", map.a, map.tx) + ", " + axis("y", map.d, map.ty);
}

}  // namespace

std::string report_text(const ImportReport& report) {
  const VideoFrame& frame = report.frame.frame.view();
  const Rect rect = source_rect(report.request, frame);
  std::string text = report.source.name + ", frame " + std::to_string(report.frame.index) + " at " +
                     number(frame.timestamp.seconds()) + " s";
  if (!report.frame.file.empty() && report.frame.file != report.source.name) {
    text += ", " + report.frame.file;
  }
  text += "\npicture    " + picture_text(report);
  text += "\ncolour     " + color_text(report);
  text += "\nrectangle  " + number(rect.width) + " x " + number(rect.height) + " at " +
          number(rect.x) + "," + number(rect.y);
  text += "\ntensor     " + tensor_text(report);
  text += "\nmap        " + map_text(report.map) + "\n";
  for (std::size_t c = 0; c < report.channels.size(); ++c) {
    const ChannelStatistics& s = report.channels[c];
    char line[128];
    std::snprintf(line, sizeof line, "%-10s min %-12.6g mean %-12.6g max %.6g\n",
                  c == 0 ? "values" : "", s.min, s.mean, s.max);
    line[8] = channel_name(report.request, c)[0];
    text += line;
  }
  for (const std::string& note : report.notes) text += "note       " + note + "\n";
  for (const std::string& output : report.outputs) text += output + "\n";
  return text;
}

std::string report_json(const ImportReport& report) {
  const VideoFrame& frame = report.frame.frame.view();
  const VideoFrame shown = oriented(report.request, frame);
  const ImportRequest& request = report.request;
  const Rect rect = source_rect(request, frame);
  const Size display = display_size(shown);
  Json json;
  json["schema"] = 1;
  json["input"] = report.source.name;
  json["file"] = report.frame.file.empty() ? Json(nullptr) : Json(report.frame.file);
  json["codec"] = report.source.codec;
  json["frame"] = report.frame.index;
  json["time_seconds"] = frame.timestamp.seconds();
  json["damaged"] = report.frame.damaged;
  json["format"] = info(frame.format).name;
  json["stream_format"] = report.frame.stream_format;
  json["converted"] = report.frame.converted;
  json["coded_size"] = {frame.coded_size.width, frame.coded_size.height};
  json["display_size"] = {display.width, display.height};
  json["rotation"] = static_cast<int>(shown.rotation);
  json["flip"] = shown.flip;
  json["color"] = Json::object();
  for (const ColorFact& fact : color_facts(report)) {
    json["color"][std::string(fact.name)] = {{"value", fact.value}, {"from", fact.from}};
  }
  json["hdr"] = is_hdr(frame.color_space);
  json["rectangle"] = {rect.x, rect.y, rect.width, rect.height};
  const bool planar = request.layout == Layout::kNchw;
  const Size size = report.size;
  json["type"] = info(request.type).name;
  json["layout"] = name_of(kLayouts, request.layout);
  json["shape"] = planar ? Json{1, request.channels, size.height, size.width}
                         : Json{1, size.height, size.width, request.channels};
  json["map"] = {report.map.a, report.map.b, report.map.tx,
                 report.map.c, report.map.d, report.map.ty};
  json["channels"] = Json::array();
  for (std::size_t c = 0; c < report.channels.size(); ++c) {
    const ChannelStatistics& s = report.channels[c];
    json["channels"].push_back(
        {{"name", channel_name(request, c)}, {"min", s.min}, {"mean", s.mean}, {"max", s.max}});
  }
  json["notes"] = report.notes;
  json["outputs"] = report.outputs;
  // File names need not be UTF-8; JSON must.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sparing::cli
