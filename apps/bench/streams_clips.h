// The clips that detection on many streams is measured on: decoded frames in memory with what is in
// them. Frames are timed from 0 on, in the clip's own rate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/annotation.h"
#include "sparing/base/result.h"
#include "sparing/io/source.h"

namespace sparing::bench {

// What is judged, as one class.
struct ClassGroup {
  std::string name;                 // "person"
  std::vector<std::string> labels;  // the network's labels that count as it
};
ClassGroup person_group();   // person
ClassGroup vehicle_group();  // car, truck, bus, motorcycle

// The class ids of the group among a network's labels.
std::vector<int> group_ids(const ClassGroup& group, std::span<const std::string> labels);

// Detections of the group as class 0, best first; the others are left out. Several labels on one
// object (a car that is also a truck) are one: where the group has more than one, the lesser of
// boxes that overlap by more than `iou` is left out.
std::vector<Detection> join_classes(std::span<const Detection> detections,
                                    std::span<const int> class_ids, float iou = 0.6f);

struct ClipStream {
  std::string name;
  std::vector<SourceFrame> frames;             // index 0, 1, ...
  std::vector<std::vector<Annotation>> truth;  // of each frame; class 0
};

// Streams that belong together, all of one size and rate.
struct Clip {
  std::string id;     // "pets4", as in the figures' names
  std::string title;  // for people
  ClassGroup group;
  Size size;  // display size of the frames
  Rational frame_rate{0, 1};
  // The truth is what whole frames at full size find, not what people saw: figures are agreement.
  bool agreement = false;
  std::vector<ClipStream> streams;
};

enum class ClipPart { kJudge, kTune };

// Part of a video or folder of pictures: `count` frames from `first` on, as index 0, 1, ... and
// timed at `rate`, whatever the container says. kInput: as open_source(), or fewer frames.
Result<std::vector<SourceFrame>> load_frames(const std::filesystem::path& file, std::int64_t first,
                                             std::int64_t count, Rational rate);

// The boxes of a MOT file (frames from 1) for `count` frames from the 0-based `first` on.
Result<std::vector<std::vector<Annotation>>> load_truth(const std::filesystem::path& file,
                                                        std::int64_t first, std::int64_t count);

// Where the test material is.
struct ClipPlaces {
  std::filesystem::path data;   // with pets-s2l1/gt.txt, gram-m30-hd/, ngsim-seq2/, mot17-04/
  std::filesystem::path video;  // PETS 2009 S2.L1 view 1: OpenCV's vtest.avi
};

// Frames of the PETS video as streams of `count` frames each, starting at `first`.
Result<Clip> load_pets(const ClipPlaces& places, std::span<const std::int64_t> first,
                       std::int64_t count);

// By id: "pets4", "m30", "ngsim", "mot04". The judging and tuning parts are those of the project's
// targets (docs/benchmarks.md). `streams` of pets4 is what of the four to load, empty: all.
// kInput: not there; kInvalidArgument: unknown id, no such part.
Result<Clip> load_clip(std::string_view id, ClipPart part, const ClipPlaces& places,
                       std::span<const int> streams = {});

// Whether a clip has that part: some are for judging only.
bool has_part(std::string_view id, ClipPart part);

inline constexpr std::string_view kClipIds[] = {"pets4", "m30", "ngsim", "mot04"};

// What is missing for a clip to be loaded, e.g. a path; empty: nothing.
std::string missing_material(std::string_view id, const ClipPlaces& places);

// Boxes of every frame: [stream][frame], display coordinates, the network's classes.
using ClipBoxes = std::vector<std::vector<std::vector<Detection>>>;

struct Accuracy {
  double ap = -1;  // VOC AP@0.5 over all streams
  double f1 = -1;  // at scores of at least `confidence`, IoU 0.5
};

// Judges boxes of all frames of a clip against its truth. `labels` are the network's.
// kInvalidArgument: other numbers of streams or frames than the clip has.
Result<Accuracy> judge(const Clip& clip, const ClipBoxes& boxes,
                       std::span<const std::string> labels, double confidence = 0.3);

// Frames in memory as a source that can be opened as often as one likes. `repeats` plays them so
// often one after the other, with times that go on. The frames are shared, not copied.
std::unique_ptr<VideoSource> memory_source(const ClipStream& stream, Rational frame_rate,
                                           int repeats = 1);

}  // namespace sparing::bench
