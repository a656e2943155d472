// Runs over a fake engine: every frame of every stream comes out once and in order, whatever the
// others do, and whatever ends the run.
#include "sparing/streams/stream_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sparing/streams/run_test_util.h"

namespace sparing {
namespace {

using testing::BrightNetwork;
using testing::drawn_input;
using testing::DrawnOptions;
using ::testing::HasSubstr;
using testing::RecordingSink;

class StreamRunTest : public ::testing::Test {
 protected:
  StreamRunTest() {
    stream_options.mode = "frame";
    stream_options.every = 1;
  }

  StreamsSummary run(const std::vector<DrawnOptions>& sources, const StreamsControl& control = {}) {
    std::vector<Processor> processors;
    processors.push_back(testing::bright_processor(network));
    auto detector = StreamDetector::create(std::move(processors), stream_options);
    EXPECT_TRUE(detector.ok()) << detector.error().to_string();
    std::vector<StreamInput> inputs;
    for (const DrawnOptions& options : sources) inputs.push_back(drawn_input(options));
    ResultSink* sinks[] = {&sink};
    return run_streams(*detector, std::move(inputs), sinks, false, options, control);
  }

  // Frames 0, 1, 2, ... of this stream and no other, with growing times.
  void expect_frames(int stream, std::int64_t count) {
    const std::vector<FrameResult>& frames = sink.frames[stream];
    ASSERT_EQ(static_cast<std::int64_t>(frames.size()), count) << "stream " << stream;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(frames[i].source.index, static_cast<std::int64_t>(i));
      if (i == 0) continue;
      EXPECT_LT(frames[i - 1].source.frame.view().timestamp,
                frames[i].source.frame.view().timestamp);
    }
  }

  static std::int64_t dropped(const StreamRunStatistics& stream, const std::string& reason = "") {
    std::int64_t sum = 0;
    for (const DropCount& drop : stream.dropped_frames) {
      if (reason.empty() || drop.reason == reason) sum += drop.count;
    }
    return sum;
  }

