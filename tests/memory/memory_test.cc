// A process that runs the detector again and again does not grow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "runtime.h"
#include "sparing/io/source.h"
#include "sparing/models/registry.h"
#include "sparing/pipeline/detector.h"

namespace sparing {
namespace {

class CountingSink : public ResultSink {
 public:
  Status write(const FrameResult& result) override {
    detections += result.detections.size();
    return {};
  }
  Status finish() override { return {}; }
  std::string name() const override { return "counter"; }
  std::size_t detections = 0;
};

TEST(Memory, IsFlatOverTenPasses) {
  const char* sample = std::getenv("SPARING_SAMPLE");
  if (sample == nullptr || access(sample, R_OK) != 0) GTEST_SKIP() << "no sample video";
  cli::prepare_process();
  auto context = cli::create_context({});
  ASSERT_TRUE(context.ok()) << context.error().to_string();
  auto model = resolve_model("nanodet-g", default_model_paths(cli::share_dir()), *context);
  if (!model.ok()) GTEST_SKIP() << model.error().to_string();
  DetectOptions options;
  options.size = "192x160";
  auto detector = Detector::create(*context, *model, options);
  ASSERT_TRUE(detector.ok()) << detector.error().to_string();
  std::vector<double> megabytes;
  std::size_t detections = 0;
  for (int pass = 0; pass < 10; ++pass) {
    auto source = open_source(sample, {.decoder_threads = 1, .max_frames = 200, .stop = {}});
    ASSERT_TRUE(source.ok()) << source.error().to_string();
    CountingSink sink;
    ResultSink* sinks[] = {&sink};
    const RunSummary summary = detector->run(**source, sinks);
    ASSERT_FALSE(summary.error) << summary.error->to_string();
    ASSERT_EQ(summary.frames, 200);
    if (pass == 0) detections = sink.detections;
    EXPECT_EQ(sink.detections, detections);
    megabytes.push_back(cli::resident_megabytes());
  }
  EXPECT_GT(detections, 0u);
  // One reading goes up and down by a megabyte or two with what the allocator holds; medians do
  // not, and a leak raises them all the same.
  std::nth_element(megabytes.begin(), megabytes.begin() + 1, megabytes.begin() + 3);
  std::nth_element(megabytes.begin() + 5, megabytes.begin() + 7, megabytes.end());
  const double growth = megabytes[7] - megabytes[1];
  RecordProperty("growth_mb", std::to_string(growth));
  EXPECT_LT(growth, 5.0);
}

}  // namespace
}  // namespace sparing
