#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <set>
#include <system_error>
#include <utility>

#include "sparing/io/file.h"
#include "sparing/io/frame_json.h"
#include "sparing/io/image_sequence.h"
#include "sparing/io/json_text.h"
#include "sparing/io/label_png.h"
#include "sparing/io/masks.h"
#include "sparing/io/output_file.h"
#include "sparing/io/rle.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

std::string thing_of(const MaskResult& result, const std::string& output) {
  return "frame " + std::to_string(result.source.index) + " for '" + output + "'";
}

// ---- A folder of pictures

class PngSink final : public MaskSink {
 public:
  explicit PngSink(fs::path folder) : folder_(std::move(folder)) {}

  Status write(const MaskResult& result) override {
    if (failure_) return *failure_;
    const std::string thing = thing_of(result, name());
    SPARING_RETURN_IF_ERROR(check_label_map(result.labels, thing));
    const std::string stem = stem_of(result.source);
    if (names_.contains(stem)) {
      return Error{ErrorCode::kInvalidArgument, thing,
                   "another picture is called '" + stem + "', too", "write the format rle"};
    }
    if (Status status = write_label_png(folder_ / (stem + ".png"), result.labels); !status.ok()) {
      failure_ = status.error();
      return *failure_;
    }
    names_.insert(stem);
    return {};
  }
  Status finish() override {
    if (failure_) return *failure_;
    return {};
  }
  std::string name() const override { return folder_.string(); }
  std::int64_t frames() const override { return static_cast<std::int64_t>(names_.size()); }

 private:
  static std::string stem_of(const SourceFrame& source) {
    if (!source.file.empty()) return fs::path(source.file).stem().string();
    char number[24];
    std::snprintf(number, sizeof number, "%06lld", static_cast<long long>(source.index));
    return number;
  }

  fs::path folder_;
  std::set<std::string> names_;
  std::optional<Error> failure_;
};

Result<std::unique_ptr<MaskSink>> open_png_sink(const fs::path& path, const RunInfo&,
                                                const MaskSinkOptions& options) {
  std::error_code code;
  if (fs::exists(path, code) && !fs::is_directory(path, code)) {
    return Error{ErrorCode::kOutput, "output '" + path.string() + "'", "it is not a folder",
                 "give a folder, or a file that ends in .jsonl"};
  }
  if (fs::is_directory(path, code) && !options.replace) {
    for (fs::directory_iterator entry(path, code); !code && entry != fs::directory_iterator();
         entry.increment(code)) {
      const fs::path& file = entry->path();
      if (!is_image_name(file) || file.filename().string().starts_with('.')) continue;
      return Error{ErrorCode::kInvalidArgument, "output '" + path.string() + "'",
                   "the folder holds pictures already ('" + file.filename().string() +
                       "'), which would be taken for masks of this run",
                   "give another folder, or remove them"};
    }
  }
  fs::create_directories(path, code);
  if (code) return output_error(path, code.value());
  if (::access(path.c_str(), W_OK | X_OK) != 0) return output_error(path, errno);
  return std::unique_ptr<MaskSink>(std::make_unique<PngSink>(path));
}

// ---- JSON Lines of run lengths

class RleSink final : public MaskSink {
 public:
  RleSink(std::unique_ptr<OutputFile> file, const RunInfo& run)
      : file_(std::move(file)), frames_(run) {}

  Status write(const MaskResult& result) override {
    SPARING_RETURN_IF_ERROR(check_label_map(result.labels, thing_of(result, name())));
    const Size size = result.labels.size;
    line_.clear();
    frames_.append_head(line_, result.stream, result.source);
    line_ += ",\"mask_size\":";
    append_pair(size.width, size.height);
    line_ += ",\"masks\":[";
    bool first = true;
    for (const auto& [label, counts] : encode_masks(result.labels)) {
      if (!first) line_ += ',';
      first = false;
      line_ += "{\"class\":";
      append_number(line_, std::int64_t{label});
      frames_.append_label(line_, label);
      line_ += ",\"rle\":{\"size\":";
      append_pair(size.height, size.width);
      line_ += ",\"counts\":";
      append_json_string(line_, counts);
      line_ += "}}";
    }
    line_ += "]}\n";
    return file_->write(line_);
  }
  Status finish() override { return file_->finish(); }
  std::string name() const override { return file_->name(); }
  std::int64_t frames() const override { return file_->records(); }

