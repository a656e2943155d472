#include "scene_video.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "sparing/io/file.h"
#include "sparing/io/sink.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

// FNV-1a over what a scene shows: its truth and some of its pictures.
class Digest {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) {
      value_ = (value_ ^ static_cast<std::uint64_t>(b)) * 0x100000001B3u;
    }
  }
  std::string hex() const {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value_));
    return text;
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325u;
};

std::string mot_text(const Scene& scene) {
  std::string text;
  for (int frame = 0; frame < scene.options().frames; ++frame) {
    for (const SceneTruth& person : scene.truth(frame)) {
      char line[160];
      std::snprintf(line, sizeof line, "%d,%d,%.2f,%.2f,%.2f,%.2f,1,1,%.2f\n", frame + 1,
                    person.actor + 1, person.box.x0, person.box.y0, person.box.width(),
                    person.box.height(), 1 - person.covered);
      text += line;
    }
  }
  return text;
}

Result<std::string> digest_of(const Scene& scene, const std::string& truth) {
  Digest digest;
  digest.add(std::as_bytes(std::span(truth)));
  const int frames = scene.options().frames;
  for (const int frame : {0, frames / 2, frames - 1}) {
    SPARING_ASSIGN_OR_RETURN(const SharedFrame picture, scene.render(frame));
    const VideoFrame& view = picture.view();
    for (int y = 0; y < view.coded_size.height; ++y) {
      digest.add(std::as_bytes(std::span(view.planes[0].data + y * view.planes[0].stride,
                                         static_cast<std::size_t>(view.coded_size.width))));
    }
  }
  return digest.hex() + "-" + std::to_string(frames);
}

}  // namespace

fs::path scene_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  return (error ? fs::path("/tmp") : folder) / "sparing-bench-scenes";
}

Result<fs::path> write_scene(const Scene& scene, const fs::path& folder) {
  const std::string truth = mot_text(scene);
  SPARING_ASSIGN_OR_RETURN(const std::string name, digest_of(scene, truth));
  const fs::path file = folder / ("synthetic-" + name + ".mp4");
  if (fs::exists(file)) return file;
  RunInfo run;
  SourceInfo source;
  source.name = "synthetic scene";
  source.display_size = scene.options().size;
  source.frame_rate = {scene.options().frame_rate, 1};
  run.sources.push_back(std::move(source));
  SPARING_ASSIGN_OR_RETURN(const std::unique_ptr<ResultSink> sink, open_sink(file, run));
  for (int frame = 0; frame < scene.options().frames; ++frame) {
    FrameResult result;
    SPARING_ASSIGN_OR_RETURN(result.source.frame, scene.render(frame));
    result.source.index = frame;
    SPARING_RETURN_IF_ERROR(sink->write(result));
  }
  const std::span<const std::byte> part = std::as_bytes(std::span(truth));
  SPARING_RETURN_IF_ERROR(write_file(fs::path(file).replace_extension(".txt"), {&part, 1}));
  SPARING_RETURN_IF_ERROR(sink->finish());
  return file;
}

AnnotationSet scene_truth(const Scene& scene) {
  AnnotationSet set;
  set.labels = {"person"};
  for (int frame = 0; frame < scene.options().frames; ++frame) {
    set.images.push_back(scene.annotations(frame));
  }
  return set;
}

}  // namespace sparing::bench
