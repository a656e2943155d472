// What the real-time stage makes of its runs: rates, and which frames of a looped scene are judged
// against which truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "realtime_streams.h"

namespace sparing::bench {
namespace {

TEST(RealtimeTest, TheRateIsThatOfWholeWindows) {
  // 4 streams of 30 frames a window; the first is a frame long and early, the last is cut short.
  const std::vector<WrittenAt> windows = {{0.2, 4},   {1.4, 120}, {2.4, 240},
                                          {3.4, 360}, {4.4, 480}, {4.6, 490}};
  EXPECT_DOUBLE_EQ(steady_rate(windows), 120);
  EXPECT_DOUBLE_EQ(steady_rate(std::span(windows).first(5)), 120);
  EXPECT_EQ(steady_rate(std::span(windows).first(4)), 0);  // no whole one after it settled
  EXPECT_EQ(steady_rate(std::span(windows).first(2)), 0);
}

TEST(RealtimeTest, ARunHoldsWhenItIsInTimeAndWhole) {
  RealtimeRun run;
  run.due = 120;
  run.fps = 118;
  EXPECT_TRUE(run.holds());
  run.dropped = 1;
  EXPECT_FALSE(run.holds());
  run.dropped = 0;
  run.fps = 117;
  EXPECT_FALSE(run.holds());
}

class NumberedFrames : public VideoSource {
 public:
  explicit NumberedFrames(std::int64_t count) : count_(count) {}
  const SourceInfo& info() const override { return info_; }
  Result<std::optional<SourceFrame>> next() override {
    if (next_ == count_) return std::optional<SourceFrame>();
    SourceFrame frame;
    frame.index = next_++;
    return std::optional(std::move(frame));
  }
  std::int64_t damaged_frames() const override { return 0; }

 private:
  SourceInfo info_;
  std::int64_t count_;
  std::int64_t next_ = 0;
};

TEST(RealtimeTest, SelectedFramesKeepTheirIndices) {
  const auto source = select_frames(std::make_unique<NumberedFrames>(20), 4, 7);
  std::vector<std::int64_t> indices;
  while (true) {
    const auto frame = source->next();
    ASSERT_TRUE(frame.ok());
    if (!*frame) break;
    indices.push_back((*frame)->index);
  }
  EXPECT_THAT(indices, ::testing::ElementsAre(4, 11, 18));
}

// Frame i of a pass has a box at x = 10 i.
Box box_at(std::int64_t in_pass) {
  const auto x = static_cast<float>(10 * in_pass);
  return {x, 0, x + 8, 20};
}

TEST(RealtimeTest, LoopedStreamsAreJudgedAgainstTheFrameTheyShow) {
  constexpr std::int64_t kPass = 15;
  constexpr std::int64_t kFrames = 100;  // written
  AnnotationSet scene;
  for (std::int64_t i = 0; i < kPass; ++i) scene.images.push_back({i, {{box_at(i), 0}}});
  AnnotationSet truth;
  DetectionSet ours;
  for (const std::int64_t stream : {0, 1}) {
    const std::int64_t first = 4 * stream;
    DetectionSet boxes;
    for (std::int64_t i = 0; i < kFrames; ++i) {
      if (i == 60) continue;  // dropped
      boxes.images.push_back({i, {{box_at((first + i) % kPass), 0.9f, 0}}});
    }
    add_judged_truth(scene, first, kFrames, stream, truth);
    add_judged_boxes(boxes, first, kPass, stream, ours);
  }
  std::set<std::int64_t> ids;
  for (const ImageAnnotations& image : truth.images) ids.insert(image.image_id);
  EXPECT_EQ(ids.size(), truth.images.size());  // no two streams share an image
  long long matched = 0;
  for (const ImageDetections& image : ours.images) {
    ASSERT_EQ(ids.count(image.image_id), 1u);
    for (const ImageAnnotations& other : truth.images) {
      if (other.image_id != image.image_id) continue;
      EXPECT_EQ(other.objects[0].box, image.detections[0].box);
      ++matched;
    }
  }
  EXPECT_EQ(matched, static_cast<long long>(ours.images.size()));
  // Frames 0, 7 and 14 of the first stream's passes, 1 and 8 of the second's. The one that was
  // dropped is missed: frame 60 is 0 of the first stream, and 4 of the second, which is not judged.
  EXPECT_EQ(truth.images.size(), 3u * 6 + 2 + 2u * 6 + 1);
  EXPECT_EQ(ours.images.size(), truth.images.size() - 1);
}

TEST(RealtimeTest, JudgedFramesFavourNoDistance) {
  // Frames looked at every k-th, from any on, are judged as often as others, over 7 k frames.
  for (int every = 1; every <= 6; ++every) {
    for (int phase = 0; phase < every; ++phase) {
      int judged = 0;
      for (int i = phase; i < 7 * every; i += every) judged += is_judged(i, 0) ? 1 : 0;
      EXPECT_EQ(judged, 1) << every << ' ' << phase;
    }
  }
}

}  // namespace
}  // namespace sparing::bench
