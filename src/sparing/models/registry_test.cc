#include "sparing/models/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "sparing/backends/fake.h"

namespace sparing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr char kHashOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

// Sets or unsets an environment variable until the end of the scope.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class Registry : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("registry_test_" + std::to_string(::getpid()));
    paths_.model_dir = root_ / "cache";
    paths_.manifest_dirs = {root_ / "share", root_ / "cache"};
    for (const char* name : {"share", "cache", "user"}) fs::create_directories(root_ / name);
    FakeGraph yolo;
    yolo.inputs = {{"images", {DataType::kFloat32, {1, 3, 640, 640}}}};
    yolo.outputs = {{"output0", {DataType::kFloat32, {1, 84, 8400}}}};
    FakeGraph classifier = yolo;
    classifier.outputs = {{"prob", {DataType::kFloat32, {1, 1000}}}};
    FakeGraph two;
    two.inputs = yolo.inputs;
    two.outputs = {{"map", {DataType::kFloat32, {1, 2, 320, 320}}}};
    context_ =
        create_fake_context({}, {{"My Model", yolo}, {"net", classifier}, {"two", two}}).value();
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path write(const fs::path& file, const std::string& text) {
    std::ofstream(root_ / file, std::ios::binary) << text;
    return root_ / file;
  }

  // `extra` are further fields, each with a comma before it.
  fs::path write_manifest(const fs::path& file, const std::string& name,
                          const std::string& extra = "") {
    return write(file, R"({"schema": 1, "name": ")" + name +
                           R"(", "input": {"size": {"default": "native"}},
                           "head": {"type": "yolox"}, "labels": ["a"])" +
                           extra + "}");
  }

  static std::string npm_source(const std::string& hash) {
    return R"(, "sha256": ")" + hash + R"(", "source": {"kind": "npm", "package": "p",
        "version": "1.0.0", "files": [{"path": "m", "sha256": ")" +
           hash + R"(", "bytes": 3}],
        "convert": {"from": "tfjs-graph-model", "model": "m", "layout": "nchw", "multiple_of": 32,
                    "inputs": {"a": "b"}, "outputs": {"c": "d"}}})";
  }

  std::string error_of(std::string_view spec) {
    const Result<Model> result = resolve_model(spec, paths_, context_);
    if (result.ok()) return "no error";
    EXPECT_EQ(result.error().code, ErrorCode::kModel);
    return result.error().to_string();
  }

  fs::path root_;
  ModelPaths paths_;
  Context context_;
};

