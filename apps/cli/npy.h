// Writes NumPy's .npy format, version 1.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "sparing/base/result.h"
#include "sparing/base/tensor_view.h"

namespace sparing::cli {

// `data` is a dense tensor of that shape. NumPy has no bfloat16: its bits are written as uint16,
// which ml_dtypes and PyTorch take by .view(bfloat16). kOutput as by write_file.
Status write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
                 DataType type, std::span<const std::byte> data);

}  // namespace sparing::cli
