// What observers of a run share: what they need to know of the detector, and how several look at
// once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sparing/models/manifest.h"
#include "sparing/streams/stream_detector.h"

namespace sparing {

// What the reports of a run refer to by number.
struct ObserverContext {
  std::vector<std::string> labels;  // by class id
  struct Network {
    std::string processor;  // its name
    ModelInput input;       // how its tensors are normalised
    int at_once = 1;        // canvases that it runs at the same time
  };
  std::vector<Network> networks;  // by processor
};
ObserverContext observer_context(const StreamDetector& detector);

// Passes every report on to all, in order; the first error ends the run.
class ObserverList : public StreamObserver {
 public:
  void add(std::unique_ptr<StreamObserver> observer) { list_.push_back(std::move(observer)); }
  bool empty() const { return list_.empty(); }
  Status on_canvas(const CanvasReport& canvas) override;
  Status on_window(const WindowReport& window,
                   const std::function<const VideoFrame*(int, std::int64_t)>& frame) override;

 private:
  std::vector<std::unique_ptr<StreamObserver>> list_;
};

}  // namespace sparing
