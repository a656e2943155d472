// One window's work for the network: from the regions of all streams to the detections of each key
// frame. Built, run and read once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sparing/packing/window_plan.h"
#include "sparing/streams/canvas_runner.h"
#include "sparing/streams/stream_state.h"

namespace sparing {

// What the window may use. Borrowed.
struct WindowContext {
  std::span<Processor> processors;
  std::span<const CanvasShape> shapes;
  const StreamOptions& options;
  const StreamTuning& tuning;
  DropHistory& drop_history;
  double budget = 0;                // seconds over all processors; infinite: none
  double plan_share = 1;            // of the budget that plans may use (plan_margin.h)
  double packed_pixel_seconds = 0;  // of a pixel of regions on shared canvases, as usual
  std::int64_t window = 0;
};

// The detections of a frame that was looked at.
struct KeyFrameResult {
  std::size_t frame = 0;  // index into StreamState::frames
  std::vector<Detection> detections;
  std::vector<Detection> by_way;     // without the refresh
  std::vector<Detection> reference;  // by the refresh
  std::vector<Detection> trial;
  bool looked_at = false;
  bool partial = false;               // only at what was new
  std::vector<std::int64_t> dropped;  // objects whose regions were dropped
};

class WindowJob {
 public:
  explicit WindowJob(const WindowContext& context) : context_(context) {}

  // Regions, whole frames or tiles of the stream's key frames, by its planner's way.
  Status add_stream(StreamState& stream);
  // Looks at the stream's last frame as a whole, too, and with a trial scale at that again.
  void add_refresh(StreamState& stream, double scale, double trial_scale);
  // Tries other scales of the objects in the stream's last frame (with a refresh, which is what
  // they are compared with).
  Status add_probes(StreamState& stream);

  // Chooses canvases and places regions (section 4.3).
  Status plan();
  Status run(CanvasRunner& runner, const std::function<Status(const CanvasReport&)>& observe,
             std::int64_t first_canvas, const std::stop_token& stop);
  // What was found in the stream's key frames, in order. After run(). Takes in what came of its
  // probes.
  Result<std::vector<KeyFrameResult>> results(StreamState& stream);

  const std::vector<CanvasJob>& jobs() const { return jobs_; }
  // Regions, whole frames and tiles that were asked for.
  std::size_t wanted() const { return wanted_; }
  // Detector time, by the profiles, in which all of that could have been looked at.
  double wanted_seconds() const { return wanted_seconds_; }
  double fill_area() const { return placed_area_; }
  double canvas_area() const { return packed_canvas_area_; }
  // Detector time of the canvases that regions share, by the profiles.
  double packed_seconds() const { return packed_seconds_; }
  // Pixels that the stream's regions take, and the key frames they are of; also where the whole
  // frame was looked at instead.
  struct PackedPixels {
    double pixels = 0;
    int key_frames = 0;
  };
  PackedPixels packed_pixels(int stream) const;
  // Drops of the stream's regions.
  DropTally drops(int stream) const;

 private:
  // A region that asks for a place, or a whole frame or tile with a canvas of its own.
  struct Item {
    StreamState* stream = nullptr;
    std::size_t frame = 0;
    RoiRequest request;
    DrawPurpose purpose = DrawPurpose::kDetect;
    std::vector<std::int64_t> objects;
    std::vector<Roi> members;    // that were merged
    std::size_t probe_plan = 0;  // of a probe: which, and which of its scales
    std::size_t probe = 0;
  };
  struct ProbeSet {
    StreamState* stream;
    ProbePlan plan;
    Box object;
    std::vector<ProbeOutcome> outcomes;
  };
  struct Dropped {
    StreamState* stream;
    std::size_t frame;
    std::vector<std::int64_t> objects;
    DropReason reason;
    DrawPurpose purpose;
    bool whole;
  };

  Item item_of(StreamState& stream, std::size_t frame, const Roi& roi, double scale) const;
  std::vector<const LatencyProfile*> profiles() const;
  Status add_regions(StreamState& stream, std::size_t frame);
  void add_whole(StreamState& stream, std::size_t frame, double scale, DrawPurpose purpose);
  void add_look(StreamState& stream, std::size_t frame, double scale);
  Status add_tiles(StreamState& stream, std::size_t frame, double scale);
  void add_direct(Item item, Size canvas, PixelRect place);
  void drop(const Item& item, DropReason reason);
  void keep_within_budget();
  void balance();
  CanvasRegion region_of(const Item& item, const PixelRect& place, double scale) const;
  double cost(const CanvasJob& job) const;
  double packed_cost(double pixels) const;
  void thin_key_frames(double total_pixels, double seconds);
  Size canvas_for(Size drawn) const;

  WindowContext context_;
  std::vector<Item> packed_;  // to be packed
  struct Direct {
    Item item;
    Size canvas;
    PixelRect place;
    double cost = 0;
  };
  std::vector<Direct> direct_;
  std::vector<ProbeSet> probes_;
  std::vector<Dropped> dropped_;
  std::vector<CanvasJob> jobs_;
  std::vector<std::vector<Item>> job_items_;  // of each job's regions
  std::map<int, PackedPixels> packed_pixels_;
  std::size_t wanted_ = 0;
  double wanted_seconds_ = 0;
  double placed_area_ = 0;
  double packed_canvas_area_ = 0;
  double packed_seconds_ = 0;
};

}  // namespace sparing
