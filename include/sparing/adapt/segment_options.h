// How a stream is segmented over time: the modes, and what they can be told.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "sparing/base/options.h"

namespace sparing {

// MainNet is the frozen network, AuxNet the small one beside it that may learn.
enum class SegmentMode {
  kAuto,
  kMain,
  kAux,
  kEnsemble,
  kEma,
  kEmaFlow,
  kTent,
  kAuxAdapt,
  kTemporal,
  kEnsembleTemporal,
  kAuxAdaptTemporal,
};

struct SegmentModeInfo {
  SegmentMode mode;
  std::string_view name;
  bool main;     // MainNet runs
  bool aux;      // AuxNet runs
  bool learns;   // AuxNet is trained on the decision
  bool fuses;    // probabilities are averaged over time
  bool control;  // there to compare with, not for use
  std::string_view description;
};

// In the order of SegmentMode.
inline constexpr std::array<SegmentModeInfo, 11> kSegmentModes{{
    {SegmentMode::kAuto, "auto", true, true, true, true, false,
     "auxadapt+temporal with an AuxNet, temporal without"},
    {SegmentMode::kMain, "main", true, false, false, false, false, "MainNet frame by frame"},
    {SegmentMode::kAux, "aux", false, true, false, false, true, "AuxNet frame by frame"},
    {SegmentMode::kEnsemble, "ensemble", true, true, false, false, false,
     "the sum of both networks' probabilities"},
    {SegmentMode::kEma, "ema", true, false, false, true, true,
     "MainNet, averaged over time without motion"},
    {SegmentMode::kEmaFlow, "emaflow", true, false, false, true, true,
     "MainNet, averaged along the motion, without looking where that is wrong"},
    {SegmentMode::kTent, "tent", false, false, false, false, true,
     "MainNet whose batch norms learn to be sure (Tent)"},
    {SegmentMode::kAuxAdapt, "auxadapt", true, true, true, false, false,
     "the sum, from which AuxNet learns frame by frame (AuxAdapt)"},
    {SegmentMode::kTemporal, "temporal", true, false, false, true, false,
     "MainNet, averaged along the motion where the pictures agree"},
    {SegmentMode::kEnsembleTemporal, "ensemble+temporal", true, true, false, true, false,
     "the sum, averaged along the motion where the pictures agree"},
    {SegmentMode::kAuxAdaptTemporal, "auxadapt+temporal", true, true, true, true, false,
     "the same, and AuxNet learns from the result"},
}};

constexpr const SegmentModeInfo& info(SegmentMode mode) {
  return kSegmentModes[static_cast<std::size_t>(mode)];
}
std::optional<SegmentMode> segment_mode_from_name(std::string_view name);
// What kAuto stands for.
SegmentMode resolve(SegmentMode mode, bool has_aux);

// Of the modes with an AuxNet.
struct EnsembleOptions {
  double aux_weight = 2;
  bool sum_logits = false;

  static constexpr auto fields() {
    return std::tuple{
        option("aux-weight", &EnsembleOptions::aux_weight)
            .help("how much AuxNet counts against MainNet's 1; 1 is AuxAdapt as published")
            .range(0, 100),
        option("sum-logits", &EnsembleOptions::sum_logits)
            .help("sum logits in place of probabilities"),
    };
  }
};

// Of the modes that learn. What of AuxNet is trained, and how, is in TrainerOptions.
struct LearnOptions {
  int every = 2;
  double balance = 0.5;
  std::string teacher = "result";
  double pull = 0.01;
  int reset_every = 0;
  double reset_distance = 0;
  bool reset_at_cut = false;

  static constexpr auto fields() {
    return std::tuple{
        option("learn-every", &LearnOptions::every)
            .help("AuxNet learns on every n-th frame")
            .unit("frames")
            .range(1, 1000),
        option("balance", &LearnOptions::balance)
            .help("power of 1 / frequency with which a class counts in the loss; 0: all pixels "
                  "alike, as published")
            .range(0, 1),
        option("teacher", &LearnOptions::teacher)
            .help("what AuxNet learns from: the frame's result, or the sum before it is averaged "
                  "over time")
            .choices("result|sum"),
        option("pull", &LearnOptions::pull)
            .help("share of the way back to its first weights that AuxNet goes after each step")
            .range(0, 1),
        option("reset-every", &LearnOptions::reset_every)
            .help("AuxNet starts anew after so many steps; 0: never")
            .unit("steps")
            .range(0, 1000000000),
        option("reset-distance", &LearnOptions::reset_distance)
            .help("AuxNet starts anew when its weights have moved by this share of their length; "
                  "0: never")
            .range(0, 100),
        option("reset-at-cut", &LearnOptions::reset_at_cut)
            .help("AuxNet starts anew in each scene"),
    };
  }
};

}  // namespace sparing
