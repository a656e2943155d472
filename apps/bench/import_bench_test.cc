// The benchmark measures the right thing: every contestant draws the job's picture, the limit
// counts the memory that must be read, and the figures have the promised names. No time is
// asserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "benchmarks.h"
#include "import_limit.h"
#include "import_measure.h"

namespace sparing::bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

const ImportJob& job_named(const std::string& id) {
  for (const ImportJob& job : kImportJobs) {
    if (job.id == id) return job;
  }
  ADD_FAILURE() << "no job " << id;
  return kImportJobs[0];
}

struct Material {
  std::vector<SharedFrame> frames;  // keeps the planes of the shots
  std::vector<Shot> shots;
};

Material material(const ImportJob& job) {
  auto frames = make_frames(job.format, job.source);
  if (!frames.ok()) {
    ADD_FAILURE() << frames.error().to_string();
    return {};
  }
  std::vector<Shot> shots = make_shots(job, *frames);
  return {std::move(*frames), std::move(shots)};
}

double touched_by_one(const char* id) {
  const ImportJob& job = job_named(id);
  const Material m = material(job);
  const auto bytes = touched_bytes(job, std::span<const Shot>(m.shots).first(1));
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? *bytes : 0;
}

double written_by_one(const char* id) {
  const ImportJob& job = job_named(id);
  const Material m = material(job);
  return output_bytes(job, std::span<const Shot>(m.shots).first(1));
}

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() / ("sparing-bench-test-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Who must take part in what, as docs/bench.md says. A peer that draws something else is left out
// as "wrong", which shows here.
TEST(ImportBench, EveryContestantDrawsTheJobs) {
  const std::set<std::pair<std::string, std::string>> cannot = {
      {"J6", "openvino"},     {"J7", "libyuv"},  {"J7", "swscale-fast"}, {"J7", "openvino"},
      {"J8", "swscale-fast"}, {"J8", "swscale"}, {"J8", "openvino"}};
  MemoryProbe memory;
  MeasureOptions options;
  options.max_rounds = 1;
  for (const ImportJob& job : kImportJobs) {
    SCOPED_TRACE(job.id);
    const auto frames = make_frames(job.format, job.source);
    ASSERT_TRUE(frames.ok());
    const Result<JobResult> result = measure_job(job, *frames, options, memory);
    ASSERT_TRUE(result.ok()) << result.error().to_string();
    EXPECT_NE(result->find(Role::kUs), nullptr);
    for (const Entry& entry : result->entries) {
      if (entry.contestant->role != Role::kPeer || entry.contestant->make == nullptr) continue;
      const bool may = !cannot.contains({job.id, entry.contestant->name});
      EXPECT_EQ(entry.runner != nullptr, may) << entry.contestant->name << ": " << entry.why_not;
      EXPECT_EQ(entry.call_ms.size(), may ? 5u : 0u) << entry.contestant->name;
    }
  }
}

TEST(ImportBench, AnotherPictureIsFoundOut) {
  const ImportJob& job = job_named("J6");
  const Material m = material(job);
  const Shot& shot = m.shots[0];
  const Shape shape{1, 3, 192, 128};
  AlignedBuffer memory[2] = {AlignedBuffer(128 * 192 * 3 * 4), AlignedBuffer(128 * 192 * 3 * 4)};
  const TensorView right = dense_view(memory[0].data(), job.type, shape, job.layout);
  const TensorView wrong = dense_view(memory[1].data(), job.type, shape, job.layout);
  const ImportOptions options = import_options(job, shot.cells[0]);
  ASSERT_TRUE(import_frame(shot.frame, options, right).ok());
  EXPECT_EQ(mean_difference(job, shot, right, right), 0);

  ASSERT_TRUE(import_frame(m.shots[1].frame, options, wrong).ok());
  EXPECT_GT(mean_difference(job, shot, right, wrong), kPeerMayBeOffBy) << "another frame";
  ImportOptions swapped = options;
  swapped.order = ChannelOrder::kBgr;
  ASSERT_TRUE(import_frame(shot.frame, swapped, wrong).ok());
  EXPECT_GT(mean_difference(job, shot, right, wrong), kPeerMayBeOffBy) << "red and blue swapped";
  ImportOptions raw = options;
  raw.mean = {0, 0, 0};
  ASSERT_TRUE(import_frame(shot.frame, raw, wrong).ok());
  EXPECT_GT(mean_difference(job, shot, right, wrong), kPeerMayBeOffBy) << "no mean";
}

TEST(ImportBench, TouchedBytesOfWholeFrames) {
  // Columns 3 apart touch every line, and 1080 rows to 640 leave none out: all of both planes.
  EXPECT_EQ(touched_by_one("J1"), 1920 * 1080 * 1.5);
  EXPECT_EQ(touched_by_one("J7"), 1920 * 1080 * 1.5);
}

TEST(ImportBench, TouchedBytesOfTwoTaps) {
  // J2: every line of the rows that have a tap of non-zero weight, counted here by hand: row
  // centres are (i + 1/2) * 1080/224 - 1/2, chroma (half the rows, centred) (i + 1/2) * 540/224 -
  // 1/2.
  const auto rows = [](double height) {
    std::set<int> used;
    for (int i = 0; i < 224; ++i) {
      const double at = (i + 0.5) * height / 224 - 0.5;
      used.insert(static_cast<int>(std::floor(at)));
      used.insert(static_cast<int>(std::ceil(at)));
    }
    return static_cast<double>(used.size());
  };
  // 1920 bytes of luma a row are 30 lines, 8.6 apart; 960 pairs of chroma likewise.
  EXPECT_EQ(touched_by_one("J2"), (rows(1080) + rows(540)) * 1920);
}

TEST(ImportBench, OutputBytes) {
  EXPECT_EQ(written_by_one("J1"), 640 * 640 * 3 * 4);
  EXPECT_EQ(written_by_one("J9"), 608 * 352 * 3 * 2);
}

TEST(ImportBench, RegionsAreApartAndInside) {
  const ImportJob& job = job_named("J8");
  const Material m = material(job);
  for (const Shot& shot : m.shots) {
    ASSERT_EQ(shot.cells.size(), 60u);
    std::vector<int> owner(static_cast<std::size_t>(job.output.width * job.output.height), -1);
    for (int i = 0; i < 60; ++i) {
      const Cell& cell = shot.cells[static_cast<std::size_t>(i)];
      EXPECT_GE(cell.content.height / cell.source.height, 0.28);
      EXPECT_LE(cell.content.height / cell.source.height, 1.02);
      for (int y = 0; y < cell.destination.height; ++y) {
        for (int x = 0; x < cell.destination.width; ++x) {
          const int at = (cell.destination.y + y) * job.output.width + cell.destination.x + x;
          ASSERT_LT(cell.destination.x + x, job.output.width);
          ASSERT_LT(static_cast<std::size_t>(at), owner.size());
          ASSERT_EQ(owner[static_cast<std::size_t>(at)], -1);
          owner[static_cast<std::size_t>(at)] = i;
        }
      }
    }
  }
}

TEST(ImportBench, EveryMemoryIsSeenOnceInACycle) {
  // 96 MB: the crops of J6 in their turns cover as much as the frames hold.
  const ImportJob& job = job_named("J6");
  const Material m = material(job);
  const std::vector<Shot>& shots = m.shots;
  std::set<std::tuple<const void*, double, double>> places;
  for (const Shot& shot : shots) {
    const Rect& source = shot.cells[0].source;
    EXPECT_NE(source.x, std::floor(source.x));
    EXPECT_LE(source.right() + 1, job.source.width);
    EXPECT_LE(source.bottom() + 1, job.source.height);
    places.insert({shot.frame.planes[0].data, source.x, source.y});
  }
  EXPECT_EQ(places.size(), shots.size());
  EXPECT_GT(static_cast<double>(shots.size()) * 200 * 300 * 1.5, 60e6);
}

TEST(ImportBench, FiguresHaveTheirNames) {
  const TemporaryFolder folder;
  BenchOptions options;
  options.quick = true;
  options.import.jobs = {"J6", "J7"};
  options.import.plot = (folder / "plot.svg").string();
  Report report;
  const Status status = bench_import(options, report);
  ASSERT_TRUE(status.ok()) << status.error().to_string();
  ASSERT_TRUE(report.write_json(folder / "figures.json").ok());
  const auto json = nlohmann::json::parse(read_file(folder / "figures.json"));
  std::set<std::string> ids;
  for (const auto& figure : json["figures"]) {
    ids.insert(figure["id"].get<std::string>());
    EXPECT_GT(figure["value"].get<double>(), 0) << figure["id"];
  }
  for (const auto& skipped : json["skipped"]) ids.insert(skipped["id"].get<std::string>());
  for (const char* id : {"J6.ms", "J6.ratio", "J6.limit", "J7.ms", "J7.ratio", "J7.limit",
                         "J6.ms.swscale", "machine.read_gbps", "machine.write_gbps"}) {
    EXPECT_THAT(ids, Contains(id));
  }
  EXPECT_THAT(ids, Not(Contains("J1.ms")));
  const std::string svg = read_file(folder / "plot.svg");
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg "), HasSubstr(">J6<"), HasSubstr(">J7<"),
                         HasSubstr("swscale"), HasSubstr("</svg>")));
}

TEST(ImportBench, WrongOptions) {
  Report report;
  BenchOptions options;
  options.import.jobs = {"J1", "J77"};
  Status status = bench_import(options, report);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(status.error().to_string(), AllOf(HasSubstr("J77"), HasSubstr("J1 to J9")));
  options.import.jobs.clear();
  options.import.threads = 0;
  status = bench_import(options, report);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().to_string(), HasSubstr("threads"));
}

TEST(ImportBench, RatioIsTheMedianOfRounds) {
  Entry a, b;
  a.round_ms = {2, 9, 6};
  b.round_ms = {1, 1, 2};
  EXPECT_EQ(median_ratio(a, b), 3);  // of 2, 9 and 3
  EXPECT_EQ(median({4, 1, 2, 9}), 3);
  EXPECT_EQ(median({}), 0);
}

}  // namespace
}  // namespace sparing::bench
