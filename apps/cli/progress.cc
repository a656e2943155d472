#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace sparing::cli {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  char text[48];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  }
  return text;
}

ProgressLine::ProgressLine(bool wanted) : enabled_(wanted && isatty(STDERR_FILENO) != 0) {}

void ProgressLine::update(const Progress& progress) {
  if (!enabled_) return;
  update(progress.frames, progress.total_frames, progress.wall_seconds,
         ", " + std::to_string(progress.detections) + " detections");
}

void ProgressLine::update(std::int64_t frames, std::optional<std::int64_t> total,
                          double wall_seconds, const std::string& more) {
  if (!enabled_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(200);
  const double fps = static_cast<double>(frames) / std::max(wall_seconds, 1e-9);
  std::string line = std::to_string(frames);
  if (total && *total >= frames) {
    const auto left = static_cast<double>(*total - frames);
    line += " of " + std::to_string(*total) + " frames, " +
            std::to_string(100 * frames / std::max<std::int64_t>(*total, 1)) + " %, " +
            clock_text(left / std::max(fps, 1e-9)) + " left";
  } else {
    line += " frames";
  }
  std::fprintf(stderr, "\r%s, %.1f fps%s\033[K", line.c_str(), fps, more.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace sparing::cli
