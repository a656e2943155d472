#include "sparing/io/sink.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <random>

#include "sparing/base/coco_classes.h"
#include "sparing/io/annotations.h"
#include "sparing/io/test_sink.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kDog;
using testing::make_result;
using testing::must_open;
using testing::read_file;
using testing::run_of;
using testing::TestDirectory;

TEST(JsonlSink, WritesTheDocumentedLines) {
  const TestDirectory dir;
  auto sink = must_open(dir / "a.jsonl", run_of("cam \"1\".mp4"));
  EXPECT_TRUE(sink->write(make_result(0, {kDog, {{0, 0, 1, 1}, 1, 7}})).ok());
  FrameResult empty = make_result(1, {});
  empty.source.damaged = true;
  empty.source.file = "img1.png";
  EXPECT_TRUE(sink->write(empty).ok());
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_EQ(
      read_file(dir / "a.jsonl"),
      R"({"schema":1,"source":"cam \"1\".mp4","stream":0,"frame":0,"pts":0,"time_base":[1,25],)"
      R"("time":0,"width":64,"height":48,"detections":[)"
      R"({"class":1,"label":"dog","score":0.87,"box":[1.5,2,10.25,20]},)"
      R"({"class":7,"score":1,"box":[0,0,1,1]}]})"
      "\n"
      R"({"schema":1,"source":"cam \"1\".mp4","stream":0,"frame":1,"file":"img1.png","pts":1,)"
      R"("time_base":[1,25],"time":0.04,"width":64,"height":48,"damaged":true,)"
      R"("detections":[]})"
      "\n");
}

TEST(JsonlSink, SaysWhereBoxesComeFromWhenTheRunKnows) {
  const TestDirectory dir;
  auto sink = must_open(dir / "a.jsonl", run_of("a"));
  FrameResult result = make_result(3, {kDog, kDog, kDog});
  result.tracks = {{5, BoxOrigin::kDetected}, {0, BoxOrigin::kInterpolated}, {}};
  result.inspected = true;
  EXPECT_TRUE(sink->write(result).ok());
  FrameResult skipped = make_result(4, {kDog});
  skipped.tracks = {{7, BoxOrigin::kPropagated}};
  skipped.inspected = false;
  EXPECT_TRUE(sink->write(skipped).ok());
  skipped.tracks.push_back({});
  const Status refused = sink->write(skipped);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(sink->finish().ok());
  const std::string dog = R"({"class":1,"label":"dog","score":0.87,"box":[1.5,2,10.25,20])";
  EXPECT_EQ(
      read_file(dir / "a.jsonl"),
      R"({"schema":1,"source":"a","stream":0,"frame":3,"pts":3,"time_base":[1,25],"time":0.12,)"
      R"("width":64,"height":48,"inspected":true,"detections":[)" +
          dog + R"(,"id":5,"origin":"detected"},)" + dog + R"(,"id":0,"origin":"interpolated"},)" +
          dog + R"(,"origin":"detected"}]})" + "\n" +
          R"({"schema":1,"source":"a","stream":0,"frame":4,"pts":4,"time_base":[1,25],)"
          R"("time":0.16,"width":64,"height":48,"inspected":false,"detections":[)" +
          dog + R"(,"id":7,"origin":"propagated"}]})" + "\n");
  EXPECT_TRUE(read_detections(dir / "a.jsonl").ok());
}

TEST(JsonlSink, IsValidUtf8WhateverTheNames) {
  const TestDirectory dir;
  auto sink = must_open(dir / "a.jsonl", run_of("a\xFF\xFE.mp4", {"caf\xC3\xA9", "\x80", "\n"}));
  EXPECT_TRUE(
      sink->write(
              make_result(0, {{{0, 0, 1, 1}, 1, 0}, {{0, 0, 1, 1}, 1, 1}, {{0, 0, 1, 1}, 1, 2}}))
          .ok());
  EXPECT_TRUE(sink->finish().ok());
  const std::string text = read_file(dir / "a.jsonl");
  EXPECT_THAT(text, HasSubstr("\"a\xEF\xBF\xBD\xEF\xBF\xBD.mp4\""));
  EXPECT_THAT(text, HasSubstr("\"caf\xC3\xA9\""));
  const auto read = read_detections(dir / "a.jsonl");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_THAT(read->labels, ElementsAre("caf\xC3\xA9", "\xEF\xBF\xBD", "\n"));
}

