// The accuracy stage: every approach on every clip, then all clips at once.
#include <algorithm>
#include <cstdio>
#include <set>

#include "sparing/base/clock.h"
#include "streams_bench.h"
#include "streams_ours.h"
#include "streams_plot.h"

namespace sparing::bench {
namespace {

// From this confidence on, what whole frames at full size find stands in for the truth.
constexpr float kReferenceScore = 0.3f;

// One line a row, for whoever waits.
void progress(const std::string& clip, std::size_t number, std::size_t of, const Row& row,
              double seconds) {
  std::fprintf(stderr, "%s %zu/%zu: %s: AP %.4f, %.1f s\n", clip.c_str(), number, of,
               row.name().c_str(), row.accuracy.ap, seconds);
}

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// For a clip without truth.
Status take_as_truth(Clip& clip, Network& network) {
  const std::vector<int> ids = group_ids(clip.group, network.labels());
  const Size input = network.nearest_input(clip.size.width, clip.size.height);
  for (std::size_t s = 0; s < clip.streams.size(); ++s) {
    for (std::size_t f = 0; f < clip.streams[s].frames.size(); ++f) {
      SPARING_ASSIGN_OR_RETURN(const Network::Look* look, network.whole(clip, s, f, input, 1));
      for (const Detection& detection : join_classes(look->detections, ids)) {
        if (detection.score < kReferenceScore) continue;
        Annotation object;
        object.box = detection.box;
        clip.streams[s].truth[f].push_back(object);
      }
    }
  }
  return {};
}

class AccuracyStage {
 public:
  explicit AccuracyStage(StreamsSetting& setting) : setting_(setting) {}

  Status run() {
    for (const std::string_view id : kClipIds) {
      const std::string clip(id);
      if (!wanted_clip(clip) && !wanted_clip("mixed")) continue;
      if (!has_part(clip, setting_.part())) {
        setting_.report.skip(clip, "all of it is for judging (--part)");
        continue;
      }
      const std::string missing = missing_material(clip, setting_.places());
      if (!missing.empty()) {
        setting_.report.skip(clip, "no " + missing + " (--data, --video)");
        continue;
      }
      SPARING_RETURN_IF_ERROR(run_clip(clip));
    }
    if (wanted_clip("mixed") && clips_.size() > 1) SPARING_RETURN_IF_ERROR(run_mixed());
    report();
    return plot();
  }

 private:
  bool wanted_clip(const std::string& id) const {
    const std::vector<std::string>& clips = setting_.options.detect.streams.clips;
    return clips.empty() || contains(clips, id);
  }
  bool wanted_method(const std::string& method) const {
    const std::vector<std::string>& methods = setting_.options.detect.streams.methods;
    return methods.empty() ||
           std::any_of(methods.begin(), methods.end(), [&](const std::string& part) {
             return method.find(part) != std::string::npos;
           });
  }

  static std::int64_t frames_of(const Clip& clip) {
    std::int64_t frames = 0;
    for (const ClipStream& stream : clip.streams) {
      frames += static_cast<std::int64_t>(stream.frames.size());
    }
    return frames;
  }

  // Loads the clip; its rows are made where it is wanted for itself. The network keeps what it saw,
  // whole frames at full size that stand for the truth among it.
  Status run_clip(const std::string& id) {
    SPARING_ASSIGN_OR_RETURN(Clip loaded, load_clip(id, setting_.part(), setting_.places()));
    SPARING_ASSIGN_OR_RETURN(Network network,
                             Network::create(setting_.context, setting_.model, loaded.group.labels,
                                             setting_.network_costs));
    if (loaded.agreement) SPARING_RETURN_IF_ERROR(take_as_truth(loaded, network));
    clips_.push_back(std::move(loaded));
    const Clip& clip = clips_.back();
    return wanted_clip(id) ? run_approaches(clip, network) : Status();
  }

  Status run_approaches(const Clip& clip, Network& network) {
    std::vector<Row>& rows = rows_[clip.id];
    const Approaches approaches = approaches_for(clip.id);
    for (std::size_t i = 0; i < approaches.size(); ++i) {
      Approach& approach = *approaches[i];
      if (!wanted_method(approach.method())) continue;
      const Clock::time_point start = Clock::now();
      SPARING_ASSIGN_OR_RETURN(const Outcome outcome, approach.run(clip, network));
      SPARING_ASSIGN_OR_RETURN(const Accuracy accuracy,
                               judge(clip, outcome.boxes, network.labels()));
      rows.push_back({clip.id, approach.method(), approach.settings(), approach.choices(clip),
                      accuracy, outcome.spend, frames_of(clip)});
      progress(clip.id, i + 1, approaches.size(), rows.back(), seconds_since(start));
    }
    std::printf("\n%s, %lld frames, %s\n", clip.title.c_str(),
                static_cast<long long>(frames_of(clip)), clip.group.name.c_str());
    print_rows(rows);
    return {};
  }

