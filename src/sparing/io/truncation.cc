#include "sparing/io/truncation.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sparing {
namespace {

// The end of the last sample the index knows, 0 when there is no index.
std::int64_t indexed_end(AVStream& stream) {
  std::int64_t end = 0;
  const int entries = avformat_index_get_entries_count(&stream);
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry* entry = avformat_index_get_entry(&stream, i);
    end = std::max(end, entry->pos + entry->size);
  }
  return end;
}

// The end that the RIFF chunks of a seekable AVI announce; 0 when they say nothing.
std::int64_t riff_end(AVIOContext& io, std::int64_t size) {
  std::int64_t position = 0;
  while (position + 12 <= size) {
    if (avio_seek(&io, position, SEEK_SET) < 0 || avio_rl32(&io) != MKTAG('R', 'I', 'F', 'F'))
      break;
    const std::int64_t length = avio_rl32(&io);
    if (length == 0 || length == 0xFFFFFFFF) return 0;
    position += 8 + length;
  }
  return position;
}

// An EBML number: the leading zeros of its first byte are how many bytes follow. -1 when all data
// bits are ones ("unknown"), which recorders write before they know, or at the end of the file.
std::int64_t ebml_number(AVIOContext& io, bool keep_marker) {
  const int first = avio_r8(&io);
  int length = 1;
  while (length <= 8 && (first & (0x80 >> (length - 1))) == 0) ++length;
  if (length > 8 || avio_feof(&io) != 0) return -1;
  std::int64_t value = keep_marker ? first : first & (0x7F >> (length - 1));
  std::int64_t ones = 0x7F >> (length - 1);
  for (int i = 1; i < length; ++i) {
    value = (value << 8) | avio_r8(&io);
    ones = (ones << 8) | 0xFF;
  }
  return avio_feof(&io) != 0 || (!keep_marker && value == ones) ? -1 : value;
}

// Where the segment of a seekable Matroska or WebM file ends; 0 when it does not say.
std::int64_t matroska_end(AVIOContext& io) {
  constexpr std::int64_t kSegment = 0x18538067;
  if (avio_seek(&io, 0, SEEK_SET) < 0) return 0;
  for (int element = 0; element < 8; ++element) {  // the EBML header, perhaps padding, the segment
    const std::int64_t id = ebml_number(io, true);
    const std::int64_t length = ebml_number(io, false);
    if (id < 0 || length < 0) return 0;
    const std::int64_t end = avio_tell(&io) + length;
    if (id == kSegment) return end;
    if (avio_seek(&io, end, SEEK_SET) < 0) return 0;
  }
  return 0;
}

}  // namespace

std::optional<std::string> find_truncation(AVFormatContext& format, AVStream& stream,
                                           bool last_packet_partial) {
  if (last_packet_partial) return "it ends in the middle of a picture";
  if (format.pb == nullptr) return std::nullopt;
  const bool seekable = (format.pb->seekable & AVIO_SEEKABLE_NORMAL) != 0;
  const std::int64_t size = seekable ? avio_size(format.pb) : avio_tell(format.pb);
  if (size <= 0) return std::nullopt;
  const std::string_view name = format.iformat->name;
  std::int64_t end = 0;
  if (name.starts_with("mov,")) end = indexed_end(stream);
  if (name == "avi" && seekable) end = riff_end(*format.pb, size);
  if (name.starts_with("matroska") && seekable) end = matroska_end(*format.pb);
  if (end <= size) return std::nullopt;
  return "its headers announce " + std::to_string(end) + " bytes, " + std::to_string(size) +
         " are there";
}

bool index_came_last(AVFormatContext& format, AVStream& stream) {
  if (format.pb == nullptr || (format.pb->seekable & AVIO_SEEKABLE_NORMAL) != 0) return false;
  if (!std::string_view(format.iformat->name).starts_with("mov,")) return false;
  const std::int64_t end = indexed_end(stream);
  return end > 0 && end <= avio_tell(format.pb);
}

}  // namespace sparing
