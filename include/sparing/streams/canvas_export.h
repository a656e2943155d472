// Packed canvases as training data: to make a network used to what packed detection shows it
// (Mondrian, section 4.5, "Packed canvas-aware training").
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <tuple>

#include "sparing/base/options.h"
#include "sparing/base/result.h"
#include "sparing/streams/observers.h"

namespace sparing {

struct CanvasExportOptions {
  std::string format = "both";
  std::string labels = "all";
  double score = 0.4;

  static constexpr auto fields() {
    return std::tuple{
        option("export-format", &CanvasExportOptions::format)
            .help("annotations.json, text files and data.yaml, or both")
            .choices("coco|yolo|both"),
        option("export-labels", &CanvasExportOptions::labels)
            .help("of each region all objects, or the one alone that it was made for and that lies "
                  "at its centre: the others may be cut off")
            .choices("all|center"),
        option("export-score", &CanvasExportOptions::score)
            .help("least confidence of a detection that becomes a label")
            .range(0, 1),
    };
  }
};

// Exports canvases that hold regions; whole frames and tiles are left out, and so are canvases
// without a label.
class CanvasExport : public StreamObserver {
 public:
  // Completes annotations.json. Once, after the run; the destructor does so where it was left out.
  // kOutput: cannot be written.
  virtual Status finish() = 0;
};

// Writes into `dir`:
//   images/canvas-000123.png  the pixels as the network saw them, with gaps and borders as drawn
//   labels/canvas-000123.txt  YOLO: class, centre x, y, width, height, as shares of the canvas
//   data.yaml                 YOLO's description, with the class names
//   annotations.json          COCO: images, annotations, categories (COCO's own ids where the
//   labels
//                             are COCO's 80, else the class id + 1)
// Labels are the network's own detections, in canvas pixels: of one frame, what was found in any of
// its regions, whole-frame looks included, is a label in each region that shows at least half of
// it; clipped to the region. Look through them before training. Memory grows with the number of
// labels (about 100 bytes each).
// kInvalidArgument: an option out of range; kOutput: cannot be written.
Result<std::unique_ptr<CanvasExport>> open_canvas_export(const std::filesystem::path& dir,
                                                         ObserverContext context,
                                                         const CanvasExportOptions& options = {});

}  // namespace sparing
