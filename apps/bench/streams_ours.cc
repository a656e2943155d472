#include "streams_ours.h"

#include <cstdio>
#include <utility>

#include "baselines.h"
#include "streams_network.h"

namespace sparing::bench {
namespace {

// Adds up the canvases by the bench's profile, which stays as it was measured.
class Meter : public StreamObserver {
 public:
  explicit Meter(const Network& network, OurRun& run) : network_(network), run_(run) {}
  Status on_canvas(const CanvasReport& canvas) override {
    run_.outcome.spend +=
        {network_.cost(canvas.size, std::exchange(before_, canvas.size)), canvas.inference_seconds,
         1, std::int64_t{canvas.size.width} * canvas.size.height};
    return {};
  }

 private:
  const Network& network_;
  OurRun& run_;
  Size before_;
};

// Keeps a window's boxes and what it reports, but not the frames.
void take(WindowResult window, OurRun& run) {
  for (StreamFrameResult& frame : window.frames) {
    auto& boxes = run.outcome.boxes[static_cast<std::size_t>(frame.stream)];
    std::vector<Detection>& here = boxes.emplace_back();
    for (const FilledBox& box : frame.boxes) here.push_back(box.detection);
  }
  run.windows.push_back(std::move(window.report));
}

class Ours : public Approach {
 public:
  explicit Ours(OurSettings settings) : settings_(std::move(settings)) {}
  std::string method() const override { return "Sparing, " + settings_.options.mode; }
  std::string settings() const override { return settings_.name; }
  Result<Outcome> run(const Clip& clip, Network& network) override {
    SPARING_ASSIGN_OR_RETURN(OurRun run, run_ours(feed_of(clip), network, settings_.options,
                                                  settings_.tuning, settings_.heights));
    return std::move(run.outcome);
  }

 private:
  OurSettings settings_;
};

}  // namespace

std::vector<FedStream> feed_of(const Clip& clip, int repeats) {
  std::vector<FedStream> streams;
  for (const ClipStream& stream : clip.streams) {
    streams.push_back({&stream, clip.frame_rate, repeats});
  }
  return streams;
}

Result<OurRun> run_ours(const std::vector<FedStream>& streams, Network& network,
                        const StreamOptions& options, const StreamTuning& tuning,
                        const HeightParameters& heights) {
  std::vector<Processor> processors;
  SPARING_ASSIGN_OR_RETURN(Processor processor, network.processor());
  processor.scales.height = heights;
  processors.push_back(std::move(processor));
  SPARING_ASSIGN_OR_RETURN(StreamDetector detector,
                           StreamDetector::create(std::move(processors), options, tuning));
  if (options.budget > 0) {
    std::vector<Size> sizes;
    double rate = 0;
    for (const FedStream& fed : streams) {
      sizes.push_back(display_size(fed.stream->frames.front().frame.view()));
      rate += fed.frame_rate.value();
    }
    SPARING_RETURN_IF_ERROR(detector.warm_up(sizes, window_budget(options, rate)));
  }
  OurRun run;
  Meter meter(network, run);
  detector.set_observer(&meter);
  std::vector<std::unique_ptr<VideoSource>> sources;
  std::vector<int> numbers;
  for (const FedStream& fed : streams) {
    sources.push_back(memory_source(*fed.stream, fed.frame_rate, fed.repeats));
    SPARING_ASSIGN_OR_RETURN(const int number,
                             detector.add_stream({fed.stream->name, fed.frame_rate}));
    numbers.push_back(number);
  }
  run.outcome.boxes.resize(streams.size());
  std::size_t open = streams.size();
  while (open > 0) {
    for (std::size_t s = 0; s < sources.size(); ++s) {
      bool whole = sources[s] == nullptr;
      while (!whole) {
        SPARING_ASSIGN_OR_RETURN(std::optional<SourceFrame> frame, sources[s]->next());
        if (!frame) {
          SPARING_RETURN_IF_ERROR(detector.end_stream(numbers[s]));
          sources[s].reset();
          --open;
          break;
        }
        SPARING_ASSIGN_OR_RETURN(whole, detector.add_frame(numbers[s], std::move(*frame)));
      }
    }
    // Statistics of a stream are gone after the window that ends it.
    SPARING_ASSIGN_OR_RETURN(WindowResult window, detector.finish_window());
    take(std::move(window), run);
  }
  for (const int number : numbers) run.streams.push_back(detector.statistics(number));
  run.totals = detector.totals();
  return run;
}

std::unique_ptr<Approach> ours(const OurSettings& settings) {
  return std::make_unique<Ours>(settings);
}

OurSettings our_settings(const std::string& mode, int every, double scale) {
  OurSettings settings;
  settings.options.mode = mode;
  settings.options.every = every;
  settings.options.scale = scale;
  settings.options.deterministic = true;  // no measured time in any decision
  char text[64] = "";
  if (scale > 0) std::snprintf(text, sizeof text, "x%g, ", scale);
  settings.name = std::string(text) + (every > 0 ? every_text(every) : "as the motion allows");
  return settings;
}

OurSettings doubled_settings(int every) {
  OurSettings settings = our_settings("packed", every);
  // No region is so high that the limit of enlarging, twice its size, is not reached.
  settings.heights.sure_height = settings.heights.unsure_height = settings.heights.new_height =
      1000;
  settings.name = "at twice the size, " + every_text(every);
  return settings;
}

}  // namespace sparing::bench
