#include "sparing/io/ffmpeg.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "sparing/io/source.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/log.h>
}

namespace sparing::ffmpeg {
namespace {

thread_local LogCapture* current_capture = nullptr;

void keep_errors(void*, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_ERROR || current_capture == nullptr) return;
  std::array<char, 256> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  current_capture->add(text.data());
}

}  // namespace

std::string error_text(int code) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(code, text.data(), text.size());
  return text.data();
}

LogCapture::LogCapture() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(keep_errors); });
  outer_ = current_capture;
  current_capture = this;
}

LogCapture::~LogCapture() { current_capture = outer_; }

void LogCapture::add(std::string_view message) {
  // The first message names the cause, later ones its consequences.
  if (!first_.empty()) return;
  for (const char c : message) {
    if (static_cast<unsigned char>(c) >= 0x20) first_ += c;
  }
  while (!first_.empty() && (first_.back() == ' ' || first_.back() == '.')) first_.pop_back();
}

std::string LogCapture::explain(int code) const {
  return first_.empty() ? error_text(code) : error_text(code) + " (" + first_ + ")";
}

}  // namespace sparing::ffmpeg

namespace sparing {

std::string ffmpeg_version() { return av_version_info(); }

}  // namespace sparing
