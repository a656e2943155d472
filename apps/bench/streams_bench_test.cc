// What the accuracy benchmark does with boxes and costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <stack>

#include "benchmarks.h"
#include "streams_clips.h"
#include "streams_fill.h"
#include "streams_plot.h"
#include "streams_rows.h"

namespace sparing::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<std::string> kLabels = {"person", "bicycle", "car", "motorcycle", "bus", "truck"};

TEST(DetectBench, AFolderOfMaterialThatWasAskedForMustBeThere) {
  BenchOptions options;
  options.detect.data = "no such folder";
  options.detect.stages = {"none"};
  Report report;
  const Status status = bench_detect(options, report);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInput);
  EXPECT_THAT(status.error().to_string(), HasSubstr("--data 'no such folder'"));
  // The default one may be missing: its figures are skipped.
  options.detect.data = DetectBenchOptions{}.data;
  EXPECT_TRUE(bench_detect(options, report).ok());
}

TEST(DetectBench, TheSampleLiesWithWhatTheSetUpFetched) {
  const char* const before = std::getenv("SPARING_DEPS_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("SPARING_DEPS_DIR", "/elsewhere", 1);
  EXPECT_EQ(default_video(), "/elsewhere/samples/vtest.avi");
  setenv("SPARING_DEPS_DIR", "", 1);
  EXPECT_EQ(default_video(), cli::share_dir() / ".deps" / "samples" / "vtest.avi");
  if (before == nullptr) {
    unsetenv("SPARING_DEPS_DIR");
  } else {
    setenv("SPARING_DEPS_DIR", kept.c_str(), 1);
  }
}

TEST(Classes, OfAGroupAreFoundByName) {
  EXPECT_THAT(group_ids(person_group(), kLabels), ElementsAre(0));
  EXPECT_THAT(group_ids(vehicle_group(), kLabels), ElementsAre(2, 3, 4, 5));
}

TEST(Classes, VehiclesAreOneClassAndOneBoxEach) {
  const Box here{0, 0, 10, 10};
  const Box there{50, 50, 60, 60};
  const std::vector<Detection> found = {
      {here, 0.4f, 2}, {here, 0.6f, 5}, {there, 0.3f, 4}, {there, 0.9f, 0}};
  const std::vector<int> ids = group_ids(vehicle_group(), kLabels);
  EXPECT_THAT(join_classes(found, ids),
              ElementsAre(Detection{here, 0.6f, 0}, Detection{there, 0.3f, 0}));
}

TEST(Classes, ASingleClassKeepsAllItsBoxes) {
  const Box here{0, 0, 10, 10};
  const std::vector<Detection> found = {{here, 0.4f, 0}, {here, 0.6f, 0}, {here, 0.5f, 2}};
  EXPECT_THAT(join_classes(found, std::vector<int>{0}),
              ElementsAre(Detection{here, 0.6f, 0}, Detection{here, 0.4f, 0}));
}

// Frames of one pixel, timed as clips are.
Clip tiny_clip(std::size_t streams, std::size_t frames) {
  Clip clip{"tiny", "tiny", person_group(), {100, 100}, {10, 1}, false, {}};
  for (std::size_t s = 0; s < streams; ++s) {
    ClipStream stream;
    for (std::size_t f = 0; f < frames; ++f) {
      SourceFrame frame;
      frame.frame = allocate_frame(PixelFormat::kI420, {2, 2}).value();
      frame.index = static_cast<std::int64_t>(f);
      frame.frame.view().timestamp = {frame.index, {1, 10}};
      stream.frames.push_back(std::move(frame));
      Annotation object;
      object.box = {10, 10, 30, 50};
      stream.truth.push_back({object});
    }
    clip.streams.push_back(std::move(stream));
  }
  return clip;
}

TEST(Judging, CountsEveryStreamAndFrame) {
  const Clip clip = tiny_clip(2, 2);
  const Detection hit{{10, 10, 30, 50}, 0.9f, 0};
  ClipBoxes boxes(2, std::vector<std::vector<Detection>>(2, {hit}));
  EXPECT_DOUBLE_EQ(judge(clip, boxes, kLabels)->ap, 1);
  EXPECT_DOUBLE_EQ(judge(clip, boxes, kLabels)->f1, 1);
  boxes[1][1].clear();  // one of four objects
  EXPECT_DOUBLE_EQ(judge(clip, boxes, kLabels)->ap, 0.75);
  boxes[1][1] = {{{10, 10, 30, 50}, 0.9f, 1}};  // a bicycle
  EXPECT_DOUBLE_EQ(judge(clip, boxes, kLabels)->ap, 0.75);
  boxes.pop_back();
  EXPECT_FALSE(judge(clip, boxes, kLabels).ok());
}

TEST(Filling, PutsSkippedFramesBetweenTheLooks) {
  const Clip clip = tiny_clip(1, 5);
  StreamLooks looks(5);
  looks[0] = {{{10, 10, 30, 50}, 0.8f, 0}};
  looks[4] = {{{18, 10, 38, 50}, 0.8f, 0}};
  const auto filled = fill_stream(clip, clip.streams[0], looks);
  ASSERT_TRUE(filled.ok());
  for (std::size_t f = 0; f < 5; ++f) {
    ASSERT_THAT((*filled)[f], SizeIs(1)) << f;
    EXPECT_NEAR((*filled)[f][0].box.x0, 10 + 2.0 * static_cast<double>(f), 1e-3);
  }
  const auto bare = fill_stream(clip, clip.streams[0], looks, false);
  EXPECT_THAT((*bare)[2], IsEmpty());
}

TEST(Filling, IsOfSureObjectsAlone) {
  const Clip clip = tiny_clip(1, 3);
  const Box box{10, 10, 30, 50};
  StreamLooks looks(3);
  looks[0] = {{box, kFollowScore - 0.05f, 0}};
  looks[2] = looks[0];
  const auto filled = fill_stream(clip, clip.streams[0], looks);
  ASSERT_TRUE(filled.ok());
  EXPECT_THAT((*filled)[0], SizeIs(1));
  EXPECT_THAT((*filled)[1], IsEmpty());
  EXPECT_THAT((*filled)[2], SizeIs(1));
}

TEST(MemorySource, PlaysFramesAgainWithTimesThatGoOn) {
  const Clip clip = tiny_clip(1, 3);
  const auto source = memory_source(clip.streams[0], {10, 1}, 2);
  for (std::int64_t i = 0; i < 6; ++i) {
    const auto frame = source->next();
    ASSERT_TRUE(frame.ok() && *frame);
    EXPECT_EQ((*frame)->index, i);
    EXPECT_EQ((*frame)->frame.view().timestamp, (Timestamp{i, {1, 10}}));
  }
  EXPECT_FALSE(*source->next());
}

Row row(const std::string& method, const std::string& settings, double ap, double cost,
        const std::string& clip = "a") {
  return {clip, method, settings, {settings}, {ap, ap}, {cost, cost, 1, 1}, 10};
}

TEST(Rows, TheCheapestIsTheCheapestThatIsGoodEnough) {
  const std::vector<Row> rows = {row("w", "1", 0.9, 10), row("w", "2", 0.85, 5),
                                 row("w", "3", 0.8, 2), row("x", "4", 0.9, 1)};
  EXPECT_EQ(cheapest(rows, "w", 0.84), &rows[1]);
  EXPECT_EQ(cheapest(rows, "w", 0.95), nullptr);
}

TEST(Rows, TheFrontHoldsWhatNothingBeats) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> value(0, 1);
  std::vector<Row> rows;
  for (int i = 0; i < 200; ++i) {
    rows.push_back(row("w", std::to_string(i), value(random), value(random)));
  }
  const std::vector<const Row*> front = pareto(rows, "w");
  for (const Row& candidate : rows) {
    bool beaten = false;
    for (const Row& other : rows) {
      beaten |= &other != &candidate && other.accuracy.ap >= candidate.accuracy.ap &&
                other.spend.cost <= candidate.spend.cost;
    }
    const bool in_front = std::find(front.begin(), front.end(), &candidate) != front.end();
    EXPECT_NE(beaten, in_front);
  }
}

