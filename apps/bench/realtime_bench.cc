// sparing-bench detect, stage realtime: paced 1080p streams on this machine's cores, decode
// included.
//   rt1080       four offsets of MOT17-04, a crowd; judged against what whole frames find
//   rt1080pets   four synthetic scenes (scene.h), judged against their truth
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "realtime_bench.h"
#include "realtime_streams.h"
#include "scene_video.h"
#include "sparing/metrics/agreement.h"
#include "sparing/metrics/average_precision.h"
#include "sparing/pipeline/detector.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kStreams = 4;
constexpr int kLadder[] = {5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64};
constexpr int kPeople = 6;                   // in a scene at a time: as many as in PETS
constexpr char kWholeFrame[] = "1920x1088";  // 1920x1080 in whole strides of the network

// What a run of the stage has at hand. --quick plays shorter and says so in its ids.
struct Stage {
  const BenchOptions& options;
  RealtimeSetting setting;
  Report& report;
  std::string prefix;  // of ids
  double seconds = 60;
  double ladder_seconds = 20;  // each further number of streams

  void add(const std::string& id, double value, const std::string& unit,
           const std::string& note) const {
    report.add({prefix + id, value, unit, note});
  }
};

std::string run_note(const RealtimeRun& run) {
  int packed = 0, whole = 0, tiles = 0;
  for (const StreamRunStatistics& stream : run.summary.streams) {
    packed += static_cast<int>(stream.detector.windows_packed);
    whole += static_cast<int>(stream.detector.windows_whole);
    tiles += static_cast<int>(stream.detector.windows_tiles);
  }
  char text[220];
  std::snprintf(text, sizeof text,
                "due %.0f; %lld dropped; latency p50 %.2f s, p95 %.2f s; %.2f cores busy; "
                "windows packed %d, whole %d, tiles %d",
                run.due, static_cast<long long>(run.dropped), run.latency_p50, run.latency_p95,
                run.cores, packed, whole, tiles);
  return text;
}

// One decimal: what lies beyond is the moment at which the last window happened to end.
double one_decimal(double value) { return std::round(value * 10) / 10; }

void report_run(const Stage& stage, const std::string& id, const RealtimeRun& run,
                const std::string& what) {
  stage.add(id + ".fps", one_decimal(run.fps), "fps", what + ", paced; " + run_note(run));
  stage.add(id + ".latency_p50", run.latency_p50, "s", "a window's length is part of it");
  stage.add(id + ".latency_p95", run.latency_p95, "s", "of the slowest stream");
  stage.add(id + ".cores", run.cores, "", "CPU time over wall time, decode included");
  stage.add(id + ".rss_mb", run.rss_mb, "MB", "resident, the most after any window");
}

// Frames of a stream that were due until the last one that was written.
std::int64_t frames_until_last(const DetectionSet& boxes) {
  return boxes.images.empty() ? 0 : boxes.images.back().image_id + 1;
}

struct Crowd {
  std::vector<PlayedVideo> videos;
  RealtimeRun run;
};

Result<Crowd> play_crowd(const Stage& stage, const fs::path& video) {
  Crowd crowd;
  for (int i = 0; i < kStreams; ++i) crowd.videos.push_back({video, i * 37});
  SPARING_ASSIGN_OR_RETURN(crowd.run, run_realtime(stage.setting, crowd.videos, stage.seconds));
  return crowd;
}

