// Where the parts of a comparison panel lie. Private to compose.
#pragma once

#include "sparing/base/geometry.h"

namespace sparing {

struct PanelContent {
  int items = 1;
  int lines = 0;  // of text below each
  Size picture;   // the first one's size
  Size most;      // of the panel
  bool strip = false;
};

struct PanelLayout {
  Size panel;  // both even, as are all corners and extents of pictures
  int columns = 1;
  int rows = 1;
  int text_scale = 1;
  int gap = 0;  // around and between the cells
  Size picture;
  int title_height = 0;
  int text_height = 0;
  PixelRect strip;  // empty: none

  // Precondition of all: 0 <= item < columns * rows.
  PixelRect cell(int item) const;
  PixelRect picture_of(int item) const;
  int text_columns() const;  // characters that fit a cell's width
  static int line_height(int scale);
};

// The arrangement in which pictures are largest, at most as large as they are; of equal ones the
// widest.
PanelLayout lay_out(const PanelContent& content);

}  // namespace sparing
