#include "sparing/io/container_watch.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace sparing {
namespace {

constexpr std::uint64_t kSegment = 0x18538067;
constexpr std::uint64_t kCluster = 0x1F43B675;
// What an MP4 may begin with.
constexpr std::array<std::string_view, 8> kFirstBoxes{"ftyp", "styp", "moov", "moof",
                                                      "mdat", "free", "skip", "wide"};
// Larger sizes are damage.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 56;

// How many bytes an EBML number has, by its first one: 1 to 8; 9: it is none.
std::size_t ebml_length(std::uint8_t first) {
  return static_cast<std::size_t>(std::countl_zero(first)) + 1;
}

}  // namespace

std::uint64_t ContainerWatch::number(std::size_t at, std::size_t count) const {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | header_[at + i];
  return value;
}

void ContainerWatch::begin(std::uint64_t size) {
  have_ = 0;
  skip_ = size;
  if (size > kLargest) kind_ = Kind::kUnknown;
}

void ContainerWatch::add(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty() && kind_ != Kind::kUnknown) {
    if (skip_ > 0) {
      const std::size_t count =
          static_cast<std::size_t>(std::min<std::uint64_t>(skip_, bytes.size()));
      skip_ -= count;
      bytes_ += static_cast<std::int64_t>(count);
      bytes = bytes.subspan(count);
      continue;
    }
    header_[have_++] = bytes.front();
    ++bytes_;
    bytes = bytes.subspan(1);
    if (!read_header() && have_ == header_.size()) kind_ = Kind::kUnknown;
  }
}

bool ContainerWatch::read_header() {
  if (kind_ == Kind::kUndecided) {
    if (have_ < 8) return false;
    const std::string_view text(reinterpret_cast<const char*>(header_.data()), 8);
    const bool mp4 =
        std::find(kFirstBoxes.begin(), kFirstBoxes.end(), text.substr(4)) != kFirstBoxes.end();
    kind_ = number(0, 4) == 0x1A45DFA3    ? Kind::kEbml
            : text.substr(0, 4) == "RIFF" ? Kind::kRiff
            : mp4                         ? Kind::kMp4
                                          : Kind::kUnknown;
    if (kind_ == Kind::kEbml) {
      // Its own header is shorter: once more, byte by byte.
      const std::array<std::uint8_t, 16> first = header_;
      have_ = 0;
      bytes_ -= 8;
      add(std::span(first).first(8));
      return true;
    }
  }
  switch (kind_) {
    case Kind::kEbml: return read_ebml();
    case Kind::kMp4: return read_mp4();
    case Kind::kRiff: return read_riff();
    case Kind::kUndecided:
    case Kind::kUnknown: break;
  }
  return true;
}

bool ContainerWatch::read_ebml() {
  const std::size_t id_bytes = ebml_length(header_[0]);
  if (id_bytes > 4) {
    kind_ = Kind::kUnknown;
    return true;
  }
  if (have_ <= id_bytes) return false;
  const std::size_t size_bytes = ebml_length(header_[id_bytes]);
  if (size_bytes > 8) {
    kind_ = Kind::kUnknown;
    return true;
  }
  if (have_ < id_bytes + size_bytes) return false;
  const std::uint64_t id = number(0, id_bytes);
  const std::uint64_t all_ones = (std::uint64_t{1} << (7 * size_bytes)) - 1;
  const std::uint64_t size = number(id_bytes, size_bytes) & all_ones;
  const bool open = size == all_ones;
  if (id == kSegment) {
    segment_end_ = open || size > kLargest ? 0 : bytes_ + static_cast<std::int64_t>(size);
    begin(0);
  } else if (open && id == kCluster) {
    begin(0);
  } else if (open) {
    kind_ = Kind::kUnknown;
  } else {
    begin(size);
  }
  return true;
}

bool ContainerWatch::read_mp4() {
  if (have_ < 8) return false;
  const std::uint64_t small = number(0, 4);
  const bool large = small == 1;
  if (large && have_ < 16) return false;
  const std::uint64_t size = large ? number(8, 8) : small;
  const std::uint64_t own = large ? 16 : 8;
  // 0: to the end, wherever that is.
  if (size < own) {
    kind_ = Kind::kUnknown;
  } else {
    begin(size - own);
  }
  return true;
}

bool ContainerWatch::read_riff() {
  if (have_ < 8) return false;
  const std::uint64_t size = std::uint64_t{header_[4]} | std::uint64_t{header_[5]} << 8 |
                             std::uint64_t{header_[6]} << 16 | std::uint64_t{header_[7]} << 24;
  const bool riff = std::string_view(reinterpret_cast<const char*>(header_.data()), 4) == "RIFF";
  // Recorders write these before they know.
  if (!riff || size == 0 || size == 0xFFFFFFFF) {
    kind_ = Kind::kUnknown;
  } else {
    begin(size);
  }
  return true;
}

std::int64_t ContainerWatch::missing() const {
  if (kind_ == Kind::kUnknown || kind_ == Kind::kUndecided) return 0;
  // A few bytes behind the last box are no box that was begun.
  const std::int64_t header = kind_ == Kind::kEbml && have_ > 0 ? 1 : 0;
  return std::max({static_cast<std::int64_t>(skip_), header, segment_end_ - bytes_});
}

std::optional<std::string> ContainerWatch::unfinished() const {
  const std::int64_t left = missing();
  if (left == 0) return std::nullopt;
  return "its headers announce " + std::to_string(bytes_ + left) + " bytes, " +
         std::to_string(bytes_) + " came";
}

}  // namespace sparing