TEST(Rows, OnlyWhatIsClearlyBetterBeatsAuto) {
  const Row own = row("auto", "a", 0.9, 10);
  const std::vector<Row> rows = {
      own,
      row("w", "a little more accurate", 0.909, 10),
      row("w", "more accurate", 0.911, 10),
      row("w", "more accurate, dearer", 0.95, 10.01),
      row("w", "a little less costly", 0.9, 9.2),
      row("w", "less costly", 0.891, 9),
      row("w", "much less costly, worse", 0.889, 1),
  };
  EXPECT_THAT(better_rows(rows, own), ElementsAre(&rows[2], &rows[5]));
}

TEST(Rows, MixedOnesAreThoseOfAllClips) {
  const std::vector<Row> rows = {row("w", "640", 0.8, 1, "a"), row("w", "640", 0.6, 3, "b"),
                                 row("w", "320", 0.5, 1, "a"), row("x", "320", 0.5, 1, "b")};
  const std::vector<std::string> clips = {"a", "b"};
  const std::vector<Row> mixed = mixed_rows(rows, clips);
  ASSERT_THAT(mixed, SizeIs(1));
  EXPECT_EQ(mixed[0].name(), "w, 640");
  EXPECT_DOUBLE_EQ(mixed[0].accuracy.ap, 0.7);
  EXPECT_DOUBLE_EQ(mixed[0].spend.cost, 4);
  EXPECT_EQ(mixed[0].frames, 20);
}

// Tags that open are closed in order, quotes and entities are right: enough for what we write.
void expect_well_formed(const std::string& xml) {
  std::stack<std::string> open;
  std::size_t at = 0;
  while ((at = xml.find_first_of("<&", at)) != std::string::npos) {
    if (xml[at] == '&') {
      const std::string entity = xml.substr(at, xml.find(';', at) - at);
      EXPECT_TRUE(entity == "&amp" || entity == "&lt" || entity == "&gt" || entity == "&quot")
          << entity;
      ++at;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    EXPECT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
    EXPECT_EQ(tag.find('<'), std::string::npos) << tag;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.top(), tag.substr(1));
      open.pop();
    } else if (tag.back() != '/') {
      open.push(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  EXPECT_TRUE(open.empty());
}

TEST(Plot, IsWellFormedAndShowsEveryRow) {
  PlotPanel panel{"A & B <1>", {row("w", "\"a\"", 0.8, 1), row("Sparing, auto", "b", 0.9, 0.1)}};
  const std::vector<PlotPanel> panels = {panel, {"empty", {}}};
  Size size;
  const std::string xml = draw_panels(panels, "CPU <&>", size).document(size.width, size.height);
  expect_well_formed(xml);
  EXPECT_THAT(xml, HasSubstr("A &amp; B &lt;1&gt;"));
  EXPECT_THAT(xml, HasSubstr("w, &quot;a&quot;: AP 0.800, 100.00 ms a frame"));
  EXPECT_THAT(xml, HasSubstr("Sparing, auto, b: AP 0.900, 10.00 ms a frame"));
}

}  // namespace
}  // namespace sparing::bench
