// Latency profiles as files: what `sparing models profile` measures once, and runs keep up to date
// (Mondrian, section 4.3.1).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sparing/base/result.h"
#include "sparing/packing/latency_profile.h"
#include "sparing/pipeline/detector.h"

namespace sparing {

// What a profile is of. One of another machine or engine says nothing about this one.
struct ProfileIdentity {
  std::string model;      // its name in the manifest
  std::string processor;  // processor_name()
  std::string machine;    // the device's full name: "AMD EPYC ..."
  std::string engine;     // Context::backend_name()
  friend bool operator==(const ProfileIdentity&, const ProfileIdentity&) = default;
};

// user_cache_dir()/profiles/MODEL.PROCESSOR.json; empty for a user without a home. Characters that
// file systems or shells treat specially become "-".
std::filesystem::path profile_file(const ProfileIdentity& identity);

// The JSON form (schema 1): model, processor, largest-width, largest-height, machine, engine, and
// `points` with the times of now (LatencyProfile::current_points). Model and processor are those of
// the profile.
std::string to_json(const LatencyProfile& profile, const ProfileIdentity& identity);

// Reads the JSON form, strictly. `name_for_errors` is the file's name. kModel: not JSON, a missing,
// unknown, twice given or wrong field, named with its value and the fix; kNotSupported: it is of
// another model, processor, machine or engine than `identity`, or of a newer schema, with what was
// found.
Result<LatencyProfile> parse_profile(std::string_view json, const std::string& name_for_errors,
                                     const ProfileIdentity& identity,
                                     const LatencyOptions& options = {});
// The same from a file. kModel also: missing, unreadable, over 1 MB.
Result<LatencyProfile> load_profile(const std::filesystem::path& file,
                                    const ProfileIdentity& identity,
                                    const LatencyOptions& options = {});
// Files as by write_file (sparing/io/file.h). kOutput: cannot be written, or `file` is empty.
Status save_profile(const std::filesystem::path& file, const LatencyProfile& profile,
                    const ProfileIdentity& identity);

struct ObtainedProfile {
  LatencyProfile profile;
  // Why it was measured now, for a message: "file '...': no such file". Empty: it was loaded.
  std::string reason;
  // What came of keeping the measured one.
  Status saved;
};

// The stored profile, where there is one that fits; else one measured now (measure_profile: under a
// second for small networks) and kept. An empty `file` is neither read nor written.
Result<ObtainedProfile> obtain_profile(Detector& detector, const ProfileIdentity& identity,
                                       const std::filesystem::path& file,
                                       const LatencyOptions& options = {});

}  // namespace sparing
