#include "sparing/models/head.h"

#include "sparing/base/check.h"
#include "sparing/models/head_internal.h"

namespace sparing {
namespace {

using namespace heads_internal;  // NOLINT: the functions of the rows below

// In the order of HeadType; guesses are tried in this order.
constexpr std::array<HeadInfo, 4> kHeads{{
    {HeadType::kNanodet, "nanodet",
     "NanoDet, GFL: for each stride scores [1,N,C] and distributions [1,N,4*bins], or all in one "
     "[1,N,C+4*bins]",
     decode_nanodet, match_nanodet, true},
    {HeadType::kYolox, "yolox", "YOLOX: one output [1,N,5+C]", decode_yolox, match_yolox, true},
    {HeadType::kYolov8, "yolov8", "YOLOv8, YOLO11: one output [1,4+C,N] or [1,N,4+C]",
     decode_yolov8, match_yolov8, true},
    {HeadType::kEnd2end, "end2end",
     "YOLOv10: one output [1,N,6]; DETR family: boxes [1,N,4] with scores [1,N,C], or with scores "
     "[1,N] and labels [1,N]",
     decode_end2end, match_end2end, false},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kHeads.size(); ++i) {
    if (static_cast<std::size_t>(kHeads[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const HeadInfo> heads() { return kHeads; }

const HeadInfo& info(HeadType type) {
  const auto index = static_cast<std::size_t>(type);
  SPARING_CHECK(index < kHeads.size());
  return kHeads[index];
}

std::optional<HeadType> head_from_name(std::string_view name) {
  for (const HeadInfo& row : kHeads) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace sparing
