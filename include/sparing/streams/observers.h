// What observers of a run share: what they need to know of the detector, and how several look at
// once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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

// What one observer could not show.
struct ObserverFailure {
  std::string name;
  Error error;              // the first
  std::int64_t window = 0;  // in which it came
  // Not shown, or not whole, from then on.
  std::int64_t windows = 0;
  std::int64_t canvases = 0;
};

// Passes every report on to all, in order. A look into a run must not end it: one that fails, or
// throws, gets no further reports, and what it misses is counted.
class ObserverList : public StreamObserver {
 public:
  // `name` is for messages.
  void add(std::string name, std::unique_ptr<StreamObserver> observer);
  bool empty() const { return list_.empty(); }
  // Called when one fails, from the thread of the reports.
  void on_failure(std::function<void(const ObserverFailure&)> tell) { tell_ = std::move(tell); }
  // In the order of add(). Not during a run.
  std::vector<ObserverFailure> failures() const;
  Status on_canvas(const CanvasReport& canvas) override;
  Status on_window(const WindowReport& window,
                   const std::function<const VideoFrame*(int, std::int64_t)>& frame) override;

 private:
  struct Entry {
    std::unique_ptr<StreamObserver> observer;
    std::string name;
    std::optional<ObserverFailure> failure;
  };
  void keep_failure(Entry& entry, std::int64_t window, Status status);

  std::vector<Entry> list_;
  std::function<void(const ObserverFailure&)> tell_;
};

}  // namespace sparing
