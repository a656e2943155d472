#include "sparing/streams/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sparing/streams/observer_test_util.h"

namespace sparing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

SharedFrame grey_frame() {
  SharedFrame frame = allocate_frame(PixelFormat::kRgb24, {320, 240}).value();
  std::memset(mutable_plane(frame, 0), 90,
              static_cast<std::size_t>(frame.view().planes[0].stride * 240));
  return frame;
}

// Three frames of stream 1, of which 5 and 7 were looked at.
WindowReport test_window() {
  WindowReport window;
  window.index = 3;
  window.start = 1.0;
  window.seconds = 0.9;
  window.plan_seconds = 0.02;
  window.budget_seconds = std::numeric_limits<double>::infinity();
  for (const std::int64_t index : {5, 6, 7}) {
    FrameReport& frame = window.frames.emplace_back();
    frame.stream = 1;
    frame.frame = index;
    frame.key = index != 6;
    frame.way = DetectWay::kPacked;
    frame.extract_start = 0.5 + 0.01 * static_cast<double>(index);
    frame.extract_seconds = index == 6 ? 0 : 0.001;
    frame.rois = {test_region().roi};
    frame.rois[0].rect = {104, 50, 40, 40};
  }
  return window;
}

class ExplainTest : public ::testing::Test {
 protected:
  // One window with canvas 0, its region at place {8, 4, 40, 20}.
  void run(const ExplainOptions& options = {}, Layout layout = Layout::kNchw) {
    auto opened = open_explain(folder_.path(), test_context(layout), options);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    observer_ = std::move(*opened);
    CanvasReport canvas = test_canvas(0, {test_region()});
    const auto pixels =
        test_tensor(canvas.size, canvas.regions[0].place, test_context(layout).networks[0].input);
    canvas.pixels = pixels;
    canvas.layout = layout;
    Status status = observer_->on_canvas(canvas);
    ASSERT_TRUE(status.ok()) << status.error().to_string();
    const SharedFrame frame = grey_frame();
    status = observer_->on_window(test_window(), [&](int, std::int64_t) { return &frame.view(); });
    ASSERT_TRUE(status.ok()) << status.error().to_string();
  }

  TestFolder folder_{"explain_test"};
  std::unique_ptr<StreamObserver> observer_;
};

TEST_F(ExplainTest, CanvasesAreTheTensorsPixels) {
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    run({}, layout);
    const RgbPicture picture = read_picture(folder_ / "window-000003/canvas-000000.png");
    EXPECT_EQ(picture.size(), (Size{3 * 64, 3 * 32}));  // tripled, to be readable
    EXPECT_TRUE(pixel_of(picture, 180, 85) == kTestGround);
    EXPECT_TRUE(pixel_of(picture, 140, 68) == kTestRegion);  // beside the label and the boxes
    // Outlined outside of its pixels, in the source's colour.
    EXPECT_TRUE(pixel_of(picture, 144, 68) == (Rgb{0, 210, 210}));
    EXPECT_TRUE(pixel_of(picture, 143, 68) == kTestRegion);
  }
}

TEST_F(ExplainTest, FaintDetectionsAreLeftOut) {
  ExplainOptions options;
  options.score = 0.6;
  run(options);
  const RgbPicture picture = read_picture(folder_ / "window-000003/stream-1-frame-000007.png");
  EXPECT_TRUE(pixel_of(picture, 160, 60) == (Rgb{90, 90, 90}));  // the car of 0.5
}

TEST_F(ExplainTest, KeyFramesShowRegionsAndDetections) {
  run();
  EXPECT_TRUE(fs::exists(folder_ / "window-000003/stream-1-frame-000005.png"));
  EXPECT_FALSE(fs::exists(folder_ / "window-000003/stream-1-frame-000006.png"));
  const RgbPicture picture = read_picture(folder_ / "window-000003/stream-1-frame-000007.png");
  EXPECT_TRUE(pixel_of(picture, 300, 200) == (Rgb{90, 90, 90}));
  EXPECT_TRUE(pixel_of(picture, 104, 70) == (Rgb{0, 210, 210}));    // the region of interest
  EXPECT_TRUE(pixel_of(picture, 179, 70) == (Rgb{255, 255, 255}));  // what was drawn
  EXPECT_TRUE(pixel_of(picture, 160, 60) == class_color(1));        // a detection's box
  // In the other frame nothing was found.
  const RgbPicture other = read_picture(folder_ / "window-000003/stream-1-frame-000005.png");
  EXPECT_TRUE(pixel_of(other, 160, 60) == (Rgb{90, 90, 90}));
  const std::string index = text_of(folder_ / "index.html");
  EXPECT_THAT(index, HasSubstr("window-000003/canvas-000000.png"));
  EXPECT_THAT(index, HasSubstr("window-000003/stream-1-frame-000007.png"));
  // The legend has the colours that the pictures have.
  EXPECT_THAT(index, HasSubstr("rgb(0,210,210)\"></i> a followed object"));
  EXPECT_THAT(index, HasSubstr("rgb(255,255,255)\"></i> what of the frame was drawn"));
  for (const DrawPurpose purpose :
       {DrawPurpose::kRefresh, DrawPurpose::kTrial, DrawPurpose::kProbe}) {
    EXPECT_THAT(index, HasSubstr("<b>" + std::string(to_string(purpose)) + "</b>"));
  }
}

