#include "streams_clips.h"

#include <algorithm>
#include <utility>

#include "sparing/io/annotations.h"
#include "sparing/metrics/average_precision.h"
#include "sparing/models/head.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

// Which frames of what a clip is.
struct Recipe {
  std::string_view id;
  const char* title;
  const char* frames;  // in the data folder; empty: the sample video
  const char* truth;   // likewise; empty: none
  ClassGroup (*group)();
  Rational frame_rate;
  std::vector<std::int64_t> judge,
      tune;  // first frames of the streams; empty: there is no such part
  std::int64_t judge_count, tune_count;  // of each stream
  std::int64_t total;                    // frames of the material: the last stream may be shorter
};

// The project's targets fix these parts: what is tuned is not judged.
const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = {
      {"pets4",
       "PETS 2009 S2.L1, 4 streams",
       "",
       "pets-s2l1/gt.txt",
       person_group,
       {10, 1},
       {380, 484, 588, 692},
       {0, 95, 190, 285},
       104,
       95,
       795},
      {"m30",
       "GRAM M30-HD",
       "gram-m30-hd/frames",
       "gram-m30-hd/gt.txt",
       vehicle_group,
       {25, 1},
       {40},
       {0},
       53,
       40,
       93},
      // Sampled at a few frames a second.
      {"ngsim",
       "NGSIM US 101",
       "ngsim-seq2/frames",
       "ngsim-seq2/gt.txt",
       vehicle_group,
       {4, 1},
       {60},
       {0},
       96,
       60,
       156},
      {"mot04",
       "MOT17-04 (agreement)",
       "mot17-04/MOT17-04_5s.mp4",
       "",
       person_group,
       {30, 1},
       {0},
       {},
       150,
       0,
       150},
  };
  return all;
}

const Recipe* find_recipe(std::string_view id) {
  for (const Recipe& recipe : recipes()) {
    if (recipe.id == id) return &recipe;
  }
  return nullptr;
}

fs::path frames_path(const Recipe& recipe, const ClipPlaces& places) {
  return *recipe.frames == 0 ? places.video : places.data / recipe.frames;
}

Result<Clip> load(const Recipe& recipe, const ClipPlaces& places,
                  std::span<const std::int64_t> first, std::int64_t count) {
  Clip clip;
  clip.id = recipe.id;
  clip.title = recipe.title;
  clip.group = recipe.group();
  clip.frame_rate = recipe.frame_rate;
  clip.agreement = *recipe.truth == 0;
  for (const std::int64_t start : first) {
    const std::int64_t frames = std::min(count, recipe.total - start);
    ClipStream stream;
    stream.name = clip.id + "@" + std::to_string(start);
    SPARING_ASSIGN_OR_RETURN(
        stream.frames, load_frames(frames_path(recipe, places), start, frames, clip.frame_rate));
    stream.truth.resize(stream.frames.size());
    if (!clip.agreement) {
      SPARING_ASSIGN_OR_RETURN(stream.truth, load_truth(places.data / recipe.truth, start, frames));
    }
    clip.size = display_size(stream.frames.front().frame.view());
    clip.streams.push_back(std::move(stream));
  }
  return clip;
}

class MemorySource : public VideoSource {
 public:
  MemorySource(const ClipStream& stream, Rational rate, int repeats)
      : frames_(stream.frames), rate_(rate), repeats_(repeats) {
    info_.name = stream.name;
    info_.container = "memory";
    info_.frame_rate = rate;
    info_.frame_count = static_cast<std::int64_t>(frames_.size()) * repeats;
    if (!frames_.empty()) info_.display_size = display_size(frames_.front().frame.view());
  }
  const SourceInfo& info() const override { return info_; }
  std::int64_t damaged_frames() const override { return 0; }
  Result<std::optional<SourceFrame>> next() override {
    if (index_ >= *info_.frame_count) return std::optional<SourceFrame>();
    SourceFrame frame = frames_[static_cast<std::size_t>(index_) % frames_.size()];
    frame.index = index_;
    frame.frame.view().timestamp = {index_, {rate_.den, rate_.num}};
    ++index_;
    return std::optional<SourceFrame>(std::move(frame));
  }

 private:
  std::vector<SourceFrame> frames_;
  Rational rate_;
  std::int64_t repeats_;
  std::int64_t index_ = 0;
  SourceInfo info_;
};

// Streams have image ids of their own.
constexpr std::int64_t kStreamIds = 1'000'000;

}  // namespace

ClassGroup person_group() { return {"person", {"person"}}; }
ClassGroup vehicle_group() { return {"vehicle", {"car", "truck", "bus", "motorcycle"}}; }

std::vector<int> group_ids(const ClassGroup& group, std::span<const std::string> labels) {
  std::vector<int> ids;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::find(group.labels.begin(), group.labels.end(), labels[i]) != group.labels.end()) {
      ids.push_back(static_cast<int>(i));
    }
  }
  return ids;
}

