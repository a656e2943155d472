#include "sparing/io/rle.h"

#include <array>
#include <optional>

namespace sparing {
namespace {

constexpr int kBits = 5;  // of a number in a character; a sixth says that more follow
constexpr std::int64_t kMore = 0x20;
constexpr std::int64_t kSign = 0x10;
constexpr char kZero = 48;
constexpr int kMostCharacters = 8;  // 40 bits: more than any picture has pixels

// Least significant bits first; the last character's top bit is the sign.
void append_number(std::string& text, std::int64_t value) {
  for (bool more = true; more;) {
    std::int64_t bits = value & 0x1f;
    value >>= kBits;
    more = (bits & kSign) != 0 ? value != -1 : value != 0;
    if (more) bits |= kMore;
    text += static_cast<char>(bits + kZero);
  }
}

// Takes a number off the front; none: the text is no number.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  for (int i = 0; i < kMostCharacters && !text.empty(); ++i) {
    const std::int64_t bits = static_cast<std::int64_t>(text.front()) - kZero;
    if (bits < 0 || bits > 63) return std::nullopt;
    text.remove_prefix(1);
    value |= static_cast<std::uint64_t>(bits & 0x1f) << (kBits * i);
    if ((bits & kMore) != 0) continue;
    if ((bits & kSign) != 0) value |= ~std::uint64_t{0} << (kBits * (i + 1));
    return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

// Counts of runs become text as they come: from the third on as the difference to the one before
// the one before.
class CountWriter {
 public:
  void add(std::int64_t count) {
    append_number(text_, number_ > 2 ? count - before_[number_ % 2] : count);
    before_[number_ % 2] = count;
    ++number_;
  }
  std::string& text() { return text_; }

 private:
  std::string text_;
  std::array<std::int64_t, 2> before_{};
  std::size_t number_ = 0;
};

struct ClassRuns {
  bool occurs = false;
  std::int64_t last = 0;  // where its last run ended or began
  CountWriter counts;
};

}  // namespace

std::vector<std::pair<std::uint8_t, std::string>> encode_masks(const LabelMap& labels) {
  std::vector<ClassRuns> runs(kMaxClasses);
  const auto toggle = [&](int label, std::int64_t at) {
    if (label == kIgnoreLabel) return;
    ClassRuns& run = runs[static_cast<std::size_t>(label)];
    run.occurs = true;
    run.counts.add(at - run.last);
    run.last = at;
  };
  const auto width = static_cast<std::size_t>(labels.size.width);
  const auto height = static_cast<std::size_t>(labels.size.height);
  int current = kIgnoreLabel;
  std::int64_t at = 0;
  for (std::size_t x = 0; x < width; ++x) {
    const std::uint8_t* pixel = labels.labels.data() + x;
    for (std::size_t y = 0; y < height; ++y, pixel += width, ++at) {
      if (*pixel == current) continue;
      toggle(current, at);
      current = *pixel;
      toggle(current, at);
    }
  }
  toggle(current, at);
  std::vector<std::pair<std::uint8_t, std::string>> masks;
  for (std::size_t label = 0; label < runs.size(); ++label) {
    ClassRuns& run = runs[label];
    if (!run.occurs) continue;
    if (run.last < at) run.counts.add(at - run.last);
    masks.emplace_back(static_cast<std::uint8_t>(label), std::move(run.counts.text()));
  }
  return masks;
}

std::string decode_mask(std::string_view counts, std::uint8_t label, LabelMap& labels) {
  const auto width = static_cast<std::size_t>(labels.size.width);
  const auto height = static_cast<std::size_t>(labels.size.height);
  const auto pixels = static_cast<std::int64_t>(width * height);
  std::array<std::int64_t, 2> before{};
  std::int64_t at = 0;
  for (std::size_t number = 0; !counts.empty(); ++number) {
    const std::optional<std::int64_t> value = take_number(counts);
    if (!value) return "run " + std::to_string(number) + " is not a number";
    const std::int64_t count = number > 2 ? *value + before[number % 2] : *value;
    before[number % 2] = count;
    if (count < 0) return "run " + std::to_string(number) + " is negative";
    if (count > pixels - at) return "the runs are longer than the picture";
    if (number % 2 == 0) {
      at += count;
      continue;
    }
    std::size_t x = static_cast<std::size_t>(at) / height;
    std::size_t y = static_cast<std::size_t>(at) % height;
    for (const std::int64_t end = at + count; at < end; ++at) {
      std::uint8_t& pixel = labels.labels[y * width + x];
      if (pixel != kIgnoreLabel) {
        return "pixel (" + std::to_string(x) + ", " + std::to_string(y) + ") is of class " +
               std::to_string(pixel) + " already";
      }
      pixel = label;
      if (++y == height) {
        y = 0;
        ++x;
      }
    }
  }
  if (at != pixels) {
    return "the runs cover " + std::to_string(at) + " of " + std::to_string(pixels) + " pixels";
  }
  return "";
}

}  // namespace sparing