TEST_F(ExplainTest, TheLastKeyFramesOfTheFirstWindowsOnly) {
  ExplainOptions options;
  options.frames = 1;
  run(options);
  EXPECT_TRUE(fs::exists(folder_ / "window-000003/stream-1-frame-000007.png"));
  EXPECT_TRUE(fs::exists(folder_ / "window-000003/stream-1-frame-000005.png"))
      << "the stream's first one";
  WindowReport later = test_window();
  later.index = 4;
  const SharedFrame frame = grey_frame();
  ASSERT_TRUE(observer_->on_window(later, [&](int, std::int64_t) { return &frame.view(); }).ok());
  EXPECT_TRUE(fs::exists(folder_ / "window-000004/stream-1-frame-000007.png"));
  EXPECT_FALSE(fs::exists(folder_ / "window-000004/stream-1-frame-000005.png"));
  options.windows = 3;
  run(options);
  EXPECT_FALSE(fs::exists(folder_ / "window-000003"));
  EXPECT_THAT(text_of(folder_ / "trace.json"), HasSubstr("window 3"));
}

TEST_F(ExplainTest, ThePageIsInOrderOfStreamsAndFrames) {
  auto observer = open_explain(folder_.path(), test_context()).value();
  WindowReport window = test_window();
  for (FrameReport frame : test_window().frames) {
    frame.stream = 2;
    window.frames.push_back(frame);
  }
  const SharedFrame frame = grey_frame();
  ASSERT_TRUE(observer->on_window(window, [&](int, std::int64_t) { return &frame.view(); }).ok());
  const std::string page = text_of(folder_ / "index.html");
  std::size_t last = 0;
  for (const char* name : {"stream-1-frame-000005", "stream-1-frame-000007",
                           "stream-2-frame-000005", "stream-2-frame-000007"}) {
    const std::size_t at = page.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(at, last) << name;
    last = at;
  }
}

TEST_F(ExplainTest, AnEarlierRunsPicturesGoAndOtherFilesStay) {
  run();
  fs::create_directories(folder_ / "window-000099");
  fs::create_directories(folder_ / "window-seat");
  std::ofstream(folder_ / "notes.txt") << "x";
  auto again = open_explain(folder_.path(), test_context());
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_FALSE(fs::exists(folder_ / "window-000003"));
  EXPECT_FALSE(fs::exists(folder_ / "window-000099"));
  EXPECT_TRUE(fs::exists(folder_ / "window-seat"));
  EXPECT_TRUE(fs::exists(folder_ / "notes.txt"));
  // A folder of somebody else's is none for us.
  fs::remove(folder_ / "index.html");
  const auto refused = open_explain(folder_.path(), test_context());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("not of an earlier --explain"));
}

TEST(RgbPictureLabels, AreBesideTheirBoxesAndDoNotOverlap) {
  RgbPicture picture({400, 200});
  const Rgb color{200, 100, 50};
  const auto drawn = [&] {
    int count = 0;
    for (int y = 0; y < 200; ++y) {
      for (int x = 0; x < 400; ++x) count += pixel_of(picture, x, y) == Rgb{} ? 0 : 1;
    }
    return count;
  };
  const int width = RgbPicture::label_width("person", 1);
  std::vector<int> pixels;
  int last = drawn();
  EXPECT_EQ(last, 0);
  int placed = 0;
  for (int i = 0; i < 40; ++i) {
    if (!picture.label_beside("person", {100 + i, 100, 20, 30}, color, 1)) break;
    ++placed;
    // Ink is black on this ground, as is the picture: what stands for a label is the ground's.
    const int now = drawn();
    pixels.push_back(now - last);
    last = now;
  }
  EXPECT_GT(placed, 8);
  EXPECT_LT(placed, 40) << "where there is no room none is drawn";
  for (const int count : pixels) EXPECT_EQ(count, pixels[0]) << "one lies on another";
  EXPECT_LE(pixels[0], width * 11);
  // At the picture's corner, too, it is whole.
  EXPECT_TRUE(picture.label_beside("person", {390, 0, 10, 10}, color, 1));
  EXPECT_EQ(drawn() - last, pixels[0]);
}

