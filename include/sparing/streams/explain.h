// A run made visible: what was looked at, why, and when.
#pragma once

#include <filesystem>
#include <memory>
#include <tuple>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/streams/observers.h"

namespace sparing {

struct ExplainOptions {
  int windows = 60;
  int frames = 2;
  double score = 0.3;

  static constexpr auto fields() {
    return std::tuple{
        option("explain-windows", &ExplainOptions::windows)
            .help("pictures of so many windows from the start; 0: of all. The timeline is of all")
            .unit("windows")
            .range(0, 1000000),
        option("explain-frames", &ExplainOptions::frames)
            .help(
                "key frames of a stream and window that are drawn, the last ones; beside them the "
                "stream's first look, unless it is 0")
            .unit("frames")
            .range(0, 1000),
        option("explain-score", &ExplainOptions::score)
            .help("least confidence of detections that are drawn")
            .range(0, 1),
    };
  }
};

// Writes into `dir`, window by window:
//   window-000012/stream-0-frame-000119.png  a key frame: its regions, in a colour for each source
//                                            (cyan: a followed object, orange: motion, violet:
//                                            standing, blue: the whole frame, grey: tiles), what of
//                                            it was drawn (white), and the detections
//   window-000012/canvas-000345.png          the pixels as the network saw them (small canvases
//                                            doubled or tripled), each region with its stream,
//                                            frame and scale, and the detections
//   index.html                               all pictures in order, with a legend
//   trace.json                               the timeline, for chrome://tracing or Perfetto
// `dir` is new, empty, or of an earlier run, whose window-* folders are removed. Labels do not
// overlap; where there is no room for one it is left out.
// Everything is whole after each window, so that it can be looked at while the run goes on, or
// after it was stopped. Pictures take time: the run is slower, and its inference times stay what
// they are. After an error (kOutput: a full disk) the page and the timeline end with the last whole
// window. kInvalidArgument: an option out of range; kOutput: cannot be written.
Result<std::unique_ptr<StreamObserver>> open_explain(const std::filesystem::path& dir,
                                                     ObserverContext context,
                                                     const ExplainOptions& options = {});

}  // namespace sparing
