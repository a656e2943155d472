// A service whose cameras come and go does not grow: a stream that has left takes its frames,
// pictures and objects along.
#include <gtest/gtest.h>
#include <malloc.h>

#include <utility>

#include "sparing/streams/run_test_util.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPARING_OTHER_ALLOCATOR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPARING_OTHER_ALLOCATOR 1
#endif
#endif

namespace sparing {
namespace {

constexpr Size kSize{640, 480};
constexpr std::int64_t kFrames = 30;  // more than a window

class StreamJoin : public ::testing::Test {
 protected:
  StreamJoin() {
    std::vector<Processor> processors;
    processors.push_back(testing::bright_processor(std::make_shared<testing::BrightNetwork>()));
    StreamOptions options;
    options.mode = "packed";
    detector_.emplace(StreamDetector::create(std::move(processors), options).value());
  }

  // Streams join two at a time, are detected in, and leave.
  void join_and_leave(int streams) {
    for (int i = 0; i < streams; i += 2) {
      const int pair[] = {detector_->add_stream({"a", {25, 1}}).value(),
                          detector_->add_stream({"b", {25, 1}}).value()};
      std::int64_t next[] = {0, 0};
      while (next[0] < kFrames || next[1] < kFrames) {
        for (const std::size_t s : {0, 1}) add_window(pair[s], next[s]);
        const auto result = detector_->finish_window();
        ASSERT_TRUE(result.ok()) << result.error().to_string();
        for (const StreamFrameResult& frame : result->frames) {
          boxes_ += static_cast<std::int64_t>(frame.boxes.size());
        }
      }
      EXPECT_EQ(alive_->now, 0);
    }
  }

  void add_window(int stream, std::int64_t& next) {
    for (bool whole = false; !whole && next < kFrames; ++next) {
      SourceFrame frame;
      frame.index = next;
      frame.frame = testing::counted(testing::draw_frame(next, kSize, {1, 25}), alive_);
      const auto added = detector_->add_frame(stream, std::move(frame));
      ASSERT_TRUE(added.ok()) << added.error().to_string();
      whole = *added;
    }
    if (next == kFrames) {
      ASSERT_TRUE(detector_->end_stream(stream).ok());
    }
  }

  static double heap_megabytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd) / 1e6;
  }

  std::optional<StreamDetector> detector_;
  std::shared_ptr<testing::FramesAlive> alive_ = std::make_shared<testing::FramesAlive>();
  std::int64_t boxes_ = 0;
};

TEST_F(StreamJoin, WhoLeavesTakesEverythingAlong) {
  join_and_leave(20);
  EXPECT_GT(boxes_, 0);
  EXPECT_EQ(detector_->statistics(0).frames, kFrames);  // what it did is still told
#ifndef SPARING_OTHER_ALLOCATOR
  const double before = heap_megabytes();
  join_and_leave(100);
  // Pictures that stay make some 2 MB a stream; what the allocator keeps differs from run to run.
  EXPECT_LT(heap_megabytes() - before, 20.0);
#endif
}

}  // namespace
}  // namespace sparing
