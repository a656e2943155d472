// A labelled clip in memory, and what a segmentation of it is worth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "segment_drift.h"
#include "sparing/base/class_map.h"
#include "sparing/base/result.h"
#include "sparing/frame/video_frame.h"
#include "sparing/io/source.h"
#include "sparing/metrics/label_classes.h"
#include "sparing/pipeline/mask_evaluation.h"

namespace sparing::bench {

// Frames of one size with their true labels.
struct LabelledClip {
  std::vector<SharedFrame> frames;  // RGB24, 15 a second
  std::vector<LabelMap> truth;
  LabelClasses classes = LabelClasses::create(1).value();
};

// CamVid: `folder`/val and `folder`/val_labels. kInput: missing, or not of one size.
Result<LabelledClip> load_camvid(const std::filesystem::path& folder);

// 0, 1, .. n-1, n-2, .. 1, 0, 1 ..: what a clip shows that is played to and fro for `frames`
// frames.
std::vector<int> ping_pong(int clip_frames, int frames);

// What one segmentation is worth. Shares, not per cent.
struct Judgement {
  MaskFigures total;
  std::vector<double> frame_miou;  // by frame
  std::vector<double> frame_ftc;   // by pair
  double miou() const { return total.scores.miou.value_or(0); }
  double ftc() const { return total.ftc.value_or(0); }
  double pc() const { return total.pc.value_or(0); }
};

// Judges segmentations of one clip. What the measures need of its pictures, which are the clean
// ones whatever was done to those that were segmented, is found once.
class ClipJudge {
 public:
  // `clip` must outlive it. PC costs most and can be left out.
  ClipJudge(const LabelledClip& clip, bool with_pc) : clip_(clip), with_pc_(with_pc) {}
  // `labels` of the clip's frames in the order `shown`.
  Result<Judgement> judge(std::span<const int> shown, std::span<const LabelMap> labels);

 private:
  Result<const PicturePair*> pair(int before, int now);

  const LabelledClip& clip_;
  bool with_pc_;
  std::map<std::pair<int, int>, PicturePair> pairs_;
};

// Plays frames of memory, again and again up to `count`, with times that grow evenly.
std::unique_ptr<VideoSource> play_frames(std::vector<SharedFrame> frames, std::int64_t count,
                                         Rational frame_rate);

RgbPixels to_rgb(const VideoFrame& frame);
// An RGB24 frame of the pixels.
SharedFrame to_frame(const RgbPixels& pixels, std::int64_t index, Rational frame_rate);

}  // namespace sparing::bench
