#include "sparing/compose/privacy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include "sparing/compose/label_check.h"
#include "sparing/compose/raster.h"
#include "sparing/io/overlay.h"

namespace sparing {
namespace {

constexpr int kReferenceRows = 720;
constexpr int kLeastBlock = 8;
constexpr std::uint8_t kMasked = 255;

// Picture columns (or rows) that label column `index` of `labels` overlaps, `margin` to both sides.
std::pair<int, int> covered(int index, int labels, int pixels, int margin) {
  const auto scaled = [&](std::int64_t i) { return i * pixels; };
  const int first = static_cast<int>(scaled(index) / labels);
  const int last = static_cast<int>((scaled(index + 1) + labels - 1) / labels);
  return {std::max(0, first - margin), std::min(pixels, last + margin)};
}

void or_row(const std::uint8_t* __restrict in, std::uint8_t* __restrict out, int count) {
  for (int x = 0; x < count; ++x) out[x] |= in[x];
}

void set_masked(std::uint8_t* __restrict samples, const std::uint8_t* __restrict mask,
                std::uint8_t value, int count) {
  for (int x = 0; x < count; ++x) samples[x] = mask[x] != 0 ? value : samples[x];
}

// Means of the masked samples of each block of one plane.
struct BlockMeans {
  Size count;
  std::vector<float> means;
  std::vector<float> weights;  // 1, or 0 where no sample of the block is masked

  std::size_t at(int bx, int by) const {
    return static_cast<std::size_t>(by) * static_cast<std::size_t>(count.width) +
           static_cast<std::size_t>(bx);
  }
};

BlockMeans block_means(const Picture& picture, int plane, const ByteRaster& mask, int block) {
  const Size size = picture.plane_size(plane);
  BlockMeans result;
  result.count = {(size.width + block - 1) / block, (size.height + block - 1) / block};
  const std::size_t blocks =
      static_cast<std::size_t>(result.count.width) * static_cast<std::size_t>(result.count.height);
  std::vector<std::int64_t> sums(blocks), samples(blocks);
  for (int y = 0; y < size.height; ++y) {
    const std::uint8_t* in = picture.row(plane, y);
    const std::uint8_t* masked = mask.row(y);
    for (int x = 0; x < size.width; ++x) {
      if (masked[x] == 0) continue;
      const std::size_t i = result.at(x / block, y / block);
      sums[i] += in[x];
      ++samples[i];
    }
  }
  result.means.resize(blocks);
  result.weights.resize(blocks);
  for (std::size_t i = 0; i < blocks; ++i) {
    if (samples[i] == 0) continue;
    result.means[i] = static_cast<float>(sums[i]) / static_cast<float>(samples[i]);
    result.weights[i] = 1;
  }
  return result;
}

// Between the centres of blocks, linear, of those that have a mean.
float interpolated(const BlockMeans& blocks, float x, float y) {
  const float cx = std::clamp(x, 0.0f, static_cast<float>(blocks.count.width - 1));
  const float cy = std::clamp(y, 0.0f, static_cast<float>(blocks.count.height - 1));
  const int bx = static_cast<int>(cx), by = static_cast<int>(cy);
  float sum = 0, weights = 0;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      const int nx = std::min(bx + dx, blocks.count.width - 1);
      const int ny = std::min(by + dy, blocks.count.height - 1);
      const float fx = cx - static_cast<float>(bx), fy = cy - static_cast<float>(by);
      const std::size_t i = blocks.at(nx, ny);
      // The block that the pixel is in has a mean: with some weight the sum is never nothing.
      const float weight =
          ((dx != 0 ? fx : 1 - fx) * (dy != 0 ? fy : 1 - fy) + 1e-4f) * blocks.weights[i];
      sum += blocks.means[i] * weight;
      weights += weight;
    }
  }
  return sum / weights;
}

void fill_blocks(Picture& picture, int plane, const ByteRaster& mask, int block, bool smooth) {
  const BlockMeans blocks = block_means(picture, plane, mask, block);
  const Size size = picture.plane_size(plane);
  const float step = 1 / static_cast<float>(block);
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* out = picture.row(plane, y);
    const std::uint8_t* masked = mask.row(y);
    const float by = (static_cast<float>(y) + 0.5f) * step - 0.5f;
    for (int x = 0; x < size.width; ++x) {
      if (masked[x] == 0) continue;
      const float bx = (static_cast<float>(x) + 0.5f) * step - 0.5f;
      const float value =
          smooth ? interpolated(blocks, bx, by) : blocks.means[blocks.at(x / block, y / block)];
      out[x] = static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
    }
  }
}

}  // namespace

struct PrivacyMasker::Impl {
  PrivacyOptions options;
  std::array<bool, 256> masked_label{};
  ByteRaster mask;         // kMasked or 0, for each pixel
  ByteRaster chroma_mask;  // for each chroma sample
  std::vector<std::uint8_t> line;
  std::int64_t masked = 0;