TEST(MotSink, NumbersObjectsFromOneWhenTheRunKnowsThem) {
  const TestDirectory dir;
  auto sink = must_open(dir / "a.txt", run_of("a"));
  FrameResult result = make_result(0, {kDog, kDog});
  result.tracks = {{4, BoxOrigin::kPropagated}, {}};
  EXPECT_TRUE(sink->write(result).ok());
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_EQ(read_file(dir / "a.txt"),
            "1,5,1.5,2,8.75,18,0.87,2,-1,-1\n1,-1,1.5,2,8.75,18,0.87,2,-1,-1\n");
}

TEST(MotSink, WritesTheDocumentedLines) {
  const TestDirectory dir;
  auto sink = must_open(dir / "a.txt", run_of("a"));
  EXPECT_TRUE(sink->write(make_result(0, {})).ok());
  EXPECT_TRUE(sink->write(make_result(1, {kDog})).ok());
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_EQ(read_file(dir / "a.txt"), "2,-1,1.5,2,8.75,18,0.87,2,-1,-1\n");
}

TEST(CocoSink, WritesTheDocumentedArray) {
  const TestDirectory dir;
  auto sink = must_open(dir / "a.json", run_of("a"));
  FrameResult named = make_result(0, {kDog});
  named.source.file = "val/000000000139.jpg";
  EXPECT_TRUE(sink->write(named).ok());
  EXPECT_TRUE(sink->write(make_result(1, {})).ok());
  EXPECT_TRUE(sink->write(make_result(2, {kDog})).ok());
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_EQ(read_file(dir / "a.json"),
            "[\n"
            R"({"image_id":139,"category_id":2,"label":"dog","bbox":[1.5,2,8.75,18],"score":0.87},)"
            "\n"
            R"({"image_id":2,"category_id":2,"label":"dog","bbox":[1.5,2,8.75,18],"score":0.87})"
            "\n]\n");
  sink = must_open(dir / "none.json", run_of("a"));
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_EQ(read_file(dir / "none.json"), "[\n]\n");
}

TEST(CocoSink, CocoModelsGetTheOfficialIds) {
  std::vector<std::string> labels;
  for (const CocoClass& c : coco_classes()) labels.emplace_back(c.name);
  const TestDirectory dir;
  auto sink = must_open(dir / "a.json", run_of("a", labels));
  EXPECT_TRUE(
      sink->write(
              make_result(0, {{{0, 0, 1, 1}, 1, 0}, {{0, 0, 1, 1}, 1, 11}, {{0, 0, 1, 1}, 1, 79}}))
          .ok());
  EXPECT_TRUE(sink->finish().ok());
  const std::string text = read_file(dir / "a.json");
  EXPECT_THAT(text, HasSubstr(R"("category_id":1,"label":"person")"));
  EXPECT_THAT(text, HasSubstr(R"("category_id":13,"label":"stop sign")"));
  EXPECT_THAT(text, HasSubstr(R"("category_id":90,"label":"toothbrush")"));
}

// Every row of the table.
class EverySink : public ::testing::TestWithParam<SinkFormat> {
 protected:
  std::string file_name() const { return "out." + std::string(GetParam().extension); }
  bool is_text() const { return GetParam().name != "video"; }
};