TEST_F(ExplainTest, TheTimelineCanBeReadAtAnyTime) {
  run();
  const auto open = nlohmann::json::parse(text_of(folder_ / "trace.json") + "]");
  observer_.reset();
  const auto events = nlohmann::json::parse(text_of(folder_ / "trace.json"));
  EXPECT_EQ(open, events);
  std::map<std::string, int> rows;
  for (const auto& event : events) {
    if (event["name"] == "thread_name") rows[event["args"]["name"]] = event["tid"];
  }
  for (const char* row : {"windows", "plan", "draw", "read", "inference cpu:f32:2:2 (1)",
                          "inference cpu:f32:2:2 (2)", "extract, stream 1"}) {
    EXPECT_TRUE(rows.contains(row)) << row;
  }
  std::map<int, nlohmann::json> slices;
  for (const auto& event : events) {
    if (event["ph"] == "X") slices[event["tid"]] = event;
  }
  EXPECT_EQ(slices[rows["draw"]]["ts"], 1.0e6);
  EXPECT_EQ(slices[rows["draw"]]["dur"], 10000);
  EXPECT_EQ(slices[rows["read"]]["ts"], 1.25e6);
  EXPECT_EQ(slices[rows["inference cpu:f32:2:2 (1)"]]["dur"], 200000);
  // Between drawing and reading.
  EXPECT_GE(slices[rows["inference cpu:f32:2:2 (1)"]]["ts"], 1.01e6);
  EXPECT_LE(slices[rows["inference cpu:f32:2:2 (1)"]]["ts"], 1.05e6);
  EXPECT_EQ(slices[rows["windows"]]["dur"], 900000);
  EXPECT_EQ(slices[rows["extract, stream 1"]]["ts"], 570000);
  EXPECT_EQ(slices[rows["extract, stream 1"]]["dur"], 1000);
}

TEST_F(ExplainTest, CanvasesAtOnceHaveRowsOfTheirOwn) {
  auto observer = open_explain(folder_.path(), test_context()).value();
  for (const std::int64_t index : {0, 1, 2}) {  // 0.2 s each, 0.1 s apart
    CanvasReport canvas = test_canvas(index, {test_region()});
    const auto pixels =
        test_tensor(canvas.size, canvas.regions[0].place, test_context().networks[0].input);
    canvas.pixels = pixels;
    ASSERT_TRUE(observer->on_canvas(canvas).ok());
  }
  observer.reset();
  std::map<int, double> end;
  std::map<int, int> count;
  for (const auto& event : nlohmann::json::parse(text_of(folder_ / "trace.json"))) {
    if (event["ph"] != "X" || event["dur"] != 200000) continue;
    const int row = event["tid"];
    EXPECT_GE(event["ts"].get<double>(), end[row]);  // none overlap
    end[row] = event["ts"].get<double>() + 200000;
    ++count[row];
  }
  EXPECT_EQ(count.size(), 2U);
}

// What was whole before the disk was full can be read.
TEST_F(ExplainTest, AFullDiskLeavesThePageAndTheTimelineWhole) {
  run();
  const std::string page = text_of(folder_ / "index.html");
  rlimit saved{};
  ::getrlimit(RLIMIT_FSIZE, &saved);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit full = saved;
  full.rlim_cur = fs::file_size(folder_ / "trace.json") + 10;
  ::setrlimit(RLIMIT_FSIZE, &full);
  const Status status =
      observer_->on_window(test_window(), [](int, std::int64_t) { return nullptr; });
  ::setrlimit(RLIMIT_FSIZE, &saved);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kOutput);
  EXPECT_THAT(status.error().thing, HasSubstr("trace.json"));
  EXPECT_THAT(status.error().problem, HasSubstr("File too large"));
  observer_.reset();
  int windows = 0;
  for (const auto& event : nlohmann::json::parse(text_of(folder_ / "trace.json"))) {
    windows += event["name"] == "window 3" ? 1 : 0;
  }
  EXPECT_EQ(windows, 2);  // its slices of the window and of planning
  EXPECT_EQ(text_of(folder_ / "index.html"), page);
}

TEST_F(ExplainTest, APictureThatCannotBeWrittenIsNotOnThePage) {
  run();
  const std::string page = text_of(folder_ / "index.html");
  std::ofstream(folder_ / "window-000004") << "in the place of the folder";
  WindowReport next = test_window();
  next.index = 4;
  const SharedFrame frame = grey_frame();
  EXPECT_FALSE(observer_->on_window(next, [&](int, std::int64_t) { return &frame.view(); }).ok());
  observer_.reset();
  EXPECT_EQ(text_of(folder_ / "index.html"), page);
}

TEST_F(ExplainTest, SaysWhatCannotBeWritten) {
  fs::create_directories(folder_.path());
  std::ofstream(folder_ / "file") << "x";
  const auto refused = open_explain(folder_ / "file", test_context());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kOutput);
  // A folder that cannot be made is told as such, not by the file that is not in it.
  fs::create_symlink("nowhere/deep", folder_ / "link");
  const auto no_folder = open_explain(folder_ / "link", test_context());
  ASSERT_FALSE(no_folder.ok());
  EXPECT_EQ(no_folder.error().code, ErrorCode::kOutput);
  EXPECT_THAT(no_folder.error().thing, HasSubstr("folder '" + (folder_ / "link").string()));
  EXPECT_THAT(no_folder.error().problem, HasSubstr("cannot be made: File exists"));
  ExplainOptions options;
  options.frames = -1;
  EXPECT_FALSE(open_explain(folder_.path(), test_context(), options).ok());
}

}  // namespace
}  // namespace sparing