  std::shared_ptr<BrightNetwork> network = std::make_shared<BrightNetwork>();
  StreamOptions stream_options;
  RunStreamsOptions options;
  RecordingSink sink;
};

TEST_F(StreamRunTest, EveryFrameOfStreamsOfAnyLengthSizeAndRate) {
  DrawnOptions a, b, c;
  a.frames = 57;
  b.frames = 100;
  b.size = {160, 96};
  b.rate = 30;
  c.frames = 3;
  c.size = {70, 50};
  c.rate = 7;
  const StreamsSummary summary = run({a, b, c});
  ASSERT_FALSE(summary.error) << summary.error->to_string();
  expect_frames(0, 57);
  expect_frames(1, 100);
  expect_frames(2, 3);
  EXPECT_EQ(summary.frames, 160);
  EXPECT_EQ(sink.finished, 1);
  ASSERT_EQ(summary.streams.size(), 3u);
  for (const StreamRunStatistics& stream : summary.streams) {
    EXPECT_TRUE(stream.dropped_frames.empty());
    EXPECT_FALSE(stream.error);
  }
  EXPECT_EQ(summary.streams[1].frames, 100);
  EXPECT_EQ(summary.streams[1].detector.frames, 100);
  EXPECT_NEAR(summary.streams[1].last_time->seconds(), 99.0 / 30, 1e-9);
  // The boxes are where the light is, in each stream's own coordinates.
  for (const FrameResult& frame : sink.frames[1]) {
    ASSERT_EQ(frame.detections.size(), 1u);
    EXPECT_NEAR(frame.detections[0].box.x0, 4 + frame.source.index % 20, 2);
    ASSERT_EQ(frame.tracks.size(), 1u);
    EXPECT_EQ(frame.tracks[0].origin, BoxOrigin::kDetected);
    EXPECT_EQ(frame.inspected, true);
  }
  // Nominally 100 ns a pixel; 70x50 rounds to 64x64.
  const double pixels = 57.0 * 96 * 64 + 100.0 * 160 * 96 + 3.0 * 64 * 64;
  EXPECT_NEAR(summary.whole_frame_seconds, pixels * 1e-7, pixels * 1e-7 * 0.02);
  EXPECT_GT(summary.cpu_seconds, 0);
}

TEST_F(StreamRunTest, AFailingStreamKeepsWhatCameBeforeAndDisturbsNoOther) {
  DrawnOptions good, bad;
  good.frames = 80;
  bad.frames = 80;
  bad.error_at = 33;
  const StreamsSummary summary = run({bad, good});
  EXPECT_FALSE(summary.error);
  expect_frames(0, 33);
  expect_frames(1, 80);
  ASSERT_TRUE(summary.streams[0].error);
  EXPECT_EQ(summary.streams[0].error->code, ErrorCode::kInput);
  EXPECT_FALSE(summary.streams[1].error);
  EXPECT_EQ(dropped(summary.streams[0]), 0);
  EXPECT_EQ(sink.finished, 1);
}

TEST_F(StreamRunTest, AFrameThatIsRefusedEndsItsStreamAlone) {
  DrawnOptions good, bad;
  bad.repeats_at = 20;
  const StreamsSummary summary = run({good, bad});
  EXPECT_FALSE(summary.error);
  expect_frames(0, 50);
  expect_frames(1, 20);
  ASSERT_TRUE(summary.streams[1].error);
  EXPECT_THAT(summary.streams[1].error->to_string(), HasSubstr("not later"));
  EXPECT_EQ(dropped(summary.streams[1], "cannot be used"), 1);
}

TEST_F(StreamRunTest, OthersGoOnWithoutAStuckStreamAndItJoinsAgain) {
  DrawnOptions good, stuck;
  good.frames = 100;
  stuck.frames = 60;
  stuck.blocks_at = 30;
  // It is let go when the other is through, which would never be if that waited.
  stuck.may_go = [this] { return sink.written >= 100 + 30; };
  options.stall = 0.05;
  const StreamsSummary summary = run({stuck, good});
  EXPECT_FALSE(summary.error);
  expect_frames(0, 60);
  expect_frames(1, 100);
  for (const StreamRunStatistics& stream : summary.streams) EXPECT_FALSE(stream.error);
}

TEST_F(StreamRunTest, LoopsUntilTheDurationIsOver) {
  DrawnOptions source;
  source.frames = 20;
  options.loop = true;
  options.duration = 1;
  const StreamsSummary summary = run({source, source});
  EXPECT_FALSE(summary.error);
  EXPECT_FALSE(summary.interrupted);
  for (const int stream : {0, 1}) {
    const auto frames = static_cast<std::int64_t>(sink.frames[stream].size());
    EXPECT_GT(frames, 20);
    expect_frames(stream, frames);
    EXPECT_EQ(dropped(summary.streams[static_cast<std::size_t>(stream)]), 0);
  }
  // Times go on at the same rate.
  const FrameResult& frame = sink.frames[0][20];
  EXPECT_NEAR(frame.source.frame.view().timestamp.seconds(), 0.8, 1e-9);
}

TEST_F(StreamRunTest, TheDurationEndsASilentSource) {
  DrawnOptions source;
  source.blocks_at = 10;
  options.duration = 0.1;
  options.stall = 3600;
  const StreamsSummary summary = run({source});
  EXPECT_FALSE(summary.error);
  EXPECT_FALSE(summary.streams[0].error);
  expect_frames(0, 10);
}

TEST_F(StreamRunTest, AStopKeepsWholeWindows) {
  DrawnOptions source;
  source.frames = 100000;
  std::stop_source stop;
  sink.on_write = [&] {
    if (sink.written == 60) stop.request_stop();
  };
  StreamsControl control;
  control.stop = stop.get_token();
  const StreamsSummary summary = run({source, source}, control);
  EXPECT_FALSE(summary.error);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_GE(summary.frames, 60);
  EXPECT_LT(summary.frames, 400);
  EXPECT_EQ(sink.finished, 1);
  for (const int stream : {0, 1}) {
    const StreamRunStatistics& statistics = summary.streams[static_cast<std::size_t>(stream)];
    expect_frames(stream, statistics.frames);
    EXPECT_LT(dropped(statistics), 60);  // the window in flight, the queue, what was on its way
  }
}

// Windows have 50 canvases, and those in flight are few.
TEST_F(StreamRunTest, AStopDoesNotWaitForTheWindowInFlight) {
  DrawnOptions source;
  source.frames = 100000;
  std::stop_source stop;
  network->on_run = [&](int before) {
    if (before == 110) stop.request_stop();
  };
  StreamsControl control;
  control.stop = stop.get_token();
  const StreamsSummary summary = run({source, source}, control);
  EXPECT_FALSE(summary.error);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_LE(network->runs, 110 + 3);
  EXPECT_EQ(summary.frames, 100);
  EXPECT_EQ(sink.finished, 1);
  for (const int stream : {0, 1}) {
    expect_frames(stream, 50);
    EXPECT_EQ(dropped(summary.streams[static_cast<std::size_t>(stream)],
                      "in a window whose detection failed"),
              0);
  }
}

TEST_F(StreamRunTest, AStopBeforeTheFirstFrameLeavesTheOutputsAlone) {
  std::stop_source stop;
  stop.request_stop();
  StreamsControl control;
  control.stop = stop.get_token();
  const StreamsSummary summary = run({DrawnOptions{}}, control);
  EXPECT_TRUE(summary.interrupted);
  EXPECT_EQ(summary.frames, 0);
  EXPECT_EQ(sink.finished, 0);
}

TEST_F(StreamRunTest, AFailingSinkEndsTheRun) {
  DrawnOptions source;
  source.frames = 100000;
  sink.error_at = 40;
  const StreamsSummary summary = run({source, source});
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->code, ErrorCode::kOutput);
  EXPECT_THAT(summary.error->problem,
              ::testing::MatchesRegex("disk is full .at frame 1[0-9] of stream [01]."));
  EXPECT_EQ(summary.frames, 40);
  EXPECT_EQ(summary.streams[0].frames, static_cast<std::int64_t>(sink.frames[0].size()));
  EXPECT_EQ(summary.streams[1].frames, static_cast<std::int64_t>(sink.frames[1].size()));
  EXPECT_EQ(sink.finished, 1);
  EXPECT_GT(dropped(summary.streams[0]) + dropped(summary.streams[1]), 0);
}

