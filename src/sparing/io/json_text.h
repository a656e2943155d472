// JSON written piece by piece: for streams of records, where a document tree would only cost time.
// Private to io.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sparing {

// Quoted and escaped; bytes that are not UTF-8 (file names may have any) become U+FFFD.
void append_json_string(std::string& text, std::string_view value);
void append_number(std::string& text, std::int64_t value);
// The shortest digits that read back as the same value. Precondition: finite.
void append_number(std::string& text, float value);
void append_number(std::string& text, double value);

}  // namespace sparing
