#include "npy.h"

#include <array>
#include <string>

#include "sparing/io/file.h"

namespace sparing::cli {
namespace {

const char* descriptor(DataType type) {
  switch (type) {
    case DataType::kFloat32: return "<f4";
    case DataType::kFloat16: return "<f2";
    case DataType::kBfloat16: return "<u2";
    case DataType::kUint8: return "|u1";
    case DataType::kInt8: return "|i1";
    case DataType::kInt32: return "<i4";
    case DataType::kInt64: return "<i8";
  }
  return "";
}

}  // namespace

Status write_npy(const std::filesystem::path& file, std::span<const std::int64_t> shape,
                 DataType type, std::span<const std::byte> data) {
  std::string dictionary =
      "{'descr': '" + std::string(descriptor(type)) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dimension : shape) dictionary += std::to_string(dimension) + ",";
  dictionary += "), }";
  // Magic, version and length take 10 bytes; the data start at a multiple of 64.
  dictionary.append(63 - (10 + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  header += dictionary;
  const std::array parts{std::as_bytes(std::span<const char>(header)), data};
  return write_file(file, parts);
}

}  // namespace sparing::cli