TEST_P(EverySink, AppearsOnlyWhenFinished) {
  const TestDirectory dir;
  const fs::path path = dir / file_name();
  testing::write_file(path, "from an earlier run");
  auto sink = must_open(path, run_of("a"));
  EXPECT_EQ(sink->name(), path.string());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sink->write(make_result(i, {kDog})).ok());
  EXPECT_EQ(read_file(path), "from an earlier run");
  EXPECT_EQ(dir.names().size(), 2u);  // and the temporary file
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_THAT(dir.names(), ElementsAre(file_name()));
  EXPECT_GT(fs::file_size(path), 20u);
}

TEST_P(EverySink, LeavesNothingWhenAbandoned) {
  const TestDirectory dir;
  auto sink = must_open(dir / file_name(), run_of("a"));
  EXPECT_TRUE(sink->write(make_result(0, {kDog})).ok());
  EXPECT_THAT(dir.names(), ::testing::Not(IsEmpty()));
  sink.reset();
  EXPECT_THAT(dir.names(), IsEmpty());
}

TEST_P(EverySink, MakesParentDirectories) {
  const TestDirectory dir;
  const fs::path path = dir.path() / "a" / "b" / file_name();
  auto sink = must_open(path, run_of("a"));
  EXPECT_TRUE(sink->write(make_result(0, {kDog})).ok());
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_TRUE(fs::exists(path));
}

TEST_P(EverySink, ReplacesWhatALinkPointsTo) {
  const TestDirectory dir;
  fs::create_directory(dir / "real");
  testing::write_file(dir.path() / "real" / "file", "old");
  fs::create_symlink("real/file", dir / file_name());
  auto sink = must_open(dir / file_name(), run_of("a"));
  EXPECT_TRUE(sink->write(make_result(0, {kDog})).ok());
  EXPECT_TRUE(sink->finish().ok());
  EXPECT_TRUE(fs::is_symlink(dir / file_name()));
  EXPECT_NE(read_file(dir.path() / "real" / "file"), "old");
}

TEST_P(EverySink, KeepsThePermissionsOfWhatItReplaces) {
  const TestDirectory dir;
  const fs::path path = dir / file_name();
  const mode_t umask = ::umask(027);
  for (const unsigned mode : {0640u, 0600u, 0666u, 0444u, 0755u}) {
    if ((mode & 0200) == 0 && ::geteuid() != 0) continue;  // may not be replaced
    testing::write_file(path, "old");
    fs::permissions(path, fs::perms(mode));
    auto sink = must_open(path, run_of("a"));
    for (const auto& entry : fs::directory_iterator(dir.path())) {  // the partial file: no wider
      const auto bits = static_cast<unsigned>(entry.status().permissions());
      EXPECT_EQ(bits & ~(mode | 0600u), 0u) << entry.path();
    }
    EXPECT_TRUE(sink->write(make_result(0, {kDog})).ok());
    EXPECT_TRUE(sink->finish().ok());
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(mode));
    fs::remove(path);
  }
  auto sink = must_open(path, run_of("a"));
  EXPECT_TRUE(sink->write(make_result(0, {kDog})).ok());
  EXPECT_TRUE(sink->finish().ok());
  ::umask(umask);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));  // a new file: the umask's
}

