#include "sparing/streams/warm_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sparing/streams/run_test_util.h"

namespace sparing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

ModelInput any_size() {
  ModelInput input;
  input.multiple_of = 32;
  return input;
}

TEST(FirstInputs, AreCanvasesAndWholeFramesEachOnce) {
  const Size frames[] = {{320, 320}, {100, 90}, {100, 90}};
  EXPECT_THAT(first_inputs(any_size(), frames),
              ElementsAre(Size{320, 320}, Size{640, 640}, Size{128, 96}));
}

TEST(FirstInputs, AreWhatTheModelTakes) {
  ModelInput input = any_size();
  input.multiple_of = 64;
  input.max_size = 512;
  const Size frames[] = {{100, 90}};
  EXPECT_THAT(first_inputs(input, frames), ElementsAre(Size{320, 320}, Size{128, 128}));
  input.fixed_size = true;
  input.default_size = {416, 416};
  EXPECT_THAT(first_inputs(input, frames), ElementsAre(Size{416, 416}));
}

TEST(WarmUp, RunsTheNetworkOnceAtEachSize) {
  const auto network = std::make_shared<testing::BrightNetwork>();
  std::vector<Processor> processors;
  processors.push_back(testing::bright_processor(network));
  auto detector = StreamDetector::create(std::move(processors));
  ASSERT_TRUE(detector.ok());
  const Size frames[] = {{96, 64}};
  ASSERT_TRUE(detector->warm_up(frames, 0).ok());
  EXPECT_EQ(network->runs, 3);
  network->error_at = network->runs;
  EXPECT_FALSE(detector->warm_up(frames, 0).ok());
}

TEST(WarmUp, RunsTheCanvasesThatFitABudget) {
  const auto network = std::make_shared<testing::BrightNetwork>();
  std::vector<Processor> processors;
  processors.push_back(testing::bright_processor(network));
  auto detector = StreamDetector::create(std::move(processors));
  ASSERT_TRUE(detector.ok());
  const double most = detector->processor(0).profile.estimate({256, 256});
  const auto canvases = detector->canvases();
  const auto fit = std::count_if(canvases.begin(), canvases.end(), [&](const CanvasShape& canvas) {
    return detector->processor(0).profile.estimate(canvas.size) <= most;
  });
  ASSERT_GT(fit, 2);
  ASSERT_TRUE(detector->warm_up({}, most).ok());
  EXPECT_EQ(network->runs, 2 + fit) << "320x320 and 640x640 come first";
}

}  // namespace
}  // namespace sparing
