#include "sparing/streams/canvas_export.h"

#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sparing/base/coco_classes.h"
#include "sparing/io/file.h"
#include "sparing/io/json_text.h"
#include "sparing/streams/canvas_labels.h"
#include "sparing/streams/rgb_picture.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

std::string stem_of(std::int64_t canvas) {
  char text[40];
  std::snprintf(text, sizeof text, "canvas-%06lld", static_cast<long long>(canvas));
  return text;
}

Status write_text(const fs::path& file, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return write_file(file, std::span(&bytes, 1));
}

bool is_packed(const CanvasReport& canvas) {
  for (const CanvasRegion& region : canvas.regions) {
    if (region.roi.source == RoiSource::kWholeFrame || region.roi.source == RoiSource::kTile) {
      return false;
    }
  }
  return !canvas.regions.empty();
}

class Export : public CanvasExport {
 public:
  Export(fs::path dir, ObserverContext context, const CanvasExportOptions& options)
      : dir_(std::move(dir)),
        context_(std::move(context)),
        options_(options),
        coco_labels_(are_coco_labels(context_.labels)) {}
  ~Export() override {
    if (!finished_) (void)finish();
  }

  Status start() const;
  Status on_canvas(const CanvasReport& canvas) override;
  Status on_window(const WindowReport& window,
                   const std::function<const VideoFrame*(int, std::int64_t)>& frame) override;
  Status finish() override;

 private:
  struct Canvas {
    std::int64_t index = 0;
    RgbPicture picture;
    std::vector<CanvasRegion> regions;
  };

  bool coco() const { return options_.format != "yolo"; }
  bool yolo() const { return options_.format != "coco"; }
  int category(int class_id) const {
    const auto id = static_cast<std::size_t>(class_id);
    return coco_labels_ && id < coco_classes().size() ? coco_classes()[id].category_id
                                                      : class_id + 1;
  }
  Status write(const Canvas& canvas, const std::vector<Detection>& labels);
  void add_to_coco(const Canvas& canvas, const std::vector<Detection>& labels);
  Status write_yolo(const Canvas& canvas, const std::vector<Detection>& labels) const;

  fs::path dir_;
  ObserverContext context_;
  CanvasExportOptions options_;
  bool coco_labels_;
  bool finished_ = false;
  std::vector<Canvas> window_;        // of the window that is being read
  FrameObjects objects_;              // likewise
  std::string images_, annotations_;  // COCO's lists so far
  std::int64_t next_annotation_ = 1;
};

Status Export::on_canvas(const CanvasReport& canvas) {
  for (const CanvasRegion& region : canvas.regions) objects_.add(region, options_.score);
  if (!is_packed(canvas)) return {};
  const auto& network = context_.networks[static_cast<std::size_t>(canvas.processor)];
  window_.push_back({canvas.index,
                     RgbPicture::from_tensor(canvas.pixels, canvas.size, network.input),
                     canvas.regions});
  return {};
}

// Only now is all known of the window's frames.
Status Export::on_window(const WindowReport&,
                         const std::function<const VideoFrame*(int, std::int64_t)>&) {
  for (const Canvas& canvas : window_) {
    std::vector<Detection> labels;
    for (const CanvasRegion& region : canvas.regions) {
      const std::vector<Detection> objects = objects_.of(region.stream, region.frame);
      const auto more = region_labels(region, objects, options_.labels == "center");
      labels.insert(labels.end(), more.begin(), more.end());
    }
    if (!labels.empty()) SPARING_RETURN_IF_ERROR(write(canvas, labels));
  }
  window_.clear();
  objects_ = {};
  return {};
}

Status Export::write(const Canvas& canvas, const std::vector<Detection>& labels) {
  const fs::path picture = dir_ / "images" / (stem_of(canvas.index) + ".png");
  SPARING_RETURN_IF_ERROR(canvas.picture.write(picture));
  if (yolo()) {
    if (Status status = write_yolo(canvas, labels); !status.ok()) {
      // Without its labels it would say that nothing is there.
      std::error_code failed;
      fs::remove(picture, failed);
      return status;
    }
  }
  if (coco()) add_to_coco(canvas, labels);
  return {};
}

