#include "sparing/streams/canvas_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sparing/io/annotations.h"
#include "sparing/streams/observer_test_util.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

// On the canvas: ((110 - 84) / 2, (52 - 42) / 2) = (13, 5) to (23, 23), and (33, 9) to (43, 19).
constexpr Box kPerson{13, 5, 23, 23};
constexpr Box kCar{33, 9, 43, 19};

class CanvasExportTest : public ::testing::Test {
 protected:
  Status show(CanvasExport& exporter, CanvasReport canvas) {
    const auto pixels =
        test_tensor(canvas.size, test_region().place, test_context().networks[0].input);
    canvas.pixels = pixels;
    return exporter.on_canvas(canvas);
  }
  // One window of these canvases.
  void run(const std::vector<CanvasReport>& canvases, const CanvasExportOptions& options = {}) {
    auto exporter = open_canvas_export(folder_.path(), test_context(), options);
    ASSERT_TRUE(exporter.ok()) << exporter.error().to_string();
    for (const CanvasReport& canvas : canvases) {
      const Status status = show(**exporter, canvas);
      ASSERT_TRUE(status.ok()) << status.error().to_string();
    }
    ASSERT_TRUE((*exporter)->on_window({}, {}).ok());
    const Status status = (*exporter)->finish();
    ASSERT_TRUE(status.ok()) << status.error().to_string();
  }
  AnnotationSet coco() {
    auto set = read_ground_truth(folder_ / "annotations.json");
    EXPECT_TRUE(set.ok()) << set.error().to_string();
    return *set;
  }

  TestFolder folder_{"canvas_export_test"};
};

TEST_F(CanvasExportTest, BothFormatsSayTheSameInCanvasPixels) {
  run({test_canvas(12, {test_region()})});
  const AnnotationSet set = coco();
  ASSERT_EQ(set.images.size(), 1U);
  EXPECT_EQ(set.images[0].image_id, 12);
  ASSERT_EQ(set.images[0].objects.size(), 2U);
  EXPECT_EQ(set.images[0].objects[0].box, kPerson);
  EXPECT_EQ(set.images[0].objects[1].box, kCar);
  EXPECT_EQ(set.labels[1], "person");

  GroundTruthOptions reading;
  reading.image_size = {64, 32};
  reading.labels = {"person", "car"};
  const auto yolo = read_ground_truth(folder_ / "labels", reading);
  ASSERT_TRUE(yolo.ok()) << yolo.error().to_string();
  ASSERT_EQ(yolo->images[0].objects.size(), 2U);
  EXPECT_GT(iou(yolo->images[0].objects[0].box, kPerson), 0.999f);
  EXPECT_EQ(yolo->images[0].objects[0].class_id, 0);
  EXPECT_GT(iou(yolo->images[0].objects[1].box, kCar), 0.999f);
  EXPECT_THAT(text_of(folder_ / "data.yaml"), ::testing::HasSubstr("1: \"car\""));
}

TEST_F(CanvasExportTest, PicturesAreAsDrawn) {
  run({test_canvas(12, {test_region()})});
  const RgbPicture picture = read_picture(folder_ / "images/canvas-000012.png");
  EXPECT_EQ(picture.size(), (Size{64, 32}));
  EXPECT_TRUE(pixel_of(picture, 7, 4) == kTestGround);
  EXPECT_TRUE(pixel_of(picture, 8, 4) == kTestRegion);
  EXPECT_TRUE(pixel_of(picture, 47, 23) == kTestRegion);
  EXPECT_TRUE(pixel_of(picture, 48, 23) == kTestGround);
}

TEST_F(CanvasExportTest, CenterKeepsTheObjectThatTheRegionIsFor) {
  CanvasExportOptions options;
  options.labels = "center";
  run({test_canvas(0, {test_region()})}, options);
  ASSERT_EQ(coco().images[0].objects.size(), 1U);
  EXPECT_EQ(coco().images[0].objects[0].box, kPerson);

  // Where no object was expected, that on the region's centre (140, 70).
  CanvasRegion moving = test_region();
  moving.roi.object = {};
  moving.detections[1].box = {135, 60, 155, 80};
  fs::remove_all(folder_.path());
  run({test_canvas(0, {moving})}, options);
  ASSERT_EQ(coco().images[0].objects.size(), 1U);
  EXPECT_EQ(coco().images[0].objects[0].box, (Box{25.5f, 9, 35.5f, 19}));
}

TEST_F(CanvasExportTest, WhatOtherRegionsFoundIsALabelOfAllThatShowIt) {
  CanvasRegion blind = test_region();
  blind.detections.clear();
  CanvasRegion whole = test_region();
  whole.roi.source = RoiSource::kWholeFrame;
  whole.purpose = DrawPurpose::kRefresh;
  whole.detections[1].box = {160, 60, 190, 80};  // two thirds in the region: clipped to it
  whole.detections.push_back({{95, 0, 105, 60}, 0.9f, 0});  // hardly in it
  run({test_canvas(0, {blind}), test_canvas(1, {whole})});
  const AnnotationSet set = coco();
  ASSERT_EQ(set.images.size(), 1U);  // whole frames are left out
  ASSERT_EQ(set.images[0].objects.size(), 2U);
  EXPECT_EQ(set.images[0].objects[0].box, kPerson);
  EXPECT_EQ(set.images[0].objects[1].box, (Box{38, 9, 48, 19}));
  EXPECT_FALSE(fs::exists(folder_ / "images/canvas-000001.png"));
}

