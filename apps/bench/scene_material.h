// What synthetic scenes are made of: the background of a video and the people in it, cut out where
// its ground truth says they are.
//
// Pictures are 4:2:0 with the values as decoded; nothing is converted, so that what is cut out of
// the video is pasted as its camera saw it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"

namespace sparing::bench {

// One plane of 8-bit samples; rows are dense.
struct SamplePlane {
  Size size;
  std::vector<std::uint8_t> samples;

  SamplePlane() = default;
  explicit SamplePlane(Size s, std::uint8_t value = 0)
      : size(s), samples(static_cast<std::size_t>(s.width) * s.height, value) {}
  const std::uint8_t* row(int y) const {
    return samples.data() + static_cast<std::size_t>(y) * size.width;
  }
  std::uint8_t* row(int y) { return samples.data() + static_cast<std::size_t>(y) * size.width; }
};

// Y, U, V; the size of Y is even, U and V have half of it.
struct YuvPicture {
  SamplePlane planes[3];
  Size size() const { return planes[0].size; }
};
// kNotSupported: another format than I420.
Result<YuvPicture> copy_picture(const VideoFrame& frame);

// One person in one frame of the video.
struct Cutout {
  Box box;          // the ground truth's, in the video's pixels
  PixelRect place;  // the pixels below, in the video; corner and extent are even; holds `box`
  YuvPicture pixels;
  SamplePlane alpha;  // of the luma grid: 255 is the person; 0 wherever a pixel is outside `box`
};

// A person in consecutive frames, alone in his boxes.
struct CutoutTrack {
  int person = 0;       // the ground truth's id
  int first_frame = 0;  // of the video
  std::vector<Cutout> cutouts;
};

struct SceneMaterial {
  YuvPicture background;
  double ground = 0;       // row from which on down people can stand anywhere
  double frame_rate = 10;  // of the video: one cutout lasts one of its frames
  std::vector<CutoutTrack> tracks;
};

struct MaterialOptions {
  std::vector<Box> obstacles;  // what stands before the people and would be cut out with them
  double ground = 0;           // SceneMaterial::ground
  int background_step = 5;     // every so many frames enter the background
  int shortest_track = 30;     // frames
  double most_overlap = 0.15;  // of a person's box with any other's, as a share of his own
  double least_cover = 0.3;    // of the box, by its mask
};

// Decodes `video` twice. The background is the median of what no ground-truth box (and its
// surroundings) covers, where there is such a frame. kInput: as open_source and read_ground_truth,
// or nothing usable.
Result<SceneMaterial> cut_out_people(const std::filesystem::path& video,
                                     const std::filesystem::path& truth,
                                     const MaterialOptions& options = {});

// The obstacles and the ground of PETS 2009 S2.L1, view 1: the lamp post with its sign.
MaterialOptions pets_options();

}  // namespace sparing::bench
