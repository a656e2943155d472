#include "sparing/streams/explain.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sparing/streams/appended_file.h"
#include "sparing/streams/explain_timeline.h"
#include "sparing/streams/rgb_picture.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

constexpr Rgb kDrawn{255, 255, 255};
constexpr int kReadableWidth = 960;

Rgb source_color(RoiSource source) {
  switch (source) {
    case RoiSource::kFlow: return {0, 210, 210};
    case RoiSource::kDifference: return {255, 150, 0};
    case RoiSource::kBackground: return {190, 80, 230};
    case RoiSource::kWholeFrame: return {40, 120, 255};
    case RoiSource::kTile: return {150, 150, 150};
  }
  return kDrawn;
}

struct LegendEntry {
  RoiSource source;
  const char* text;
};
constexpr LegendEntry kLegend[] = {
    {RoiSource::kFlow, "a followed object"},
    {RoiSource::kDifference, "motion"},
    {RoiSource::kBackground, "something that stands where nothing stood"},
    {RoiSource::kWholeFrame, "the whole frame"},
    {RoiSource::kTile, "a tile"}};

std::string swatch(Rgb color, const std::string& text) {
  char style[96];
  std::snprintf(style, sizeof style, "<i style=\"background:rgb(%d,%d,%d)\"></i> ", color.r,
                color.g, color.b);
  return style + text;
}

// What the pictures' colours and words mean.
std::string legend() {
  std::string text = "<p>Regions, by why they are looked at:";
  for (const LegendEntry& entry : kLegend) {
    text += " " + swatch(source_color(entry.source), entry.text) + ",";
  }
  text +=
      " " + swatch(kDrawn, "what of the frame was drawn on a canvas") +
      ". Detections have a colour for each class.</p>\n"
      "<p>Shown are key frames, those that are looked at. A region of a canvas is named "
      "STREAM:FRAME xSCALE, and where it was not drawn to find objects: <b>refresh</b>, a whole "
      "frame to measure what the present way misses; <b>trial</b>, a whole frame at another "
      "scale, to measure that; <b>probe</b>, a region at another scale, to tune it.</p>\n";
  return text;
}

std::string_view way_name(DetectWay way) {
  for (const DetectWayInfo& info : kDetectWays) {
    if (info.way == way) return info.name;
  }
  return "?";
}

std::string numbered(const char* name, std::int64_t number) {
  char text[64];
  std::snprintf(text, sizeof text, "%s%06lld", name, static_cast<long long>(number));
  return text;
}

std::string scale_text(double scale) {
  char text[32];
  std::snprintf(text, sizeof text, "x%.2f", scale);
  return text;
}

// Where a region was drawn from, and what was found there.
struct DrawnRegion {
  Rect rect;
  double scale = 1;
  DrawPurpose purpose = DrawPurpose::kDetect;
  std::vector<Detection> detections;
};

class Explain : public StreamObserver {
 public:
  Explain(fs::path dir, ObserverContext context, const ExplainOptions& options,
          ExplainTimeline timeline, AppendedFile index)
      : dir_(std::move(dir)),
        context_(std::move(context)),
        options_(options),
        timeline_(std::move(timeline)),
        index_(std::move(index)) {}

  Status on_canvas(const CanvasReport& canvas) override;
  Status on_window(const WindowReport& window,
                   const std::function<const VideoFrame*(int, std::int64_t)>& frame) override;

 private:
  bool wanted(std::int64_t window) const {
    return options_.windows == 0 || window < options_.windows;
  }
  std::string name_of(int class_id) const;
  Status draw_canvas(const CanvasReport& canvas);
  Status draw_frame(const FrameReport& frame, const VideoFrame& pixels, const std::string& folder);
  void add_to_index(const std::string& file, const std::string& text);

  fs::path dir_;
  ObserverContext context_;
  ExplainOptions options_;
  ExplainTimeline timeline_;
  AppendedFile index_;
  // Of the window that is being read, by stream and frame.
  std::map<std::pair<int, std::int64_t>, std::vector<DrawnRegion>> drawn_;
  std::vector<std::pair<std::string, std::string>> canvases_;  // file and text
};

std::string Explain::name_of(int class_id) const {
  const auto id = static_cast<std::size_t>(class_id);
  return id < context_.labels.size() ? context_.labels[id] : std::to_string(class_id);
}

Status Explain::on_canvas(const CanvasReport& canvas) {
  timeline_.add(canvas);
  if (!wanted(canvas.window)) return {};
  for (const CanvasRegion& region : canvas.regions) {
    drawn_[{region.stream, region.frame}].push_back(
        {region.roi.rect, region.scale, region.purpose, region.detections});
  }
  return draw_canvas(canvas);
}