TEST_P(EverySink, NamesWhatCannotBeCreated) {
  const TestDirectory dir;
  const SinkOptions options{.format = std::string(GetParam().name)};
  const auto error_of = [&](const fs::path& path) {
    auto sink = open_sink(path, run_of("a"), options);
    EXPECT_FALSE(sink.ok()) << path;
    if (sink.ok()) return Error{};
    EXPECT_EQ(sink.error().code, ErrorCode::kOutput);
    EXPECT_THAT(sink.error().to_string(), HasSubstr(path.string()));
    EXPECT_FALSE(sink.error().fix.empty());
    return sink.error();
  };
  EXPECT_THAT(error_of(dir.path()).problem, HasSubstr("directory"));
  EXPECT_THAT(error_of(dir.path() / "").problem, HasSubstr("directory"));
  testing::write_file(dir / "file", "");
  error_of(dir.path() / "file" / file_name());
  EXPECT_THAT(error_of(dir.path() / std::string(300, 'x')).fix, HasSubstr("shorter"));
  EXPECT_THAT(error_of(dir.path() / std::string(250, 'x')).fix, HasSubstr("shorter"));
  if (fs::exists("/proc/self")) {  // where nobody makes anything
    const Error file = error_of("/proc/" + file_name());
    EXPECT_THAT(file.problem, HasSubstr("no file can be made in the folder '/proc': "));
    EXPECT_THAT(file.fix, HasSubstr("folder"));
    const Error folder = error_of("/proc/none/" + file_name());
    EXPECT_THAT(folder.problem, HasSubstr("the folder '/proc/none' cannot be made: "));
    EXPECT_THAT(folder.fix, HasSubstr("folder"));
  }
  if (::geteuid() != 0) {  // root may write everywhere
    fs::create_directory(dir / "closed");
    fs::permissions(dir / "closed", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THAT(error_of(dir.path() / "closed" / file_name()).problem, HasSubstr("ermission"));
  }
  EXPECT_FALSE(fs::exists(dir.path() / "out"));
}

TEST_P(EverySink, RefusesToReplaceItsInput) {
  const TestDirectory dir;
  const SinkOptions options{.format = std::string(GetParam().name)};
  const auto refusal = [&](const fs::path& path, const std::string& spec) {
    SCOPED_TRACE(path.string() + " of " + spec);
    auto source = open_source(spec);
    EXPECT_TRUE(source.ok());
    RunInfo run = run_of(spec);
    if (source.ok()) run.sources = {(*source)->info()};
    const auto sink = open_sink(path, run, options);
    EXPECT_FALSE(sink.ok());
    if (sink.ok()) return;
    EXPECT_EQ(sink.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(sink.error().to_string(), HasSubstr("output '" + path.string() + "'"));
    EXPECT_THAT(sink.error().to_string(), HasSubstr("give another path"));
  };
  const std::string video = (dir / "a.mkv").string();
  testing::write_video(video, {});
  fs::create_symlink("a.mkv", dir / "soft");
  fs::create_symlink("soft", dir / "softer");
  fs::create_hard_link(video, dir / "hard");
  for (const char* name : {"a.mkv", "soft", "softer", "hard", "./a.mkv"})
    refusal(dir / name, video);
  refusal(video, (dir / "softer").string());
  fs::create_directory(dir / "images");
  for (const char* name : {"1.ppm", "2.ppm", "3.ppm"}) {
    testing::write_file(dir.path() / "images" / name, testing::grey_ppm(4, 4, 9));
  }
  refusal(dir / "images/3.ppm", (dir / "images").string());
  refusal(dir / "images/2.ppm", (dir / "images/*.ppm").string());
  refusal(dir / "images/1.ppm", (dir / "images/1.ppm").string());
  EXPECT_EQ(dir.names().size(), 5u);
  EXPECT_EQ(read_file(dir / "images/3.ppm"), testing::grey_ppm(4, 4, 9));
  // Beside its inputs is a good place.
  auto source = open_source((dir / "images").string());
  ASSERT_TRUE(source.ok());
  RunInfo run = run_of("images");
  run.sources = {(*source)->info()};
  EXPECT_TRUE(open_sink(dir.path() / "images" / file_name(), run, options).ok());
}

TEST_P(EverySink, ReportsAFullDevice) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto sink = must_open("/dev/full", run_of("a"), {.format = std::string(GetParam().name)});
  Status status;
  for (int i = 0; status.ok() && i < 100; ++i) status = sink->write(make_result(i, {kDog}));
  if (status.ok()) status = sink->finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kOutput);
  EXPECT_THAT(status.error().to_string(), HasSubstr("No space left on device"));
  EXPECT_THAT(status.error().to_string(), HasSubstr("free space"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));  // not replaced by a file
}

