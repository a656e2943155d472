// Nothing is read outside the planes, proved by pages that must not be touched.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sparing/kernels/import.h"
#include "sparing/kernels/import_targets_test_util.h"
#include "sparing/kernels/import_test_util.h"

namespace sparing {
namespace {

using test::for_each_target;
using test::TestTensor;

// A plane between two pages that must not be touched, against the one or the other.
class GuardedPlane {
 public:
  GuardedPlane(std::size_t bytes, bool at_end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    void* memory = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    base_ = static_cast<std::uint8_t*>(memory);
    if (mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) return;
    data_ = base_ + page + (at_end ? inner - bytes : 0);
  }
  ~GuardedPlane() {
    if (base_ != nullptr) munmap(base_, size_);
  }
  GuardedPlane(GuardedPlane&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), data_(other.data_), size_(other.size_) {}
  GuardedPlane& operator=(GuardedPlane&&) = delete;
  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* base_ = nullptr;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// A frame in guarded planes.
struct GuardedFrame {
  VideoFrame view;
  std::vector<GuardedPlane> planes;

  GuardedFrame(PixelFormat format, Size size, bool at_end, bool bottom_up) {
    view.format = format;
    view.coded_size = size;
    for (int p = 0; p < info(format).planes; ++p) {
      const PlaneExtent extent = plane_extent(format, p, size);
      const std::ptrdiff_t bytes = std::ptrdiff_t{extent.row_bytes} * extent.rows;
      planes.emplace_back(static_cast<std::size_t>(bytes), at_end);
      Plane& plane = view.planes[static_cast<std::size_t>(p)];
      plane.data = planes.back().data() + (bottom_up ? bytes - extent.row_bytes : 0);
      plane.stride = bottom_up ? -extent.row_bytes : extent.row_bytes;
    }
  }
};

void import_all(const GuardedFrame& frame, const ImportOptions& options) {
  const Size size = frame.view.coded_size;
  const Rect rects[] = {{0, 0, double(size.width), double(size.height)},
                        {-3, -3, size.width + 6.0, size.height + 6.0},
                        {size.width - 1.5, size.height - 0.7, 9, 9},
                        {0.3, 0.3, size.width - 0.6, size.height - 0.6}};
  for (const Rect& rect : rects) {
    for (const Size out : {size, Size{20, 10}, Size{150, 3}, Size{1, 1}}) {
      ImportOptions here = options;
      here.visible_rect = rect;
      const TestTensor tensor(DataType::kUint8, {1, out.height, out.width, 3}, Layout::kNhwc);
      ASSERT_TRUE(import_frame(frame.view, here, tensor.view()).ok());
    }
  }
}

class ImportGuard : public ::testing::TestWithParam<PixelFormatInfo> {};

TEST_P(ImportGuard, ReadsNothingOutsideThePlanes) {
  const Size sizes[] = {{1, 1}, {4, 4}, {7, 3}, {8, 2}, {33, 5}, {64, 4}, {65, 4}, {130, 6}};
  for_each_target([&] {
    for (const Size size : sizes) {
      for (const bool at_end : {true, false}) {
        for (const bool bottom_up : {false, true}) {
          const GuardedFrame frame(GetParam().format, size, at_end, bottom_up);
          ASSERT_NE(frame.planes.back().data(), nullptr);
          for (const Filter filter : {Filter::kBilinear, Filter::kArea, Filter::kTriangle}) {
            for (const bool turned : {false, true}) {
              ImportOptions options;
              options.filter = filter;
              if (turned) options.orientation = {Rotation::k180, false};
              import_all(frame, options);
            }
          }
        }
      }
    }
  });
}

// So thin that it ends where it begins, at the end of the picture.
TEST_P(ImportGuard, VisibleRectangleThinnerThanRounding) {
  for (const Rect& rect : {Rect{0, 64, 64, 1e-20}, Rect{64, 0, 1e-20, 64}}) {
    GuardedFrame frame(GetParam().format, {64, 64}, true, false);
    ASSERT_NE(frame.planes.back().data(), nullptr);
    frame.view.visible_rect = rect;
    const TestTensor tensor(DataType::kFloat32, {1, 3, 8, 8}, Layout::kNchw);
    // Refused or drawn, but not read beyond the end.
    (void)import_frame(frame.view, {}, tensor.view());
    (void)import_frame_reference(frame.view, {}, tensor.view());
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ImportGuard, ::testing::ValuesIn(kPixelFormats),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace sparing
