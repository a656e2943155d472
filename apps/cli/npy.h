// Writes NumPy's .npy format, version 1.0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "sparing/base/result.h"

namespace sparing::cli {

Status write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
                 std::span<const float> data);

}  // namespace sparing::cli
