#include "sparing/io/input_bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace sparing {
namespace {

constexpr int kBufferBytes = 32 * 1024;

}  // namespace

InputBytes::~InputBytes() {
  if (watched_ != nullptr) {
    av_freep(&watched_->buffer);
    avio_context_free(&watched_);
  }
  avio_closep(&bytes_);
}

int InputBytes::open(const std::string& url, const AVIOInterruptCB& interrupt) {
  const int code = avio_open2(&bytes_, url.c_str(), AVIO_FLAG_READ, &interrupt, nullptr);
  if (code < 0 || (bytes_->seekable & AVIO_SEEKABLE_NORMAL) != 0) return code;
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) return AVERROR(ENOMEM);
  watched_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read, nullptr, nullptr);
  if (watched_ == nullptr) {
    av_free(buffer);
    return AVERROR(ENOMEM);
  }
  watched_->seekable = 0;
  return 0;
}

int InputBytes::read(void* self, std::uint8_t* to, int size) {
  InputBytes& own = *static_cast<InputBytes*>(self);
  const int count = avio_read_partial(own.bytes_, to, size);
  if (count == 0 || count == AVERROR_EOF) own.ended_ = true;
  if (count > 0) own.watch_.add({to, static_cast<std::size_t>(count)});
  return count == 0 ? AVERROR_EOF : count;
}

std::optional<std::string> InputBytes::unfinished(bool read_on) {
  if (watched_ == nullptr) return std::nullopt;
  std::array<std::uint8_t, 4096> rest;
  while (read_on && !ended_ && watch_.missing() > 0) {
    const auto most = std::min<std::int64_t>(watch_.missing(), std::ssize(rest));
    if (read(this, rest.data(), static_cast<int>(most)) < 0) break;
  }
  return ended_ ? watch_.unfinished() : std::nullopt;
}

}  // namespace sparing