TEST_F(StreamRunTest, AFailingNetworkEndsTheRunAndCountsWhatIsLost) {
  DrawnOptions source;
  source.frames = 200;
  network->error_at = 60;
  const StreamsSummary summary = run({source});
  ASSERT_TRUE(summary.error);
  EXPECT_EQ(summary.error->thing, "engine");
  EXPECT_EQ(summary.frames % 25, 0);
  EXPECT_GT(summary.frames, 0);
  EXPECT_EQ(dropped(summary.streams[0], "in a window whose detection failed"), 25);
  EXPECT_EQ(sink.finished, 1);
}

TEST_F(StreamRunTest, PacedFramesThatComeTooFastAreDroppedAndCounted) {
  DrawnOptions source;
  source.frames = 300;
  options.paced = true;
  options.speed = 20;  // 500 frames a second
  options.paced_queue_frames = 10;
  stream_options.budget = 1000;  // not to be saved by spending less
  network->duration = std::chrono::milliseconds(10);
  const StreamsSummary summary = run({source});
  EXPECT_FALSE(summary.error);
  const StreamRunStatistics& stream = summary.streams[0];
  EXPECT_GT(dropped(stream, "arrived faster than it could be processed"), 20);
  EXPECT_EQ(stream.frames + dropped(stream), 300);
  EXPECT_EQ(static_cast<std::int64_t>(sink.frames[0].size()), stream.frames);
  EXPECT_GT(stream.latency_p95, 0);
  for (std::size_t i = 1; i < sink.frames[0].size(); ++i) {
    EXPECT_LT(sink.frames[0][i - 1].source.index, sink.frames[0][i].source.index);
  }
}

TEST_F(StreamRunTest, PacedFilesPlayAtTheirRate) {
  DrawnOptions source;
  source.frames = 50;
  options.paced = true;
  options.speed = 4;
  const StreamsSummary summary = run({source, source});
  EXPECT_FALSE(summary.error);
  expect_frames(0, 50);
  expect_frames(1, 50);
  EXPECT_GT(summary.wall_seconds, 49 / 25.0 / 4);
  EXPECT_GT(summary.lag_seconds, 0);
}

