// Whatever the bytes of a file: open_source and next() give valid frames with growing times, an
// end, or an error of one line with a fix.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "sparing/io/source.h"

// FFmpeg's, declared here because its headers are private to io. Blocks above the limit are
// refused, so that a few bytes that announce a huge picture do not use up the fuzzer's memory.
extern "C" void av_max_alloc(std::size_t max);

namespace {

constexpr std::size_t kMaxBytes = 64 * 1024;
constexpr int kMaxFrames = 8;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

void check(const sparing::Error& error) {
  const std::string message = error.to_string();
  require(message.find('\n') == std::string::npos, "several lines: " + message);
  require(!error.fix.empty(), "no fix: " + message);
}

// Touches the first and last byte of every row that the view claims.
unsigned read_edges(const sparing::VideoFrame& view) {
  unsigned sum = 0;
  const sparing::PixelFormatInfo& format = info(view.format);
  for (const sparing::ComponentLayout& c : format.components) {
    if (c.plane < 0) continue;
    const bool chroma = format.model == sparing::ColorModel::kYuv && c.plane > 0;
    const int columns =
        sparing::chroma_extent(view.coded_size.width, chroma ? format.chroma_shift_x : 0);
    const int rows =
        sparing::chroma_extent(view.coded_size.height, chroma ? format.chroma_shift_y : 0);
    for (int y = 0; y < rows; ++y) {
      const std::uint8_t* row = view.planes[c.plane].data + y * view.planes[c.plane].stride;
      sum += row[c.offset] + row[static_cast<std::ptrdiff_t>(columns - 1) * c.step + c.offset];
    }
  }
  return sum;
}

void play(const std::string& path) {
  const auto source = sparing::open_source(path);
  if (!source.ok()) return check(source.error());
  std::optional<sparing::Timestamp> last;
  unsigned sum = 0;
  for (int i = 0; i < kMaxFrames; ++i) {
    const auto frame = (*source)->next();
    if (!frame.ok()) return check(frame.error());
    if (!frame->has_value()) break;
    const sparing::VideoFrame& view = (*frame)->frame.view();
    require(validate(view).ok(), "invalid frame");
    require((*frame)->index == i, "index");
    require(!last || *last < view.timestamp, "times do not grow");
    last = view.timestamp;
    sum += read_edges(view);
  }
  volatile unsigned sink = sum;  // so that the reads are not optimised away
  (void)sink;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  av_max_alloc(std::size_t{64} << 20);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  size = std::min(size, kMaxBytes);
  const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
  require(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size), "memory file");
  play("/proc/self/fd/" + std::to_string(file));
  ::close(file);
  return 0;
}
