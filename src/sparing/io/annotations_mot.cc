// MOT Challenge text: gt.txt and detections.
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "sparing/io/annotation_formats.h"

namespace sparing {
namespace {

// MOT16 and later number these from 1; "person" for its "pedestrian", as detectors say it.
constexpr std::array<std::string_view, 12> kMotClasses{
    "person",    "person on vehicle",      "car",           "bicycle",
    "motorbike", "non motorized vehicle",  "static person", "distractor",
    "occluder",  "occluder on the ground", "occluder full", "reflection"};

constexpr std::array<const char*, 8> kFieldNames{"frame", "id",     "x",          "y",
                                                 "width", "height", "confidence", "class"};

class MotLine {
 public:
  MotLine(const std::string& name, std::int64_t number) : name_(name), number_(number) {}

  Status read(std::string_view line) {
    while (true) {
      const std::size_t comma = line.find(',');
      double value = 0;
      if (!parse_number(line.substr(0, comma), value)) {
        return error(count_, "is " + in_quotes(line.substr(0, comma)), "a number is needed");
      }
      if (count_ == values_.size()) return error(count_, "is one too many", "give 6 to 10 fields");
      values_[count_++] = value;
      if (comma == std::string_view::npos) break;
      line.remove_prefix(comma + 1);
    }
    if (count_ < 6) return error(count_, "is missing", "give frame,id,x,y,width,height,...");
    if (frame() < 0) return error(0, "is not a whole number from 1", "count frames from 1");
    if (values_[4] < 0) return error(4, "is negative", "give x,y,width,height");
    if (values_[5] < 0) return error(5, "is negative", "give x,y,width,height");
    if (!is_finite(box())) return error(2, "or another side is too large", "give pixels");
    return {};
  }

  std::size_t count() const { return count_; }
  double operator[](std::size_t field) const { return values_[field]; }
  std::int64_t frame() const { return whole(values_[0], 1e15) - 1; }
  Box box() const {
    return {static_cast<float>(values_[2]), static_cast<float>(values_[3]),
            static_cast<float>(values_[2] + values_[4]),
            static_cast<float>(values_[3] + values_[5])};
  }
  // The class from 0; 0 as well where the field is absent or -1, as in MOT15.
  Result<int> class_id() const {
    if (count_ < 8 || values_[7] == -1) return 0;
    const std::int64_t id = whole(values_[7], kMaxClassId);
    if (id < 1) return error(7, "is not a whole number from 1", "give -1 for none");
    return static_cast<int>(id - 1);
  }
  Error error(std::size_t field, const std::string& problem, const std::string& fix) const {
    const std::string name = field < kFieldNames.size() ? kFieldNames[field] : "";
    return line_error(name_, number_,
                      "field " + std::to_string(field + 1) +
                          (name.empty() ? "" : " (" + name + ")") + " " + problem,
                      fix);
  }

 private:
  // 0 when it is not a whole number from 1 to max.
  static std::int64_t whole(double value, double max) {
    return value >= 1 && value <= max && value == std::floor(value)
               ? static_cast<std::int64_t>(value)
               : 0;
  }

  const std::string& name_;
  std::int64_t number_;
  std::array<double, 10> values_{};
  std::size_t count_ = 0;
};

}  // namespace

Result<DetectionSet> parse_mot_detections(std::string_view text, const std::string& name) {
  std::map<std::int64_t, std::vector<Detection>> images;
  const auto visit = [&](std::int64_t number, std::string_view line) -> Status {
    MotLine fields(name, number);
    SPARING_RETURN_IF_ERROR(fields.read(line));
    if (fields.count() < 7) return fields.error(6, "is missing", "add the detector's confidence");
    if (fields[6] < 0 || fields[6] > 1) {
      return fields.error(6, "is " + std::to_string(fields[6]), "scale it to 0..1");
    }
    SPARING_ASSIGN_OR_RETURN(const int class_id, fields.class_id());
    images[fields.frame()].push_back({fields.box(), static_cast<float>(fields[6]), class_id});
    return {};
  };
  SPARING_RETURN_IF_ERROR(for_each_line(text, visit));
  DetectionSet set;
  set.images = in_order<ImageDetections>(images, &ImageDetections::detections);
  return set;
}

Result<AnnotationSet> parse_mot_ground_truth(std::string_view text, const std::string& name,
                                             const std::vector<std::string>& labels) {
  std::map<std::int64_t, std::vector<Annotation>> images;
  const auto visit = [&](std::int64_t number, std::string_view line) -> Status {
    MotLine fields(name, number);
    SPARING_RETURN_IF_ERROR(fields.read(line));
    Annotation object;
    object.box = fields.box();
    object.ignore = fields.count() > 6 && fields[6] == 0;
    // Ten fields are MOT15's: the last three are a position in the world.
    if (fields.count() < 10) {
      SPARING_ASSIGN_OR_RETURN(object.class_id, fields.class_id());
    }
    images[fields.frame()].push_back(object);
    return {};
  };
  SPARING_RETURN_IF_ERROR(for_each_line(text, visit));
  AnnotationSet set;
  set.labels = labels;
  if (labels.empty()) set.labels.assign(kMotClasses.begin(), kMotClasses.end());
  set.images = in_order<ImageAnnotations>(images, &ImageAnnotations::objects);
  return set;
}

}  // namespace sparing
