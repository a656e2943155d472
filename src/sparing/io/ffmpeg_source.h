// Videos through libavformat and libavcodec. Private to io.
#pragma once

#include <memory>
#include <string>

#include "sparing/base/result.h"
#include "sparing/io/source.h"

namespace sparing {

// `name` is what messages and info() call it.
Result<std::unique_ptr<VideoSource>> open_ffmpeg_source(const std::string& path,
                                                        const std::string& name,
                                                        const SourceOptions& options);
// Waits for the first writer of a named pipe.
Result<std::unique_ptr<VideoSource>> open_fifo_source(const std::string& path,
                                                      const SourceOptions& options);
Result<std::unique_ptr<VideoSource>> open_standard_input(const SourceOptions& options);

}  // namespace sparing
