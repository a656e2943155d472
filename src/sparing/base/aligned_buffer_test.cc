#include "sparing/base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sparing {
namespace {

TEST(AlignedBuffer, DefaultIsEmpty) {
  const AlignedBuffer buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_TRUE(buffer.span().empty());
}

TEST(AlignedBuffer, IsAlignedAndZeroUpToTheNextBoundary) {
  for (const std::size_t size : {1, 2, 63, 64, 65, 127, 128, 129, 100003}) {
    // Dirties a block of the same size first, which the allocator then tends to hand out again.
    AlignedBuffer dirty(size);
    std::fill(dirty.span().begin(), dirty.span().end(), std::byte{0xff});
    dirty = {};
    const AlignedBuffer buffer(size);
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kBufferAlignment, 0u);
    const std::size_t padded = (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + padded,
                            [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(AlignedBuffer, ZeroBytesAreNotAFailure) {
  const AlignedBuffer buffer(0);
  EXPECT_NE(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0u);
}

TEST(AlignedBuffer, ASizeThatCannotBeRoundedUpIsEmpty) {
  const AlignedBuffer buffer(std::numeric_limits<std::size_t>::max());
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0u);
}

// Sanitizers' allocators end the program instead.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPARING_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPARING_TEST_SANITIZED
#endif
#endif
#ifndef SPARING_TEST_SANITIZED
TEST(AlignedBuffer, ASizeBeyondMemoryIsEmpty) {
  // volatile: the compiler warns about such sizes when it sees them.
  volatile std::size_t size = std::numeric_limits<std::size_t>::max() / 8 * 7;
  const AlignedBuffer buffer(size);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0u);
}
#endif

TEST(AlignedBuffer, MovesLeaveAnEmptyBufferBehind) {
  AlignedBuffer first(100);
  std::byte* const data = first.data();
  data[99] = std::byte{7};
  AlignedBuffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.size(), 100u);
  EXPECT_EQ(second.span()[99], std::byte{7});
  EXPECT_EQ(first.data(), nullptr);  // NOLINT: what moved-from means here is under test
  EXPECT_EQ(first.size(), 0u);
  EXPECT_TRUE(first.span().empty());
  AlignedBuffer third(5);
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 100u);
  EXPECT_EQ(second.size(), 0u);  // NOLINT
}

}  // namespace
}  // namespace sparing
