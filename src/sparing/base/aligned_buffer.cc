#include "sparing/base/aligned_buffer.h"

#include <cstring>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sparing {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t size) {
  const std::size_t alignment = size >= kHugePage ? kHugePage : kBufferAlignment;
  const std::size_t padded = (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  if (padded < size) return;  // overflow
  void* memory = nullptr;
  // Unlike aligned_alloc it takes sizes that are not whole alignments.
  if (posix_memalign(&memory, alignment, padded > 0 ? padded : kBufferAlignment) != 0) return;
#ifdef __linux__
  // Advice: where it cannot be followed, pages are small.
  if (alignment == kHugePage) madvise(memory, padded, MADV_HUGEPAGE);
#endif
  data_.reset(static_cast<std::byte*>(memory));
  size_ = size;
  std::memset(memory, 0, padded);
}

}  // namespace sparing
