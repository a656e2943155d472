// A labelled clip in memory, and what a segmentation of it is worth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "segment_drift.h"
#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/flow/dense_flow.h"
#include "sparing/frame/video_frame.h"
#include "sparing/io/source.h"
#include "sparing/metrics/label_classes.h"
#include "sparing/metrics/perceptual.h"

namespace sparing::bench {

// Frames of one size with their true labels, and what the measures need of the frames: the same for
// every segmentation, so it is found once.
struct LabelledClip {
  std::vector<SharedFrame> frames;  // RGB24, 15 a second
  std::vector<LabelMap> truth;
  LabelClasses classes = LabelClasses::create(1).value();
  // From frame t-1 to frame t, by t - 1: DIS medium at full size.
  std::vector<FlowField> flows;
  std::vector<std::vector<float>> features;  // of each frame, as FeatureView wants them
  Size feature_size;
  int feature_channels = 0;
  Size size() const { return truth.front().size; }
};

// CamVid: `folder`/val and `folder`/val_labels. kInput: missing, or not of one size.
Result<LabelledClip> load_camvid(const std::filesystem::path& folder);

// 0, 1, .. n-1, n-2, .. 1, 0, 1 ..: what a clip shows that is played to and fro for `frames`
// frames.
std::vector<int> ping_pong(int clip_frames, int frames);

// What one segmentation is worth. Shares, not per cent.
struct Judgement {
  double miou = 0;
  double ftc = 0;
  double pc = 0;
  std::vector<double> frame_miou;  // by frame
  std::vector<double> frame_ftc;   // by pair
};
// `labels` of the clip's frames in the order `shown`. F-TC and PC are of neighbours in it; flows of
// the reverse order are found when they are needed. PC costs most and can be left out.
Result<Judgement> judge(LabelledClip& clip, std::span<const int> shown,
                        std::span<const LabelMap> labels, bool with_pc);

// Plays frames of memory, again and again up to `count`, with times that grow evenly.
std::unique_ptr<VideoSource> play_frames(std::vector<SharedFrame> frames, std::int64_t count,
                                         Rational frame_rate);

RgbPixels to_rgb(const VideoFrame& frame);
// An RGB24 frame of the pixels.
SharedFrame to_frame(const RgbPixels& pixels, std::int64_t index, Rational frame_rate);

}  // namespace sparing::bench
