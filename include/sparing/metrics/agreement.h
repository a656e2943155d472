// How far two sets of detections of the same images agree: what a changed model (quantised, another
// precision) or another way of running it found, against what was found before. Plain functions
// without state; thread-safe.
#pragma once

#include <tuple>

#include "sparing/base/annotation.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"

namespace sparing {

struct AgreementOptions {
  double confidence = 0.3;
  double tolerance = 0.05;
  double iou = 0.5;

  static constexpr auto fields() {
    return std::tuple{
        option("confidence", &AgreementOptions::confidence)
            .help("least score of a box that the other side must have, too")
            .range(0, 1),
        option("tolerance", &AgreementOptions::tolerance)
            .help("the other side's box may have a score so much below that")
            .range(0, 1),
        option("iou", &AgreementOptions::iou)
            .help("least intersection over union of the same box on both sides")
            .range(0.01, 1),
    };
  }
};

// Shares in [0, 1]; 1 where a side has no box of enough confidence.
struct Agreement {
  long long reference_boxes = 0;  // of `confidence` or more
  long long candidate_boxes = 0;
  double recall = 1;     // of the reference's boxes that the candidate has
  double precision = 1;  // of the candidate's boxes that the reference has
  double f1 = 1;         // harmonic mean; 0 where both are 0
};

// A box of one side with a score of `confidence` or more is found again when the other side has a
// box of its class and image with an IoU of `iou` or more and a score of `confidence - tolerance`
// or more, each of the other's boxes standing for one (matched as `evaluate` does). Without the
// tolerance boxes whose score is near the limit, of which every detector has many, would count as
// lost and as false alarms when scores move by a thousandth.
//
// Class ids of both sides mean the same. Images are paired by id; one that a side lacks is empty
// there. kInvalidArgument: as `evaluate`.
Result<Agreement> agreement(const DetectionSet& reference, const DetectionSet& candidate,
                            const AgreementOptions& options = {});

}  // namespace sparing
