#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

extern "C" {
#include <libavutil/mem.h>
#include <libavutil/sha.h>
}

#include "sparing/models/registry.h"

namespace sparing {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct FreeHash {
  void operator()(AVSHA* hash) const { av_free(hash); }
};

Error file_error(const std::filesystem::path& file, int number) {
  return {ErrorCode::kModel, "model file '" + file.string() + "'",
          std::generic_category().message(number),
          number == ENOENT ? "check the path" : "check the file and its permissions"};
}

}  // namespace

Result<std::string> sha256_file(const std::filesystem::path& file) {
  const std::unique_ptr<std::FILE, CloseFile> stream(std::fopen(file.c_str(), "rb"));
  if (!stream) return file_error(file, errno);
  const std::unique_ptr<AVSHA, FreeHash> hash(av_sha_alloc());
  constexpr int kBits = 256;
  if (!hash || av_sha_init(hash.get(), kBits) != 0) {
    return Error{ErrorCode::kInternal, "SHA-256", "cannot be started", "free some memory"};
  }
  std::array<std::uint8_t, std::size_t{1} << 16> block;
  for (;;) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), stream.get());
    if (count > 0) av_sha_update(hash.get(), block.data(), count);
    if (count < block.size()) break;
  }
  if (std::ferror(stream.get()) != 0) return file_error(file, errno);
  std::array<std::uint8_t, kBits / 8> digest;
  av_sha_final(hash.get(), digest.data());
  std::string text;
  for (const std::uint8_t byte : digest) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

}  // namespace sparing
