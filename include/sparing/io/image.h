// Pictures as files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "sparing/base/geometry.h"
#include "sparing/base/result.h"

namespace sparing {

// Writes 8-bit pixels, rows from top to bottom without padding, as PNG: `channels` of 4 is R, G, B
// and straight alpha, of 3 R, G, B, of 1 grey. Files as by write_file (sparing/io/file.h).
// kInvalidArgument: sides not in 1..kMaxFrameExtent, other channels, a number of bytes that is not
// width * height * channels; kNotSupported: this build of FFmpeg has no PNG encoder; kOutput:
// cannot be written.
Status write_png(const std::filesystem::path& path, Size size, int channels,
                 std::span<const std::uint8_t> pixels);

}  // namespace sparing
