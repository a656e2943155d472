#include "sparing/streams/explain.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sparing/streams/appended_file.h"
#include "sparing/streams/explain_timeline.h"
#include "sparing/streams/rgb_picture.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

// By which a folder of ours is known.
constexpr const char* kPageStart =
    "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Sparing: a run explained</title>\n";
constexpr Rgb kDrawn{255, 255, 255};
constexpr int kReadableWidth = 1920;
// Of two detections of a class that overlap so much one gets a label.
constexpr float kSameObject = 0.7f;

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

// What a region is, as far as that fits into so many pixels.
std::string label_within(const CanvasRegion& region, int width) {
  const std::string frame = std::to_string(region.stream) + ":" + std::to_string(region.frame);
  const std::string scaled = frame + " " + scale_text(region.scale);
  const bool detect = region.purpose == DrawPurpose::kDetect;
  const std::string whole = scaled + (detect ? "" : " " + std::string(to_string(region.purpose)));
  for (const std::string& text : {whole, scaled}) {
    if (RgbPicture::label_width(text, 1) <= width) return text;
  }
  return RgbPicture::label_width(frame, 1) <= width ? frame : "";
}

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
  void label_detections(RgbPicture& picture, std::vector<Detection> found) const;
  std::vector<const FrameReport*> shown_frames(const WindowReport& window);
  void add_to_index(const std::string& file, const std::string& text);

  fs::path dir_;
  ObserverContext context_;
  ExplainOptions options_;
  ExplainTimeline timeline_;
  AppendedFile index_;
  // Of the window that is being read, by stream and frame.
  std::map<std::pair<int, std::int64_t>, std::vector<DrawnRegion>> drawn_;
  std::string page_;     // of that window
  std::set<int> begun_;  // streams of which a key frame was shown
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
    if (region.to_frame.determinant() == 0) continue;
    const double f = factor;
    const Affine to_picture = compose({f, 0, 0, 0, f, 0}, inverse(region.to_frame));
    for (const Detection& detection : region.detections) {
      if (detection.score < options_.score) continue;
      picture.outline(to_pixels(to_rect(map_box(to_picture, detection.box))),
                      class_color(detection.class_id), 1);
    }
  }
  // Regions do not overlap, so that labels within them do not either; over the detections' boxes.
  for (const CanvasRegion& region : canvas.regions) {
    const std::string text = label_within(region, region.place.width * factor);
    if (text.empty()) continue;
    picture.label(text, region.place.x * factor, region.place.y * factor,
                  source_color(region.roi.source), 1);
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
  std::vector<Detection> found;
  for (const DrawnRegion& region : drawn) {
    if (region.purpose == DrawPurpose::kProbe) continue;  // the same objects again
    for (const Detection& detection : region.detections) {
      if (detection.score < options_.score || !is_finite(detection.box)) continue;
      picture.outline(to_pixels(to_rect(detection.box)), class_color(detection.class_id), width);
      found.push_back(detection);
    }
  }
  std::string text = "stream " + std::to_string(frame.stream) + ", frame " +
                     std::to_string(frame.frame) + ": " + std::string(way_name(frame.way)) + ", " +
                     std::to_string(frame.rois.size()) + " regions";
  if (frame.change == GlobalChange::kNoReference) {
    text += ", the first look, at the whole frame";
  } else if (frame.change != GlobalChange::kNone) {
    text += ", change: " + std::string(to_string(frame.change));
  }
  picture.label(text, 0, 0, {}, picture.text_scale());
  label_detections(picture, std::move(found));
  const std::string file = folder + "/stream-" + std::to_string(frame.stream) +
                           numbered("-frame-", frame.frame) + ".png";
  add_to_index(file, text);
  return picture.write(dir_ / file);
}

// After all boxes, the best first: where there is no room, faint ones have none.
void Explain::label_detections(RgbPicture& picture, std::vector<Detection> found) const {
  std::stable_sort(found.begin(), found.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Detection& detection = found[i];
    const bool again = std::any_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Detection& better) {
                                     return better.class_id == detection.class_id &&
                                            iou(better.box, detection.box) > kSameObject;
                                   });
    if (again) continue;
    char score[16];
    std::snprintf(score, sizeof score, " %.2f", static_cast<double>(detection.score));
    (void)picture.label_beside(name_of(detection.class_id) + score,
                               to_pixels(to_rect(detection.box)), class_color(detection.class_id),
                               picture.text_scale());
  }
}

