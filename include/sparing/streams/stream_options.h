// Settings of detection on many streams, and what a run reports.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "sparing/base/options.h"
#include "sparing/packing/canvas_plan.h"
#include "sparing/packing/latency_profile.h"
#include "sparing/packing/merge.h"
#include "sparing/packing/packer.h"
#include "sparing/packing/priority.h"
#include "sparing/packing/reconstruct.h"
#include "sparing/packing/scale_predictor.h"
#include "sparing/packing/scale_tuner.h"
#include "sparing/packing/window_plan.h"
#include "sparing/roi/roi_extractor.h"
#include "sparing/track/filler.h"
#include "sparing/track/score_smoother.h"
#include "sparing/track/tracker.h"

namespace sparing {

struct StreamOptions {
  std::string mode = "auto";
  double budget = -1;
  double window = 1.0;
  int every = 0;
  int max_every = 0;
  double scale = 0;
  std::string tile = "640x640";
  double tile_overlap = 0.2;
  double target_recall = 0.95;
  double refresh_share = 0.05;
  double follow_score = 0.25;
  bool deterministic = false;

  static constexpr auto fields() {
    return std::tuple{
        option("mode", &StreamOptions::mode)
            .help(
                "how frames are looked at. packed: moving and known regions, shrunk and packed on "
                "canvases; frame: the whole frame; tiles: a regular grid; auto: for each stream "
                "and window what costs least for the recall")
            .choices("auto|packed|frame|tiles"),
        option("budget", &StreamOptions::budget)
            .help("detector time for each frame of the sources, over all processors (default: as "
                  "much as is needed)")
            .unit("ms")
            .range(0.01, 1e6)
            .unset(-1),
        option("window", &StreamOptions::window)
            .help("time of video that is planned together; also the delay of results")
            .unit("s")
            .range(0.05, 60),
        option("every", &StreamOptions::every)
            .help(
                "look at every n-th frame and fill in the others from those around them; 0: as the "
                "motion allows")
            .unit("frames")
            .range(0, 60),
        option("max-every", &StreamOptions::max_every)
            .help(
                "with --every 0, the most frames from one that is looked at to the next; 0: those "
                "of 0.4 s, at least 4, and more where a budget leaves no other way")
            .unit("frames")
            .range(0, 60),
        option("scale", &StreamOptions::scale)
            .help("drawn pixels per pixel of the frame: of whole frames and tiles the scale, of "
                  "packed regions a factor on theirs; 0: by the objects' size")
            .range(0, 8),
        option("tile", &StreamOptions::tile)
            .help(
                "size of tiles as the network sees them, at least 64x64; more than 4096 of a frame "
                "are refused")
            .unit("WxH"),
        option("tile-overlap", &StreamOptions::tile_overlap)
            .help("share of a tile that its neighbour shows, too")
            .range(0, 0.9),
        option("target-recall", &StreamOptions::target_recall)
            .help(
                "auto: share of the objects that the best way finds, by its estimate, that must be found")
            .range(0.5, 1),
        option("refresh-share", &StreamOptions::refresh_share)
            .help("share of the detector time for looking at whole frames, one stream after the "
                  "other, to measure what was missed; 0: never")
            .range(0, 0.9),
        option("follow-score", &StreamOptions::follow_score)
            .help("least confidence with which an object begins to be followed")
            .range(0, 1),
        option("deterministic", &StreamOptions::deterministic)
            .help("the same results in every run: no measured time enters a decision"),
    };
  }
};

// Detector time of a whole window of streams that have so many frames a second together, by
// `budget`: seconds; 0: there is none.
inline double window_budget(const StreamOptions& options, double frame_rate) {
  return options.budget > 0 ? options.budget * 1e-3 * frame_rate * options.window : 0;
}

// The parts' own settings; the defaults hold together.
struct StreamTuning {
  RoiOptions roi;
  MergeOptions merge;
  TunerOptions probes;
  CanvasOptions canvas;
  PackOptions pack;
  PriorityOptions priority;
  WindowPlanOptions plan;
  ReconstructOptions reconstruct;
  TrackerOptions track;
  ScoreOptions scores;
  FillOptions fill;
  LatencyOptions latency;
};

}  // namespace sparing
