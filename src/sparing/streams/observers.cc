#include "sparing/streams/observers.h"

#include "sparing/pipeline/frame_job.h"

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

Status ObserverList::on_canvas(const CanvasReport& canvas) {
  for (const auto& observer : list_) SPARING_RETURN_IF_ERROR(observer->on_canvas(canvas));
  return {};
}

Status ObserverList::on_window(const WindowReport& window,
                               const std::function<const VideoFrame*(int, std::int64_t)>& frame) {
  for (const auto& observer : list_) SPARING_RETURN_IF_ERROR(observer->on_window(window, frame));
  return {};
}

}  // namespace sparing
