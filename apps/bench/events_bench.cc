// sparing-bench detect, stage events: what happens before cameras, as seeded synthetic scenes of
// 768x576, through StreamDetector with the product's defaults (mode auto, the model's own least
// confidence).
#include "events_bench.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "events_cases.h"
#include "realtime_streams.h"

namespace sparing::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kFlashes = 40;  // of each rate
constexpr int kStandings = 8;
constexpr int kDisturbances = 12;
constexpr std::size_t kTogether = 4;  // cases, as streams of one detector
constexpr int kWholeStep = 10;        // of the frames judged, whole frames look at every 10th

using Material = std::shared_ptr<const SceneMaterial>;
using MakeCase = std::function<EventCase(Material, std::uint64_t seed)>;

class Events {
 public:
  Events(Material material, StreamDetector detector, Detector whole, Report& report)
      : material_(std::move(material)),
        detector_(std::move(detector)),
        whole_(std::move(whole)),
        report_(report) {}

  Status flashes(int frame_rate, EventCount& reported);
  Status standings();
  Status disturbances(const std::string& id, const std::string& what, const MakeCase& make);

 private:
  // Calls `visit` for each case and what was found in it.
  Status run(std::vector<EventCase> cases,
             const std::function<Status(const EventCase&, const SceneBoxes&)>& visit);
  std::vector<EventCase> make_cases(int count, const MakeCase& make) const;

  Material material_;
  StreamDetector detector_;
  Detector whole_;
  Report& report_;
};

std::vector<EventCase> Events::make_cases(int count, const MakeCase& make) const {
  std::vector<EventCase> cases;
  for (int i = 0; i < count; ++i)
    cases.push_back(make(material_, static_cast<std::uint64_t>(i) + 1));
  return cases;
}

Status Events::run(std::vector<EventCase> cases,
                   const std::function<Status(const EventCase&, const SceneBoxes&)>& visit) {
  for (std::size_t first = 0; first < cases.size(); first += kTogether) {
    const std::span<const EventCase> some =
        std::span(cases).subspan(first, std::min(kTogether, cases.size() - first));
    SPARING_ASSIGN_OR_RETURN(const auto boxes, detect_streams(detector_, some));
    for (std::size_t i = 0; i < some.size(); ++i) {
      SPARING_RETURN_IF_ERROR(visit(some[i], boxes[i]));
    }
  }
  return {};
}

Status Events::flashes(int frame_rate, EventCount& reported) {
  EventCount whole;
  reported = {};
  const auto make = [&](Material material, std::uint64_t seed) {
    return flash_case(std::move(material), frame_rate, seed);
  };
  SPARING_RETURN_IF_ERROR(
      run(make_cases(kFlashes, make), [&](const EventCase& one, const SceneBoxes& boxes) -> Status {
        reported += count_reported(one, boxes);
        SPARING_ASSIGN_OR_RETURN(const SceneBoxes all, detect_whole(whole_, one, 1));
        whole += count_reported(one, all);
        return {};
      }));
  char note[160];
  std::snprintf(
      note, sizeof note,
      "synthetic; of %lld people who were there for 3 frames at %d fps; every whole frame "
      "reports %.3f",
      reported.total, frame_rate, whole.share());
  report_.add(
      {"events.flash" + std::to_string(frame_rate) + "_recall", reported.share(), "", note});
  return {};
}

Status Events::standings() {
  EventCount stay, ours, whole;
  SPARING_RETURN_IF_ERROR(run(make_cases(kStandings, standing_case),
                              [&](const EventCase& one, const SceneBoxes& boxes) -> Status {
                                SPARING_ASSIGN_OR_RETURN(const SceneBoxes all,
                                                         detect_whole(whole_, one, kWholeStep));
                                stay += count_found_of(one, boxes, all, kWholeStep);
                                ours += count_found(one, boxes);
                                whole += count_found(one, all, kWholeStep);
                                return {};
                              }));
  char note[200];
  std::snprintf(note, sizeof note,
                "synthetic; of those whom the whole frame of that moment shows, in the last 20 of "
                "30 s; of all who stand there %.3f, whole frames %.3f",
                ours.share(), whole.share());
  report_.add({"events.standing_recall", stay.share(), "", note});
  return {};
}

Status Events::disturbances(const std::string& id, const std::string& what, const MakeCase& make) {
  EventCount disturbed, before, whole;
  std::vector<EventCase> cases = make_cases(kDisturbances, make);
  std::vector<EventCase> calm;
  for (const EventCase& one : cases) calm.push_back(undisturbed(one));
  SPARING_RETURN_IF_ERROR(
      run(std::move(cases), [&](const EventCase& one, const SceneBoxes& boxes) -> Status {
        disturbed += count_found(one, boxes);
        SPARING_ASSIGN_OR_RETURN(const SceneBoxes all, detect_whole(whole_, one, kWholeStep));
        whole += count_found(one, all, kWholeStep);
        return {};
      }));
  SPARING_RETURN_IF_ERROR(
      run(std::move(calm), [&](const EventCase& one, const SceneBoxes& boxes) -> Status {
        before += count_found(one, boxes);
        return {};
      }));
  char note[200];
  std::snprintf(note, sizeof note,
                "synthetic; %s, from a window after it on; undisturbed %.3f; whole frames after it "
                "%.3f",
                what.c_str(), before.share(), whole.share());
  report_.add({"events." + id + "_recall", disturbed.share(), "", note});
  report_.add({"events." + id + "_loss", before.share() - disturbed.share(), "",
               "synthetic; recall undisturbed less that"});
  return {};
}

}  // namespace

Status bench_events(const BenchOptions& options, Report& report) {
  const fs::path truth = options.detect.data / "pets-s2l1" / "gt.txt";
  if (!fs::exists(truth)) {
    for (const char* id : {"events.flash_recall", "events.standing_recall", "events.light_recall",
                           "events.shake_recall"}) {
      report.skip(id, "no ground truth at " + truth.string() + " (--data)");
    }
    return {};
  }
  SPARING_ASSIGN_OR_RETURN(Context context, cli::create_context(options.detect.runtime));
  SPARING_ASSIGN_OR_RETURN(
      Model model,
      resolve_model(options.detect.model, default_model_paths(cli::share_dir()), context));
  SPARING_ASSIGN_OR_RETURN(const RealtimeSetting setting,
                           realtime_setting(std::move(context), std::move(model)));
  SPARING_ASSIGN_OR_RETURN(SceneMaterial material,
                           cut_out_people(options.detect.video, truth, pets_options()));
  SPARING_ASSIGN_OR_RETURN(StreamDetector detector, person_streams(setting, {}, {}, kModelsScore));
  SPARING_ASSIGN_OR_RETURN(Detector whole, person_detector(setting, "", kModelsScore));
  Events events(std::make_shared<const SceneMaterial>(std::move(material)), std::move(detector),
                std::move(whole), report);
  EventCount at10, at30;
  SPARING_RETURN_IF_ERROR(events.flashes(10, at10));
  SPARING_RETURN_IF_ERROR(events.flashes(30, at30));
  report.add({"events.flash_recall", std::min(at10.share(), at30.share()), "",
              "synthetic; the lower of the two"});
  SPARING_RETURN_IF_ERROR(events.standings());
  SPARING_RETURN_IF_ERROR(events.disturbances(
      "light", "light 1.25 times and 10 levels up, or as much down", light_case));
  return events.disturbances("shake", "camera pushed by 10 pixels, for good or swinging back",
                             shake_case);
}

}  // namespace sparing::bench
