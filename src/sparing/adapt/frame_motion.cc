#include "sparing/adapt/frame_motion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "sparing/adapt/warp.h"

namespace sparing {
namespace {

// Side of the blocks whose means are compared to tell scenes apart: noise averages out.
constexpr int kBlock = 4;

std::optional<DenseFlowPreset> preset_from_name(std::string_view name) {
  if (name == "ultrafast") return DenseFlowPreset::kUltrafast;
  if (name == "fast") return DenseFlowPreset::kFast;
  if (name == "medium") return DenseFlowPreset::kMedium;
  return std::nullopt;
}

// The finest of the reductions that LumaImage knows which is small enough.
int reduction(Size display, int max_pixels) {
  for (const int factor : {1, 2}) {
    const auto columns = static_cast<std::int64_t>((display.width + factor - 1) / factor);
    const auto rows = static_cast<std::int64_t>((display.height + factor - 1) / factor);
    if (columns * rows <= max_pixels) return factor;
  }
  return 4;
}

double spread(const LumaImage& luma) {
  double sum = 0;
  double squares = 0;
  for (int y = 0; y < luma.height(); ++y) {
    std::uint64_t row_sum = 0;
    std::uint64_t row_squares = 0;
    for (const std::uint8_t v : luma.row(y)) {
      row_sum += v;
      row_squares += static_cast<std::uint64_t>(v) * v;
    }
    sum += static_cast<double>(row_sum);
    squares += static_cast<double>(row_squares);
  }
  const double count = static_cast<double>(luma.width()) * luma.height();
  const double mean = sum / count;
  return std::sqrt(std::max(squares / count - mean * mean, 0.0));
}

// Running sums of a correlation.
struct Correlation {
  double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  void add(double x, double y) {
    n += 1;
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  // The means of a block of `count` pixels.
  void add_block(double a_sum, double b_sum, double count) {
    if (count > 0) add(a_sum / count, b_sum / count);
  }
  double value() const {
    if (n < 2) return 0;
    const double va = aa - a * a / n;
    const double vb = bb - b * b / n;
    if (va <= 0 || vb <= 0) return 0;
    return (ab - a * b / n) / std::sqrt(va * vb);
  }
};

// Of two pictures as they lie: the correlation of the means of blocks.
double still_likeness(const LumaImage& a, const LumaImage& b) {
  Correlation correlation;
  for (int top = 0; top < a.height(); top += kBlock) {
    const int bottom = std::min(top + kBlock, a.height());
    for (int left = 0; left < a.width(); left += kBlock) {
      const int right = std::min(left + kBlock, a.width());
      int a_sum = 0;
      int b_sum = 0;
      for (int y = top; y < bottom; ++y) {
        const std::uint8_t* a_row = a.row(y).data();
        const std::uint8_t* b_row = b.row(y).data();
        for (int x = left; x < right; ++x) {
          a_sum += a_row[x];
          b_sum += b_row[x];
        }
      }
      correlation.add_block(a_sum, b_sum, (bottom - top) * (right - left));
    }
  }
  return correlation.value();
}

// The value below which half of the differences lie, of whole grey levels.
float median_level(std::span<const float> values, std::span<const std::uint8_t> inside) {
  std::array<std::int64_t, 511> counts{};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!inside[i]) continue;
    ++counts[static_cast<std::size_t>(values[i] + 255.5f)];
    ++total;
  }
  std::int64_t below = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    if (2 * below >= total) return static_cast<float>(static_cast<int>(i) - 255);
  }
  return 0;
}

}  // namespace

std::string_view to_string(SceneEvent event) {
  switch (event) {
    case SceneEvent::kNone: return "none";
    case SceneEvent::kFirst: return "first";
    case SceneEvent::kCut: return "cut";
    case SceneEvent::kBlank: return "blank";
  }
  return "";
}

struct FrameMotion::Impl {
  MotionOptions options;
  std::optional<DenseFlow> flow;
  LumaImage now;       // added last
  LumaImage previous;  // the last one before that showed something
  bool now_shows = false;
  bool has_previous = false;
  FlowField field;                   // for kEvent
  std::vector<float> difference;     // previous at the motion's end point minus now
  std::vector<std::uint8_t> inside;  // whether the motion stays in the picture

  void keep_last() {
    if (!now_shows) return;
    std::swap(previous, now);
    has_previous = true;
    now_shows = false;
  }
  Status look(PictureMotion& motion, MotionDetail detail);
  Status find(FlowField& back);
  double compare(const FlowField& back);
  void smooth_error(std::vector<float>& error);
};

// What `now`, which was just filled, is.
Status FrameMotion::Impl::look(PictureMotion& motion, MotionDetail detail) {
  motion.likeness = 0;
  motion.event = SceneEvent::kBlank;
  if (spread(now) < options.black) return {};
  now_shows = true;
  motion.event = SceneEvent::kFirst;
  if (!has_previous || previous.size() != now.size()) return {};
  motion.event = SceneEvent::kNone;
  if (detail != MotionDetail::kError) {
    motion.likeness = still_likeness(now, previous);
    if (motion.likeness >= options.cut) {
      return detail == MotionDetail::kEvent ? Status() : find(motion.back);
    }
  }
  FlowField& back = detail == MotionDetail::kEvent ? field : motion.back;
  SPARING_RETURN_IF_ERROR(find(back));
  motion.likeness = compare(back);
  if (motion.likeness < options.cut) {
    motion.event = SceneEvent::kCut;
  } else if (detail == MotionDetail::kError) {
    smooth_error(motion.error);
  }
  return {};
}