Status judge_crowd(const Stage& stage, const Crowd& crowd) {
  SPARING_ASSIGN_OR_RETURN(
      const DetectionSet whole,
      whole_frame_boxes(stage.setting, crowd.videos[0].file, kWholeFrame, 0, 1));
  const auto pass = static_cast<std::int64_t>(whole.images.size());
  DetectionSet reference, ours;
  ours.labels = reference.labels = whole.labels;
  for (std::size_t s = 0; s < crowd.videos.size(); ++s) {
    const DetectionSet& boxes = crowd.run.boxes[s];
    const auto base = static_cast<std::int64_t>(s) << 32;
    for (std::int64_t i = 0; i < frames_until_last(boxes); ++i) {
      const auto at = static_cast<std::size_t>((crowd.videos[s].first + i) % pass);
      reference.images.push_back({base + i, whole.images[at].detections});
    }
    for (const ImageDetections& image : boxes.images) {
      ours.images.push_back({base + image.image_id, image.detections});
    }
  }
  SPARING_ASSIGN_OR_RETURN(const Agreement agreed, agreement(reference, ours));
  char note[160];
  std::snprintf(note, sizeof note,
                "agreement with every whole frame at 1920, offline, not truth; recall %.3f, "
                "precision %.3f",
                agreed.recall, agreed.precision);
  stage.add("rt1080.f1", agreed.f1, "", note);
  return {};
}

struct Scenes {
  std::vector<Scene> scenes;
  std::vector<PlayedVideo> videos;  // of each scene, from its start
};

Result<Scenes> make_scenes(std::shared_ptr<const SceneMaterial> material) {
  Scenes result;
  for (int i = 0; i < kStreams; ++i) {
    SceneOptions options;
    options.seed = static_cast<std::uint64_t>(i) + 1;
    Scene& scene = result.scenes.emplace_back(material, options);
    scene.add_people(kPeople, 0.4, 0.7);
    SPARING_ASSIGN_OR_RETURN(fs::path file, write_scene(scene));
    result.videos.push_back({std::move(file), 0});
  }
  return result;
}

Status judge_scenes(const Stage& stage, const Scenes& scenes, const RealtimeRun& run) {
  AnnotationSet truth, whole_truth;
  DetectionSet ours, whole;
  for (std::size_t s = 0; s < scenes.videos.size(); ++s) {
    const auto stream = static_cast<std::int64_t>(s);
    const AnnotationSet scene = scene_truth(scenes.scenes[s]);
    const auto pass = static_cast<std::int64_t>(scene.images.size());
    add_judged_truth(scene, 0, frames_until_last(run.boxes[s]), stream, truth);
    add_judged_boxes(run.boxes[s], 0, pass, stream, ours);
    SPARING_ASSIGN_OR_RETURN(
        const DetectionSet boxes,
        whole_frame_boxes(stage.setting, scenes.videos[s].file, kWholeFrame, stream, kJudgedStep));
    add_judged_truth(scene, 0, pass, stream, whole_truth);
    add_judged_boxes(boxes, 0, pass, stream, whole);
  }
  SPARING_ASSIGN_OR_RETURN(const Evaluation mine, evaluate(map_classes(ours, truth), truth, {}));
  SPARING_ASSIGN_OR_RETURN(const Evaluation reference,
                           evaluate(map_classes(whole, whole_truth), whole_truth, {}));
  char note[200];
  std::snprintf(note, sizeof note,
                "synthetic; VOC AP@0.5 %.3f less that of every whole frame at 1920, offline, %.3f; "
                "on every 7th frame",
                mine.ap50_voc, reference.ap50_voc);
  stage.add("rt1080pets.ap_delta", mine.ap50_voc - reference.ap50_voc, "", note);
  stage.add("rt1080pets.ap", mine.ap50_voc, "", "synthetic; in real time");
  stage.add("rt1080pets.whole_ap", reference.ap50_voc, "", "synthetic; offline");
  return {};
}

// More streams than scenes play the scenes from other frames on.
std::vector<PlayedVideo> more_streams(const Scenes& scenes, int count) {
  std::vector<PlayedVideo> videos;
  for (int i = 0; i < count; ++i) {
    PlayedVideo video = scenes.videos[static_cast<std::size_t>(i % kStreams)];
    video.first = (i / kStreams) * 97 % scenes.scenes[0].options().frames;
    videos.push_back(std::move(video));
  }
  return videos;
}

