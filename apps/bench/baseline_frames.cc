// Whole frames at a reduced or enlarged size, every k-th: the honest rival of packing on a CPU.
#include <cstdio>

#include "baselines.h"
#include "streams_fill.h"
#include "streams_network.h"

namespace sparing::bench {
namespace {

class WholeFrames : public Approach {
 public:
  WholeFrames(int width, double scale, int every, bool followed = true)
      : width_(width), scale_(scale), every_(every), followed_(followed) {}

  std::string method() const override { return followed_ ? "whole frames" : "plain frames"; }
  std::string settings() const override { return size_text() + ", " + every_text(every_); }
  // A width and a factor may be the same choice.
  std::vector<std::string> choices(const Clip& clip) const override {
    char text[64];
    std::snprintf(text, sizeof text, "x%g, %s", factor(clip), every_text(every_).c_str());
    std::vector<std::string> names = {settings()};
    if (text != names[0]) names.emplace_back(text);
    return names;
  }

  Result<Outcome> run(const Clip& clip, Network& network) override {
    const double scale = factor(clip);
    const Size input = network.nearest_input(clip.size.width * scale, clip.size.height * scale);
    Outcome outcome;
    std::vector<StreamLooks> looks(clip.streams.size());
    for (std::size_t s = 0; s < looks.size(); ++s) {
      looks[s].resize(clip.streams[s].frames.size());
      for (std::size_t f = 0; f < looks[s].size(); f += static_cast<std::size_t>(every_)) {
        SPARING_ASSIGN_OR_RETURN(const Network::Look* look,
                                 network.whole(clip, s, f, input, every_));
        looks[s][f] = look->detections;
        outcome.spend += look->spend;
      }
    }
    SPARING_ASSIGN_OR_RETURN(outcome.boxes, fill_clip(clip, looks, followed_));
    return outcome;
  }

 private:
  double factor(const Clip& clip) const {
    return width_ > 0 ? static_cast<double>(width_) / clip.size.width : scale_;
  }
  std::string size_text() const {
    if (width_ > 0) return std::to_string(width_) + " wide";
    char text[32];
    std::snprintf(text, sizeof text, "x%g", scale_);
    return text;
  }

  int width_;
  double scale_;
  int every_;
  bool followed_;
};

}  // namespace

std::string every_text(int every) {
  if (every == 1) return "every frame";
  const char* ending = every == 2 ? "nd" : every == 3 ? "rd" : "th";
  return "every " + std::to_string(every) + ending;
}

std::unique_ptr<Approach> whole_frames(int width, int every) {
  return std::make_unique<WholeFrames>(width, 1, every);
}

std::unique_ptr<Approach> plain_frames(int width) {
  return std::make_unique<WholeFrames>(width, 1, 1, false);
}

std::unique_ptr<Approach> whole_frames_scaled(double scale, int every) {
  return std::make_unique<WholeFrames>(0, scale, every);
}

}  // namespace sparing::bench