Status FrameMotion::Impl::find(FlowField& back) {
  // In a picture of a few pixels there is no motion to be found.
  const bool large = std::min(now.width(), now.height()) >= DenseFlow::kMinExtent;
  if (flow && large) return flow->compute(now, previous, back);
  back.resize(now.size());
  std::fill(back.dx.begin(), back.dx.end(), 0.0f);
  std::fill(back.dy.begin(), back.dy.end(), 0.0f);
  return {};
}

// Fills difference and inside; the correlation of the means of blocks.
double FrameMotion::Impl::compare(const FlowField& back) {
  const int width = now.width();
  const int height = now.height();
  difference.resize(back.dx.size());
  inside.resize(back.dx.size());
  Correlation correlation;
  const auto blocks = static_cast<std::size_t>((width + kBlock - 1) / kBlock);
  std::vector<double> now_sum(blocks), then_sum(blocks), count(blocks);
  std::size_t i = 0;
  for (int y = 0; y < height; ++y) {
    const std::span<const std::uint8_t> row = now.row(y);
    for (int x = 0; x < width; ++x, ++i) {
      const float u = static_cast<float>(x) + back.dx[i];
      const float v = static_cast<float>(y) + back.dy[i];
      const float here = static_cast<float>(row[static_cast<std::size_t>(x)]);
      const float then = adapt::sample_luma(previous, u, v);
      inside[i] = adapt::is_inside(u, v, now.size()) ? 1 : 0;
      difference[i] = then - here;
      if (!inside[i]) continue;
      const auto block = static_cast<std::size_t>(x / kBlock);
      now_sum[block] += here;
      then_sum[block] += then;
      count[block] += 1;
    }
    if (y % kBlock != kBlock - 1 && y != height - 1) continue;
    for (std::size_t b = 0; b < blocks; ++b) {
      correlation.add_block(now_sum[b], then_sum[b], count[b]);
      now_sum[b] = then_sum[b] = count[b] = 0;
    }
  }
  return correlation.value();
}

// Absolute differences without the common change of brightness, their means over 3x3 pixels.
void FrameMotion::Impl::smooth_error(std::vector<float>& error) {
  const float common = median_level(difference, inside);
  for (float& d : difference) d = std::abs(d - common);
  const int height = now.height();
  const auto columns = static_cast<std::size_t>(now.width());
  error.resize(difference.size());
  std::vector<float> sums(columns + 2);  // of three rows, with a column on each side
  for (int y = 0; y < height; ++y) {
    const auto row_at = [&](int at) {
      return difference.data() + static_cast<std::size_t>(std::clamp(at, 0, height - 1)) * columns;
    };
    const float* above = row_at(y - 1);
    const float* here = row_at(y);
    const float* below = row_at(y + 1);
    for (std::size_t x = 0; x < columns; ++x) sums[x + 1] = above[x] + here[x] + below[x];
    sums.front() = sums[1];
    sums.back() = sums[columns];
    float* out = error.data() + static_cast<std::size_t>(y) * columns;
    for (std::size_t x = 0; x < columns; ++x) {
      out[x] = (sums[x] + sums[x + 1] + sums[x + 2]) * (1.0f / 9);
    }
  }
  for (std::size_t i = 0; i < error.size(); ++i) {
    if (!inside[i]) error[i] = PictureMotion::kOutside;
  }
}

FrameMotion::FrameMotion(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FrameMotion::FrameMotion(FrameMotion&&) noexcept = default;
FrameMotion& FrameMotion::operator=(FrameMotion&&) noexcept = default;
FrameMotion::~FrameMotion() = default;

Result<FrameMotion> FrameMotion::create(const MotionOptions& options) {
  SPARING_RETURN_IF_ERROR(validate_options(options));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (const auto preset = preset_from_name(options.flow)) {
    impl->flow.emplace(*preset);
  }
  return FrameMotion(std::move(impl));
}

Status FrameMotion::add(const VideoFrame& frame, PictureMotion& motion, MotionDetail detail) {
  SPARING_RETURN_IF_ERROR(validate(frame));
  impl_->keep_last();
  SPARING_RETURN_IF_ERROR(
      impl_->now.extract(frame, reduction(display_size(frame), impl_->options.max_pixels)));
  return impl_->look(motion, detail);
}

Status FrameMotion::add(const LumaImage& luma, PictureMotion& motion, MotionDetail detail) {
  if (luma.empty()) {
    return Error{ErrorCode::kInvalidArgument, "the luma picture", "it is empty",
                 "extract it from a frame first"};
  }
  impl_->keep_last();
  impl_->now = luma;
  return impl_->look(motion, detail);
}

void FrameMotion::reset() {
  impl_->has_previous = false;
  impl_->now_shows = false;
}

}  // namespace sparing
