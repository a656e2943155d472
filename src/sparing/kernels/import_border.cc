// The border of a picture in a tensor: runs of one precomputed pixel. It is drawn dozens of times a
// canvas, mostly in strips of a few pixels, so nothing is rounded or looked up per element.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "sparing/kernels/element.h"
#include "sparing/kernels/import_plan.h"

namespace sparing::internal {
namespace {

constexpr std::size_t kShortRun = 64;  // bytes

// Whole units repeated, of which runs are copied.
struct Pattern {
  std::array<std::byte, 768> bytes;
  std::size_t size = 0;
};

Pattern repeat(const std::byte* unit, std::size_t unit_size, std::size_t wanted) {
  Pattern pattern;
  const std::size_t limit = pattern.bytes.size() / unit_size * unit_size;
  pattern.size = std::min(limit, wanted);
  std::memcpy(pattern.bytes.data(), unit, unit_size);
  for (std::size_t done = unit_size; done < pattern.size;) {
    const std::size_t more = std::min(done, pattern.size - done);
    std::memcpy(pattern.bytes.data() + done, pattern.bytes.data(), more);
    done += more;
  }
  return pattern;
}

void fill_run(const Pattern& pattern, std::size_t size, std::byte* run) {
  if (size <= kShortRun) {  // most of all, and not worth a call
    std::size_t i = 0;
    for (; i + 8 <= size; i += 8) std::memcpy(run + i, pattern.bytes.data() + i, 8);
    for (; i < size; ++i) run[i] = pattern.bytes[i];
    return;
  }
  for (; size > pattern.size; size -= pattern.size, run += pattern.size) {
    std::memcpy(run, pattern.bytes.data(), pattern.size);
  }
  std::memcpy(run, pattern.bytes.data(), size);
}

// The elements of one pixel of border, one after the other.
using Pixel = std::array<std::byte, 4 * sizeof(std::int64_t)>;

Pixel border_pixel(const ImportOptions& options, const TensorView& tensor) {
  Pixel pixel{};
  const std::size_t size = info(tensor.type).size;
  for (std::size_t c = 0; c < static_cast<std::size_t>(tensor.channels); ++c) {
    const double value =
        c == 3 ? options.alpha
               : (static_cast<double>(options.pad[c]) - options.mean[c]) / options.std[c];
    store_element(tensor.type, quantized(tensor.type, value, options.quantization),
                  pixel.data() + c * size);
  }
  return pixel;
}

// Rows of `unit_size` bytes a column without gaps between columns, rows themselves without gaps
// where the tensor has none.
void fill_dense(const std::byte* unit, std::size_t unit_size, const PixelRect& rect,
                std::ptrdiff_t stride_y, std::byte* first) {
  std::size_t run = unit_size * static_cast<std::size_t>(rect.width);
  int rows = rect.height;
  if (stride_y == static_cast<std::ptrdiff_t>(run)) {
    run *= static_cast<std::size_t>(rows);
    rows = 1;
  }
  const Pattern pattern = repeat(unit, unit_size, run);
  for (int y = 0; y < rows; ++y) fill_run(pattern, run, first + y * stride_y);
}

void fill_strided(const std::byte* element, std::size_t size, const PixelRect& rect,
                  const TensorView& tensor, std::byte* first) {
  for (int y = 0; y < rect.height; ++y) {
    std::byte* const row = first + y * tensor.stride_y;
    for (int x = 0; x < rect.width; ++x) std::memcpy(row + x * tensor.stride_x, element, size);
  }
}

void fill_rect(const Pixel& pixel, const PixelRect& rect, int image, const TensorView& tensor) {
  if (rect.empty()) return;
  const std::size_t size = info(tensor.type).size;
  const auto element = static_cast<std::ptrdiff_t>(size);
  if (tensor.stride_c == element && tensor.stride_x == tensor.channels * element) {
    fill_dense(pixel.data(), size * static_cast<std::size_t>(tensor.channels), rect,
               tensor.stride_y, element_address(tensor, image, 0, rect.y, rect.x));
    return;
  }
  for (int c = 0; c < tensor.channels; ++c) {
    const std::byte* const value = pixel.data() + static_cast<std::size_t>(c) * size;
    std::byte* const first = element_address(tensor, image, c, rect.y, rect.x);
    if (tensor.stride_x == element) {
      fill_dense(value, size, rect, tensor.stride_y, first);
    } else {
      fill_strided(value, size, rect, tensor, first);
    }
  }
}

}  // namespace

void fill_border(const ImportPlan& plan, const ImportOptions& options, const TensorView& tensor) {
  const PixelRect& outer = plan.destination;
  const PixelRect& inner = plan.content;
  if (inner == outer) return;
  const Pixel pixel = border_pixel(options, tensor);
  const int image = options.batch_index;
  const int inner_right = inner.x + inner.width;
  const int inner_bottom = inner.y + inner.height;
  fill_rect(pixel, {outer.x, outer.y, outer.width, inner.y - outer.y}, image, tensor);
  fill_rect(pixel, {outer.x, inner.y, inner.x - outer.x, inner.height}, image, tensor);
  fill_rect(pixel, {inner_right, inner.y, outer.x + outer.width - inner_right, inner.height}, image,
            tensor);
  fill_rect(pixel, {outer.x, inner_bottom, outer.width, outer.y + outer.height - inner_bottom},
            image, tensor);
}

}  // namespace sparing::internal
