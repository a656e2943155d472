// The network as all approaches share it: draws parts of frames on inputs of any size, runs them,
// and maps what was found back. What whole frames of a size found is kept, as many approaches look
// at the same.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sparing/models/registry.h"
#include "sparing/packing/reconstruct.h"
#include "sparing/streams/processor.h"
#include "streams_approach.h"

namespace sparing::bench {

// The confidence from which on detections count, everywhere.
inline constexpr double kLeastScore = 0.05;

// A part of a frame on an input.
struct Drawing {
  const VideoFrame* frame = nullptr;  // outlives the run
  Rect rect;                          // display coordinates, inside the frame
  PixelRect place;                    // on the input; the rectangle is stretched to it
};

struct InputJob {
  Size size;  // of the input
  std::vector<Drawing> drawings;
  std::vector<std::vector<RoiDetection>> found;  // of each drawing, by run()
};

// What inferences cost, as measured.
struct NetworkCosts {
  LatencyProfile same;        // after one of the same size
  LatencyProfile varied;      // after one of another size: what users' profiles tell
  double switch_seconds = 0;  // the mean difference of the two
};

class Network {
 public:
  // Reports the labels given only.
  static Result<Network> create(Context context, const Model& model,
                                const std::vector<std::string>& labels, const NetworkCosts& costs);
  Network(Network&&) noexcept;
  ~Network();

  const std::vector<std::string>& labels() const;
  // Seconds of an inference; `before`: the size of the one before it.
  double cost(Size input, Size before) const {
    return costs_.same.profiled(input) + (input == before ? 0 : costs_.switch_seconds);
  }
  // A size that the network takes: each side to the nearest multiple, within its limits.
  Size nearest_input(double width, double height) const;

  Result<Spend> run(std::span<InputJob> jobs);

  struct Look {
    std::vector<Detection> detections;  // display coordinates, best first
    Spend spend;
  };
  // A part of a frame at a size.
  struct View {
    std::size_t stream = 0;
    std::size_t frame = 0;
    Rect rect;  // on whole pixels
    Size input;
  };
  // What was found in each view; kept for each clip (by id). The pointers stay valid.
  Result<std::vector<const Look*>> look(const Clip& clip, std::span<const View> views);
  // The whole frame at a size. Looks ahead: frames `every` apart are run together.
  Result<const Look*> whole(const Clip& clip, std::size_t stream, std::size_t frame, Size input,
                            int every);

  // A processor on the same network, for StreamDetector.
  Result<Processor> processor() const;

 private:
  struct Parts;
  explicit Network(std::unique_ptr<Parts> parts, const NetworkCosts& costs);

  std::unique_ptr<Parts> parts_;
  NetworkCosts costs_;
  // Clip, stream, frame, rectangle, input.
  using Key = std::tuple<std::string, std::size_t, std::size_t, int, int, int, int, int, int>;
  static Key key_of(const Clip& clip, const View& view);
  std::map<Key, Look> looks_;
};

// Times of inputs of a few sizes on all of the context's streams at once.
Result<NetworkCosts> measure_costs(const Context& context, const Model& model);

}  // namespace sparing::bench
