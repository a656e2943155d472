#include "sparing/io/image_sequence.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sparing {
namespace {

TEST(NaturalOrder, NumbersCompareAsNumbers) {
  const std::vector<std::string> ordered{"",
                                         "1",
                                         "01",
                                         "2",
                                         "10",
                                         "a",
                                         "a0",
                                         "a1b2",
                                         "a1b10",
                                         "a2",
                                         "a02",
                                         "a10b1",
                                         "img2.x",
                                         "img10.x",
                                         "img10.y",
                                         "img99999999999999999998",
                                         "img99999999999999999999"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      if (ordered[i] == "01" || ordered[j] == "01" || ordered[i] == "a02" || ordered[j] == "a02") {
        continue;  // equal but for zeros: below
      }
      EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
    }
  }
  // Leading zeros decide last, so that the order is total.
  EXPECT_NE(natural_less("1", "01"), natural_less("01", "1"));
  EXPECT_TRUE(natural_less("01", "2"));
  EXPECT_TRUE(natural_less("a02", "a10b1"));
}

TEST(ImageNames, ByExtension) {
  for (const char* name : {"a.jpg", "a.JPG", "a.jpeg", "a.png", "x/y.webp", "a.b.tiff", "a.pgm"}) {
    EXPECT_TRUE(is_image_name(name)) << name;
  }
  for (const char* name :
       {"a", "jpg", ".jpg", "a.", "a.jp", "a.txt", "a.mp4", "a.jpg.txt", "a.g.j"}) {
    EXPECT_FALSE(is_image_name(name)) << name;
  }
}

}  // namespace
}  // namespace sparing
