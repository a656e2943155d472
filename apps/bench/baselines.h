// The rivals of packed detection, as their users run them (docs/benchmarks.md): the same network,
// thresholds and filler as ours.
#pragma once

#include <memory>
#include <string>

#include "streams_approach.h"

namespace sparing::bench {

// "every frame", "every 2nd", "every 3rd", ...
std::string every_text(int every);

// The whole frame, stretched to an input of about `width` pixels, every k-th frame.
std::unique_ptr<Approach> whole_frames(int width, int every);
// The same of every frame, each by itself: nothing is followed, filled in or steadied.
std::unique_ptr<Approach> plain_frames(int width);
// The same as whole_frames() at a factor of the frame's size.
std::unique_ptr<Approach> whole_frames_scaled(double scale, int every);

// How boxes of several slices become one.
enum class TileJoin {
  // SAHI's default: greedy non-maximum merging of detections of at least 0.25. (Of less sure ones
  // it makes giants.)
  kMerge,
  // SAHI's other choice: suppression by intersection over the smaller, of all detections.
  kSuppress,
};

// Sliced inference as SAHI does it: slices that overlap by 0.2, enlarged by `scale`, the whole
// frame too where `with_frame`.
struct TileSettings {
  int side = 320;  // of a slice, pixels of the frame
  double scale = 1;
  bool with_frame = true;
  double frame_scale = 1;
  int every = 1;
  TileJoin join = TileJoin::kSuppress;
};
std::unique_ptr<Approach> tiles(const TileSettings& settings);

// Each region an inference of its own, at its own scale, at least 128x128.
std::unique_ptr<Approach> roi_wise(int every);

// All regions of a moment, of all streams, at one size in a grid on one input (Mondrian, section
// 5.1: cells of 128x128 on at most 1280x1280).
std::unique_ptr<Approach> emulated_batching(int cell, int every);

// Square regions around motion and tracked objects, each resized to one input (Frigate).
std::unique_ptr<Approach> motion_squares(int input, int every);

// Detection of what cannot be tracked, packed at full scale; tracking of the rest (FlexPatch, as
// Mondrian describes it). `refresh`: frames from one whole frame to the next.
std::unique_ptr<Approach> flex_patch(int refresh);

}  // namespace sparing::bench