std::vector<Detection> join_classes(std::span<const Detection> detections,
                                    std::span<const int> class_ids, float iou) {
  std::vector<Detection> joined;
  for (Detection detection : detections) {
    if (std::find(class_ids.begin(), class_ids.end(), detection.class_id) == class_ids.end()) {
      continue;
    }
    detection.class_id = 0;
    joined.push_back(detection);
  }
  if (class_ids.size() > 1) {
    NmsOptions options;
    options.iou_threshold = iou;
    non_maximum_suppression(joined, options);
  } else {
    std::stable_sort(joined.begin(), joined.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
  }
  return joined;
}

Result<std::vector<SourceFrame>> load_frames(const fs::path& file, std::int64_t first,
                                             std::int64_t count, Rational rate) {
  SourceOptions options;
  options.max_frames = first + count;
  SPARING_ASSIGN_OR_RETURN(auto source, open_source(file.string(), options));
  std::vector<SourceFrame> frames;
  while (static_cast<std::int64_t>(frames.size()) < count) {
    SPARING_ASSIGN_OR_RETURN(std::optional<SourceFrame> frame, source->next());
    if (!frame) {
      return Error{ErrorCode::kInput, "'" + file.string() + "'",
                   "ends before frame " + std::to_string(first + count),
                   "the benchmark needs the whole clip"};
    }
    if (frame->index < first) continue;
    frame->index -= first;
    frame->frame.view().timestamp = {frame->index, {rate.den, rate.num}};
    frame->frame.view().duration = {1, {rate.den, rate.num}};
    frames.push_back(std::move(*frame));
  }
  return frames;
}

Result<std::vector<std::vector<Annotation>>> load_truth(const fs::path& file, std::int64_t first,
                                                        std::int64_t count) {
  SPARING_ASSIGN_OR_RETURN(const AnnotationSet all, read_ground_truth(file, {"mot", {}, {}}));
  std::vector<std::vector<Annotation>> frames(static_cast<std::size_t>(count));
  for (const ImageAnnotations& image : all.images) {
    const std::int64_t frame = image.image_id - first;
    if (frame < 0 || frame >= count) continue;
    for (Annotation object : image.objects) {
      object.class_id = 0;
      frames[static_cast<std::size_t>(frame)].push_back(object);
    }
  }
  return frames;
}

Result<Clip> load_pets(const ClipPlaces& places, std::span<const std::int64_t> first,
                       std::int64_t count) {
  return load(*find_recipe("pets4"), places, first, count);
}

Result<Clip> load_clip(std::string_view id, ClipPart part, const ClipPlaces& places,
                       std::span<const int> streams) {
  const Recipe* recipe = find_recipe(id);
  if (recipe == nullptr) {
    std::string known;
    for (const std::string_view name : kClipIds)
      known += (known.empty() ? "" : ", ") + std::string(name);
    return Error{ErrorCode::kInvalidArgument, "--clips",
                 "there is no clip '" + std::string(id) + "'", "choose from: " + known};
  }
  const bool judge = part == ClipPart::kJudge;
  const std::vector<std::int64_t>& all = judge ? recipe->judge : recipe->tune;
  if (all.empty()) {
    return Error{ErrorCode::kInvalidArgument, "--part tune",
                 "all of clip '" + std::string(id) + "' is for judging", "leave the clip out"};
  }
  std::vector<std::int64_t> first;
  for (const int stream : streams) first.push_back(all.at(static_cast<std::size_t>(stream)));
  return load(*recipe, places, first.empty() ? all : first,
              judge ? recipe->judge_count : recipe->tune_count);
}

bool has_part(std::string_view id, ClipPart part) {
  const Recipe* recipe = find_recipe(id);
  if (recipe == nullptr) return false;
  return !(part == ClipPart::kJudge ? recipe->judge : recipe->tune).empty();
}

std::string missing_material(std::string_view id, const ClipPlaces& places) {
  const Recipe* recipe = find_recipe(id);
  if (recipe == nullptr) return "clip '" + std::string(id) + "'";
  const fs::path frames = frames_path(*recipe, places);
  if (!fs::exists(frames)) return frames.string();
  const fs::path truth = places.data / recipe->truth;
  return *recipe->truth != 0 && !fs::exists(truth) ? truth.string() : "";
}

Result<Accuracy> judge(const Clip& clip, const ClipBoxes& boxes,
                       std::span<const std::string> labels, double confidence) {
  const Error mismatch{ErrorCode::kInvalidArgument, "clip '" + clip.id + "'",
                       "the boxes are of other frames", "give boxes for every frame"};
  if (boxes.size() != clip.streams.size()) return mismatch;
  const std::vector<int> ids = group_ids(clip.group, labels);
  AnnotationSet truth;
  DetectionSet found;
  truth.labels = found.labels = {clip.group.name};
  for (std::size_t s = 0; s < boxes.size(); ++s) {
    const ClipStream& stream = clip.streams[s];
    if (boxes[s].size() != stream.truth.size()) return mismatch;
    for (std::size_t f = 0; f < boxes[s].size(); ++f) {
      const std::int64_t image =
          static_cast<std::int64_t>(s) * kStreamIds + static_cast<std::int64_t>(f);
      truth.images.push_back({image, stream.truth[f]});
      found.images.push_back({image, join_classes(boxes[s][f], ids)});
    }
  }
  EvaluationOptions options;
  options.confidence = confidence;
  SPARING_ASSIGN_OR_RETURN(const Evaluation result, evaluate(found, truth, options));
  return Accuracy{result.ap50_voc, result.f1};
}

std::unique_ptr<VideoSource> memory_source(const ClipStream& stream, Rational frame_rate,
                                           int repeats) {
  return std::make_unique<MemorySource>(stream, frame_rate, repeats);
}

}  // namespace sparing::bench
