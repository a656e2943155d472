// Whole files as outputs: each appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "sparing/base/result.h"
#include "sparing/io/source.h"

namespace sparing {

// Writes `parts`, one after another, to a temporary file in the same directory and renames it.
// Missing parent directories are made, permissions of a file that is replaced stay, devices, pipes
// and descriptors of this process (/dev/fd/N) are written directly. kOutput: cannot be written, and
// why; nothing is left behind then, and a file that was there stays.
Status write_file(const std::filesystem::path& path,
                  std::span<const std::span<const std::byte>> parts);

// Whether write_file() could begin to write there, as far as can be said without leaving anything
// behind: for what takes long before it has something to write. kOutput: no, and why.
Status check_writable(const std::filesystem::path& path);

// Writing to what is read would destroy it. kInvalidArgument when `path` is, by whatever link, one
// of the sources' files.
Status check_not_an_input(const std::filesystem::path& path, std::span<const SourceInfo> sources);

}  // namespace sparing
