#include "sparing/flow/flow_pyramid.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <opencv2/core.hpp>
#include <string>

// OpenCV would build this pyramid itself, but with its own threads and its own, process-wide,
// number of them; here the caller decides where work runs.

namespace sparing {
namespace {

// Coarser levels say nothing more about motion than a guess does.
constexpr int kMinLevelExtent = 12;

// The row functions have pointers that do not alias, so that they are vectorised.
void halve_rows(const std::uint8_t* __restrict a, const std::uint8_t* __restrict b,
                std::uint8_t* __restrict out, int count) {
  for (int x = 0; x < count; ++x) {
    std::uint16_t p, q;  // pairs of pixels; their sums do not depend on the byte order
    std::memcpy(&p, a + 2 * x, sizeof p);
    std::memcpy(&q, b + 2 * x, sizeof q);
    const auto sum = static_cast<std::uint16_t>((p & 0xff) + (p >> 8) + (q & 0xff) + (q >> 8) + 2);
    out[x] = static_cast<std::uint8_t>(sum >> 2);
  }
}

void halve(const cv::Mat& from, cv::Mat& to) {
  for (int y = 0; y < to.rows; ++y) {
    halve_rows(from.ptr<std::uint8_t>(2 * y), from.ptr<std::uint8_t>(2 * y + 1),
               to.ptr<std::uint8_t>(y), to.cols);
  }
}

// Mirrors the picture into its border, the edge pixel itself not repeated.
void pad_picture(cv::Mat& padded, Size size) {
  const auto mirrored = [](int i, int extent) {
    if (extent == 1) return 0;
    const int period = 2 * (extent - 1);
    i = ((i % period) + period) % period;
    return i < extent ? i : period - i;
  };
  std::array<int, kFlowBorder> left, right;  // columns that the border shows
  for (int i = 1; i <= kFlowBorder; ++i) {
    left[static_cast<std::size_t>(i - 1)] = mirrored(-i, size.width);
    right[static_cast<std::size_t>(i - 1)] = mirrored(size.width - 1 + i, size.width);
  }
  for (int y = 0; y < size.height; ++y) {
    std::uint8_t* row = padded.ptr<std::uint8_t>(y + kFlowBorder) + kFlowBorder;
    for (int i = 1; i <= kFlowBorder; ++i) {
      row[-i] = row[left[static_cast<std::size_t>(i - 1)]];
      row[size.width - 1 + i] = row[right[static_cast<std::size_t>(i - 1)]];
    }
  }
  const auto bytes = static_cast<std::size_t>(padded.cols);
  for (int i = 1; i <= kFlowBorder; ++i) {
    std::memcpy(padded.ptr(kFlowBorder - i), padded.ptr(kFlowBorder + mirrored(-i, size.height)),
                bytes);
    const int below = size.height - 1 + i;
    std::memcpy(padded.ptr(kFlowBorder + below),
                padded.ptr(kFlowBorder + mirrored(below, size.height)), bytes);
  }
}

void across_rows(const std::uint8_t* __restrict above, const std::uint8_t* __restrict row,
                 const std::uint8_t* __restrict below, std::int16_t* __restrict smooth,
                 std::int16_t* __restrict slope, int count) {
  for (int x = 0; x < count; ++x) {
    smooth[x] = static_cast<std::int16_t>(3 * (above[x] + below[x]) + 10 * row[x]);
    slope[x] = static_cast<std::int16_t>(below[x] - above[x]);
  }
}

void along_row(const std::int16_t* __restrict smooth, const std::int16_t* __restrict slope,
               std::int16_t* __restrict out, int count) {
  for (int x = 0; x < count; ++x) {
    out[2 * x] = static_cast<std::int16_t>(smooth[x + 1] - smooth[x - 1]);
    out[2 * x + 1] = static_cast<std::int16_t>(3 * (slope[x + 1] + slope[x - 1]) + 10 * slope[x]);
  }
}

// Scharr's derivatives, x and y in turn, on the scale that OpenCV's tracker expects (32 times the
// gradient). The picture's border must be filled.
void differentiate(const cv::Mat& picture, cv::Mat& gradient, std::vector<std::int16_t>& scratch) {
  const int width = picture.cols;
  const auto step = static_cast<std::ptrdiff_t>(picture.step);
  scratch.resize(2 * static_cast<std::size_t>(width + 2));
  std::int16_t* smooth = scratch.data() + 1;               // over three rows
  std::int16_t* slope = scratch.data() + (width + 2) + 1;  // from the row above to that below
  for (int y = 0; y < picture.rows; ++y) {
    const std::uint8_t* row = picture.ptr<std::uint8_t>(y) - 1;
    across_rows(row - step, row, row + step, smooth - 1, slope - 1, width + 2);
    along_row(smooth, slope, gradient.ptr<std::int16_t>(y), width);
  }
}

void make_level(FlowPyramid::Impl& impl, std::size_t level, Size size, const LumaImage* image,
                std::vector<std::int16_t>& scratch) {
  const cv::Rect inner(kFlowBorder, kFlowBorder, size.width, size.height);
  cv::Mat& picture_memory = impl.storage[2 * level];
  cv::Mat& gradient_memory = impl.storage[2 * level + 1];
  const cv::Size padded(size.width + 2 * kFlowBorder, size.height + 2 * kFlowBorder);
  if (picture_memory.size() != padded) {
    picture_memory.create(padded, CV_8UC1);
    gradient_memory.create(padded, CV_16SC2);
    gradient_memory.setTo(cv::Scalar::all(0));  // the border stays so
    impl.levels[2 * level] = picture_memory(inner);
    impl.levels[2 * level + 1] = gradient_memory(inner);
  }
  cv::Mat& picture = impl.levels[2 * level];
  if (image != nullptr) {
    for (int y = 0; y < size.height; ++y) {
      std::memcpy(picture.ptr(y), image->row(y).data(), static_cast<std::size_t>(size.width));
    }
  } else {
    halve(impl.levels[2 * level - 2], picture);
  }
  pad_picture(picture_memory, size);
  differentiate(picture, impl.levels[2 * level + 1], scratch);
}

}  // namespace

FlowPyramid::FlowPyramid() : impl_(std::make_unique<Impl>()) {}
FlowPyramid::FlowPyramid(FlowPyramid&&) noexcept = default;
FlowPyramid& FlowPyramid::operator=(FlowPyramid&&) noexcept = default;
FlowPyramid::~FlowPyramid() = default;

bool FlowPyramid::empty() const { return impl_->levels.empty(); }
Size FlowPyramid::size() const { return impl_->size; }

Status FlowPyramid::build(const LumaImage& image, int levels) {
  if (image.empty()) {
    return Error{ErrorCode::kInvalidArgument, "luma picture", "is empty",
                 "extract it from a frame first"};
  }
  if (levels < 1 || levels > kMaxLevels) {
    return Error{ErrorCode::kInvalidArgument, "levels of the flow pyramid",
                 std::to_string(levels) + " is out of range",
                 "give 1 to " + std::to_string(kMaxLevels)};
  }
  try {
    std::vector<Size> sizes{image.size()};
    while (static_cast<int>(sizes.size()) < levels &&
           std::min(sizes.back().width, sizes.back().height) >= 2 * kMinLevelExtent) {
      sizes.push_back({sizes.back().width / 2, sizes.back().height / 2});
    }
    impl_->storage.resize(2 * sizes.size());
    impl_->levels.resize(2 * sizes.size());
    std::vector<std::int16_t> scratch;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      make_level(*impl_, i, sizes[i], i == 0 ? &image : nullptr, scratch);
    }
    impl_->size = image.size();
  } catch (const std::exception& error) {
    *impl_ = Impl{};
    return Error{ErrorCode::kInternal, "flow pyramid", error.what(), "free memory"};
  }
  return {};
}

}  // namespace sparing
