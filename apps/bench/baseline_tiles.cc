// Tiles: every slice of the frame is an inference of its own.
#include <cstdio>

#include "baseline_slices.h"
#include "baselines.h"
#include "streams_fill.h"
#include "streams_network.h"

namespace sparing::bench {
namespace {

// SAHI's defaults.
constexpr double kOverlap = 0.2;
constexpr float kMatch = 0.5f;
constexpr float kMergedScore = 0.25f;

class Tiles : public Approach {
 public:
  explicit Tiles(const TileSettings& settings) : settings_(settings) {}

  std::string method() const override { return "tiles"; }
  std::string settings() const override {
    char text[96];
    const bool merges = settings_.join == TileJoin::kMerge;
    std::snprintf(text, sizeof text, "%d px x%g%s, %s, %s", settings_.side, settings_.scale,
                  settings_.with_frame ? " + frame" : "", merges ? "NMM" : "NMS",
                  every_text(settings_.every).c_str());
    return text;
  }

  Result<Outcome> run(const Clip& clip, Network& network) override {
    Outcome outcome;
    std::vector<StreamLooks> looks(clip.streams.size());
    for (std::size_t s = 0; s < looks.size(); ++s) {
      looks[s].resize(clip.streams[s].frames.size());
      for (std::size_t f = 0; f < looks[s].size(); f += static_cast<std::size_t>(settings_.every)) {
        SPARING_ASSIGN_OR_RETURN(looks[s][f], look(clip, s, f, network, outcome.spend));
      }
    }
    SPARING_ASSIGN_OR_RETURN(outcome.boxes, fill_clip(clip, looks));
    return outcome;
  }

 private:
  Result<std::vector<Detection>> look(const Clip& clip, std::size_t stream, std::size_t frame,
                                      Network& network, Spend& spend) const {
    std::vector<Network::View> views;
    for (const Rect& slice : slice_rects(clip.size, settings_.side, kOverlap)) {
      views.push_back(
          {stream, frame, slice,
           network.nearest_input(slice.width * settings_.scale, slice.height * settings_.scale)});
    }
    if (settings_.with_frame) {
      views.push_back({stream, frame, display_rect(clip.streams[stream].frames[frame].frame.view()),
                       network.nearest_input(clip.size.width * settings_.frame_scale,
                                             clip.size.height * settings_.frame_scale)});
    }
    SPARING_ASSIGN_OR_RETURN(const std::vector<const Network::Look*> looks,
                             network.look(clip, views));
    std::vector<Detection> found;
    for (const Network::Look* look : looks) {
      spend += look->spend;
      found.insert(found.end(), look->detections.begin(), look->detections.end());
    }
    if (settings_.join == TileJoin::kSuppress) return suppress_greedily(found, kMatch);
    std::erase_if(found, [](const Detection& d) { return d.score < kMergedScore; });
    return merge_greedily(found, kMatch);
  }

  TileSettings settings_;
};

}  // namespace

std::unique_ptr<Approach> tiles(const TileSettings& settings) {
  return std::make_unique<Tiles>(settings);
}

}  // namespace sparing::bench
