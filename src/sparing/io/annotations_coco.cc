// COCO results and COCO instances. Class ids are COCO's category ids, so that results and ground
// truth fit each other without a list of names; ids that no category has are gaps in the labels.
#include <map>
#include <set>
#include <utility>

#include "sparing/io/annotation_formats.h"
#include "sparing/io/annotation_json.h"

namespace sparing {
namespace {

using nlohmann::json;

void set_label(std::vector<std::string>& labels, std::size_t id, std::string label) {
  if (labels.size() <= id) labels.resize(id + 1);
  labels[id] = std::move(label);
}

class InstancesReader {
 public:
  explicit InstancesReader(const JsonRecord& document) : document_(document) {}

  Result<AnnotationSet> read() {
    SPARING_RETURN_IF_ERROR(categories());
    SPARING_RETURN_IF_ERROR(images());
    SPARING_ASSIGN_OR_RETURN(const json* list, document_.array("annotations"));
    for (std::size_t i = 0; i < list->size(); ++i) {
      SPARING_ASSIGN_OR_RETURN(const JsonRecord record, document_.element("annotations", *list, i));
      SPARING_RETURN_IF_ERROR(annotation(record));
    }
    AnnotationSet set;
    set.labels = std::move(labels_);
    set.images = in_order<ImageAnnotations>(images_, &ImageAnnotations::objects);
    return set;
  }

 private:
  Status categories() {
    SPARING_ASSIGN_OR_RETURN(const json* list, document_.array("categories"));
    for (std::size_t i = 0; i < list->size(); ++i) {
      SPARING_ASSIGN_OR_RETURN(const JsonRecord record, document_.element("categories", *list, i));
      SPARING_ASSIGN_OR_RETURN(const std::int64_t id, record.integer("id", 0, kMaxClassId));
      SPARING_ASSIGN_OR_RETURN(std::string name, record.string("name"));
      if (!categories_.insert(id).second) {
        return record.error("id", "is " + std::to_string(id) + " a second time", "renumber it");
      }
      set_label(labels_, static_cast<std::size_t>(id), std::move(name));
    }
    return {};
  }

  Status images() {
    SPARING_ASSIGN_OR_RETURN(const json* list, document_.array("images"));
    for (std::size_t i = 0; i < list->size(); ++i) {
      SPARING_ASSIGN_OR_RETURN(const JsonRecord record, document_.element("images", *list, i));
      SPARING_ASSIGN_OR_RETURN(const std::int64_t id, record.integer("id", INT64_MIN, INT64_MAX));
      if (!images_.try_emplace(id).second) {
        return record.error("id", "is " + std::to_string(id) + " a second time", "renumber it");
      }
    }
    return {};
  }

  // 0, 1, false or true; false when missing.
  Result<bool> flag(const JsonRecord& record, const char* field) {
    if (!record.has(field)) return false;
    if (record.object[field].is_boolean()) return record.object[field].get<bool>();
    SPARING_ASSIGN_OR_RETURN(const std::int64_t value, record.integer(field, 0, 1));
    return value != 0;
  }

  Status annotation(const JsonRecord& record) {
    SPARING_ASSIGN_OR_RETURN(const std::int64_t image,
                             record.integer("image_id", INT64_MIN, INT64_MAX));
    SPARING_ASSIGN_OR_RETURN(const std::int64_t category,
                             record.integer("category_id", 0, kMaxClassId));
    const auto it = images_.find(image);
    if (it == images_.end()) {
      return record.error("image_id", "is " + std::to_string(image) + ", which no image has",
                          "add the image, or remove the annotation");
    }
    if (!categories_.contains(category)) {
      return record.error("category_id",
                          "is " + std::to_string(category) + ", which no category has",
                          "add the category");
    }
    Annotation object;
    object.class_id = static_cast<int>(category);
    SPARING_ASSIGN_OR_RETURN(object.box, box_from_extent(record, "bbox"));
    SPARING_ASSIGN_OR_RETURN(object.crowd, flag(record, "iscrowd"));
    SPARING_ASSIGN_OR_RETURN(object.ignore, flag(record, "ignore"));
    if (record.has("area")) {
      SPARING_ASSIGN_OR_RETURN(object.area, record.number("area", 0, 1e18));
    }
    it->second.push_back(object);
    return {};
  }

  const JsonRecord& document_;
  std::set<std::int64_t> categories_;
  std::map<std::int64_t, std::vector<Annotation>> images_;
  std::vector<std::string> labels_;
};

}  // namespace

Result<DetectionSet> parse_coco_detections(std::string_view text, const std::string& name) {
  const std::string thing = "file '" + name + "'";
  SPARING_ASSIGN_OR_RETURN(const json list, parse_json(text, thing));
  if (!list.is_array()) {
    return Error{ErrorCode::kInput, thing, "it is not a JSON array", "give COCO results"};
  }
  const JsonRecord document{list, thing, ""};
  std::map<std::int64_t, std::vector<Detection>> images;
  DetectionSet set;
  for (std::size_t i = 0; i < list.size(); ++i) {
    SPARING_ASSIGN_OR_RETURN(const JsonRecord record, document.element("", list, i));
    SPARING_ASSIGN_OR_RETURN(const std::int64_t image,
                             record.integer("image_id", INT64_MIN, INT64_MAX));
    SPARING_ASSIGN_OR_RETURN(const std::int64_t category,
                             record.integer("category_id", 0, kMaxClassId));
    SPARING_ASSIGN_OR_RETURN(const double score, record.number("score", 0, 1));
    SPARING_ASSIGN_OR_RETURN(const Box box, box_from_extent(record, "bbox"));
    if (record.has("label")) {
      SPARING_ASSIGN_OR_RETURN(std::string label, record.string("label"));
      set_label(set.labels, static_cast<std::size_t>(category), std::move(label));
    }
    images[image].push_back({box, static_cast<float>(score), static_cast<int>(category)});
  }
  set.images = in_order<ImageDetections>(images, &ImageDetections::detections);
  return set;
}

Result<AnnotationSet> parse_coco_ground_truth(std::string_view text, const std::string& name) {
  const std::string thing = "file '" + name + "'";
  SPARING_ASSIGN_OR_RETURN(const json document, parse_json(text, thing));
  if (!document.is_object()) {
    return Error{ErrorCode::kInput, thing, "it is not a JSON object",
                 "give COCO instances with images, annotations and categories"};
  }
  const JsonRecord record{document, thing, ""};
  return InstancesReader(record).read();
}

}  // namespace sparing
