// Whatever the bytes, each reader of detections and ground truth gives a set whose numbers are
// finite and in range, or an error of one line. The first byte chooses the reader.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sparing/io/annotation_formats.h"
#include "sparing/io/options_json.h"

namespace sparing {
namespace {

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

void check(const Error& error, ErrorCode code) {
  const std::string message = error.to_string();
  require(error.code == code, message);
  require(message.find('\n') == std::string::npos, "several lines: " + message);
  require(!error.fix.empty(), "no fix: " + message);
}

void check(const Box& box) {
  require(is_finite(box), "box is not finite");
  require(box.x1 >= box.x0 && box.y1 >= box.y0, "corners swapped");
}

void check(const Result<DetectionSet>& result) {
  if (!result.ok()) return check(result.error(), ErrorCode::kInput);
  const ImageDetections* last = nullptr;
  for (const ImageDetections& image : result->images) {
    require(last == nullptr || last->image_id < image.image_id, "images out of order");
    last = &image;
    for (const Detection& d : image.detections) {
      check(d.box);
      require(d.score >= 0 && d.score <= 1, "score");
      require(d.class_id >= 0 && d.class_id <= kMaxClassId, "class");
    }
  }
}

void check(const std::vector<Annotation>& objects) {
  for (const Annotation& object : objects) {
    check(object.box);
    require(object.class_id >= 0 && object.class_id <= kMaxClassId, "class");
    require(object.area == -1 || (object.area >= 0 && std::isfinite(object.area)), "area");
  }
}

void check(const Result<AnnotationSet>& result) {
  if (!result.ok()) return check(result.error(), ErrorCode::kInput);
  for (const ImageAnnotations& image : result->images) check(image.objects);
}

struct SomeOptions {
  bool flag = false;
  int count = 1;
  double share = 0.5;
  std::string name;
  std::vector<std::string> names;
  static constexpr auto fields() {
    return std::tuple{option("flag", &SomeOptions::flag),
                      option("count", &SomeOptions::count).range(0, 9),
                      option("share", &SomeOptions::share).range(0, 1),
                      option("name", &SomeOptions::name), option("names", &SomeOptions::names)};
  }
};

void check_options(std::string_view text) {
  SomeOptions options;
  const Status status = options_from_json(text, options);
  if (!status.ok()) return check(status.error(), ErrorCode::kInvalidArgument);
  SomeOptions again;
  require(options_from_json(options_to_json(options), again).ok(), "options read back");
  require(options_to_json(again) == options_to_json(options), "options read back otherwise");
}

void run(std::uint8_t reader, std::string_view text) {
  switch (reader % 7) {
    case 0: return check(parse_jsonl_detections(text, "f"));
    case 1: return check(parse_coco_detections(text, "f"));
    case 2: return check(parse_mot_detections(text, "f"));
    case 3: return check(parse_coco_ground_truth(text, "f"));
    case 4: return check(parse_mot_ground_truth(text, "f", {}));
    case 5: {
      const auto result = parse_yolo_ground_truth(text, "f", {1920, 1080});
      return result.ok() ? check(*result) : check(result.error(), ErrorCode::kInput);
    }
    default: return check_options(text);
  }
}

}  // namespace
}  // namespace sparing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  sparing::run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
