// What every benchmark reports: figures with stable ids, as a table and as JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sparing/base/result.h"

namespace sparing::bench {

struct Figure {
  std::string id;  // "frame768.ap"
  double value = 0;
  std::string unit;
  std::string note;
};

class Report {
 public:
  // Adds the figure and prints it.
  void add(Figure figure);
  // Adds it for the JSON alone: what a table of the benchmark's own has shown.
  void record(Figure figure);
  // A figure that could not be measured, with the reason: said, never silently missing.
  void skip(const std::string& id, const std::string& reason);
  // {"schema": 1, "machine": {...}, "figures": [{"id", "value", "unit", "note"}], "skipped": [...]}
  Status write_json(const std::filesystem::path& file) const;

 private:
  struct Skipped {
    std::string id;
    std::string reason;
  };
  std::vector<Figure> figures_;
  std::vector<Skipped> skipped_;
};

// Of this machine, as the operating system names it.
std::string cpu_model();

}  // namespace sparing::bench