  // Marks the columns of one label row in `line`; false: there are none.
  bool mark_columns(std::span<const std::uint8_t> labels, int width, int margin) {
    bool any = false;
    const int count = static_cast<int>(labels.size());
    for (int x = 0; x < count; ++x) {
      if (!masked_label[labels[static_cast<std::size_t>(x)]]) continue;
      int end = x + 1;
      while (end < count && masked_label[labels[static_cast<std::size_t>(end)]]) ++end;
      if (!any) line.assign(static_cast<std::size_t>(width), 0);
      any = true;
      const int first = covered(x, count, width, margin).first;
      const int last = covered(end - 1, count, width, margin).second;
      std::memset(line.data() + first, kMasked, static_cast<std::size_t>(last - first));
      x = end;
    }
    return any;
  }

  void make_mask(const LabelMap& labels, const Picture& picture) {
    const Size size = picture.size();
    const int margin = static_cast<int>(
        (std::int64_t{options.margin} * std::min(size.width, size.height) + kReferenceRows - 1) /
        kReferenceRows);
    mask.resize(size);
    std::fill(mask.values.begin(), mask.values.end(), std::uint8_t{0});
    for (int j = 0; j < labels.size.height; ++j) {
      if (!mark_columns(labels.row(j), size.width, margin)) continue;
      const auto [top, bottom] = covered(j, labels.size.height, size.height, margin);
      for (int y = top; y < bottom; ++y) or_row(line.data(), mask.row(y), size.width);
    }
    masked = std::count(mask.values.begin(), mask.values.end(), kMasked);
    chroma_mask.resize(picture.plane_size(1));
    for (int y = 0; y < chroma_mask.size.height; ++y) {
      const std::uint8_t* upper = mask.row(2 * y);
      const std::uint8_t* lower = mask.row(std::min(2 * y + 1, size.height - 1));
      std::uint8_t* out = chroma_mask.row(y);
      for (int x = 0; x < chroma_mask.size.width; ++x) {
        const int right = std::min(2 * x + 1, size.width - 1);
        out[x] = upper[2 * x] | upper[right] | lower[2 * x] | lower[right];
      }
    }
  }

  void fill_color(Picture& picture) {
    const YuvColor color = to_yuv(options.color, picture.color_space());
    const std::uint8_t samples[3] = {color.y, color.u, color.v};
    for (int p = 0; p < 3; ++p) {
      const Size size = picture.plane_size(p);
      const ByteRaster& marks = p > 0 ? chroma_mask : mask;
      for (int y = 0; y < size.height; ++y) {
        set_masked(picture.row(p, y), marks.row(y), samples[p], size.width);
      }
    }
  }

  void fill_means(Picture& picture) {
    const Size size = picture.size();
    const double side = options.block * std::min(size.width, size.height);
    // Whole chroma samples.
    const int block = std::max(kLeastBlock, static_cast<int>(std::lround(side / 2)) * 2);
    const bool smooth = options.fill == PrivacyFill::kBlur;
    for (int p = 0; p < 3; ++p) {
      fill_blocks(picture, p, p > 0 ? chroma_mask : mask, p > 0 ? block / 2 : block, smooth);
    }
  }

  Status apply(const LabelMap& labels, Picture& picture) {
    SPARING_RETURN_IF_ERROR(check_labels(labels, picture));
    make_mask(labels, picture);
    if (masked == 0) return {};
    if (options.fill == PrivacyFill::kColor) {
      fill_color(picture);
    } else {
      fill_means(picture);
    }
    return {};
  }
};

PrivacyMasker::PrivacyMasker(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrivacyMasker::~PrivacyMasker() = default;
PrivacyMasker::PrivacyMasker(PrivacyMasker&& other) noexcept = default;
PrivacyMasker& PrivacyMasker::operator=(PrivacyMasker&& other) noexcept = default;

Result<PrivacyMasker> PrivacyMasker::create(const PrivacyOptions& options) {
  const auto invalid = [](std::string thing, std::string problem, std::string fix) {
    return Error{ErrorCode::kInvalidArgument, std::move(thing), std::move(problem), std::move(fix)};
  };
  if (options.classes.empty()) {
    return invalid("privacy", "no classes are given", "name the classes to mask out");
  }
  if (!(options.block >= 0.01 && options.block <= 1)) {
    return invalid("privacy's blocks", std::to_string(options.block) + " is out of range",
                   "give 0.01 to 1 of the picture's shorter side");
  }
  if (options.margin < 0 || options.margin > 200) {
    return invalid("privacy's margin", std::to_string(options.margin) + " is out of range",
                   "give 0 to 200 pixels");
  }
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  for (const std::uint8_t label : options.classes) impl->masked_label[label] = true;
  if (options.mask_unknown) impl->masked_label[kIgnoreLabel] = true;
  return PrivacyMasker(std::move(impl));
}

Status PrivacyMasker::apply(const LabelMap& labels, Picture& picture) {
  try {
    return impl_->apply(labels, picture);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kInternal, "privacy mask of a picture", "out of memory", "free memory"};
  }
}

std::int64_t PrivacyMasker::masked_pixels() const { return impl_->masked; }

}  // namespace sparing
