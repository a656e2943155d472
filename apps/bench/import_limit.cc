#include "import_limit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sparing/base/check.h"
#include "sparing/base/clock.h"
#include "sparing/kernels/import_plan.h"
#include "vector_rows.h"

namespace sparing::bench {
namespace {

using internal::PixelAxis;
using internal::SampleAxis;

// Adds first..last, limited to the axis.
void add_range(const SampleAxis& samples, double first, double last, std::vector<bool>& used) {
  const auto low = std::max(static_cast<int>(first), samples.first);
  const auto high = std::min(static_cast<int>(last), samples.last);
  for (int i = std::min(low, samples.last); i <= std::max(high, samples.first); ++i) {
    used[static_cast<std::size_t>(i)] = true;
  }
}

// Which samples the pixels look at, by the definition of docs/import.md.
std::vector<bool> used_samples(const PixelAxis& pixels, const SampleAxis& samples) {
  std::vector<bool> used(static_cast<std::size_t>(samples.last) + 1);
  const double extent = std::abs(pixels.step) * samples.scale;
  for (int k = 0; k < pixels.count; ++k) {
    const double at = internal::coded_position(pixels, k) * samples.scale - samples.offset;
    if (pixels.filter == Filter::kArea && extent > 1) {
      const double begin = at + 0.5 - extent / 2;
      add_range(samples, std::floor(begin), std::ceil(begin + extent) - 1, used);
    } else {
      SPARING_CHECK(pixels.filter == Filter::kBilinear || pixels.filter == Filter::kArea);
      add_range(samples, std::floor(at), std::ceil(at), used);
    }
  }
  return used;
}

// The lines of one plane, as bits counted from the line in which it begins.
class Lines {
 public:
  Lines(const Plane& plane, PlaneExtent extent)
      : begin_(reinterpret_cast<std::uintptr_t>(plane.data) / kCacheLine) {
    const auto bytes =
        static_cast<std::size_t>(plane.stride) * static_cast<std::size_t>(extent.rows) + kCacheLine;
    touched_.resize(bytes / kCacheLine + 1);
  }
  void touch(const std::uint8_t* byte) {
    touched_[reinterpret_cast<std::uintptr_t>(byte) / kCacheLine - begin_] = true;
  }
  double bytes() const {
    return static_cast<double>(std::count(touched_.begin(), touched_.end(), true)) * kCacheLine;
  }

 private:
  std::uintptr_t begin_;
  std::vector<bool> touched_;
};

void touch_component(const VideoFrame& frame, const internal::ImportPlan& plan, std::size_t c,
                     Lines& lines) {
  const PixelFormatInfo& format = info(frame.format);
  const ComponentLayout& layout = format.components[c];
  const bool is_chroma = format.model == ColorModel::kYuv && c > 0;
  const internal::SampleGrid& grid = is_chroma ? plan.chroma : plan.luma;
  const std::vector<bool> columns = used_samples(plan.x, grid.x);
  const std::vector<bool> rows = used_samples(plan.y, grid.y);
  const Plane& plane = frame.planes[static_cast<std::size_t>(layout.plane)];
  for (std::size_t y = 0; y < rows.size(); ++y) {
    if (!rows[y]) continue;
    const std::uint8_t* row =
        plane.data + static_cast<std::ptrdiff_t>(y) * plane.stride + layout.offset;
    for (std::size_t x = 0; x < columns.size(); ++x) {
      if (columns[x]) lines.touch(row + static_cast<std::ptrdiff_t>(x) * layout.step);
    }
  }
}

Result<double> touched_bytes(const ImportJob& job, const Shot& shot, const TensorView& tensor) {
  const VideoFrame& frame = shot.frame;
  std::vector<Lines> planes;
  for (int p = 0; p < info(frame.format).planes; ++p) {
    planes.emplace_back(frame.planes[static_cast<std::size_t>(p)],
                        plane_extent(frame.format, p, frame.coded_size));
  }
  for (const Cell& cell : shot.cells) {
    SPARING_ASSIGN_OR_RETURN(const internal::ImportPlan plan,
                             internal::plan_import(frame, import_options(job, cell), tensor));
    for (std::size_t c = 0; c < 3; ++c) {
      const int plane = info(frame.format).components[c].plane;
      touch_component(frame, plan, c, planes[static_cast<std::size_t>(plane)]);
    }
  }
  double bytes = 0;
  for (const Lines& lines : planes) bytes += lines.bytes();
  return bytes;
}

constexpr std::size_t kColdBytes = 256u << 20;
constexpr std::size_t kChunk = 4u << 20;

double gbps(std::size_t bytes, Clock::time_point start) {
  return static_cast<double>(bytes) / seconds_since(start) * 1e-9;
}

}  // namespace

Result<double> touched_bytes(const ImportJob& job, std::span<const Shot> shots) {
  std::byte nowhere{};  // plans look at shapes, not at memory
  const Shape shape = job.layout == Layout::kNchw
                          ? Shape{1, 3, job.output.height, job.output.width}
                          : Shape{1, job.output.height, job.output.width, 3};
  const TensorView tensor = dense_view(&nowhere, job.type, shape, job.layout);
  double sum = 0;
  for (const Shot& shot : shots) {
    SPARING_ASSIGN_OR_RETURN(const double bytes, touched_bytes(job, shot, tensor));
    sum += bytes;
  }
  return sum / static_cast<double>(shots.size());
}

double output_bytes(const ImportJob& job, std::span<const Shot> shots) {
  double pixels = 0;
  for (const Shot& shot : shots) {
    for (const Cell& cell : shot.cells) {
      pixels += static_cast<double>(cell.destination.width) * cell.destination.height;
    }
  }
  return pixels * 3 * static_cast<double>(info(job.type).size) / static_cast<double>(shots.size());
}

MemoryProbe::MemoryProbe() : buffer_(kColdBytes) {
  SPARING_CHECK(buffer_.data() != nullptr);
  // Pages that were never written to could all be one.
  write_pass(reinterpret_cast<std::uint8_t*>(buffer_.data()), kColdBytes, 1);
}

double MemoryProbe::read_gbps() {
  const auto* data = reinterpret_cast<const std::uint8_t*>(buffer_.data()) + next_;
  next_ = (next_ + kChunk) % kColdBytes;
  const Clock::time_point start = Clock::now();
  const std::uint64_t sum = read_pass(data, kChunk);
  const double result = gbps(kChunk, start);
  SPARING_CHECK(sum != 0);
  return result;
}

double MemoryProbe::write_gbps(std::span<std::byte> memory) {
  auto* data = reinterpret_cast<std::uint8_t*>(memory.data());
  write_pass(data, memory.size(), 1);
  const Clock::time_point start = Clock::now();
  write_pass(data, memory.size(), 2);
  return gbps(memory.size(), start);
}

}  // namespace sparing::bench
