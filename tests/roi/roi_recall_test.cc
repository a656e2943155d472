// How much of the ground truth of the sample video (PETS 2009, S2.L1) the regions cover. The
// objects that are followed are the ground truth's of the first frame of each window, as after a
// perfect detector.
//
// Environment: SPARING_SAMPLE (vtest.avi) and SPARING_PETS_GT (its gt.txt, MOT format). Skipped
// where one of them is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sparing/io/source.h"
#include "sparing/roi/roi_extractor.h"

namespace sparing {
namespace {

constexpr int kWindow = 10;         // frames between detections: a second
constexpr double kCoverage = 0.75;  // of an object's area by one region, padded
constexpr double kStill = 8;        // pixels in 10 frames: an object that stands

struct Video {
  std::vector<SharedFrame> frames;
  std::map<std::int64_t, std::vector<KnownObject>> truth;
};

// The annotations with their track ids, which AnnotationSet does not have.
std::map<std::int64_t, std::vector<KnownObject>> read_tracks(const std::string& file) {
  std::map<std::int64_t, std::vector<KnownObject>> tracks;
  std::FILE* stream = std::fopen(file.c_str(), "r");
  if (stream == nullptr) return tracks;
  char line[256];
  while (std::fgets(line, sizeof line, stream) != nullptr) {
    long frame = 0, id = 0;
    double x = 0, y = 0, width = 0, height = 0;
    if (std::sscanf(line, "%ld,%ld,%lf,%lf,%lf,%lf", &frame, &id, &x, &y, &width, &height) != 6) {
      continue;
    }
    KnownObject object;
    object.id = id;
    object.detection.score = 0.9f;
    object.detection.box = clip({static_cast<float>(x), static_cast<float>(y),
                                 static_cast<float>(x + width), static_cast<float>(y + height)},
                                768, 576);
    tracks[frame - 1].push_back(object);
  }
  std::fclose(stream);
  return tracks;
}

// Read once for all tests. Empty where something is missing.
const Video& video() {
  static const Video result = [] {
    Video video;
    const char* sample = std::getenv("SPARING_SAMPLE");
    const char* truth = std::getenv("SPARING_PETS_GT");
    if (sample == nullptr || truth == nullptr || !std::filesystem::exists(sample) ||
        !std::filesystem::exists(truth)) {
      return video;
    }
    auto source = open_source(sample);
    if (!source.ok()) return video;
    for (;;) {
      auto frame = (*source)->next();
      if (!frame.ok() || !frame->has_value()) break;
      video.frames.push_back((*frame)->frame);
    }
    video.truth = read_tracks(truth);
    return video;
  }();
  return result;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool covered(const Box& object, const std::vector<Roi>& rois) {
  const Rect box{object.x0, object.y0, object.width(), object.height()};
  return std::any_of(rois.begin(), rois.end(), [&](const Roi& roi) {
    // As packing will pad it, by less than it will.
    const double pad = 0.1 * std::max(roi.rect.width, roi.rect.height);
    const Rect padded{roi.rect.x - pad, roi.rect.y - pad, roi.rect.width + 2 * pad,
                      roi.rect.height + 2 * pad};
    return intersect(padded, box).area() >= kCoverage * box.area();
  });
}

bool stands_still(const Video& video, std::int64_t frame, const KnownObject& object) {
  const auto later = video.truth.find(frame + kWindow);
  if (later == video.truth.end()) return false;
  for (const KnownObject& other : later->second) {
    if (other.id != object.id) continue;
    return std::abs(other.detection.box.x0 - object.detection.box.x0) < kStill &&
           std::abs(other.detection.box.y0 - object.detection.box.y0) < kStill;
  }
  return false;
}

struct Outcome {
  int objects = 0, found = 0, still = 0, still_found = 0, rois = 0, whole = 0, frames = 0;
  double area = 0;  // of the regions, in frames
  double milliseconds = 0;
  double recall() const { return static_cast<double>(found) / objects; }
  double still_recall() const { return static_cast<double>(still_found) / still; }
};

Outcome measure(const RoiOptions& options, const char* name) {
  const Video& clip = video();
  Outcome outcome;
  auto extractor = RoiExtractor::create(options);
  EXPECT_TRUE(extractor.ok());
  double seconds = 0;
  for (std::size_t i = 0; i < clip.frames.size(); ++i) {
    const double start = cpu_seconds();
    const auto result = extractor->add(clip.frames[i].view());
    seconds += cpu_seconds() - start;
    EXPECT_TRUE(result.ok());
    const auto objects = clip.truth.find(static_cast<std::int64_t>(i));
    if (i % kWindow == 0 && objects != clip.truth.end()) {
      EXPECT_TRUE(extractor->set_objects(objects->second).ok());
    }
    if (i == 0) continue;  // nothing to compare with
    ++outcome.frames;
    outcome.whole += result->change != GlobalChange::kNone;
    outcome.rois += static_cast<int>(result->rois.size());
    for (const Roi& roi : result->rois) outcome.area += roi.rect.area() / (768.0 * 576.0);
    if (objects == clip.truth.end()) continue;
    for (const KnownObject& object : objects->second) {
      const bool found = covered(object.detection.box, result->rois);
      const bool still = stands_still(clip, static_cast<std::int64_t>(i), object);
      ++outcome.objects;
      outcome.found += found;
      outcome.still += still;
      outcome.still_found += still && found;
    }
  }
  outcome.milliseconds = 1000 * seconds / static_cast<double>(clip.frames.size());
  std::printf(
      "%-22s recall %.3f, standing %.3f (%d), %.1f regions and %.3f of the area a frame, "
      "%d whole, %.3f ms a frame\n",
      name, outcome.recall(), outcome.still_recall(), outcome.still,
      static_cast<double>(outcome.rois) / outcome.frames, outcome.area / outcome.frames,
      outcome.whole, outcome.milliseconds);
  return outcome;
}

RoiOptions only(bool flow, bool difference, bool background) {
  RoiOptions options;
  options.flow = flow;
  options.difference = difference;
  options.background = background;
  return options;
}

TEST(RoiRecall, SampleVideo) {
  if (video().frames.empty() || video().truth.empty()) {
    GTEST_SKIP() << "set SPARING_SAMPLE to vtest.avi and SPARING_PETS_GT to its gt.txt";
  }
  const Outcome flow = measure(only(true, false, false), "flow");
  const Outcome difference = measure(only(false, true, false), "difference");
  const Outcome background = measure(only(false, false, true), "background");
  const Outcome all = measure({}, "all");
  // A hundredth or two below what was measured.
  EXPECT_GE(flow.recall(), 0.92);
  EXPECT_GE(difference.recall(), 0.97);
  EXPECT_GE(background.recall(), 0.98);
  EXPECT_GE(all.recall(), 0.98);
  EXPECT_GE(all.still_recall(), 0.98);
  EXPECT_LE(all.area / all.frames, 0.12) << "regions that cover everything find everything";
  EXPECT_EQ(all.whole, 0);
}

TEST(RoiRecall, QuarterSize) {
  if (video().frames.empty() || video().truth.empty()) {
    GTEST_SKIP() << "set SPARING_SAMPLE to vtest.avi and SPARING_PETS_GT to its gt.txt";
  }
  RoiOptions options;
  options.reduction = "4";
  EXPECT_GE(measure(options, "all, quarter size").recall(), 0.965);
}

// The camera is knocked aside by 10 pixels for two frames, every second: each way is one whole
// frame and no storm of regions.
TEST(RoiRecall, ShakesOfTheSampleVideoAreCameraMotion) {
  if (video().frames.empty()) GTEST_SKIP() << "set SPARING_SAMPLE to vtest.avi";
  auto extractor = RoiExtractor::create();
  ASSERT_TRUE(extractor.ok());
  int steps = 0, seen = 0, others = 0;
  std::size_t most = 0;
  bool was_aside = false;
  for (std::size_t i = 0; i < 300; ++i) {
    VideoFrame frame = video().frames[i].view();
    const bool aside = i % 10 == 6 || i % 10 == 7;
    frame.visible_rect = aside ? Rect{8, 0, 752, 560} : Rect{0, 6, 752, 560};
    const auto result = extractor->add(frame);
    ASSERT_TRUE(result.ok());
    const bool camera = result->change == GlobalChange::kCameraMotion;
    steps += aside != was_aside;
    seen += camera && aside != was_aside;
    others += i > 0 && aside == was_aside && result->change != GlobalChange::kNone;
    most = std::max(most, result->rois.size());
    was_aside = aside;
  }
  std::printf("shakes: %d of %d seen, %d whole frames without, at most %zu regions a frame\n", seen,
              steps, others, most);
  EXPECT_EQ(seen, steps);
  EXPECT_LE(others, 3);
  EXPECT_LE(most, 60u);
}

}  // namespace
}  // namespace sparing
