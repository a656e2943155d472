// Whether a stream of bytes that cannot be rewound ends in the middle of something that its own
// headers announced. Private to io.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sparing {

// Follows the outer structure of the containers that have sizes: elements of Matroska and WebM (of
// clusters, or of blocks where a cluster's size is unknown), boxes of MP4, RIFF chunks of AVI. Of
// others, of sizes left open, and from the first byte that makes no sense on, it knows nothing.
// Costs nothing for each byte: what has a size is skipped. Not thread-safe.
class ContainerWatch {
 public:
  void add(std::span<const std::uint8_t> bytes);
  // Bytes of the begun elements that have not come, at least; 0: none are known to be missing.
  std::int64_t missing() const;
  // For a message, when these were all bytes; nothing when the stream may be whole.
  std::optional<std::string> unfinished() const;

 private:
  enum class Kind { kUndecided, kUnknown, kEbml, kMp4, kRiff };

  // Takes a header in; false: it needs more bytes.
  bool read_header();
  bool read_ebml();
  bool read_mp4();
  bool read_riff();
  void begin(std::uint64_t size);  // of the content behind the header
  std::uint64_t number(std::size_t at, std::size_t count) const;  // big-endian

  Kind kind_ = Kind::kUndecided;
  std::array<std::uint8_t, 16> header_{};
  std::size_t have_ = 0;          // bytes of the header
  std::int64_t bytes_ = 0;        // in all, up to the end of the header
  std::uint64_t skip_ = 0;        // of the element that was begun
  std::int64_t segment_end_ = 0;  // Matroska's; 0: not known
};

}  // namespace sparing
