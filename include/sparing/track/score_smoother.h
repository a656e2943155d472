// Scores of followed objects, steadied along their tracks: an object that was found well a moment
// ago is still that object where the network sees it badly, and a false detection that flickers
// stays what it is. Rescoring by the average along the track, as in Seq-NMS (Han et al. 2016,
// arXiv:1602.08465, section 3.2), a window at a time, and with a memory that fades.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/track/filler.h"

namespace sparing {

struct ScoreOptions {
  double weight = 0.5;
  double half_life = 1.0;

  static constexpr auto fields() {
    return std::tuple{
        option("score-smoothing", &ScoreOptions::weight)
            .help("share of the average along its track in the score of a followed object; 0: the "
                  "network's own score alone")
            .range(0, 1),
        option("score-half-life", &ScoreOptions::half_life)
            .help("time after which a past score counts half in that average")
            .unit("s")
            .range(0.01, 60),
    };
  }
};

// Steadies the scores of one stream, window by window. Not thread-safe. Memory is two numbers for
// each object of the last few half-lives.
class ScoreSmoother {
 public:
  // kInvalidArgument: an option out of range.
  static Result<ScoreSmoother> create(const ScoreOptions& options = {});

  // Changes the scores of followed detections (id >= 0) in the frames of a window to
  // (1 - weight) x own + weight x average, the average being that of the object's detections in
  // this window, each counting 1, and in those before, counting half after a half-life. Scores stay
  // within those averaged. Frames are in order of time.
  void smooth(std::span<FrameRecord> window);

  // The next window may have any time: for a stream that starts over.
  void reset();
  // Objects remembered now.
  std::size_t size() const { return sums_.size(); }

 private:
  struct Sum {
    double scores = 0;
    double count = 0;
  };

  explicit ScoreSmoother(const ScoreOptions& options) : options_(options) {}

  ScoreOptions options_;
  std::map<std::int64_t, Sum> sums_;
  bool started_ = false;
  Timestamp last_time_;
};

}  // namespace sparing
