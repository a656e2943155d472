// Synthetic scenes as video files.
#pragma once

#include <filesystem>

#include "scene.h"

namespace sparing::bench {

// Where the benchmark keeps scenes from run to run: a folder of the system's for temporary files.
std::filesystem::path scene_folder();

// The scene as H.264 in MP4 at the video sink's default quality, with its truth beside it (MOT
// text, same name). The name follows from the scene; a file that is there already is kept. kOutput:
// cannot be written.
Result<std::filesystem::path> write_scene(const Scene& scene,
                                          const std::filesystem::path& folder = scene_folder());

// The truth of frames 0 .. frames - 1.
AnnotationSet scene_truth(const Scene& scene);

}  // namespace sparing::bench
