// The figures that follow from the tables (docs/benchmarks.md).
#include <cstdio>

#include "baselines.h"
#include "streams_bench.h"
#include "streams_ours.h"

namespace sparing::bench {
namespace {

constexpr char kPacked[] = "Sparing, packed";
constexpr char kAuto[] = "Sparing, auto";
constexpr char kWhole[] = "whole frames";
constexpr char kPlain[] = "plain frames";

// AP of `own` against that of `other`, and its share of the other's detector time.
void compare(Report& report, const std::string& id, const Row* own, const Row* other) {
  if (own == nullptr || other == nullptr) {
    report.skip(id + ".ap_delta", "its methods were not run (--methods)");
    report.skip(id + ".cost_share", "its methods were not run (--methods)");
    return;
  }
  char note[200];
  std::snprintf(note, sizeof note, "AP %.4f (%s) against %.4f (%s)", own->accuracy.ap,
                own->name().c_str(), other->accuracy.ap, other->name().c_str());
  report.add({id + ".ap_delta", own->accuracy.ap - other->accuracy.ap, "AP", note});
  std::snprintf(note, sizeof note, "%.3f of %.3f ms a frame", own->ms_per_frame(),
                other->ms_per_frame());
  report.add({id + ".cost_share", own->spend.cost / other->spend.cost, "", note});
}

// Against whole frames of one size, every one of them: each by itself, as a detector alone gives
// them, and with our own tracker, which makes them better, too.
void compare_full(Report& report, const std::string& id, const Row* own, std::span<const Row> rows,
                  const std::string& size) {
  compare(report, id, own, find_row(rows, kPlain, size));
  const Row* followed = find_row(rows, kWhole, size);
  if (own == nullptr || followed == nullptr) return;
  char note[200];
  std::snprintf(note, sizeof note, "AP %.4f against %.4f (%s)", own->accuracy.ap,
                followed->accuracy.ap, followed->name().c_str());
  report.add({id + ".followed_delta", own->accuracy.ap - followed->accuracy.ap, "AP", note});
}

// How much less time packing takes than the cheapest whole frames that are about as accurate.
void compare_reduced(Report& report, const std::string& id, std::span<const Row> rows,
                     const Row* own) {
  const Row* rival = own == nullptr ? nullptr : cheapest(rows, kWhole, own->accuracy.ap - 0.005);
  if (rival == nullptr) {
    report.skip(id, own == nullptr ? "packing was not run (--methods)"
                                   : "no whole frames are as accurate (to 0.005)");
    return;
  }
  char note[200];
  std::snprintf(note, sizeof note, "%s: AP %.4f at %.3f ms a frame; %s: AP %.4f at %.3f",
                rival->name().c_str(), rival->accuracy.ap, rival->ms_per_frame(),
                own->name().c_str(), own->accuracy.ap, own->ms_per_frame());
  report.add({id, rival->spend.cost / own->spend.cost, "x", note});
}

}  // namespace

void report_pets(StreamsSetting& setting, std::span<const Row> rows) {
  const std::string size = "768 wide, every frame";
  const Row* packed = find_row(rows, kPacked, judged_packed("pets4"));
  compare_full(setting.report, "pets4", packed, rows, size);
  compare_reduced(setting.report, "pets4.vs_best_reduced", rows, packed);
  compare_full(setting.report, "pets4k1", find_row(rows, kPacked, every_text(1)), rows, size);
}

void report_m30(StreamsSetting& setting, std::span<const Row> rows) {
  compare_full(setting.report, "m30", find_row(rows, kPacked, judged_packed("m30")), rows,
               "2400 wide, every frame");
}

void report_ngsim(StreamsSetting& setting, std::span<const Row> rows) {
  const std::string size = "640 wide, every frame";
  compare_full(setting.report, "ngsim", find_row(rows, kPacked, judged_packed("ngsim")), rows,
               size);
  compare_full(setting.report, "ngsim.auto", find_row(rows, kAuto, our_settings("auto", 0).name),
               rows, size);
}

void report_dominated(StreamsSetting& setting,
                      const std::map<std::string, std::vector<Row>>& rows) {
  const std::string settings = our_settings("auto", 0).name;
  std::size_t violations = 0;
  std::string names;
  std::string judged;
  for (const auto& [clip, all] : rows) {
    const Row* own = find_row(all, kAuto, settings);
    if (own == nullptr) continue;
    judged += (judged.empty() ? "" : ", ") + clip;
    for (const Row* better : better_rows(all, *own)) {
      ++violations;
      std::printf("  on %s auto (AP %.4f at %.3f ms) is beaten by %s (AP %.4f at %.3f ms)\n",
                  clip.c_str(), own->accuracy.ap, own->ms_per_frame(), better->name().c_str(),
                  better->accuracy.ap, better->ms_per_frame());
      names += "; " + clip + ": " + better->name();
    }
  }
  if (judged.empty()) {
    setting.report.skip("auto.dominated", "auto was not run (--methods)");
    return;
  }
  setting.report.add({"auto.dominated", static_cast<double>(violations), "",
                      "settings that beat auto on " + judged + names});
}

}  // namespace sparing::bench