Status Explain::draw_canvas(const CanvasReport& canvas) {
  const auto& network = context_.networks[static_cast<std::size_t>(canvas.processor)];
  // Small canvases are enlarged, so that what is written beside the pixels does not hide them.
  const int factor = std::clamp(kReadableWidth / canvas.size.width, 1, 3);
  RgbPicture picture =
      RgbPicture::from_tensor(canvas.pixels, canvas.size, network.input).enlarged(factor);
  for (const CanvasRegion& region : canvas.regions) {
    const PixelRect at{region.place.x * factor, region.place.y * factor,
                       region.place.width * factor, region.place.height * factor};
    const Rgb color = source_color(region.roi.source);
    // Around the region, so that none of its pixels is hidden.
    picture.outline({at.x - 1, at.y - 1, at.width + 2, at.height + 2}, color, 1);
    std::string text = std::to_string(region.stream) + ":" + std::to_string(region.frame) + " " +
                       scale_text(region.scale);
    if (region.purpose != DrawPurpose::kDetect) {
      text += " " + std::string(to_string(region.purpose));
    }
    picture.label(text, at.x, at.y, color, 1);
    if (region.to_frame.determinant() == 0) continue;
    const double f = factor;
    const Affine to_picture = compose({f, 0, 0, 0, f, 0}, inverse(region.to_frame));
    for (const Detection& detection : region.detections) {
      if (detection.score < options_.score) continue;
      picture.outline(to_pixels(to_rect(map_box(to_picture, detection.box))),
                      class_color(detection.class_id), 1);
    }
  }
  const std::string file =
      numbered("window-", canvas.window) + "/" + numbered("canvas-", canvas.index) + ".png";
  char times[160];
  std::snprintf(times, sizeof times, "canvas %lld, %dx%d on %s: %.1f ms, %.1f ms planned",
                static_cast<long long>(canvas.index), canvas.size.width, canvas.size.height,
                network.processor.c_str(), canvas.inference_seconds * 1e3,
                canvas.planned_seconds * 1e3);
  canvases_.emplace_back(file, times);
  return picture.write(dir_ / file);
}

Status Explain::draw_frame(const FrameReport& frame, const VideoFrame& pixels,
                           const std::string& folder) {
  SPARING_ASSIGN_OR_RETURN(RgbPicture picture, RgbPicture::from_frame(pixels));
  const int width = picture.line_width();
  std::vector<DrawnRegion>& drawn = drawn_[{frame.stream, frame.frame}];
  for (const DrawnRegion& region : drawn) {
    picture.outline(to_pixels(region.rect), kDrawn, 1);
  }
  for (const Roi& roi : frame.rois) {
    picture.outline(to_pixels(roi.rect), source_color(roi.source), width);
  }
  for (const DrawnRegion& region : drawn) {
    if (region.purpose == DrawPurpose::kProbe) continue;  // the same objects again
    for (const Detection& detection : region.detections) {
      if (detection.score < options_.score) continue;
      picture.draw(detection, name_of(detection.class_id));
    }
  }
  std::string text = "stream " + std::to_string(frame.stream) + ", frame " +
                     std::to_string(frame.frame) + ": " + std::string(way_name(frame.way)) + ", " +
                     std::to_string(frame.rois.size()) + " regions";
  if (frame.change != GlobalChange::kNone) {
    text += ", change: " + std::string(to_string(frame.change));
  }
  picture.label(text, 0, 0, {}, picture.text_scale());
  const std::string file = folder + "/stream-" + std::to_string(frame.stream) +
                           numbered("-frame-", frame.frame) + ".png";
  add_to_index(file, text);
  return picture.write(dir_ / file);
}

void Explain::add_to_index(const std::string& file, const std::string& text) {
  index_.stream() << "<figure><img loading=\"lazy\" src=\"" << file << "\"><figcaption>" << text
                  << "</figcaption></figure>\n";
}

Status Explain::on_window(const WindowReport& window,
                          const std::function<const VideoFrame*(int, std::int64_t)>& frame) {
  SPARING_RETURN_IF_ERROR(timeline_.finish(window));
  if (!wanted(window.index)) return {};
  const std::string folder = numbered("window-", window.index);
  index_.stream() << "<h2>window " << window.index << "</h2>\n";
  std::map<int, int> left;  // pictures of each stream
  for (auto it = window.frames.rbegin(); it != window.frames.rend(); ++it) {
    if (!it->key) continue;
    const auto entry = left.emplace(it->stream, options_.frames).first;
    if (entry->second == 0) continue;
    const VideoFrame* pixels = frame(it->stream, it->frame);
    if (pixels == nullptr) continue;
    --entry->second;
    SPARING_RETURN_IF_ERROR(draw_frame(*it, *pixels, folder));
  }
  for (const auto& [file, text] : canvases_) add_to_index(file, text);
  canvases_.clear();
  drawn_.clear();
  return index_.flush();
}

}  // namespace

Result<std::unique_ptr<StreamObserver>> open_explain(const fs::path& dir, ObserverContext context,
                                                     const ExplainOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_ASSIGN_OR_RETURN(ExplainTimeline timeline,
                           ExplainTimeline::create(dir / "trace.json", context));
  SPARING_ASSIGN_OR_RETURN(AppendedFile index, AppendedFile::create(dir / "index.html"));
  // Closing tags are optional in HTML: the page is whole at any time.
  index.stream()
      << "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Sparing: a run explained</title>\n"
         "<style>body{font:14px sans-serif}figure{display:inline-block;margin:4px}"
         "img{max-width:640px;display:block}"
         "p i{display:inline-block;width:1em;height:1em;border:1px solid #888}</style>\n"
      << legend();
  SPARING_RETURN_IF_ERROR(index.flush());
  return std::unique_ptr<StreamObserver>(std::make_unique<Explain>(
      dir, std::move(context), options, std::move(timeline), std::move(index)));
}

}  // namespace sparing