// One window of 60 frames a second takes longer than it lasts, and the next ones little.
TEST_F(StreamRunTest, OneSlowWindowOfManyFramesLosesNone) {
  DrawnOptions source;
  source.rate = 60;
  source.frames = 180;
  options.paced = true;
  stream_options.budget = 1000;
  network->on_run = [](int before) {
    if (before == 20) std::this_thread::sleep_for(std::chrono::milliseconds(1600));
  };
  const StreamsSummary summary = run({source});
  EXPECT_FALSE(summary.error);
  expect_frames(0, 180);
  EXPECT_GT(network->runs, 100);
}

// Some 40 frames come due while the first window is detected. Those that could wait in memory are
// three; one each is with the decoder and the gate, and a few are key frames.
TEST_F(StreamRunTest, PacedFilesHoldFewDecodedFrames) {
  DrawnOptions source;
  source.alive = std::make_shared<testing::FramesAlive>();
  source.frames = 100;
  options.paced = true;
  options.speed = 4;
  options.queue_frames = 3;
  options.paced_queue_frames = 1000;
  stream_options.every = 25;
  stream_options.budget = 1000;
  network->duration = std::chrono::milliseconds(400);
  const StreamsSummary summary = run({source});
  EXPECT_FALSE(summary.error);
  expect_frames(0, 100);
  EXPECT_LT(source.alive->most, 15);
  EXPECT_EQ(source.alive->now, 0);
}

TEST_F(StreamRunTest, DeterministicRunsAreEqual) {
  stream_options = {};
  stream_options.deterministic = true;
  DrawnOptions a, b;
  a.frames = 120;
  b.frames = 75;
  b.size = {200, 120};
  std::vector<std::map<int, std::vector<FrameResult>>> runs;
  for (int i = 0; i < 2; ++i) {
    sink.frames.clear();
    ASSERT_FALSE(run({a, b}).error);
    runs.push_back(sink.frames);
  }
  for (const int stream : {0, 1}) {
    ASSERT_EQ(runs[0][stream].size(), runs[1][stream].size());
    for (std::size_t i = 0; i < runs[0][stream].size(); ++i) {
      const FrameResult& x = runs[0][stream][i];
      const FrameResult& y = runs[1][stream][i];
      EXPECT_EQ(x.detections, y.detections) << stream << ":" << i;
      EXPECT_EQ(x.tracks, y.tracks) << stream << ":" << i;
      EXPECT_EQ(x.inspected, y.inspected) << stream << ":" << i;
    }
  }
}

TEST_F(StreamRunTest, AnEmptySourceIsAnEmptyResult) {
  DrawnOptions empty, full;
  empty.frames = 0;
  const StreamsSummary summary = run({empty, full});
  EXPECT_FALSE(summary.error);
  expect_frames(0, 0);
  expect_frames(1, 50);
  EXPECT_FALSE(summary.streams[0].last_time);
}

TEST_F(StreamRunTest, ShowsFramesAndProgress) {
  std::vector<std::int64_t> seen;
  StreamsProgress last;
  StreamsControl control;
  control.on_frame = [&](const StreamFrameResult& frame) -> Status {
    seen.push_back(frame.source.index);
    return {};
  };
  control.on_progress = [&](const StreamsProgress& progress) {
    EXPECT_GE(progress.frames, last.frames);
    last = progress;
  };
  run({DrawnOptions{}}, control);
  std::vector<std::int64_t> all(50);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(seen, all);
  EXPECT_EQ(last.frames, 50);
  EXPECT_EQ(last.total_frames, 50);
}

TEST_F(StreamRunTest, RefusesWhatContradicts) {
  EXPECT_EQ(run({}).error->code, ErrorCode::kInvalidArgument);
  stream_options.deterministic = true;
  options.paced = true;
  const StreamsSummary summary = run({DrawnOptions{}});
  ASSERT_TRUE(summary.error);
  EXPECT_THAT(summary.error->to_string(), HasSubstr("deterministic"));
  EXPECT_EQ(sink.finished, 0);
  options = {};
  options.speed = 0;
  EXPECT_THAT(run({DrawnOptions{}}).error->to_string(), HasSubstr("speed"));
}

}  // namespace
}  // namespace sparing
