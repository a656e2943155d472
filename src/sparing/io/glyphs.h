// A small bitmap font for labels in rendered video: printable ASCII. Private to io.
#pragma once

#include <string>
#include <string_view>

namespace sparing {

inline constexpr int kGlyphWidth = 5;
inline constexpr int kGlyphHeight = 9;   // 7 rows above the base line, 2 below
inline constexpr int kGlyphAdvance = 6;  // from one character to the next

// Whether the glyph is set at column x, row y. Characters without a glyph look like '?'.
// Precondition: 0 <= x < kGlyphWidth, 0 <= y < kGlyphHeight.
bool glyph_pixel(char32_t character, int x, int y);

// What is drawn for a text: one '?' for each character beyond ASCII, and for control characters.
std::u32string display_characters(std::string_view utf8);

}  // namespace sparing
