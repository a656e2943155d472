// Draws canvases with the import kernel, runs them on their processors and reads what was found
// (Mondrian, section 4.4): drawing, inference and reading of different canvases overlap.
#pragma once

#include <functional>
#include <list>
#include <span>
#include <stop_token>
#include <vector>

#include "sparing/base/clock.h"
#include "sparing/packing/reconstruct.h"
#include "sparing/pipeline/frame_job.h"
#include "sparing/streams/stream_detector.h"

namespace sparing {

// A canvas to be run. The frames are borrowed until run() returns.
struct CanvasJob {
  CanvasReport report;                    // size, processor, regions without maps and detections
  std::vector<const VideoFrame*> frames;  // of each region
  // Of each region, what was found in it; filled by run().
  std::vector<std::vector<RoiDetection>> found;
};

// Not thread-safe. Memory: a bounded number of input tensors a processor, reused by size.
class CanvasRunner {
 public:
  // `processors` is borrowed for the runner's life.
  CanvasRunner(std::span<Processor> processors, Clock::time_point epoch);

  // Runs all jobs, in their order on each processor; `observe` (may be empty) sees each after it
  // was read. An error ends the run after what is in flight has ended; an exception, of a library
  // or of `observe`, is one (kInternal), and so is a stop before the last canvas was begun
  // (kInterrupted).
  Status run(std::span<CanvasJob> jobs, const ReconstructOptions& options,
             const std::function<Status(const CanvasReport&)>& observe,
             const std::stop_token& stop = {});

  // Detections that were left out, with the reason.
  const DetectionCounts& counts() const { return counts_; }
  std::int64_t outside_regions() const { return outside_regions_; }

 private:
  struct Lane {  // of one processor
    Processor* processor = nullptr;
    std::list<FrameSlot> slots;
    std::vector<FrameSlot*> free;
    struct InFlight {
      CanvasJob* job;
      FrameSlot* slot;
      Completion completion;
    };
    std::list<InFlight> in_flight;
    std::vector<CanvasJob*> waiting;  // in reverse
    std::size_t most_in_flight = 2;
  };

  FrameSlot* take_slot(Lane& lane, Size size);
  Status start(Lane& lane);
  Status draw(const Detector::Impl& detector, Context& context, const FrameSlot& slot,
              CanvasJob& job);
  Status read_oldest(Lane& lane, const ReconstructOptions& options,
                     const std::function<Status(const CanvasReport&)>& observe);
  Status show(Lane::InFlight& item, Context& context,
              const std::function<Status(const CanvasReport&)>& observe);

  std::vector<Lane> lanes_;
  Clock::time_point epoch_;
  SharedFrame grey_;  // one pixel, which fills what regions leave free
  DetectionCounts counts_;
  std::int64_t outside_regions_ = 0;
};

}  // namespace sparing