TEST_P(EverySink, WritesToDevicesDirectly) {
  auto sink = must_open("/dev/null", run_of("a"), {.format = std::string(GetParam().name)});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sink->write(make_result(i, {kDog})).ok());
  const Status status = sink->finish();
  EXPECT_TRUE(status.ok()) << status.error().to_string();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_P(EverySink, WritesToADescriptorWhereItStands) {
  if (!fs::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc here";
  const SinkOptions options{.format = std::string(GetParam().name)};
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/", "a link"}) {
    SCOPED_TRACE(folder);
    const TestDirectory dir;
    const int descriptor = ::open((dir / "log").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    ASSERT_EQ(::write(descriptor, "head\n", 5), 5);
    fs::path path = folder + std::to_string(descriptor);
    if (folder == "a link") {
      path = dir / "link";
      fs::create_symlink("/dev/fd/" + std::to_string(descriptor), path);
    }
    auto sink = must_open(path, run_of("a"), options);
    EXPECT_EQ(sink->name(), path.string());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(sink->write(make_result(i, {kDog})).ok());
    const Status status = sink->finish();
    EXPECT_TRUE(status.ok()) << status.error().to_string();
    sink.reset();
    EXPECT_EQ(::write(descriptor, "tail", 4), 4);
    ::close(descriptor);
    const std::string text = read_file(dir / "log");
    EXPECT_THAT(text, ::testing::StartsWith("head\n"));
    EXPECT_THAT(text, ::testing::EndsWith("tail"));
    testing::write_file(dir / "body", text.substr(5, text.size() - 9));
    if (is_text()) {
      const auto read = read_detections(dir / "body");
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      EXPECT_EQ(read->images.size(), 3u);
    } else {
      EXPECT_TRUE(open_source((dir / "body").string()).ok());
    }
    const auto closed = open_sink(path, run_of("a"), options);
    ASSERT_FALSE(closed.ok());
    EXPECT_THAT(closed.error().to_string(), HasSubstr("Bad file descriptor"));
  }
}

// Files of this process can grow to so many bytes, as on a disk that fills up.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &saved_);
    rlimit limit = saved_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &saved_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit saved_{};
  void (*handler_)(int) = nullptr;
};

TEST_P(EverySink, KeepsWholeRecordsWhenTheDiskFills) {
  // Limits that cut at different bytes of a record, and one below the first.
  for (const rlim_t limit : {5u, 70000u, 70001u, 70040u, 70077u, 131072u}) {
    const TestDirectory dir;
    const fs::path path = dir / file_name();
    Status status;
    std::size_t written = 0;
    std::optional<HeldResults> held;
    {
      auto sink = must_open(path, run_of("a"));
      const FileSizeLimit full(limit);
      const std::vector<Detection> dogs(is_text() ? 20 : 1, kDog);
      for (; status.ok() && written < 4000; ++written) {
        // Big frames, so that the video grows as well.
        FrameResult result = make_result(static_cast<std::int64_t>(written), dogs,
                                         is_text() ? Size{64, 48} : Size{320, 240});
        if (!is_text()) {
          std::minstd_rand random(static_cast<unsigned>(written));
          std::uint8_t* luma = mutable_plane(result.source.frame, 0);
          for (int i = 0; i < 320 * 240; ++i) luma[i] = static_cast<std::uint8_t>(random());
        }
        status = sink->write(result);
      }
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, ErrorCode::kOutput);
      EXPECT_THAT(status.error().to_string(), HasSubstr(path.string()));
      // Again the same, whatever is called.
      EXPECT_EQ(sink->write(make_result(1, {})).error().to_string(), status.error().to_string());
      EXPECT_EQ(sink->finish().error().to_string(), status.error().to_string());
      held = sink->held(0);
      EXPECT_EQ(sink->held(1)->frames, 0);
    }
    ASSERT_TRUE(held);
    EXPECT_EQ(held->detections, held->frames * (is_text() ? 20 : 1));
    if (!is_text() || limit < 100) {
      EXPECT_EQ(held->frames, 0);
      EXPECT_THAT(dir.names(), IsEmpty());
      continue;
    }
    EXPECT_THAT(dir.names(), ElementsAre(file_name()));
    EXPECT_THAT(status.error().problem, HasSubstr("what was written before is kept"));
    EXPECT_LE(fs::file_size(path), limit);
    EXPECT_GT(fs::file_size(path), limit - 2200);  // all but one record, of at most 2 KB
    const auto read = read_detections(path);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_GT(read->images.size(), 5u);
    // Whole frames, as many as it says.
    EXPECT_EQ(static_cast<std::int64_t>(read->images.size()), held->frames);
    for (const auto& image : read->images) EXPECT_EQ(image.detections.size(), 20u);
    EXPECT_EQ(held->last_time->ticks, held->frames - 1);
    EXPECT_EQ(read->images[0].detections[0], kDog.class_id == 1 && GetParam().name == "coco"
                                                 ? (Detection{kDog.box, kDog.score, 2})
                                                 : kDog);
  }
}

