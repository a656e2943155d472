// Reactive scale tuning: at the end of a window a few scales near the predicted one are tried on
// the object itself, and the smallest that works is used from then on (Mondrian, section 4.2.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sparing/base/geometry.h"
#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/base/timestamp.h"
#include "sparing/packing/scale_predictor.h"

namespace sparing {

struct TunerOptions {
  int probes = 5;
  double probe_step = 0.1;
  std::string reprobe = "near";
  double probe_confidence = 0.3;
  double probe_iou = 0.75;
  double level_tolerance = 0.05;
  double size_change = 0.2;
  double max_age = 5;
  double forget_after = 2;
  int max_objects = 1000;

  static constexpr auto fields() {
    return std::tuple{
        option("probes", &TunerOptions::probes)
            .help("scales to try of an object, the predicted one first; 0: no tuning")
            .range(0, 20),
        option("probe-step", &TunerOptions::probe_step)
            .help("distance of the scales to try, as a share of the predicted scale")
            .range(0.01, 0.5),
        option("reprobe", &TunerOptions::reprobe)
            .help(
                "what to try of an object that is tuned already: all scales again, or the present "
                "one and the next smaller")
            .choices("near|all"),
        option("probe-confidence", &TunerOptions::probe_confidence)
            .help("a try succeeds with a confidence above this ...")
            .range(0, 1),
        option("probe-iou", &TunerOptions::probe_iou)
            .help("... and an overlap (IoU) above this with the detection at full scale")
            .range(0, 1),
        option("probe-level-tolerance", &TunerOptions::level_tolerance)
            .help("change of the predicted scale that is still none when its level changes, as a "
                  "share")
            .range(0, 1),
        option("probe-size-change", &TunerOptions::size_change)
            .help(
                "change of the object's size (square root of its area) after which what was found "
                "does not hold any more, as a share")
            .range(0.01, 10),
        option("probe-max-age", &TunerOptions::max_age)
            .help("time after which what was found does not hold any more")
            .unit("s")
            .range(0, 3600),
        option("probe-forget", &TunerOptions::forget_after)
            .help("time without the object after which it is forgotten")
            .unit("s")
            .range(0, 3600),
        option("probe-max-objects", &TunerOptions::max_objects)
            .help("objects remembered at once; those not seen for longest go first")
            .range(1, 100000),
    };
  }
};

// One scale to try.
struct Probe {
  double ratio = 1;  // to the predicted scale
  double scale = 1;  // to draw the region with
  // The scale that the region is drawn with in any case: its detection may serve for the probe's.
  bool current = false;
};

// What to try of one object. A value: it may be dropped, or its results may come late or never.
struct ProbePlan {
  std::int64_t object_id = -1;
  ProactiveScale proactive;
  double size = 0;  // of the object: square root of its area, pixels
  Timestamp time;   // of the frame that is probed
  std::vector<Probe> probes;
};

// What came of one probe.
struct ProbeOutcome {
  bool ran = false;  // false: dropped, says nothing
  // All that was found in the probe's region, in display coordinates.
  std::vector<Detection> detections;
};

struct TunerCounters {
  std::int64_t reports = 0;
  std::int64_t probes_run = 0;
  std::int64_t probes_succeeded = 0;
  std::int64_t inconclusive = 0;  // reports without a reference, or with no probe that ran
  std::int64_t late = 0;          // reports older than what is known
  std::int64_t all_failed = 0;    // one step larger
  // Probes at the predicted scale itself, and at the tuned one: how many, and how many failed. The
  // shares are the rates of under-estimates (the paper's predictor: below 10 %).
  std::int64_t proactive_checked = 0;
  std::int64_t proactive_under = 0;
  std::int64_t tuned_checked = 0;
  std::int64_t tuned_under = 0;
  // Tuned scales that were dropped, by reason.
  std::int64_t level_changed = 0;
  std::int64_t size_changed = 0;
  std::int64_t aged = 0;
  std::int64_t forgotten = 0;
  std::int64_t evicted = 0;
  friend bool operator==(const TunerCounters&, const TunerCounters&) = default;
};

// Whether one of the detections is the reference's object, found again: of its class, with a
// confidence above `confidence` and an IoU above `iou` with it (both limits excluded, as
// published).
bool probe_succeeded(const Detection& reference, std::span<const Detection> detections,
                     double confidence, double iou);

// Remembers the tuned scales of the objects of one stream, as ratios to the predicted scale: when
// the object grows a little, both shrink together. Not thread-safe. Memory is bounded by
// max_objects.
class ScaleTuner {
 public:
  // kInvalidArgument: an option out of range, or probes whose least ratio would not be above 0.
  static Result<ScaleTuner> create(const TunerOptions& options = {});

  // The tuned ratio of an object, if there is one that holds. It is dropped, and counted, when the
  // predicted level has changed since (by more than the tolerance in scale), when the object's size
  // has, or when it is too old. `size` as in ProbePlan.
  std::optional<double> ratio(std::int64_t object_id, const ProactiveScale& proactive, double size,
                              const Timestamp& now);

  // The ratios to try: of an object without a tuned ratio 1, 0.9, 0.8, 0.7 and 0.6 (with the
  // defaults); of others the same, or the tuned one and the one below. Descending; empty when
  // probes is 0. Call ratio() before, which drops what does not hold.
  std::vector<double> probe_ratios(std::int64_t object_id) const;

  // Takes in what came of a plan. The smallest ratio that succeeded is the object's from now on; if
  // none did that ran, one step above the largest that ran, at most 2. `reference` is the object's
  // detection at full scale in the same frame; without it the probes say nothing. Outcomes are in
  // the order of the plan's probes. kInvalidArgument: not as many outcomes as probes.
  Status report(const ProbePlan& plan, const std::optional<Detection>& reference,
                std::span<const ProbeOutcome> outcomes);

  // Forgets the objects that were not asked for since forget_after. Once a window will do.
  void forget(const Timestamp& now);
  void reset() { objects_.clear(); }

  std::size_t size() const { return objects_.size(); }
  const TunerOptions& options() const { return options_; }
  const TunerCounters& counters() const { return counters_; }

 private:
  struct Object {
    double ratio;
    ProactiveScale proactive;  // when it was probed
    double size;
    Timestamp probed;
    Timestamp last_asked;
  };

  explicit ScaleTuner(const TunerOptions& options) : options_(options) {}
  double least_ratio() const { return 1 - (options_.probes - 1) * options_.probe_step; }
  std::int64_t* reason_to_drop(const Object& object, const ProactiveScale& proactive, double size,
                               const Timestamp& now);
  void count(const Probe& probe, const Object* known, bool success);
  void remember(const ProbePlan& plan, double ratio);

  TunerOptions options_;
  std::map<std::int64_t, Object> objects_;
  TunerCounters counters_;
};

}  // namespace sparing