 private:
  void append_pair(int a, int b) {
    line_ += '[';
    append_number(line_, std::int64_t{a});
    line_ += ',';
    append_number(line_, std::int64_t{b});
    line_ += ']';
  }

  std::unique_ptr<OutputFile> file_;
  FrameJson frames_;
  std::string line_;
};

Result<std::unique_ptr<MaskSink>> open_rle_sink(const fs::path& path, const RunInfo& run,
                                                const MaskSinkOptions&) {
  SPARING_ASSIGN_OR_RETURN(auto file, OutputFile::open(path, {}));
  return std::unique_ptr<MaskSink>(std::make_unique<RleSink>(std::move(file), run));
}

// ---- The table

struct MaskSinkRow {
  MaskFormat format;
  Result<std::unique_ptr<MaskSink>> (*open)(const fs::path& path, const RunInfo& run,
                                            const MaskSinkOptions& options);
  bool to_stdout;     // can be written to a pipe
  bool many_streams;  // its records name the stream
};
constexpr std::array<MaskSinkRow, 2> kMaskSinks{{
    {{"png", "", "a folder of 8-bit grey PNG pictures of class numbers"},
     open_png_sink,
     false,
     false},
    {{"rle", "jsonl", "JSON Lines, one object a frame, masks as COCO's run lengths"},
     open_rle_sink,
     true,
     true},
}};

constexpr auto kMaskFormats = [] {
  std::array<MaskFormat, kMaskSinks.size()> formats{};
  for (std::size_t i = 0; i < kMaskSinks.size(); ++i) formats[i] = kMaskSinks[i].format;
  return formats;
}();

std::string extension_of(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension.empty() ? extension : extension.substr(1);
}

const MaskSinkRow* row_named(std::string_view name) {
  for (const MaskSinkRow& row : kMaskSinks) {
    if (row.format.name == name) return &row;
  }
  return nullptr;
}

Result<const MaskSinkRow*> find_sink(const fs::path& path, const MaskSinkOptions& options) {
  if (!options.format.empty()) {
    if (const MaskSinkRow* row = row_named(options.format)) return row;
    std::string names;
    for (const MaskSinkRow& row : kMaskSinks) {
      names += (names.empty() ? "" : ", ") + std::string(row.format.name);
    }
    return Error{ErrorCode::kInvalidArgument, "mask format '" + options.format + "'",
                 "there is no such format", "give one of " + names};
  }
  if (path == "-" || own_descriptor(path)) return row_named("rle");
  std::error_code code;
  if (fs::is_directory(path, code)) return row_named("png");  // whatever its name
  for (const MaskSinkRow& row : kMaskSinks) {
    if (extension_of(path) == row.format.extension) return &row;
  }
  return Error{ErrorCode::kInvalidArgument, "output '" + path.string() + "'",
               "no mask format has the extension ." + extension_of(path),
               "give a folder for PNG files, a name that ends in .jsonl, or choose a format"};
}

Status check(const MaskSinkRow& row, const fs::path& path, const RunInfo& run) {
  const std::string format = "format '" + std::string(row.format.name) + "'";
  if (path.empty()) {
    return Error{ErrorCode::kInvalidArgument, "output ''", "the name is empty",
                 "give a file or folder"};
  }
  if (path == "-" && !row.to_stdout) {
    return Error{ErrorCode::kInvalidArgument, format, "it cannot be written to standard output",
                 "give a folder"};
  }
  if (!row.many_streams && run.sources.size() > 1) {
    return Error{ErrorCode::kInvalidArgument, format,
                 "it holds one input, but there are " + std::to_string(run.sources.size()),
                 "use rle, or run the inputs one by one"};
  }
  return check_not_an_input(path, run.sources);
}

}  // namespace

std::span<const MaskFormat> mask_formats() { return kMaskFormats; }

Result<std::unique_ptr<MaskSink>> open_mask_sink(const fs::path& path, const RunInfo& run,
                                                 const MaskSinkOptions& options) {
  try {
    if (own_descriptor(path) == STDOUT_FILENO) return open_mask_sink("-", run, options);
    SPARING_ASSIGN_OR_RETURN(const MaskSinkRow* row, find_sink(path, options));
    SPARING_RETURN_IF_ERROR(check(*row, path, run));
    return row->open(path, run, options);
  } catch (const std::exception& e) {
    return Error{ErrorCode::kOutput, "output '" + path.string() + "'", e.what(), "check the path"};
  }
}

}  // namespace sparing
