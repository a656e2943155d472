// What became of the picture from one frame to the next: dense motion, where it cannot be believed,
// and whether the scene is still the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/flow/dense_flow.h"
#include "sparing/flow/luma_image.h"
#include "sparing/frame/video_frame.h"

namespace sparing {

struct MotionOptions {
  std::string flow = "ultrafast";
  int max_pixels = 50000;
  double cut = 0.5;
  double black = 6;

  static constexpr auto fields() {
    return std::tuple{
        option("flow", &MotionOptions::flow)
            .help("DIS preset of the dense flow; none: the picture is taken to stand still")
            .choices("none|ultrafast|fast|medium"),
        option("max-pixels", &MotionOptions::max_pixels)
            .help(
                "flow is found on luma of at most this size (the frame's, a half or a quarter of it)")
            .unit("pixels")
            .range(1000, 10000000),
        option("cut", &MotionOptions::cut)
            .help("least likeness (correlation of luma, motion undone) of two frames of one scene")
            .range(0, 1),
        option("black", &MotionOptions::black)
            .help("a picture whose luma spreads less than this (standard deviation) shows nothing")
            .unit("grey levels")
            .range(0, 64),
    };
  }
};

enum class SceneEvent {
  kNone,   // the same scene as in the frame before
  kFirst,  // there was no frame before, or one of another size
  kCut,    // another scene
  kBlank,  // black or of one tone: it shows nothing, and counts neither as past nor as scene
};
std::string_view to_string(SceneEvent event);  // "none", "first", "cut", "blank"

// What is wanted of a frame's motion.
enum class MotionDetail {
  kEvent,  // the event alone: the flow is only sought where it decides whether a scene has changed
  kFlow,   // and the motion of each pixel
  kError,  // and how far to believe it
};

// What the picture of one frame is to the one before it that showed something.
struct PictureMotion {
  SceneEvent event = SceneEvent::kFirst;
  // Correlation of the two pictures, -1..1; of kNone and kCut. With motion undone, but for kEvent
  // and kFlow where they are alike enough as they lie.
  double likeness = 0;
  // Of kNone only, from kFlow on. From this frame back to that one, at the size of the
  // reduced luma.
  FlowField back;
  // With kError, per pixel of back: how much the pictures differ where the motion says they show
  // the same, in grey levels, a change of the whole picture's brightness taken out, mean over 3x3
  // pixels. Where the motion leaves the picture it is kOutside.
  static constexpr float kOutside = 255;
  std::vector<float> error;
};

// Owns two reduced pictures. Work is on the calling thread alone, and depends on the frames only.
// Not thread-safe; one object a stream.
class FrameMotion {
 public:
  // kInvalidArgument: an option out of range.
  static Result<FrameMotion> create(const MotionOptions& options = {});
  FrameMotion(FrameMotion&&) noexcept;
  FrameMotion& operator=(FrameMotion&&) noexcept;
  ~FrameMotion();

  // The motion of the next frame; memory of `motion` is used again. kInvalidArgument,
  // kNotSupported: as validate(frame); the frame is then left out.
  Status add(const VideoFrame& frame, PictureMotion& motion,
             MotionDetail detail = MotionDetail::kError);
  // The same for a picture that is reduced already; `luma` is copied. kInvalidArgument: it is
  // empty.
  Status add(const LumaImage& luma, PictureMotion& motion,
             MotionDetail detail = MotionDetail::kError);
  // Forgets the frames before.
  void reset();

  struct Impl;

 private:
  explicit FrameMotion(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sparing
