// sparing-bench segment, stage people: someone before a camera, made from the sample video's
// largest people, whose true mask is known; background blur from file to file.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "scene_material.h"
#include "scene_pixels.h"
#include "segment_stages.h"
#include "sparing/compose/background.h"
#include "sparing/io/picture.h"
#include "sparing/io/picture_sink.h"
#include "sparing/models/registry.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

constexpr Size kSize{1280, 720};
constexpr Rational kRate{25, 1};
constexpr int kFrames = 150;
constexpr double kHeight = 640;  // of a person, pixels
constexpr double kNoise = 3;     // of the camera, grey levels
constexpr int kPeople = 2;
constexpr int kRounds = 3;

struct PeopleClip {
  std::vector<SharedFrame> frames;
  std::vector<LabelMap> truth;  // 1 is a person
};

double mean_height(const CutoutTrack& track) {
  double sum = 0;
  for (const Cutout& cutout : track.cutouts) sum += cutout.box.height();
  return sum / static_cast<double>(track.cutouts.size());
}

// The longest-seen of those that are larger than most.
std::vector<const CutoutTrack*> largest_people(const SceneMaterial& material) {
  std::vector<const CutoutTrack*> tracks;
  for (const CutoutTrack& track : material.tracks) {
    if (track.cutouts.size() >= 30) tracks.push_back(&track);
  }
  std::sort(tracks.begin(), tracks.end(), [](const CutoutTrack* a, const CutoutTrack* b) {
    return mean_height(*a) > mean_height(*b);
  });
  if (tracks.size() > kPeople) tracks.erase(tracks.begin() + kPeople, tracks.end());
  return tracks;
}

SamplePlane enlarged(const SamplePlane& plane, double factor) {
  YuvPicture picture;
  picture.planes[0] = plane;
  picture.planes[1] = picture.planes[2] =
      SamplePlane({plane.size.width / 2, plane.size.height / 2});
  const auto even = [&](int n) { return static_cast<int>(n * factor) / 2 * 2; };
  return enlarge(picture, {even(plane.size.width), even(plane.size.height)}, factor).planes[0];
}

// The cutout as if it were near: interpolated, so that it has the softness of a lens, not blocks.
Cutout near_cutout(const Cutout& cutout, double factor) {
  Cutout result;
  const Size size = cutout.pixels.size();
  const auto even = [&](int n) { return static_cast<int>(n * factor) / 2 * 2; };
  const Size to{even(size.width), even(size.height)};
  result.pixels = enlarge(cutout.pixels, to, factor);
  result.alpha = enlarged(cutout.alpha, factor);
  result.place = {0, 0, to.width, to.height};
  result.box = {0, 0, static_cast<float>(to.width), static_cast<float>(to.height)};
  return result;
}

SharedFrame to_i420(const YuvPicture& picture, int index) {
  SharedFrame frame = std::move(allocate_frame(PixelFormat::kI420, picture.size())).value();
  for (int p = 0; p < 3; ++p) {
    const SamplePlane& plane = picture.planes[p];
    for (int y = 0; y < plane.size.height; ++y) {
      std::memcpy(
          mutable_plane(frame, p) + y * frame.view().planes[static_cast<std::size_t>(p)].stride,
          plane.row(y), static_cast<std::size_t>(plane.size.width));
    }
  }
  frame.view().timestamp = {index, {kRate.den, kRate.num}};
  frame.view().duration = {1, {kRate.den, kRate.num}};
  return frame;
}

