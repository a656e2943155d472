#include "sparing/adapt/temporal_fusion.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sparing/adapt/warp.h"

namespace sparing {
namespace {

// `values`, at the size `from`, at pixel centres of the size `to`: bilinear, edges repeated.
void resample(std::span<const float> values, Size from, Size to, std::vector<float>& out) {
  out.resize(static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height));
  const float step_x = static_cast<float>(from.width) / static_cast<float>(to.width);
  const float step_y = static_cast<float>(from.height) / static_cast<float>(to.height);
  const auto columns = static_cast<std::size_t>(from.width);
  std::size_t i = 0;
  for (int y = 0; y < to.height; ++y) {
    const float v = (static_cast<float>(y) + 0.5f) * step_y - 0.5f;
    for (int x = 0; x < to.width; ++x, ++i) {
      const float u = (static_cast<float>(x) + 0.5f) * step_x - 0.5f;
      const adapt::Bilinear b = adapt::bilinear(u, v, from);
      const float top =
          values[b.y0 * columns + b.x0] * (1 - b.fx) + values[b.y0 * columns + b.x1] * b.fx;
      const float bottom =
          values[b.y1 * columns + b.x0] * (1 - b.fx) + values[b.y1 * columns + b.x1] * b.fx;
      out[i] = top * (1 - b.fy) + bottom * b.fy;
    }
  }
}

}  // namespace

float fusion_weight(const FusionOptions& options, float error) {
  const auto weight = static_cast<float>(options.weight);
  if (error >= PictureMotion::kOutside) return 0;
  if (options.error <= 0) return weight;
  const float ratio = error / static_cast<float>(options.error);
  return weight / (1 + ratio * ratio);
}

struct TemporalFusion::Impl {
  FusionOptions options;
  adapt::PixelClasses past;
  adapt::PixelClasses now;
  FlowField scaled;            // the motion at the probabilities' size
  std::vector<float> weights;  // of the past, at the motion's size
  std::vector<float> scaled_weights;

  const FlowField& motion_at(const PictureMotion& motion, Size size) {
    if (motion.back.size == size) return motion.back;
    resize_flow(motion.back, size, scaled);
    return scaled;
  }
  std::span<const float> weights_at(const PictureMotion& motion, Size size) {
    const std::span<const float> error = motion.error;
    weights.resize(error.size());
    for (std::size_t i = 0; i < error.size(); ++i) weights[i] = fusion_weight(options, error[i]);
    if (motion.back.size == size) return weights;
    resample(weights, motion.back.size, size, scaled_weights);
    return scaled_weights;
  }
};

TemporalFusion::TemporalFusion(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TemporalFusion::TemporalFusion(TemporalFusion&&) noexcept = default;
TemporalFusion& TemporalFusion::operator=(TemporalFusion&&) noexcept = default;
TemporalFusion::~TemporalFusion() = default;

Result<TemporalFusion> TemporalFusion::create(const FusionOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  return TemporalFusion(std::move(impl));
}

void TemporalFusion::fuse(const PictureMotion& motion, ProbabilityMap& probabilities) {
  Impl& s = *impl_;
  // What a blank picture makes a network say is no past for the frames after it.
  if (motion.event == SceneEvent::kBlank) return;
  s.now.from_planes(probabilities);
  const bool continues = motion.event == SceneEvent::kNone && !s.past.empty() &&
                         s.past.size() == s.now.size() && s.past.classes() == s.now.classes();
  if (continues && s.options.weight > 0) {
    s.now.blend_warped(s.past, s.motion_at(motion, s.now.size()),
                       s.weights_at(motion, s.now.size()));
    s.now.to_planes(probabilities);
  }
  std::swap(s.past, s.now);
}

bool TemporalFusion::predict(const PictureMotion& motion, ProbabilityMap& probabilities) {
  Impl& s = *impl_;
  if (s.past.empty()) return false;
  if (motion.event == SceneEvent::kNone) {
    s.now.warp(s.past, s.motion_at(motion, s.past.size()));
    std::swap(s.past, s.now);
  } else if (motion.event != SceneEvent::kBlank) {
    return false;
  }
  s.past.to_planes(probabilities);
  return true;
}

void TemporalFusion::reset() { impl_->past.clear(); }
bool TemporalFusion::has_past() const { return !impl_->past.empty(); }

}  // namespace sparing