TEST_F(Registry, Sha256) {
  EXPECT_EQ(*sha256_file(write("abc", "abc")), kHashOfAbc);
  EXPECT_EQ(*sha256_file(write("empty", "")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(*sha256_file(write("long", std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_THAT(sha256_file(root_ / "none").error().to_string(), HasSubstr("No such file"));
  EXPECT_FALSE(sha256_file(root_).ok());
}

TEST_F(Registry, ByNameFetchedAndVerified) {
  write_manifest("share/m.json", "m", npm_source(kHashOfAbc));
  EXPECT_THAT(error_of("m"), AllOf(HasSubstr("missing"), HasSubstr("cache/m.onnx"),
                                   HasSubstr("sparing models get m")));
  write("cache/m.onnx", "abd");
  EXPECT_THAT(error_of("m"), AllOf(HasSubstr(std::string("expected ") + kHashOfAbc),
                                   HasSubstr("found a52d159f"), HasSubstr("sparing models get m")));
  write("cache/m.onnx", "abc");
  const Result<Model> model = resolve_model("m", paths_, context_);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->file, root_ / "cache/m.onnx");
  EXPECT_EQ(model->manifest.name, "m");
}

TEST_F(Registry, UnknownNamesListTheKnown) {
  EXPECT_THAT(error_of("x"), HasSubstr("give an .onnx file"));
  write_manifest("share/first.json", "first");
  write_manifest("cache/second.json", "second");
  EXPECT_THAT(error_of("x"), HasSubstr("first, second"));
  EXPECT_THAT(error_of(""), HasSubstr("no name"));
  EXPECT_THAT(error_of("../share/first"), HasSubstr("first, second"));  // a name is no path
  EXPECT_THAT(error_of(write("user/notes.txt", "x").string()), HasSubstr("neither"));
}

TEST_F(Registry, ByManifestFile) {
  const fs::path manifest = write_manifest("user/own.json", "own");
  EXPECT_THAT(error_of(manifest.string()),
              AllOf(HasSubstr("user/own.onnx"), HasSubstr("put it there")));
  write("cache/own.onnx", "abc");
  EXPECT_EQ(resolve_model(manifest.string(), paths_, context_)->file, root_ / "cache/own.onnx");
  write("user/own.onnx", "abc");
  EXPECT_EQ(resolve_model(manifest.string(), paths_, context_)->file, root_ / "user/own.onnx");
  write_manifest("user/own.json", "own", R"(, "sha256": ")" + std::string(64, '0') + '"');
  EXPECT_THAT(error_of(manifest.string()),
              AllOf(HasSubstr("SHA-256"), HasSubstr("correct its sha256")));
  EXPECT_THAT(error_of((root_ / "user/none.json").string()), HasSubstr("no such file"));
  write("user/bad.json", "{");
  EXPECT_THAT(error_of((root_ / "user/bad.json").string()), HasSubstr("not JSON"));
}

TEST_F(Registry, WeightsOfAnIrAreVerified) {
  const fs::path manifest =
      write_manifest("user/ir.json", "ir",
                     std::string(R"(, "file": "ir.xml", "weights_sha256": ")") + kHashOfAbc + '"');
  write("user/ir.xml", "<net/>");
  EXPECT_THAT(error_of(manifest.string()), AllOf(HasSubstr("ir.bin"), HasSubstr("No such file")));
  write("user/ir.bin", "abd");
  EXPECT_THAT(error_of(manifest.string()), AllOf(HasSubstr("ir.bin"), HasSubstr("SHA-256"),
                                                 HasSubstr("correct its weights_sha256")));
  write("user/ir.bin", "abc");
  EXPECT_EQ(resolve_model(manifest.string(), paths_, context_)->file, root_ / "user/ir.xml");
}

TEST_F(Registry, BareFilesAreInspected) {
  const Result<Model> model =
      resolve_model(write("user/My Model.ONNX", "x").string(), paths_, context_);
  ASSERT_TRUE(model.ok()) << model.error().to_string();
  EXPECT_EQ(model->manifest.name, "my-model");
  EXPECT_EQ(model->manifest.head.type, HeadType::kYolov8);
  EXPECT_EQ(model->manifest.file, "My Model.ONNX");
  EXPECT_EQ(model->file, root_ / "user/My Model.ONNX");
  EXPECT_THAT(error_of(write("user/net.onnx", "x").string()),
              AllOf(HasSubstr("'prob' [1,1000]"), HasSubstr("YOLOv8")));
  EXPECT_THAT(error_of((root_ / "user/none.onnx").string()), HasSubstr("no such file"));
  EXPECT_THAT(error_of(write("user/unknown.onnx", "x").string()), HasSubstr("unknown"));
}

TEST_F(Registry, List) {
  write_manifest("share/b.json", "b", npm_source(kHashOfAbc));
  write_manifest("share/a.json", "a");
  write_manifest("cache/a.json", "a");
  write_manifest("cache/renamed.json", "other");
  write("cache/broken.json", "{");
  write("cache/b.onnx", "abc");
  write("cache/notes.txt", "x");
  const Result<std::vector<ModelListEntry>> list = list_models(paths_);
  ASSERT_TRUE(list.ok()) << list.error().to_string();
  std::vector<std::string> names;
  for (const ModelListEntry& entry : *list) names.push_back(entry.manifest.name);
  ASSERT_EQ(names, (std::vector<std::string>{"a", "b", "broken", "renamed"}));
  EXPECT_EQ((*list)[0].manifest_file, root_ / "share/a.json");
  EXPECT_FALSE((*list)[0].present);
  EXPECT_EQ((*list)[0].problem, "");
  EXPECT_TRUE((*list)[1].present);
  EXPECT_EQ((*list)[1].file, root_ / "cache/b.onnx");
  EXPECT_THAT((*list)[2].problem, HasSubstr("not JSON"));
  EXPECT_THAT((*list)[3].problem, AllOf(HasSubstr("'other'"), HasSubstr("other.json")));
  EXPECT_THAT(error_of("renamed"), HasSubstr("other.json"));

  paths_.manifest_dirs = {root_ / "nowhere"};
  EXPECT_TRUE(list_models(paths_)->empty());
  paths_.manifest_dirs = {write("file", "x")};
  EXPECT_FALSE(list_models(paths_).ok());
}

TEST(ModelPaths, FollowTheEnvironment) {
  const fs::path share = "/usr/share/sparing";
  const Environment home("HOME", "/home/me");
  {
    const Environment chosen("SPARING_MODELS_DIR", "/models");
    const Environment cache("XDG_CACHE_HOME", "/cache");
    const ModelPaths paths = default_model_paths(share);
    EXPECT_EQ(paths.model_dir, "/models");
    EXPECT_EQ(paths.manifest_dirs, (std::vector<fs::path>{share / "models", "/models"}));
  }
  const Environment chosen("SPARING_MODELS_DIR", nullptr);
  {
    const Environment cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(default_model_paths(share).model_dir, "/cache/sparing/models");
  }
  for (const char* ignored : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Environment cache("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(default_model_paths(share).model_dir, "/home/me/.cache/sparing/models");
  }
  const Environment cache("XDG_CACHE_HOME", nullptr);
  const Environment no_home("HOME", nullptr);
  EXPECT_TRUE(default_model_paths(share).model_dir.is_absolute());
}

TEST_F(Registry, AuxIsSoughtBesideItsMainNet) {
  const auto segment = [&](const fs::path& file, const std::string& name,
                           const std::string& extra = "") {
    write(file.parent_path() / (name + ".onnx"), "x");
    return write(file, R"({"schema": 1, "task": "segment", "name": ")" + name +
                           R"(", "input": {"size": {"default": "native"}}, "segmentation": {})" +
                           (extra.empty() ? R"(, "labels": ["a", "b"])" : extra) + "}");
  };
  const std::string with_aux = R"(, "labels": ["a", "b"], "aux": "little")";
  const fs::path own = segment("user/big.json", "big", with_aux);
  Result<Model> main = resolve_model(own.string(), paths_, context_);
  ASSERT_TRUE(main.ok()) << main.error().to_string();
  EXPECT_EQ(main->manifest_file, own);
  const auto missing = resolve_aux(*main, paths_, context_);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().to_string(), HasSubstr("'little'"));

  // By its name among the known models; beside the manifest it counts first.
  segment("share/little.json", "little");
  auto aux = resolve_aux(*main, paths_, context_);
  ASSERT_TRUE(aux.ok()) << aux.error().to_string();
  ASSERT_TRUE(aux->has_value());
  EXPECT_EQ((*aux)->file, root_ / "share/little.onnx");
  segment("user/little.json", "little");
  aux = resolve_aux(*main, paths_, context_);
  ASSERT_TRUE(aux.ok()) << aux.error().to_string();
  EXPECT_EQ((*aux)->file, root_ / "user/little.onnx");

  segment("user/little.json", "little", R"(, "labels": ["a", "c"])");
  aux = resolve_aux(*main, paths_, context_);
  ASSERT_FALSE(aux.ok());
  EXPECT_THAT(aux.error().to_string(), HasSubstr("label 1 is 'b' and 'c'"));

  segment("share/big.json", "big", with_aux);
  main = resolve_model("big", paths_, context_);
  ASSERT_TRUE(main.ok());
  aux = resolve_aux(*main, paths_, context_);
  ASSERT_TRUE(aux.ok()) << aux.error().to_string();
  EXPECT_EQ((*aux)->file, root_ / "share/little.onnx");
  // One that is asked for counts before the manifest's; a bare file has no labels of its own.
  const fs::path bare = write("user/two.onnx", "x");
  aux = resolve_aux(*main, paths_, context_, bare.string());
  ASSERT_TRUE(aux.ok()) << aux.error().to_string();
  EXPECT_EQ((*aux)->file, bare);
  EXPECT_EQ((*aux)->manifest.labels, (std::vector<std::string>{"a", "b"}));
  main->manifest.labels.push_back("c");
  aux = resolve_aux(*main, paths_, context_, bare.string());
  ASSERT_FALSE(aux.ok());
  EXPECT_THAT(aux.error().to_string(), HasSubstr("3 and 2 labels"));

  main->manifest.aux.clear();
  aux = resolve_aux(*main, paths_, context_);
  ASSERT_TRUE(aux.ok());
  EXPECT_FALSE(aux->has_value());
}

}  // namespace
}  // namespace sparing