// Each person for half of the clip, swaying a little before a background that stands still.
PeopleClip make_clip(const SceneMaterial& material) {
  PeopleClip clip;
  const std::vector<const CutoutTrack*> people = largest_people(material);
  const YuvPicture background =
      enlarge(material.background, kSize,
              static_cast<double>(kSize.width) / material.background.size().width);
  const auto noise = noise_samples(kNoise, 1);
  for (int i = 0; i < kFrames && !people.empty(); ++i) {
    const CutoutTrack& track = *people[static_cast<std::size_t>(i) * people.size() / kFrames];
    const double factor = kHeight / mean_height(track);
    // A frame of the sample video (10 a second) lasts two of these.
    const Cutout cutout =
        near_cutout(track.cutouts[static_cast<std::size_t>(i / 2) % track.cutouts.size()], factor);
    const double x = (kSize.width - cutout.pixels.size().width) / 2.0 + 60 * std::sin(i * 0.08);
    const double y = kSize.height - std::min(cutout.pixels.size().height, kSize.height - 20);
    const Point offset{std::round(x / 2) * 2, std::round(y / 2) * 2};
    YuvPicture picture = background;
    for (int p = 0; p < 3; ++p) {
      SamplePlane& plane = picture.planes[p];
      const PlaneView view{plane.row(0), plane.size.width, plane.size};
      paste_cutout(cutout, p, 1, offset, view);
      if (p == 0) add_noise(view, *noise, 1, static_cast<std::uint64_t>(i) + 7);
    }
    LabelMap truth;
    truth.resize(kSize);
    for (int row = 0; row < cutout.alpha.size.height; ++row) {
      const int to_y = row + static_cast<int>(offset.y);
      if (to_y < 0 || to_y >= kSize.height) continue;
      for (int column = 0; column < cutout.alpha.size.width; ++column) {
        const int to_x = column + static_cast<int>(offset.x);
        if (to_x < 0 || to_x >= kSize.width || cutout.alpha.row(row)[column] < 128) continue;
        truth.row(to_y)[static_cast<std::size_t>(to_x)] = 1;
      }
    }
    clip.frames.push_back(to_i420(picture, i));
    clip.truth.push_back(std::move(truth));
  }
  return clip;
}

// A folder that goes when the stage ends.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() / ("sparing-bench-" + std::to_string(getpid()))) {
    std::error_code error;
    fs::create_directories(path_, error);
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

Status write_clip(const PeopleClip& clip, const fs::path& file) {
  PictureSinkOptions options;
  options.crf = 18;
  options.frame_rate = kRate;
  SPARING_ASSIGN_OR_RETURN(auto sink, open_picture_sink(file, options));
  PictureConverter converter;
  Picture picture;
  for (const SharedFrame& frame : clip.frames) {
    SPARING_RETURN_IF_ERROR(converter.convert(frame.view(), picture));
    SPARING_RETURN_IF_ERROR(sink->write(picture));
  }
  return sink->finish();
}

class BlurConsumer final : public SegmentConsumer {
 public:
  BlurConsumer(BackgroundComposer composer, std::unique_ptr<PictureSink> sink)
      : composer_(std::move(composer)), sink_(std::move(sink)) {}
  Status take(SegmentedFrame& frame) override {
    SPARING_RETURN_IF_ERROR(converter_.convert(frame.source.frame.view(), picture_));
    SPARING_RETURN_IF_ERROR(composer_.compose(
        MaskView(frame.probabilities.size, frame.probabilities.plane(1)), picture_));
    return sink_->write(picture_);
  }
  Status finish() { return sink_->finish(); }

 private:
  BackgroundComposer composer_;
  std::unique_ptr<PictureSink> sink_;
  PictureConverter converter_;
  Picture picture_;
};

struct PeopleNets {
  Context context;
  Model model;
};

SegmenterOptions with_mode(const char* mode, const SegmenterOptions& ours) {
  SegmenterOptions options = ours;
  options.segment.mode = mode;
  return options;
}

// Frames a second from a file of H.264 to another.
Result<double> blur_rate(const PeopleNets& nets, const SegmenterOptions& options,
                         const fs::path& from, const fs::path& to) {
  SPARING_ASSIGN_OR_RETURN(auto source, open_source(from.string()));
  SPARING_ASSIGN_OR_RETURN(Segmenter segmenter,
                           Segmenter::create(nets.context, nets.model, std::nullopt, options));
  BackgroundOptions blur;
  blur.effect = BackgroundEffect::kBlur;
  SPARING_ASSIGN_OR_RETURN(auto composer, BackgroundComposer::create(blur));
  PictureSinkOptions sink_options;
  sink_options.frame_rate = kRate;
  SPARING_ASSIGN_OR_RETURN(auto sink, open_picture_sink(to, sink_options));
  BlurConsumer consumer(std::move(composer), std::move(sink));
  const SegmentSummary summary = segmenter.run(*source, consumer);
  if (summary.error) return *summary.error;
  SPARING_RETURN_IF_ERROR(consumer.finish());
  return static_cast<double>(summary.frames) / summary.wall_seconds;
}

