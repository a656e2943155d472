// The sampler over a network that finds the bright rectangle drawn in front of the dark ground, as
// long as it is high enough on the canvas: the safe scale is known.
#include "sparing/streams/scale_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>

#include "sparing/backends/fake.h"
#include "sparing/streams/end2end_model_test_util.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;

constexpr int kRows = 40;         // detections of the fake network
constexpr int kLeastHeight = 25;  // lower rectangles are missed
constexpr Size kFrame{320, 240};

// Connected bright runs: each bright pixel with nothing bright to its left and above starts a
// rectangle.
Status find_bright(const std::map<std::string, FakeTensor>& inputs,
                   const std::map<std::string, FakeTensor>& outputs) {
  const FakeTensor& input = inputs.at("input");
  const auto height = static_cast<int>(input.shape[2]);
  const auto width = static_cast<int>(input.shape[3]);
  const auto* pixels = reinterpret_cast<const float*>(input.bytes.data());
  const auto bright = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < width && y < height && pixels[y * width + x] > 128;
  };
  auto* row = reinterpret_cast<float*>(outputs.at("boxes").bytes.data());
  std::memset(row, 0, kRows * 6 * sizeof(float));
  int found = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!bright(x, y) || bright(x - 1, y) || bright(x, y - 1)) continue;
      int right = x, bottom = y;
      while (bright(right, y)) ++right;
      while (bright(x, bottom)) ++bottom;
      if (bottom - y < kLeastHeight || found == kRows) continue;
      const float values[6] = {float(x), float(y), float(right), float(bottom), 0.9f, 0.0f};
      std::memcpy(row + 6 * found++, values, sizeof values);
    }
  }
  return {};
}

Detector bright_detector() {
  FakeGraph graph;
  graph.inputs = {{"input", {DataType::kFloat32, {1, 3, -1, -1}}}};
  graph.outputs = {{"boxes", {DataType::kFloat32, {1, kRows, 6}}}};
  graph.run = find_bright;
  Context context = create_fake_context({}, {{"net", graph}}).value();
  const Model model = testing::end2end_model({"person"});
  DetectOptions options;
  options.score = 0.2;
  return Detector::create(context, model, options).value();
}

// A rectangle of 40 x `height`, with a textured rim inside of it to follow, moves right.
SharedFrame draw_frame(std::int64_t index, int height) {
  SharedFrame frame = allocate_frame(PixelFormat::kI420, kFrame).value();
  VideoFrame& view = frame.view();
  const int x0 = 60 + static_cast<int>(index) * 3;
  for (int y = 0; y < kFrame.height; ++y) {
    std::uint8_t* row = mutable_plane(frame, 0) + y * view.planes[0].stride;
    for (int x = 0; x < kFrame.width; ++x) {
      const bool inside = x >= x0 && x < x0 + 40 && y >= 60 && y < 60 + height;
      const bool texture = ((x - x0) / 5 + y / 5) % 2 == 0;
      row[x] = static_cast<std::uint8_t>(inside ? (texture ? 235 : 225) : 40);
    }
  }
  for (int plane : {1, 2}) {
    std::memset(mutable_plane(frame, plane), 128,
                static_cast<std::size_t>(view.planes[static_cast<std::size_t>(plane)].stride *
                                         ((kFrame.height + 1) / 2)));
  }
  view.timestamp = {index, {1, 10}};
  return frame;
}

ScaleSampler sampled(int height, std::int64_t frames, const ScaleSamplerOptions& options) {
  ScaleSampler sampler = ScaleSampler::create(bright_detector(), options).value();
  for (std::int64_t i = 0; i < frames; ++i) {
    const Status status = sampler.add(draw_frame(i, height).view());
    EXPECT_TRUE(status.ok()) << status.error().to_string();
  }
  return sampler;
}

TEST(ScaleSampler, LabelsTheSmallestScaleAtWhichTheObjectIsFound) {
  ScaleSamplerOptions options;
  options.every = 2;
  const ScaleSampler sampler = sampled(100, 8, options);
  EXPECT_EQ(sampler.counters().frames, 4);
  EXPECT_EQ(sampler.counters().objects, 4);
  ASSERT_GE(sampler.samples().size(), 3U);  // in the first frame there is no region yet
  EXPECT_EQ(std::ssize(sampler.samples()) + sampler.counters().no_region, 4);
  for (const LabelledRegion& region : sampler.samples()) {
    // 0.25 x 100 px are found; whether by a rounded pixel more or less, one level up at most.
    EXPECT_GE(region.sample.safe.scale, 0.25);
    EXPECT_LE(region.sample.safe.scale, 0.32);
    EXPECT_NEAR(region.sample.safe.label_area, region.sample.safe.area * 1.1, 1e-6);
    EXPECT_NEAR(region.sample.features.height, 100, 8);
    EXPECT_EQ(region.frame % 2, 0);
  }
}

TEST(ScaleSampler, FollowedObjectsComeWithTheirLastConfidenceAndFlow) {
  ScaleSamplerOptions options;
  options.every = 2;
  const ScaleSampler sampler = sampled(100, 8, options);
  const ScaleSample& last = sampler.samples().back().sample;
  EXPECT_NEAR(last.features.confidence, 0.9, 1e-6);
  EXPECT_NEAR(last.features.mean_shift, 3, 1);
}

TEST(ScaleSampler, TinyObjectsAreEnlarged) {
  ScaleSamplerOptions options;
  options.every = 2;
  options.reference_scale = 2;
  const ScaleSampler sampler = sampled(20, 8, options);
  ASSERT_FALSE(sampler.samples().empty());
  for (const LabelledRegion& region : sampler.samples()) {
    EXPECT_EQ(region.sample.safe.scale, 1.25);
  }
  EXPECT_EQ(sampled(20, 4, {}).counters().objects, 0);  // not seen at scale 1
}

TEST(ScaleSampler, RefusesOptionsOutOfRange) {
  ScaleSamplerOptions options;
  options.every = 0;
  const auto refused = ScaleSampler::create(bright_detector(), options);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("every"));
}

}  // namespace
}  // namespace sparing
