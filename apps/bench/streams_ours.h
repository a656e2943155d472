// Sparing's own ways on the clips: StreamDetector, fed from memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sparing/streams/stream_detector.h"
#include "streams_approach.h"

namespace sparing::bench {

struct OurSettings {
  std::string name;  // "packed, every 3rd"; also the choice it is on other clips
  StreamOptions options;
  StreamTuning tuning;
  HeightParameters heights;  // of the network's scale model
};

// What runs of StreamDetector tell beyond boxes.
struct OurRun {
  Outcome outcome;
  DetectorTotals totals;
  std::vector<StreamStatistics> streams;
  std::vector<WindowReport> windows;
};

// Feeds all streams, which may be of different clips, window by window. Boxes are by stream in the
// order given. `clock` (may be null): called before and after each window's work.
struct FedStream {
  const ClipStream* stream = nullptr;
  Rational frame_rate;
  int repeats = 1;
};
Result<OurRun> run_ours(const std::vector<FedStream>& streams, Network& network,
                        const StreamOptions& options, const StreamTuning& tuning = {},
                        const HeightParameters& heights = {});
std::vector<FedStream> feed_of(const Clip& clip, int repeats = 1);

// "packed", "frame", "tiles" or "auto" (StreamOptions::mode) as an approach.
std::unique_ptr<Approach> ours(const OurSettings& settings);

// `mode` every k-th frame (0: as the motion allows), whole frames and tiles at `scale` (0: auto).
OurSettings our_settings(const std::string& mode, int every, double scale = 0);
// Packed with every region at twice its size, for clips of tiny objects (chosen on the tuning
// part).
OurSettings doubled_settings(int every);

}  // namespace sparing::bench