// The person's IoU over all frames, and how much the labels flicker where nothing moves.
struct PeopleFigures {
  double iou = 0;
  double flicker = 0;
};
Result<PeopleFigures> measure(const PeopleNets& nets, const SegmenterOptions& options,
                              const PeopleClip& clip) {
  SPARING_ASSIGN_OR_RETURN(Segmenter segmenter,
                           Segmenter::create(nets.context, nets.model, std::nullopt, options));
  SPARING_ASSIGN_OR_RETURN(const LabelClasses classes, LabelClasses::create(2));
  MaskEvaluation evaluation(classes);
  PictureAnalysisOptions analysis_options;
  analysis_options.perceptual = false;
  analysis_options.flow = DenseFlowPreset::kUltrafast;
  PictureAnalysis analysis(analysis_options);
  PicturePair pair;
  for (std::size_t i = 0; i < clip.frames.size(); ++i) {
    SPARING_ASSIGN_OR_RETURN(const SegmentedFrame result, segmenter.segment(clip.frames[i].view()));
    SPARING_RETURN_IF_ERROR(analysis.add(clip.frames[i].view(), pair));
    SPARING_RETURN_IF_ERROR(evaluation.add(pair, result.labels, &clip.truth[i]));
  }
  const MaskFigures total = evaluation.total();
  return PeopleFigures{total.scores.iou[1].value_or(0), total.flicker.value_or(0)};
}

}  // namespace

Status bench_segment_people(SegmentBench& bench, Report& report) {
  std::error_code error;
  const fs::path truth = bench.options.data / "pets-s2l1" / "gt.txt";
  for (const fs::path& file : {bench.options.video, truth}) {
    if (fs::exists(file, error)) continue;
    report.skip("people", "no '" + file.string() + "'");
    return {};
  }
  PeopleNets nets;
  nets.context = bench.nets.context;
  auto model = resolve_model("people", default_model_paths(cli::share_dir()), nets.context);
  if (!model.ok()) {
    report.skip("people", model.error().to_string());
    return {};
  }
  nets.model = std::move(*model);
  SPARING_ASSIGN_OR_RETURN(const SceneMaterial material,
                           cut_out_people(bench.options.video, truth, pets_options()));
  const PeopleClip clip = make_clip(material);
  if (clip.frames.empty()) {
    report.skip("people", "no person of the sample video is seen long enough");
    return {};
  }
  const SegmenterOptions& ours = bench.options.segmenter;
  SPARING_ASSIGN_OR_RETURN(const PeopleFigures main, measure(nets, with_mode("main", ours), clip));
  SPARING_ASSIGN_OR_RETURN(const PeopleFigures stable,
                           measure(nets, with_mode("auto", ours), clip));
  report.add({"people.iou_main", main.iou, "", "the person, frame by frame"});
  report.add({"people.iou", stable.iou, "", "the same, as `sparing segment` does it unasked"});
  char note[120];
  std::snprintf(note, sizeof note, "labels that change on static pixels: %.3f %% against %.3f %%",
                stable.flicker * 100, main.flicker * 100);
  report.add(
      {"people.flicker_ratio", main.flicker > 0 ? stable.flicker / main.flicker : 0, "x", note});
  const TemporaryFolder folder;
  const fs::path file = folder / "people.mp4";
  SPARING_RETURN_IF_ERROR(write_clip(clip, file));
  std::vector<double> rates;
  for (int round = 0; round < kRounds; ++round) {
    SPARING_ASSIGN_OR_RETURN(
        const double rate, blur_rate(nets, with_mode("auto", ours), file, folder / "blurred.mp4"));
    rates.push_back(rate);
  }
  std::sort(rates.begin(), rates.end());
  report.add(
      {"people.fps", rates[rates.size() / 2], "fps",
       "1280x720: decode, segment, blur, encode H.264; median of " + std::to_string(kRounds)});
  return {};
}

}  // namespace sparing::bench
