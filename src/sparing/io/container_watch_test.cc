#include "sparing/io/container_watch.h"

#include <gtest/gtest.h>

#include <string>

namespace sparing {
namespace {

// What is missing when so much of the text has come, given in pieces of `step` bytes.
std::int64_t missing(const std::string& text, std::size_t step = 1) {
  ContainerWatch watch;
  for (std::size_t i = 0; i < text.size(); i += step) {
    const std::string piece = text.substr(i, step);
    watch.add({reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()});
  }
  EXPECT_EQ(watch.unfinished().has_value(), watch.missing() > 0);
  return watch.missing();
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

std::string content(std::size_t size) { return std::string(size, 'x'); }

const std::string kEbmlHeader = bytes({0x1A, 0x45, 0xDF, 0xA3, 0x84}) + content(4);
const std::string kOpenSegment =
    bytes({0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF});
const std::string kClusterId = bytes({0x1F, 0x43, 0xB6, 0x75});
const std::string kBlock = bytes({0xA3, 0x8A}) + content(10);  // SimpleBlock

TEST(ContainerWatch, KnowsWhereAMatroskaSegmentEnds) {
  const std::string segment = bytes({0x18, 0x53, 0x80, 0x67, 0x40, 0x18}) + kBlock + kBlock;  // 24
  const std::string whole = kEbmlHeader + segment;
  for (const std::size_t step : {1, 5, 1000}) {
    EXPECT_EQ(missing(whole, step), 0);
    for (std::size_t cut = 1; cut < 24; ++cut) {
      EXPECT_EQ(missing(whole.substr(0, whole.size() - cut), step), std::int64_t(cut)) << cut;
    }
  }
  EXPECT_EQ(missing(whole + bytes({0, 0, 0})), 0) << "what follows is nobody's";
}

TEST(ContainerWatch, KnowsWhereElementsEndWhenTheSegmentIsOpen) {
  const std::string start = kEbmlHeader + kOpenSegment;
  EXPECT_EQ(missing(start), 0);
  const std::string cluster = kClusterId + bytes({0x98}) + kBlock + kBlock;
  EXPECT_EQ(missing(start + cluster), 0);
  EXPECT_EQ(missing((start + cluster).substr(0, start.size() + 17)), 12);
  EXPECT_GT(missing(start + cluster + kClusterId), 0) << "an element without its size";
  EXPECT_EQ(missing(start + cluster + cluster, 7), 0);
  // A cluster that is open, too: its blocks are not.
  const std::string open = kClusterId + bytes({0xFF}) + kBlock + kBlock;
  EXPECT_EQ(missing(start + open + open), 0);
  EXPECT_EQ(missing((start + open).substr(0, start.size() + open.size() - 3)), 3);
}

TEST(ContainerWatch, KnowsWhereBoxesEnd) {
  const std::string type = bytes({0, 0, 0, 12}) + "ftyp" + content(4);
  const std::string large =
      bytes({0, 0, 0, 1}) + "mdat" + bytes({0, 0, 0, 0, 0, 0, 0, 26}) + content(10);
  const std::string whole = type + large + bytes({0, 0, 0, 8}) + "moof";
  for (const std::size_t step : {1, 3, 1000}) {
    EXPECT_EQ(missing(whole, step), 0);
    EXPECT_EQ(missing((type + large).substr(0, 12 + 20), step), 6);
    EXPECT_EQ(missing(type.substr(0, 9), step), 3);
  }
  EXPECT_EQ(missing(type + bytes({0, 0, 0, 0})), 0) << "less than a box at the end";
  EXPECT_EQ(missing(type + bytes({0, 0, 0, 0}) + "mdat" + content(7)), 0) << "to the end";
  EXPECT_EQ(missing(type + bytes({0, 0, 0, 3}) + "mdat" + content(7)), 0) << "damage";
}

TEST(ContainerWatch, KnowsWhereRiffChunksEnd) {
  const std::string riff = "RIFF" + bytes({14, 0, 0, 0}) + "AVI " + content(10);
  EXPECT_EQ(missing(riff), 0);
  EXPECT_EQ(missing(riff + riff, 5), 0);
  EXPECT_EQ(missing((riff + riff).substr(0, 40)), 4);
  EXPECT_EQ(missing("RIFF" + bytes({0, 0, 0, 0}) + "AVI " + content(3)), 0);
  EXPECT_EQ(missing("RIFF" + bytes({255, 255, 255, 255}) + "AVI " + content(3)), 0);
}

TEST(ContainerWatch, SaysNothingOfOthers) {
  EXPECT_EQ(missing(""), 0);
  EXPECT_EQ(missing("G" + content(1000)), 0);
  EXPECT_EQ(missing("RI"), 0);
  EXPECT_EQ(missing(kEbmlHeader + bytes({0, 0, 0}) + content(50)), 0);
  EXPECT_EQ(missing(kEbmlHeader + bytes({0xA3, 0x00}) + content(50)), 0);
}

TEST(ContainerWatch, SaysHowMuchCame) {
  const std::string text = bytes({0, 0, 0, 12}) + "ftyp";
  ContainerWatch watch;
  watch.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  EXPECT_EQ(watch.unfinished(), "its headers announce 12 bytes, 8 came");
}

}  // namespace
}  // namespace sparing
