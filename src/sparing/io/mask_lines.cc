#include "sparing/io/mask_lines.h"

#include <algorithm>

#include "sparing/frame/video_frame.h"
#include "sparing/io/annotation_json.h"
#include "sparing/io/rle.h"

namespace sparing {
namespace {

// Two sides of a picture.
Result<Size> read_size(const JsonRecord& record, const char* field, bool height_first) {
  SPARING_ASSIGN_OR_RETURN(const nlohmann::json* pair, record.array(field));
  const auto side = [&](std::size_t i) -> std::int64_t {
    if (pair->size() != 2 || !(*pair)[i].is_number_unsigned()) return 0;
    return static_cast<std::int64_t>(std::min<std::uint64_t>((*pair)[i].get<std::uint64_t>(),
                                                             std::uint64_t{kMaxFrameExtent} + 1));
  };
  const std::int64_t first = side(0);
  const std::int64_t second = side(1);
  if (std::min(first, second) < 1 || std::max(first, second) > kMaxFrameExtent) {
    return record.error(field, "is no size",
                        "an array of two whole numbers from 1 to " +
                            std::to_string(kMaxFrameExtent) + " is needed");
  }
  Size size{static_cast<int>(first), static_cast<int>(second)};
  if (height_first) std::swap(size.width, size.height);
  return size;
}

Status read_mask(const JsonRecord& record, LabelMap& labels) {
  SPARING_ASSIGN_OR_RETURN(const std::int64_t label, record.integer("class", 0, kMaxClasses - 1));
  const auto rle = record.object.find("rle");
  if (rle == record.object.end()) return record.error("rle", "is missing", "add it");
  if (!rle->is_object()) return record.error("rle", "is not an object", "an object is needed");
  const JsonRecord runs{*rle, record.thing, record.path + "rle."};
  SPARING_ASSIGN_OR_RETURN(const Size size, read_size(runs, "size", true));
  if (!(size == labels.size)) {
    return runs.error("size",
                      "is [" + std::to_string(size.height) + "," + std::to_string(size.width) +
                          "], the frame's mask_size [" + std::to_string(labels.size.width) + "," +
                          std::to_string(labels.size.height) + "]",
                      "give [height, width] of that size");
  }
  const auto counts = rle->find("counts");
  if (counts == rle->end() || !counts->is_string()) {
    return runs.error("counts", "is no text", "give COCO's compressed run lengths");
  }
  const std::string problem =
      decode_mask(counts->get_ref<const std::string&>(), static_cast<std::uint8_t>(label), labels);
  if (!problem.empty()) {
    return runs.error("counts", "is wrong: " + problem, "give COCO's compressed run lengths");
  }
  return {};
}

}  // namespace

Result<MaskLine> parse_mask_line(std::string_view text, const std::string& thing) {
  SPARING_ASSIGN_OR_RETURN(const nlohmann::json document, parse_json(text, thing));
  if (!document.is_object()) {
    return Error{ErrorCode::kInput, thing, "it is not a JSON object",
                 "give the file that a mask output wrote"};
  }
  const JsonRecord record{document, thing, ""};
  SPARING_ASSIGN_OR_RETURN(const std::int64_t schema, record.integer("schema", 1, INT64_MAX));
  if (schema != 1) {
    return record.error("schema", "is " + std::to_string(schema) + ", this version reads 1",
                        "update Sparing");
  }
  MaskLine line;
  if (record.has("stream")) {
    SPARING_ASSIGN_OR_RETURN(line.stream, record.integer("stream", 0, INT64_MAX));
  }
  SPARING_ASSIGN_OR_RETURN(line.frame, record.integer("frame", 0, INT64_MAX));
  SPARING_ASSIGN_OR_RETURN(const Size size, read_size(record, "mask_size", false));
  SPARING_ASSIGN_OR_RETURN(const nlohmann::json* masks, record.array("masks"));
  line.labels.resize(size);
  std::fill(line.labels.labels.begin(), line.labels.labels.end(), kIgnoreLabel);
  for (std::size_t i = 0; i < masks->size(); ++i) {
    SPARING_ASSIGN_OR_RETURN(const JsonRecord mask, record.element("masks", *masks, i));
    SPARING_RETURN_IF_ERROR(read_mask(mask, line.labels));
  }
  return line;
}

}  // namespace sparing
