// Whether a container ended before its own headers say it should. Private to io.
#pragma once

#include <optional>
#include <string>

#include "sparing/io/ffmpeg.h"

namespace sparing {

// To be asked when a demuxer reports the end of the file, which many do for a cut one as well. A
// short phrase about what is missing, or nothing when the file is complete or cannot tell:
//   - the last packet read was cut short (`last_packet_partial`);
//   - MP4: the index (sample tables and fragments) points beyond the last byte;
//   - AVI: a RIFF chunk's size goes beyond the last byte (sizes of 0 and 0xFFFFFFFF, which
//   recorders
//     write before they know, say nothing);
//   - Matroska, WebM: the segment's size goes beyond the last byte, unless it is "unknown".
// Frame counts and durations of headers are not evidence: they are too often wrong.
std::optional<std::string> find_truncation(AVFormatContext& format, AVStream& stream,
                                           bool last_packet_partial);

// MP4: the index was found behind all pictures, in a stream that cannot go back to them.
bool index_came_last(AVFormatContext& format, AVStream& stream);

}  // namespace sparing