  // All streams of all clips in one detector; the rivals' streams do not influence each other, so
  // theirs follow from the clips'.
  Status run_mixed() {
    std::set<std::string> labels;
    std::vector<FedStream> streams;
    std::vector<std::string> ids;
    std::int64_t frames = 0;
    for (const Clip& clip : clips_) {
      labels.insert(clip.group.labels.begin(), clip.group.labels.end());
      const std::vector<FedStream> fed = feed_of(clip);
      streams.insert(streams.end(), fed.begin(), fed.end());
      ids.push_back(clip.id);
      frames += frames_of(clip);
    }
    std::vector<Row> all;
    for (const auto& [id, rows] : rows_) all.insert(all.end(), rows.begin(), rows.end());
    std::vector<Row> mixed = mixed_rows(all, ids);
    std::erase_if(mixed, [](const Row& row) { return row.method == "Sparing, auto"; });
    SPARING_ASSIGN_OR_RETURN(
        Network network, Network::create(setting_.context, setting_.model,
                                         {labels.begin(), labels.end()}, setting_.network_costs));
    const OurSettings settings = our_settings("auto", 0);
    SPARING_ASSIGN_OR_RETURN(OurRun run, run_ours(streams, network, settings.options));
    Row row{"mixed", "Sparing, auto",   settings.name, {settings.name},
            {0, 0},  run.outcome.spend, frames};
    auto first = run.outcome.boxes.begin();
    for (const Clip& clip : clips_) {
      const auto last = first + static_cast<std::ptrdiff_t>(clip.streams.size());
      SPARING_ASSIGN_OR_RETURN(const Accuracy accuracy,
                               judge(clip, ClipBoxes(first, last), network.labels()));
      row.accuracy.ap += accuracy.ap / static_cast<double>(clips_.size());
      row.accuracy.f1 += accuracy.f1 / static_cast<double>(clips_.size());
      first = last;
    }
    mixed.push_back(std::move(row));
    std::printf("\nAll clips at once, %lld frames, mean AP of the clips\n",
                static_cast<long long>(frames));
    print_rows(mixed);
    rows_["mixed"] = std::move(mixed);
    return {};
  }

  void report() {
    std::printf("\n");
    for (const auto& [id, rows] : rows_) {
      for (const Row& row : rows) {
        char note[96];
        std::snprintf(note, sizeof note, "%.4f ms a frame, %lld inputs, F1 %.4f",
                      row.ms_per_frame(), static_cast<long long>(row.spend.inferences),
                      row.accuracy.f1);
        setting_.report.record({id + ".row: " + row.name(), row.accuracy.ap, "AP", note});
      }
    }
    if (rows_.contains("pets4")) report_pets(setting_, rows_["pets4"]);
    if (rows_.contains("m30")) report_m30(setting_, rows_["m30"]);
    if (rows_.contains("ngsim")) report_ngsim(setting_, rows_["ngsim"]);
    report_dominated(setting_, rows_);
  }

  Status plot() const {
    const std::string& file = setting_.options.detect.streams.plot;
    if (file.empty()) return {};
    std::vector<PlotPanel> panels;
    for (const Clip& clip : clips_) {
      const auto it = rows_.find(clip.id);
      if (it != rows_.end()) panels.push_back({clip.title, it->second});
    }
    if (const auto it = rows_.find("mixed"); it != rows_.end()) {
      panels.push_back({"All clips at once", it->second});
    }
    return plot_panels(panels,
                       cpu_model() +
                           "; higher and further left is better; lines join the best "
                           "settings of each method",
                       file);
  }

  StreamsSetting& setting_;
  std::vector<Clip> clips_;
  std::map<std::string, std::vector<Row>> rows_;
};

}  // namespace

ClipPart StreamsSetting::part() const {
  return options.detect.streams.part == "tune" ? ClipPart::kTune : ClipPart::kJudge;
}

Result<StreamsSetting> open_streams(const BenchOptions& options, Report& report) {
  SPARING_RETURN_IF_ERROR(validate_options(options.detect.streams));
  SPARING_ASSIGN_OR_RETURN(Context context, cli::create_context(options.detect.runtime));
  SPARING_ASSIGN_OR_RETURN(
      Model model,
      resolve_model(options.detect.model, default_model_paths(cli::share_dir()), context));
  SPARING_ASSIGN_OR_RETURN(NetworkCosts costs, measure_costs(context, model));
  return StreamsSetting{options, report, context, std::move(model), std::move(costs)};
}

Status bench_streams_accuracy(const BenchOptions& options, Report& report) {
  SPARING_ASSIGN_OR_RETURN(StreamsSetting setting, open_streams(options, report));
  if (options.quick) return bench_streams_quick(setting);
  return AccuracyStage(setting).run();
}

}  // namespace sparing::bench
