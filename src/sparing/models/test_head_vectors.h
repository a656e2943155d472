// Test support: the vectors that tools/make_head_vectors.py and tools/make_golden.py wrote.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sparing/models/head.h"
#include "sparing/models/manifest.h"

namespace sparing::testing {

// A tensor that owns its values.
struct OwnedTensor {
  std::string name;
  Shape shape;
  std::vector<float> data;
};

inline std::vector<HeadTensor> views(const std::vector<OwnedTensor>& tensors) {
  std::vector<HeadTensor> result;
  for (const OwnedTensor& tensor : tensors) {
    result.push_back({tensor.name, tensor.shape, tensor.data});
  }
  return result;
}

struct HeadVector {
  std::string name;
  HeadSpec spec;
  DecodeOptions options;
  float iou_threshold = 0;
  std::vector<OwnedTensor> tensors;
  std::vector<Detection> detections;  // before NMS
  std::vector<Detection> kept_class_aware;
  std::vector<Detection> kept_class_agnostic;
};

inline std::vector<Detection> detections_of(const nlohmann::json& rows) {
  std::vector<Detection> result;
  for (const auto& row : rows) {
    result.push_back({{row[0], row[1], row[2], row[3]}, row[4], row[5]});
  }
  return result;
}

// Through the manifest's reader, so that a vector's "head" is what a user would write.
inline HeadSpec spec_of(const nlohmann::json& head, int classes) {
  nlohmann::json manifest = {{"schema", 1},
                             {"name", "vector"},
                             {"input", {{"size", {{"default", "native"}}}}},
                             {"head", head},
                             {"labels", std::vector<std::string>(classes, "label")}};
  Result<ModelManifest> parsed = parse_manifest(manifest.dump(), "vector");
  if (!parsed.ok()) {
    ADD_FAILURE() << parsed.error().to_string();
    return {};
  }
  return parsed->head;
}

inline std::vector<float> values_of(const nlohmann::json& tensor, const Shape& shape,
                                    const std::filesystem::path& folder) {
  if (!tensor["data"].is_string()) return tensor["data"].get<std::vector<float>>();
  std::ifstream file(folder / tensor["data"].get<std::string>(), std::ios::binary);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape).value()));
  file.seekg(tensor["offset"].get<std::int64_t>() * 4);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  EXPECT_TRUE(file.good());
  return values;
}

inline HeadVector load_vector(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const nlohmann::json json = nlohmann::json::parse(stream);
  HeadVector vector;
  vector.name = json["case"];
  vector.spec = spec_of(json["head"], json["classes"]);
  vector.options.input_size = {json["input_size"][0], json["input_size"][1]};
  vector.options.score_threshold = json["score_threshold"];
  vector.iou_threshold = json["iou_threshold"];
  for (const auto& tensor : json["tensors"]) {
    const auto shape = tensor["shape"].get<Shape>();
    vector.tensors.push_back({tensor["name"], shape, values_of(tensor, shape, file.parent_path())});
  }
  vector.detections = detections_of(json["detections"]);
  vector.kept_class_aware = detections_of(json["kept"]["class_aware"]);
  vector.kept_class_agnostic = detections_of(json["kept"]["class_agnostic"]);
  return vector;
}

// Files of heads/, and the golden one of the real weights.
inline std::vector<std::filesystem::path> vector_files() {
  const std::filesystem::path folder = SPARING_SOURCE_DIR "/src/sparing/models/testdata";
  std::vector<std::filesystem::path> files{folder / "golden/nanodet_g.json"};
  for (const auto& entry : std::filesystem::directory_iterator(folder / "heads")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline void expect_near(const std::vector<Detection>& found,
                        const std::vector<Detection>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("detection " + std::to_string(i));
    EXPECT_EQ(found[i].class_id, expected[i].class_id);
    EXPECT_NEAR(found[i].score, expected[i].score, 1e-5);
    EXPECT_NEAR(found[i].box.x0, expected[i].box.x0, 1e-3);
    EXPECT_NEAR(found[i].box.y0, expected[i].box.y0, 1e-3);
    EXPECT_NEAR(found[i].box.x1, expected[i].box.x1, 1e-3);
    EXPECT_NEAR(found[i].box.y1, expected[i].box.y1, 1e-3);
  }
}

}  // namespace sparing::testing