void Export::add_to_coco(const Canvas& canvas, const std::vector<Detection>& labels) {
  const Size size = canvas.picture.size();
  images_ += images_.empty() ? "\n" : ",\n";
  images_ += "{\"id\":" + std::to_string(canvas.index) + ",\"file_name\":\"" +
             stem_of(canvas.index) + ".png\",\"width\":" + std::to_string(size.width) +
             ",\"height\":" + std::to_string(size.height) + "}";
  for (const Detection& label : labels) {
    annotations_ += annotations_.empty() ? "\n" : ",\n";
    annotations_ += "{\"id\":" + std::to_string(next_annotation_++) +
                    ",\"image_id\":" + std::to_string(canvas.index) +
                    ",\"category_id\":" + std::to_string(category(label.class_id)) + ",\"bbox\":[";
    const Box& box = label.box;
    for (const float value : {box.x0, box.y0, box.width(), box.height()}) {
      append_number(annotations_, value);
      annotations_ += ',';
    }
    annotations_.back() = ']';
    annotations_ += ",\"area\":";
    append_number(annotations_, box.area());
    annotations_ += ",\"iscrowd\":0,\"score\":";
    append_number(annotations_, label.score);
    annotations_ += '}';
  }
}

Status Export::write_yolo(const Canvas& canvas, const std::vector<Detection>& labels) const {
  const double width = canvas.picture.size().width, height = canvas.picture.size().height;
  std::string text;
  for (const Detection& label : labels) {
    const Box& box = label.box;
    char line[160];
    std::snprintf(line, sizeof line, "%d %.6f %.6f %.6f %.6f\n", label.class_id,
                  (static_cast<double>(box.x0) + box.x1) / 2 / width,
                  (static_cast<double>(box.y0) + box.y1) / 2 / height, box.width() / width,
                  box.height() / height);
    text += line;
  }
  return write_text(dir_ / "labels" / (stem_of(canvas.index) + ".txt"), text);
}

// YAML takes JSON's quoted strings.
Status Export::start() const {
  std::error_code failed;
  fs::create_directories(dir_ / "images", failed);
  if (failed) {
    return Error{ErrorCode::kOutput, "folder '" + (dir_ / "images").string() + "'",
                 failed.message(), "check the path and its permissions"};
  }
  if (!yolo()) return {};
  std::string text = "path: .\ntrain: images\nval: images\nnames:\n";
  for (std::size_t i = 0; i < context_.labels.size(); ++i) {
    text += "  " + std::to_string(i) + ": ";
    append_json_string(text, context_.labels[i]);
    text += '\n';
  }
  return write_text(dir_ / "data.yaml", text);
}

Status Export::finish() {
  finished_ = true;
  if (!coco()) return {};
  std::string text = "{\"categories\":[";
  for (std::size_t i = 0; i < context_.labels.size(); ++i) {
    text += i == 0 ? "\n" : ",\n";
    text += "{\"id\":" + std::to_string(category(static_cast<int>(i))) + ",\"name\":";
    append_json_string(text, context_.labels[i]);
    text += '}';
  }
  text += "\n],\"images\":[" + images_ + "\n],\"annotations\":[" + annotations_ + "\n]}\n";
  return write_text(dir_ / "annotations.json", text);
}

}  // namespace

Result<std::unique_ptr<CanvasExport>> open_canvas_export(const fs::path& dir,
                                                         ObserverContext context,
                                                         const CanvasExportOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  std::error_code failed;
  // Pictures and labels of an earlier run would count among this one's.
  if (fs::exists(dir, failed) && !fs::is_empty(dir, failed) && !failed) {
    return Error{ErrorCode::kOutput, "folder '" + dir.string() + "'", "it is not empty",
                 "name a new folder, or empty this one"};
  }
  auto made = std::make_unique<Export>(dir, std::move(context), options);
  SPARING_RETURN_IF_ERROR(made->start());
  return std::unique_ptr<CanvasExport>(std::move(made));
}

}  // namespace sparing