TEST_F(CanvasExportTest, OtherFramesAndProbesAndFaintDetectionsGiveNone) {
  CanvasRegion blind = test_region();
  blind.detections.clear();
  CanvasRegion other = test_region();
  other.frame = 8;
  other.detections[0].score = 0.3f;
  CanvasRegion probe = test_region();
  probe.purpose = DrawPurpose::kProbe;
  run({test_canvas(0, {blind}), test_canvas(1, {other}), test_canvas(2, {probe})});
  const AnnotationSet set = coco();
  ASSERT_EQ(set.images.size(), 1U);
  EXPECT_EQ(set.images[0].image_id, 1);
  ASSERT_EQ(set.images[0].objects.size(), 1U);
  EXPECT_EQ(set.images[0].objects[0].box, kCar);
}

TEST_F(CanvasExportTest, TheSameObjectFoundTwiceIsOneLabel) {
  CanvasRegion again = test_region();
  again.place = {8, 4, 40, 20};
  again.detections[0].box.x0 += 1;
  again.detections[0].score = 0.7f;
  run({test_canvas(0, {test_region()}), test_canvas(1, {again})});
  for (const ImageAnnotations& image : coco().images) {
    ASSERT_EQ(image.objects.size(), 2U);
    EXPECT_EQ(image.objects[0].box, kPerson);
  }
}

TEST_F(CanvasExportTest, OneFormatAloneWritesNothingOfTheOther) {
  CanvasExportOptions options;
  options.format = "yolo";
  run({test_canvas(0, {test_region()})}, options);
  EXPECT_FALSE(fs::exists(folder_ / "annotations.json"));
  EXPECT_TRUE(fs::exists(folder_ / "labels/canvas-000000.txt"));
  fs::remove_all(folder_.path());
  options.format = "coco";
  run({test_canvas(0, {test_region()})}, options);
  EXPECT_TRUE(fs::exists(folder_ / "annotations.json"));
  EXPECT_FALSE(fs::exists(folder_ / "labels"));
  EXPECT_FALSE(fs::exists(folder_ / "data.yaml"));
}

TEST_F(CanvasExportTest, ClosesTheFileOfARunThatWasLeft) {
  {
    auto exporter = open_canvas_export(folder_.path(), test_context()).value();
    ASSERT_TRUE(show(*exporter, test_canvas(0, {test_region()})).ok());
    ASSERT_TRUE(exporter->on_window({}, {}).ok());
  }
  EXPECT_EQ(coco().images.size(), 1U);
}

TEST_F(CanvasExportTest, AFolderInUseIsRefused) {
  run({test_canvas(0, {test_region()})});
  const auto again = open_canvas_export(folder_.path(), test_context());
  ASSERT_FALSE(again.ok()) << "labels of other pictures would stay";
  EXPECT_EQ(again.error().code, ErrorCode::kOutput);
  EXPECT_EQ(coco().images.size(), 1U) << "what was there is still there";
}

TEST_F(CanvasExportTest, SaysWhatCannotBeWritten) {
  fs::create_directories(folder_.path());
  std::ofstream(folder_ / "file") << "x";
  const auto refused = open_canvas_export(folder_ / "file", test_context());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kOutput);
  CanvasExportOptions options;
  options.format = "voc";
  EXPECT_FALSE(open_canvas_export(folder_.path(), test_context(), options).ok());
}

TEST(ObserverList, OneThatFailsIsLeftOutAndCountedAndTheOthersGoOn) {
  struct Counting : StreamObserver {
    explicit Counting(int* seen, bool fail = false) : seen(seen), fail(fail) {}
    Status on_canvas(const CanvasReport&) override {
      ++*seen;
      if (fail) return Error{ErrorCode::kOutput, "x", "disk is full", "z"};
      return {};
    }
    Status on_window(const WindowReport&,
                     const std::function<const VideoFrame*(int, std::int64_t)>&) override {
      if (throws) throw std::bad_alloc();
      return {};
    }
    int* seen;
    bool fail;
    bool throws = false;
  };
  int first = 0, second = 0, third = 0;
  ObserverList list;
  EXPECT_TRUE(list.empty());
  auto throwing = std::make_unique<Counting>(&third);
  throwing->throws = true;
  list.add("folder 'a'", std::make_unique<Counting>(&first));
  list.add("folder 'b'", std::make_unique<Counting>(&second, true));
  list.add("folder 'c'", std::move(throwing));
  std::vector<std::string> told;
  list.on_failure(
      [&](const ObserverFailure& f) { told.push_back(f.name + ": " + f.error.problem); });
  CanvasReport canvas;
  WindowReport window;
  for (const std::int64_t index : {4, 5, 6}) {
    canvas.window = window.index = index;
    EXPECT_TRUE(list.on_canvas(canvas).ok());
    EXPECT_TRUE(list.on_canvas(canvas).ok());
    EXPECT_TRUE(list.on_window(window, {}).ok());
  }
  EXPECT_EQ(first, 6);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(third, 2);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0], "folder 'b': disk is full");
  const auto failures = list.failures();
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0].window, 4);
  EXPECT_EQ(failures[0].windows, 3);
  EXPECT_EQ(failures[0].canvases, 6);
  EXPECT_EQ(failures[1].name, "folder 'c'");
  EXPECT_EQ(failures[1].windows, 3);
  EXPECT_EQ(failures[1].canvases, 4);
}

}  // namespace
}  // namespace sparing
