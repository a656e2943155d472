#include "sparing/streams/looping_source.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace sparing {
namespace {

// Frames with these times, in ticks of 1/90000 s, each with a duration (0: unknown).
class TimedSource final : public VideoSource {
 public:
  TimedSource(std::vector<std::int64_t> ticks, std::int64_t duration, bool broken = false)
      : ticks_(std::move(ticks)), duration_(duration), broken_(broken) {
    info_.name = "timed";
    info_.frame_rate = {10, 1};
  }
  const SourceInfo& info() const override { return info_; }
  std::int64_t damaged_frames() const override { return 2; }
  Result<std::optional<SourceFrame>> next() override {
    if (next_ == ticks_.size()) {
      if (broken_) return Error{ErrorCode::kInput, "video 'timed'", "is cut off", "copy it again"};
      return std::optional<SourceFrame>();
    }
    SourceFrame frame;
    frame.index = static_cast<std::int64_t>(next_);
    frame.frame = allocate_frame(PixelFormat::kGray8, {2, 2}).value();
    frame.frame.view().timestamp = {ticks_[next_++], {1, 90000}};
    frame.frame.view().duration = {duration_, {1, 90000}};
    return std::optional<SourceFrame>(std::move(frame));
  }

 private:
  std::vector<std::int64_t> ticks_;
  std::int64_t duration_;
  bool broken_;
  std::size_t next_ = 0;
  SourceInfo info_;
};

std::vector<std::int64_t> take(VideoSource& source, int frames) {
  std::vector<std::int64_t> ticks;
  for (int i = 0; i < frames; ++i) {
    auto frame = source.next();
    if (!frame.ok() || !*frame) break;
    EXPECT_EQ((*frame)->index, i);
    ticks.push_back((*frame)->frame.view().timestamp.ticks);
  }
  return ticks;
}

TEST(LoopingSource, TimesGoOnAfterTheLastFramesDuration) {
  // The file does not begin at 0, and its rate varies.
  const std::vector<std::int64_t> ticks = {500, 3500, 9500};
  const auto open = [&]() -> std::unique_ptr<VideoSource> {
    return std::make_unique<TimedSource>(ticks, 4000);
  };
  LoopingSource source(open(), [&]() -> Result<std::unique_ptr<VideoSource>> { return open(); });
  EXPECT_EQ(take(source, 8),
            (std::vector<std::int64_t>{500, 3500, 9500, 13500, 16500, 22500, 26500, 29500}));
  EXPECT_EQ(source.damaged_frames(), 6);
  EXPECT_EQ(source.info().name, "timed");
}

TEST(LoopingSource, AnUnknownDurationIsThatOfTheNominalRate) {
  const auto open = []() -> std::unique_ptr<VideoSource> {
    return std::make_unique<TimedSource>(std::vector<std::int64_t>{0}, 0);
  };
  LoopingSource source(open(), [&]() -> Result<std::unique_ptr<VideoSource>> { return open(); });
  EXPECT_EQ(take(source, 3), (std::vector<std::int64_t>{0, 9000, 18000}));
}

TEST(LoopingSource, EndsWithAnErrorOfThePassOrOfOpening) {
  LoopingSource broken(std::make_unique<TimedSource>(std::vector<std::int64_t>{0, 1}, 1, true),
                       [&]() -> Result<std::unique_ptr<VideoSource>> {
                         return Error{ErrorCode::kInput, "must not be opened", "", ""};
                       });
  EXPECT_EQ(take(broken, 10).size(), 2u);
  EXPECT_EQ(broken.next().error().problem, "is cut off");

  LoopingSource gone(std::make_unique<TimedSource>(std::vector<std::int64_t>{0, 1}, 1),
                     []() -> Result<std::unique_ptr<VideoSource>> {
                       return Error{ErrorCode::kInput, "video", "no such file", "check the path"};
                     });
  EXPECT_EQ(take(gone, 10).size(), 2u);
  EXPECT_EQ(gone.next().error().problem, "no such file");
  EXPECT_EQ(gone.next().error().problem, "no such file");
}

TEST(LoopingSource, APassWithoutAFrameIsTheEnd) {
  int opened = 0;
  LoopingSource source(std::make_unique<TimedSource>(std::vector<std::int64_t>{}, 1),
                       [&]() -> Result<std::unique_ptr<VideoSource>> {
                         ++opened;
                         return Error{ErrorCode::kInput, "", "", ""};
                       });
  auto end = source.next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(*end);
  EXPECT_EQ(opened, 0);
}

TEST(LoopingSource, EndsAfterSoManyFramesOfAllPasses) {
  const auto open = []() -> Result<std::unique_ptr<VideoSource>> {
    return std::unique_ptr<VideoSource>(
        std::make_unique<TimedSource>(std::vector<std::int64_t>{0, 9000, 18000}, 9000));
  };
  for (const std::int64_t most : {1, 3, 7}) {
    LoopingSource source(open().value(), open, most);
    for (std::int64_t i = 0; i < most; ++i) {
      const auto frame = source.next();
      ASSERT_TRUE(frame.ok() && *frame);
      EXPECT_EQ((*frame)->index, i);
    }
    EXPECT_FALSE(source.next().value());
    EXPECT_FALSE(source.next().value());
  }
}

}  // namespace
}  // namespace sparing
