// Still pictures: single files, directories, globs. Private to io.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/io/source.h"

namespace sparing {

// Names in the order people number them: runs of digits compare as numbers (img2 before img10).
bool natural_less(std::string_view a, std::string_view b);

// By extension: what a directory or glob is searched for.
bool is_image_name(const std::filesystem::path& file);
// By content: the first bytes of a file are those of a still picture we read.
bool is_image_file(const std::filesystem::path& file);

// The images of a directory (not of those below it, hidden files left out), in natural order.
Result<std::vector<std::filesystem::path>> list_directory_images(
    const std::filesystem::path& directory);
// The images that match a pattern of glob(3), in natural order.
Result<std::vector<std::filesystem::path>> list_glob_images(const std::string& pattern);

// Frame i is picture i; its time is i / 25 s. A picture that cannot be decoded ends the sequence
// with an error, because leaving it out would shift the numbers of those after it.
Result<std::unique_ptr<VideoSource>> open_image_sequence(std::vector<std::filesystem::path> files,
                                                         const std::string& name,
                                                         const SourceOptions& options);

}  // namespace sparing
