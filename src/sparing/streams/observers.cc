#include "sparing/streams/observers.h"

#include "sparing/pipeline/frame_job.h"
#include "sparing/streams/no_throw.h"

namespace sparing {

ObserverContext observer_context(const StreamDetector& detector) {
  ObserverContext context;
  context.labels = detector.labels();
  const int count = static_cast<int>(detector.totals().canvases_of.size());
  for (int i = 0; i < count; ++i) {
    const Processor& processor = detector.processor(i);
    const Detector::Impl& impl = processor.detector.impl();
    context.networks.push_back(
        {processor.name, impl.manifest.input, impl.context.options().streams});
  }
  return context;
}

void ObserverList::add(std::string name, std::unique_ptr<StreamObserver> observer) {
  list_.push_back({std::move(observer), std::move(name), std::nullopt});
}

std::vector<ObserverFailure> ObserverList::failures() const {
  std::vector<ObserverFailure> failures;
  for (const Entry& entry : list_) {
    if (entry.failure) failures.push_back(*entry.failure);
  }
  return failures;
}

void ObserverList::keep_failure(Entry& entry, std::int64_t window, Status status) {
  if (status.ok()) return;
  entry.failure = ObserverFailure{entry.name, std::move(status).error(), window, 0, 0};
  if (tell_) tell_(*entry.failure);
}

Status ObserverList::on_canvas(const CanvasReport& canvas) {
  for (Entry& entry : list_) {
    if (!entry.failure) {
      keep_failure(entry, canvas.window,
                   no_throw("canvas", [&] { return entry.observer->on_canvas(canvas); }));
    }
    if (entry.failure) ++entry.failure->canvases;
  }
  return {};
}

Status ObserverList::on_window(const WindowReport& window,
                               const std::function<const VideoFrame*(int, std::int64_t)>& frame) {
  for (Entry& entry : list_) {
    if (!entry.failure) {
      keep_failure(entry, window.index,
                   no_throw("window", [&] { return entry.observer->on_window(window, frame); }));
    }
    if (entry.failure) ++entry.failure->windows;
  }
  return {};
}

}  // namespace sparing
