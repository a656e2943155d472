// Which detections find an object, by COCO's rules and by VOC's. Private to the module.
#pragma once

#include <cstdint>
#include <vector>

#include "sparing/base/annotation.h"

namespace sparing::metrics {

struct Truth {
  Box box;
  bool crowd;
  bool ignored;  // crowds too
};

struct Guess {
  Box box;
  float score;
};

// A part of ClassSamples' vectors: one image.
struct ImageRange {
  std::size_t truth_begin, truth_end;
  std::size_t guess_begin, guess_end;
};

// All objects and detections of one class, image after image. Within an image the objects are in
// their own order, counted ones before ignored ones, and the detections by descending score.
struct ClassSamples {
  std::vector<Truth> truths;
  std::vector<Guess> guesses;
  std::vector<ImageRange> images;
  long long counted = 0;  // truths that are not ignored
};

// An overlap of at least the threshold the list was made with.
struct Candidate {
  std::size_t truth;
  double overlap;
};

// The candidates of guess i are [begin[i], begin[i + 1]), in the order of the truths.
struct Overlaps {
  std::vector<std::size_t> begin;
  std::vector<Candidate> candidates;
};

// Overlaps of at least `threshold` (> 0) within each image: intersection over union, or over the
// guess's own area where the truth is a crowd.
Overlaps find_overlaps(const ClassSamples& samples, double threshold);

enum class Outcome : std::uint8_t {
  kHit,
  kFalseAlarm,
  kNoEffect,  // fell to a crowd or an ignored object
  kDropped,   // beyond the number of detections per image
};

// One outcome per guess. Precondition of both: `overlaps` was made with a threshold of at most
// `threshold`. max_guesses: per image, best first; 0: all.
std::vector<Outcome> match_coco(const ClassSamples& samples, const Overlaps& overlaps,
                                double threshold, int max_guesses);
std::vector<Outcome> match_voc(const ClassSamples& samples, const Overlaps& overlaps,
                               double threshold);

// pycocotools' upper end of the area range 'all', in square pixels.
inline constexpr double kLargestArea = 1e10;

// In double, exact for float coordinates: pycocotools compares in double.
double box_area(const Box& box);

}  // namespace sparing::metrics