// Lost frames are taken off the stream that they were of.
TEST_P(EverySink, TellsWhatItHolds) {
  const TestDirectory dir;
  if (!is_text()) return;  // a video keeps all or nothing: above
  const fs::path path = dir / file_name();
  auto sink = must_open(path, run_of("a"));
  EXPECT_EQ(sink->held(0)->frames, 0);
  for (int i = 0; i < 900; ++i) {
    FrameResult result = make_result(i / 3, std::vector<Detection>(i % 3 == 0 ? 1 : 0, kDog));
    result.stream = i % 3;
    if (i % 3 == 0) result.tracks = {{7, BoxOrigin::kInterpolated}};
    ASSERT_TRUE(sink->write(result).ok());
  }
  EXPECT_EQ(sink->held(0)->frames, 300);
  EXPECT_EQ(sink->held(0)->detections, 300);
  EXPECT_EQ(sink->held(0)->boxes, (std::array<std::int64_t, kBoxOrigins>{0, 300, 0}));
  EXPECT_EQ(sink->held(2)->frames, 300);
  EXPECT_EQ(sink->held(2)->detections, 0);
  const FileSizeLimit full(5000);
  const Status status = sink->finish();
  ASSERT_FALSE(status.ok());
  const std::string text = read_file(path);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  std::int64_t frames = 0, detections = 0;
  for (int stream = 0; stream < 4; ++stream) {
    frames += sink->held(stream)->frames;
    detections += sink->held(stream)->detections;
  }
  EXPECT_GT(detections, 5);
  EXPECT_LT(frames, 900);
  // One a frame; one a detection; one a detection and two for the brackets.
  EXPECT_EQ(lines, GetParam().name == "jsonl" ? frames
                   : GetParam().name == "mot" ? detections
                                              : detections + 2);
  EXPECT_EQ(sink->held(0)->detections, sink->held(0)->boxes[1]);
  EXPECT_EQ(sink->held(0)->last_time->ticks, sink->held(0)->frames - 1);
}