void Explain::add_to_index(const std::string& file, const std::string& text) {
  page_ += "<figure><img loading=\"lazy\" src=\"" + file + "\"><figcaption>" + text +
           "</figcaption></figure>\n";
}

// By stream and frame: of each stream its first key frame of the run, and the last ones of the
// window.
std::vector<const FrameReport*> Explain::shown_frames(const WindowReport& window) {
  std::vector<const FrameReport*> frames;
  std::map<int, int> left;  // of each stream
  for (auto it = window.frames.rbegin(); it != window.frames.rend(); ++it) {
    if (!it->key) continue;
    if (left.emplace(it->stream, options_.frames).first->second-- > 0) frames.push_back(&*it);
  }
  if (options_.frames > 0) {
    for (const FrameReport& frame : window.frames) {
      if (!frame.key || !begun_.insert(frame.stream).second) continue;
      if (std::find(frames.begin(), frames.end(), &frame) == frames.end()) frames.push_back(&frame);
    }
  }
  std::sort(frames.begin(), frames.end(), [](const FrameReport* a, const FrameReport* b) {
    return std::pair(a->stream, a->frame) < std::pair(b->stream, b->frame);
  });
  return frames;
}

Status Explain::on_window(const WindowReport& window,
                          const std::function<const VideoFrame*(int, std::int64_t)>& frame) {
  SPARING_RETURN_IF_ERROR(timeline_.finish(window));
  if (!wanted(window.index)) return {};
  const std::string folder = numbered("window-", window.index);
  page_ = "<h2>window " + std::to_string(window.index) + "</h2>\n";
  for (const FrameReport* report : shown_frames(window)) {
    const VideoFrame* pixels = frame(report->stream, report->frame);
    if (pixels != nullptr) SPARING_RETURN_IF_ERROR(draw_frame(*report, *pixels, folder));
  }
  for (const auto& [file, text] : canvases_) add_to_index(file, text);
  canvases_.clear();
  drawn_.clear();
  // The pictures are there: only now does the page show them.
  index_.stream() << page_;
  return index_.flush();
}

// Pictures of an earlier run would seem to be this one's: they go. What is not ours stays, and is
// no place for ours.
Status clear_folder(const fs::path& dir) {
  std::error_code failed;
  if (!fs::exists(dir, failed) || (fs::is_directory(dir, failed) && fs::is_empty(dir, failed))) {
    return {};
  }
  std::string start(std::string_view(kPageStart).size(), '\0');
  std::ifstream(dir / "index.html", std::ios::binary)
      .read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start != kPageStart) {
    return Error{ErrorCode::kOutput, "folder '" + dir.string() + "'",
                 "it is not empty, and not of an earlier --explain",
                 "name a new folder, or empty this one"};
  }
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, failed)) {
    const std::string name = entry.path().filename().string();
    const std::string digits = name.starts_with("window-") ? name.substr(7) : "";
    if (digits.size() >= 6 && digits.find_first_not_of("0123456789") == std::string::npos) {
      old.push_back(entry.path());
    }
  }
  for (const fs::path& folder : old) {
    if (!failed) fs::remove_all(folder, failed);
  }
  if (!failed) return {};
  return Error{ErrorCode::kOutput, "folder '" + dir.string() + "'",
               "the pictures of an earlier run cannot be removed: " + failed.message(),
               "name a new folder, or empty this one"};
}

}  // namespace

Result<std::unique_ptr<StreamObserver>> open_explain(const fs::path& dir, ObserverContext context,
                                                     const ExplainOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  SPARING_RETURN_IF_ERROR(clear_folder(dir));
  SPARING_ASSIGN_OR_RETURN(ExplainTimeline timeline,
                           ExplainTimeline::create(dir / "trace.json", context));
  SPARING_ASSIGN_OR_RETURN(AppendedFile index, AppendedFile::create(dir / "index.html"));
  // Closing tags are optional in HTML: the page is whole at any time.
  index.stream() << kPageStart
                 << "<style>body{font:14px sans-serif}figure{display:inline-block;margin:4px}"
                    "img{max-width:640px;display:block}"
                    "p i{display:inline-block;width:1em;height:1em;border:1px solid #888}</style>\n"
                 << legend();
  SPARING_RETURN_IF_ERROR(index.flush());
  return std::unique_ptr<StreamObserver>(std::make_unique<Explain>(
      dir, std::move(context), options, std::move(timeline), std::move(index)));
}

}  // namespace sparing
