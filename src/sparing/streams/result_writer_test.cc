#include "sparing/streams/result_writer.h"

#include <gtest/gtest.h>

namespace sparing {
namespace {

TEST(FrameResult, HasTheBestBoxesFirstAndTheirTracksWithThem) {
  StreamFrameResult result;
  result.stream = 3;
  result.source.index = 12;
  result.inspected = true;
  result.boxes = {{{{0, 0, 1, 1}, 0.5f, 0}, 7, BoxOrigin::kDetected, 0},
                  {{{1, 0, 2, 1}, 0.9f, 1}, 8, BoxOrigin::kInterpolated, 0.1},
                  {{{2, 0, 3, 1}, 0.5f, 2}, -1, BoxOrigin::kPropagated, 0.2}};
  const FrameResult frame = frame_result(result);
  EXPECT_EQ(frame.stream, 3);
  EXPECT_EQ(frame.source.index, 12);
  EXPECT_EQ(frame.inspected, true);
  ASSERT_EQ(frame.detections.size(), 3u);
  EXPECT_EQ(frame.detections[0], (Detection{{1, 0, 2, 1}, 0.9f, 1}));
  EXPECT_EQ(frame.detections[1].class_id, 0);  // equal scores stay in their order
  EXPECT_EQ(frame.detections[2].class_id, 2);
  EXPECT_EQ(frame.tracks, (std::vector<BoxTrack>{{8, BoxOrigin::kInterpolated},
                                                 {7, BoxOrigin::kDetected},
                                                 {-1, BoxOrigin::kPropagated}}));
}

}  // namespace
}  // namespace sparing