INSTANTIATE_TEST_SUITE_P(Formats, EverySink,
                         ::testing::ValuesIn(sink_formats().begin(), sink_formats().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(OpenSink, RefusesWhatCannotBe) {
  const TestDirectory dir;
  const auto problem = [&](const fs::path& path, const SinkOptions& options, const RunInfo& run) {
    auto sink = open_sink(path, run, options);
    EXPECT_FALSE(sink.ok());
    if (sink.ok()) return std::string();
    EXPECT_EQ(sink.error().code, ErrorCode::kInvalidArgument);
    return sink.error().to_string();
  };
  EXPECT_THAT(problem(dir / "a.xyz", {}, run_of("a")), HasSubstr(".xyz"));
  EXPECT_THAT(problem(dir / "a", {}, run_of("a")), HasSubstr(".jsonl, .json, .txt, .mp4"));
  EXPECT_THAT(problem(dir / "a", {.format = "csv"}, run_of("a")), HasSubstr("jsonl, coco"));
  EXPECT_THAT(problem("-", {.format = "video"}, run_of("a")), HasSubstr("standard output"));
  EXPECT_THAT(problem("", {.format = "mot"}, run_of("a")), HasSubstr("empty"));
  EXPECT_THAT(problem(dir / "a.mp4", {.video_crf = 52}, run_of("a")), HasSubstr("52"));
  RunInfo two = run_of("a");
  two.sources.push_back(two.sources.front());
  for (const char* name : {"a.json", "a.txt", "a.mp4"}) {
    EXPECT_THAT(problem(dir / name, {}, two), HasSubstr("holds one input"));
  }
  EXPECT_TRUE(open_sink(dir / "A.JSONL", two).ok());
  EXPECT_THAT(dir.names(), IsEmpty());
}

TEST(OpenSink, RefusesNumbersThatAreNotFinite) {
  const TestDirectory dir;
  auto sink = must_open(dir / "a.jsonl", run_of("a"));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(sink->write(make_result(0, {{{0, 0, inf, 1}, 1, 0}})).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(sink->write(make_result(0, {{{0, 0, 1, 1}, std::nanf(""), 0}})).ok());
  EXPECT_TRUE(sink->write(make_result(0, {})).ok());
  EXPECT_TRUE(sink->finish().ok());
}

// What is written reads back as it was.
TEST(TextSinks, RoundTrip) {
  const TestDirectory dir;
  std::minstd_rand random(7);
  std::uniform_real_distribution<float> position(0, 2000), side(0.01f, 300), score(0, 1);
  std::vector<std::vector<Detection>> frames(20);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (unsigned k = 0; k < random() % 6; ++k) {
      const float x = position(random), y = position(random);
      const Box box{x, y, x + side(random), y + side(random)};
      frames[i].push_back({box, score(random), static_cast<int>(random() % 2)});
    }
  }
  for (const char* name : {"a.jsonl", "a.json", "a.txt"}) {
    SCOPED_TRACE(name);
    auto sink = must_open(dir / name, run_of("a"));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      EXPECT_TRUE(sink->write(make_result(static_cast<std::int64_t>(i), frames[i])).ok());
    }
    EXPECT_TRUE(sink->finish().ok());
    const auto read = read_detections(dir / name);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    std::vector<std::vector<Detection>> found(frames.size());
    for (const ImageDetections& image : read->images) {
      found[static_cast<std::size_t>(image.image_id)] = image.detections;
    }
    const bool exact = std::string(name) == "a.jsonl", coco = std::string(name) == "a.json";
    for (std::size_t i = 0; i < frames.size(); ++i) {
      ASSERT_EQ(found[i].size(), frames[i].size());
      for (std::size_t k = 0; k < frames[i].size(); ++k) {
        if (exact) {
          EXPECT_EQ(found[i][k], frames[i][k]);
          continue;
        }
        // Width and height are rounded to floats, and back.
        EXPECT_EQ(found[i][k].score, frames[i][k].score);
        EXPECT_EQ(found[i][k].class_id, frames[i][k].class_id + (coco ? 1 : 0));
        EXPECT_EQ(found[i][k].box.x0, frames[i][k].box.x0);
        EXPECT_NEAR(found[i][k].box.x1, frames[i][k].box.x1, 3e-4);
        EXPECT_NEAR(found[i][k].box.y1, frames[i][k].box.y1, 3e-4);
      }
    }
    std::vector<std::string> labels;  // MOT text has none
    if (exact) labels = {"person", "dog"};
    if (coco) labels = {"", "person", "dog"};
    EXPECT_EQ(read->labels, labels);
  }
}

}  // namespace
}  // namespace sparing