// How many streams hold, from the four of the run on up, or down where four do not.
Status find_most_streams(const Stage& stage, const Scenes& scenes, const RealtimeRun& four) {
  int most = four.holds() ? kStreams : 0;
  std::string note = "synthetic; 1080p30;";
  const auto holds = [&](int count) -> Result<bool> {
    SPARING_ASSIGN_OR_RETURN(
        const RealtimeRun run,
        run_realtime(stage.setting, more_streams(scenes, count), stage.ladder_seconds));
    char text[80];
    std::snprintf(text, sizeof text, " %d: %.0f of %.0f fps, %lld dropped;", count, run.fps,
                  run.due, static_cast<long long>(run.dropped));
    note += text;
    return run.holds();
  };
  if (most > 0) {
    for (const int count : kLadder) {
      SPARING_ASSIGN_OR_RETURN(const bool held, holds(count));
      if (!held) break;
      most = count;
    }
  } else {
    for (int count = kStreams - 1; count > 0 && most == 0; --count) {
      SPARING_ASSIGN_OR_RETURN(const bool held, holds(count));
      if (held) most = count;
    }
  }
  stage.add("rt1080pets.max_streams", static_cast<double>(most), "", note);
  return {};
}

Status bench_scenes(const Stage& stage) {
  const DetectBenchOptions& options = stage.options.detect;
  const fs::path truth = options.data / "pets-s2l1" / "gt.txt";
  if (!fs::exists(truth)) {
    for (const char* id : {"rt1080pets.fps", "rt1080pets.ap_delta", "rt1080pets.max_streams"}) {
      stage.report.skip(stage.prefix + id, "no ground truth at " + truth.string() + " (--data)");
    }
    return {};
  }
  SPARING_ASSIGN_OR_RETURN(SceneMaterial material,
                           cut_out_people(options.video, truth, pets_options()));
  SPARING_ASSIGN_OR_RETURN(const Scenes scenes,
                           make_scenes(std::make_shared<const SceneMaterial>(std::move(material))));
  SPARING_ASSIGN_OR_RETURN(const RealtimeRun run,
                           run_realtime(stage.setting, scenes.videos, stage.seconds));
  report_run(stage, "rt1080pets", run, "four synthetic 1080p30 streams");
  SPARING_RETURN_IF_ERROR(find_most_streams(stage, scenes, run));
  return judge_scenes(stage, scenes, run);
}

}  // namespace

Status bench_realtime(const BenchOptions& options, Report& report) {
  SPARING_ASSIGN_OR_RETURN(Context context, cli::create_context(options.detect.runtime));
  SPARING_ASSIGN_OR_RETURN(
      Model model,
      resolve_model(options.detect.model, default_model_paths(cli::share_dir()), context));
  SPARING_ASSIGN_OR_RETURN(RealtimeSetting setting,
                           realtime_setting(std::move(context), std::move(model)));
  Stage stage{options, std::move(setting), report, ""};
  if (options.quick) {
    stage.prefix = "quick.";
    stage.seconds = 10;
    stage.ladder_seconds = 8;
  }
  // The runs that memory is measured of come before the whole frames, which need much of it.
  const fs::path video = options.detect.data / "mot17-04" / "MOT17-04_5s.mp4";
  std::optional<Crowd> crowd;
  if (fs::exists(video)) {
    SPARING_ASSIGN_OR_RETURN(crowd, play_crowd(stage, video));
    report_run(stage, "rt1080", crowd->run, "four offsets of MOT17-04");
  } else {
    for (const char* id : {"rt1080.fps", "rt1080.f1", "rt1080.rss_mb"}) {
      report.skip(stage.prefix + id, "no video at " + video.string() + " (--data)");
    }
  }
  SPARING_RETURN_IF_ERROR(bench_scenes(stage));
  return crowd ? judge_crowd(stage, *crowd) : Status();
}

}  // namespace sparing::bench
