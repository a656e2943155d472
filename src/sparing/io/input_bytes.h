// The bytes of a video as FFmpeg reads them. Private to io.
#pragma once

#include <optional>
#include <string>

#include "sparing/io/container_watch.h"
#include "sparing/io/ffmpeg.h"

namespace sparing {

// Those of a stream that cannot be rewound are watched on their way: at its end nobody can look at
// the headers again. Not thread-safe.
class InputBytes {
 public:
  InputBytes() = default;
  ~InputBytes();
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;

  // FFmpeg's error code, or 0 and more. `interrupt` outlives it.
  int open(const std::string& url, const AVIOInterruptCB& interrupt);
  // Ours; null before open().
  AVIOContext* context() const { return watched_ != nullptr ? watched_ : bytes_; }
  // What is missing of something that was begun, when the bytes have come to their end. At the end
  // that a demuxer reports, `read_on` looks for the rest of it, which that may have left. Nothing
  // for what can be rewound.
  std::optional<std::string> unfinished(bool read_on);

 private:
  static int read(void* self, std::uint8_t* to, int size);

  AVIOContext* bytes_ = nullptr;
  AVIOContext* watched_ = nullptr;  // reads from bytes_
  ContainerWatch watch_;
  bool ended_ = false;
};

}  // namespace sparing
