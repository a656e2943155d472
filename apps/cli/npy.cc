#include "npy.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace sparing::cli {

Status write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
                 std::span<const float> data) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dimension : shape) header += std::to_string(dimension) + ",";
  header += "), }";
  // Magic, version and length take 10 bytes; the data start at a multiple of 64.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::ofstream out(file, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(length & 0xff)).put(static_cast<char>(length >> 8));
  out << header;
  out.write(reinterpret_cast<const char*>(data.data()),
            static_cast<std::streamsize>(data.size_bytes()));
  out.close();
  if (out) return {};
  return Error{ErrorCode::kOutput, "file '" + file.string() + "'",
               std::string("cannot be written: ") + std::strerror(errno),
               "check the folder's permissions and free space"};
}

}  // namespace sparing::cli
