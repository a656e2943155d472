// Profiles of processors over a fake engine, which says how often and at which sizes it ran.
#include "sparing/streams/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <utility>

#include "sparing/streams/fake_network_test_util.h"
#include "sparing/streams/latency_meter.h"

namespace sparing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(NominalProfile, IsProportionalToTheAreaAndStaysSo) {
  LatencyProfile profile = nominal_profile("net", "cpu:f32:1", {1920, 1088});
  EXPECT_DOUBLE_EQ(profile.estimate({1000, 1000}), 0.1);
  EXPECT_NEAR(profile.estimate({320, 240}), 320 * 240 * 100e-9, 1e-12);
  ASSERT_TRUE(profile.observe({320, 240}, 1.0).ok());
  EXPECT_NEAR(profile.estimate({320, 240}), 320 * 240 * 100e-9, 1e-12);
  EXPECT_EQ(profile.largest(), (Size{1920, 1088}));
  EXPECT_EQ(profile.processor().model, "net");
}

TEST(MeasureProfile, RunsEverySizeOnAllStreamsAtOnce) {
  FakeNetwork network({.threads = 2, .streams = 2});
  Detector detector = network.detector();
  const auto profile = measure_profile(detector, "cpu:f32:2:2", {{64, 64}, {128, 96}}, 2);
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  ASSERT_EQ(profile->points().size(), 2U);
  EXPECT_EQ(profile->points()[1].width, 128);
  EXPECT_GT(profile->estimate({64, 64}), 0);
  EXPECT_EQ(profile->processor().processor, "cpu:f32:2:2");
  EXPECT_EQ(profile->processor().model, "net");
  // Two runs and one before them, on two streams.
  EXPECT_THAT(network.runs(), ElementsAre(Pair(std::pair(64, 64), 6), Pair(std::pair(128, 96), 6)));
}

TEST(MeasureProfile, RunsEachSizeAfterAnother) {
  FakeNetwork network({.threads = 1, .streams = 1});
  Detector detector = network.detector();
  ASSERT_TRUE(measure_profile(detector, "cpu:f32:1", {{64, 64}, {128, 96}, {96, 96}}, 5).ok());
  ASSERT_EQ(network.order().size(), 18U);
  EXPECT_EQ(std::adjacent_find(network.order().begin(), network.order().end()),
            network.order().end());
}

TEST(MeasureProfile, TakesSizesOfItsOwnThatTheModelTakes) {
  FakeNetwork network({});
  network.model().manifest.input.max_size = 400;
  Detector detector = network.detector();
  const auto profile = measure_profile(detector, "cpu:f32:1", {});
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  for (const LatencyPoint& point : profile->points()) EXPECT_LE(point.width, 400);
  // A CPU runs all that the model takes: 384 is the last multiple of 32.
  EXPECT_EQ(profile->largest(), (Size{384, 384}));
}

TEST(MeasureProfile, OtherDevicesRunWhatWasMeasured) {
  FakeNetwork network({.device_type = DeviceType::kGpu});
  Detector detector = network.detector();
  const auto profile = measure_profile(detector, "gpu:f32:1", {{128, 96}, {64, 64}}, 1);
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  EXPECT_EQ(profile->largest(), (Size{128, 96}));
}

TEST(MeasureProfile, AFixedGraphHasOneSize) {
  FakeNetwork network({}, {1, 3, 96, 160});
  Detector detector = network.detector();
  const auto profile = measure_profile(detector, "cpu:f32:1", {{64, 64}}, 1);
  ASSERT_TRUE(profile.ok()) << profile.error().to_string();
  ASSERT_EQ(profile->points().size(), 1U);
  EXPECT_EQ(profile->largest(), (Size{160, 96}));
}

TEST(MeasureProfile, RefusesSizesAndRunsOutOfRange) {
  FakeNetwork network({});
  Detector detector = network.detector();
  const auto odd = measure_profile(detector, "cpu:f32:1", {{65, 64}}, 1);
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(odd.error().to_string(), HasSubstr("65x64"));
  const auto none = measure_profile(detector, "cpu:f32:1", {{64, 64}}, 0);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kInvalidArgument);
}

TEST(ProcessorName, NamesStreamsWhereThereAreSeveral) {
  ContextOptions options;
  options.precision = Precision::kBfloat16;
  options.threads = 2;
  EXPECT_EQ(processor_name(options), "cpu:bf16:2");
  options.streams = 2;
  EXPECT_EQ(processor_name(options), "cpu:bf16:2:2");
}

}  // namespace
}  // namespace sparing
