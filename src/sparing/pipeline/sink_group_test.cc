#include "sparing/pipeline/sink_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sparing {
namespace {

using ::testing::HasSubstr;

// Takes so many frames. `keeps`: of those, when it fails; -1: it does not tell what it holds.
class ToySink final : public ResultSink {
 public:
  ToySink(std::string name, std::int64_t takes, std::int64_t keeps)
      : name_(std::move(name)), takes_(takes), keeps_(keeps) {}

  Status write(const FrameResult& result) override {
    if (static_cast<std::int64_t>(frames.size()) == takes_) return fail();
    frames.push_back(result.source.index);
    return {};
  }
  Status finish() override {
    ++finished;
    if (failed_ || fails_at_the_end) return fail();
    return {};
  }
  std::string name() const override { return name_; }
  std::optional<HeldResults> held(int stream) const override {
    if (keeps_ < 0) return std::nullopt;
    HeldResults held;
    if (stream == 0) held.frames = failed_ ? keeps_ : static_cast<std::int64_t>(frames.size());
    held.detections = held.frames;
    return held;
  }

  std::vector<std::int64_t> frames;
  bool fails_at_the_end = false;
  int finished = 0;

 private:
  Error fail() {
    failed_ = true;
    return {ErrorCode::kOutput, "output '" + name_ + "'", "disk is full", "free space"};
  }

  std::string name_;
  std::int64_t takes_;
  std::int64_t keeps_;
  bool failed_ = false;
};

FrameResult frame(std::int64_t index) {
  FrameResult result;
  result.source.index = index;
  result.detections.resize(1);
  return result;
}

TEST(SinkGroup, TheOthersHoldTheFrameThatOneCouldNotTake) {
  ToySink first("a", 100, 100), full("b", 4, 3), last("c", 100, 100);
  ResultSink* sinks[] = {&first, &full, &last};
  SinkGroup group(sinks, 1);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(group.write(frame(i)).ok());
  EXPECT_FALSE(group.failed());
  const Status status = group.write(frame(4));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().problem, "disk is full (at frame 4)");
  EXPECT_TRUE(group.failed());
  EXPECT_TRUE(group.finish().ok()) << "what had failed is told once";
  EXPECT_EQ(first.frames.size(), 5u);
  EXPECT_EQ(full.frames.size(), 4u);
  EXPECT_EQ(last.frames.size(), 5u);
  for (const ToySink* sink : {&first, &full, &last}) EXPECT_EQ(sink->finished, 1);

  const auto states = group.states();
  ASSERT_EQ(states.size(), 3u);
  EXPECT_EQ(states[0].frames, 5);
  EXPECT_FALSE(states[0].error);
  EXPECT_EQ(states[1].name, "b");
  EXPECT_EQ(states[1].frames, 3);
  ASSERT_TRUE(states[1].error);
  EXPECT_EQ(states[1].error->problem, "disk is full (at frame 4; it holds 3 frames)");
  EXPECT_EQ(with_what_is_held(status.error(), states).problem, states[1].error->problem);
  EXPECT_EQ(group.held(0).frames, 5);
  EXPECT_EQ(group.held(0).detections, 5);
}

TEST(SinkGroup, ASinkThatFailsWhenItIsCompletedLeavesNoOtherOpen) {
  ToySink full("a", 100, 2), good("b", 100, 100);
  full.fails_at_the_end = true;
  ResultSink* sinks[] = {&full, &good};
  SinkGroup group(sinks, 2);
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(group.write(frame(i)).ok());
  const Status status = group.finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(good.finished, 1);
  EXPECT_THAT(group.states()[0].error->problem,
              HasSubstr("(when it was completed; it holds 2 frames)"));
  EXPECT_EQ(group.held(0).frames, 7);
}

TEST(SinkGroup, AfterAllHaveFailedTheSumsAreWhatIsKept) {
  ToySink a("a", 6, 5), b("b", 6, 2);
  ResultSink* sinks[] = {&a, &b};
  SinkGroup group(sinks, 2);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(group.write(frame(i)).ok());
  EXPECT_EQ(group.write(frame(6)).error().problem, "disk is full (at frame 6 of stream 0)");
  ASSERT_TRUE(group.write(frame(7)).ok());  // nobody is left to refuse it
  EXPECT_TRUE(group.finish().ok());
  EXPECT_EQ(group.held(0).frames, 5);
  EXPECT_EQ(group.held(1).frames, 0);
}

TEST(SinkGroup, ASinkThatDoesNotTellHoldsWhatItTook) {
  ToySink good("a", 100, -1), bad("b", 3, -1);
  ResultSink* sinks[] = {&good, &bad};
  SinkGroup group(sinks, 1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(group.write(frame(i)).ok());
  EXPECT_FALSE(group.write(frame(3)).ok());
  EXPECT_EQ(group.held(0).frames, 4);
  EXPECT_EQ(group.states()[0].frames, 4);
  EXPECT_EQ(group.states()[1].frames, 3);
  EXPECT_EQ(group.states()[1].error->problem, "disk is full (at frame 3)");
}

}  // namespace
}  // namespace sparing
