// Sinks that write to standard output and FIFOs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "sparing/io/sink.h"
#include "sparing/io/test_sink.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using testing::kDog;
using testing::make_result;
using testing::must_open;
using testing::run_of;
using testing::TestDirectory;

// Standard output replaced by the write end of a pipe.
class PipedOutput {
 public:
  PipedOutput() {
    std::fflush(stdout);
    saved_ = ::dup(STDOUT_FILENO);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
    reader_ = ends[0];
  }
  ~PipedOutput() { restore(); }
  void close_reader() {
    ::close(reader_);
    reader_ = -1;
  }
  std::string available() {
    char text[4096];
    const ssize_t count = ::read(reader_, text, sizeof text);
    return count > 0 ? std::string(text, static_cast<std::size_t>(count)) : "";
  }
  void restore() {
    if (saved_ < 0) return;
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
    saved_ = -1;
    if (reader_ >= 0) ::close(reader_);
  }

 private:
  int saved_ = -1;
  int reader_ = -1;
};

TEST(StandardOutput, GetsEveryFrameAtOnce) {
  for (const char* path : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    SCOPED_TRACE(path);
    std::string first, second;
    {
      PipedOutput pipe;
      auto sink = must_open(path, run_of("a"));
      EXPECT_EQ(sink->name(), "-");
      EXPECT_TRUE(sink->write(make_result(0, {})).ok());
      first = pipe.available();
      EXPECT_TRUE(sink->write(make_result(1, {})).ok());
      second = pipe.available();
      EXPECT_TRUE(sink->finish().ok());
    }
    EXPECT_THAT(first, ::testing::AllOf(HasSubstr("\"frame\":0"), ::testing::EndsWith("}\n")));
    EXPECT_THAT(second, ::testing::AllOf(HasSubstr("\"frame\":1"), ::testing::EndsWith("}\n")));
  }
}

TEST(Fifo, AReaderThatHasGoneIsAnError) {
  void (*handler)(int) = std::signal(SIGPIPE, SIG_IGN);
  const TestDirectory dir;
  const fs::path path = dir / "boxes.jsonl";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto sink = must_open(path, run_of("a"));
  EXPECT_TRUE(sink->write(make_result(0, {kDog})).ok());
  ::close(reader);
  const Status status = sink->write(make_result(1, {kDog}));
  std::signal(SIGPIPE, handler);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kOutput);
  EXPECT_THAT(status.error().to_string(), HasSubstr("Broken pipe"));
}

TEST(StandardOutput, AClosedPipeIsAnError) {
  Status status;
  {
    void (*handler)(int) = std::signal(SIGPIPE, SIG_IGN);
    PipedOutput pipe;
    pipe.close_reader();
    auto sink = must_open("-", run_of("a"), {.format = "mot"});
    status = sink->write(make_result(0, {kDog}));
    std::signal(SIGPIPE, handler);
  }
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kOutput);
  EXPECT_THAT(status.error().to_string(), HasSubstr("standard output: Broken pipe"));
}

}  // namespace
}  // namespace sparing
