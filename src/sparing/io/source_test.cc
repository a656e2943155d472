#include "sparing/io/source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "sparing/io/test_play.h"
#include "sparing/io/test_video.h"

namespace sparing {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using testing::play;
using testing::Played;
using testing::TestDirectory;
using testing::TestVideo;
using testing::write_file;
using testing::write_video;

std::vector<std::int64_t> ticks_of(const Played& played) {
  std::vector<std::int64_t> ticks;
  for (const SourceFrame& f : played.frames) ticks.push_back(f.frame.view().timestamp.ticks);
  return ticks;
}

// The error of opening, as the user reads it.
std::string opening_error(const std::string& spec, ErrorCode code = ErrorCode::kInput) {
  auto source = open_source(spec);
  EXPECT_FALSE(source.ok()) << spec;
  if (source.ok()) return "";
  EXPECT_EQ(source.error().code, code) << source.error().to_string();
  EXPECT_FALSE(source.error().fix.empty());
  return source.error().to_string();
}

TEST(Source, DecodesEveryPixelOfALosslessVideo) {
  const TestDirectory dir;
  write_video(dir / "a.mkv", {});
  auto source = open_source((dir / "a.mkv").string());
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  EXPECT_EQ((*source)->info().name, (dir / "a.mkv").string());
  EXPECT_EQ((*source)->info().container, "matroska");
  EXPECT_EQ((*source)->info().codec, "ffv1");
  EXPECT_EQ((*source)->info().display_size, (Size{64, 48}));
  EXPECT_EQ((*source)->info().frame_rate, (Rational{25, 1}));
  const Played played = play(**source);
  source->reset();  // frames outlive their source
  EXPECT_FALSE(played.error);
  ASSERT_EQ(played.frames.size(), 10u);
  for (int i = 0; i < 10; ++i) {
    const SourceFrame& frame = played.frames[static_cast<std::size_t>(i)];
    const VideoFrame& view = frame.frame.view();
    EXPECT_EQ(frame.index, i);
    EXPECT_FALSE(frame.damaged);
    EXPECT_EQ(frame.file, "");
    ASSERT_EQ(view.format, PixelFormat::kI420);
    ASSERT_TRUE(validate(view).ok());
    for (int y = 0; y < 48; ++y) {
      for (int x = 0; x < 64; ++x) {
        ASSERT_EQ(view.planes[0].data[y * view.planes[0].stride + x], testing::test_pixel(x, y, i));
      }
    }
    EXPECT_EQ(view.planes[1].data[0], 120);
    EXPECT_EQ(view.planes[2].data[0], 140);
  }
}

TEST(Source, KeepsVariableTimesExactly) {
  const TestDirectory dir;
  const std::vector<std::int64_t> times{40, 41, 73, 1000, 1001, 1033, 5000, 5001};
  write_video(dir / "vfr.mkv", {.time_base = {1, 1000}, .times = times});
  const Played played = play(dir / "vfr.mkv");
  EXPECT_EQ(ticks_of(played), times);
  EXPECT_EQ(played.frames[0].frame.view().timestamp.time_base, (Rational{1, 1000}));
}

TEST(Source, KeepsTheTimeBaseOfNtscRates) {
  const TestDirectory dir;
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < 12; ++i) times.push_back(i * 1001);
  write_video(dir / "a.mp4", {.codec = "mpeg4", .time_base = {1, 24000}, .times = times});
  const Played played = play(dir / "a.mp4");
  ASSERT_EQ(played.frames.size(), 12u);
  for (std::int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(played.frames[static_cast<std::size_t>(i)].frame.view().timestamp,
              (Timestamp{i * 1001, {1, 24000}}));
  }
}

TEST(Source, AviWithReorderedFramesCountsUp) {
  const TestDirectory dir;
  write_video(dir / "b.avi", {.codec = "mpeg4", .b_frames = 2});
  const Played played = play(dir / "b.avi");
  ASSERT_EQ(played.frames.size(), 10u);
  const std::vector<std::int64_t> ticks = ticks_of(played);
  for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_EQ(ticks[i], ticks[0] + std::int64_t(i));
  // A raw stream has no times at all: they follow from the durations.
  write_video(dir / "c.m4v", {.codec = "mpeg4"});
  const std::vector<std::int64_t> raw = ticks_of(play(dir / "c.m4v"));
  ASSERT_EQ(raw.size(), 10u);
  for (std::size_t i = 1; i < raw.size(); ++i) EXPECT_GT(raw[i], raw[i - 1]);
}

TEST(Source, ReadsToTheRealEndWhateverTheHeaderCounts) {
  const TestDirectory dir;
  write_video(dir / "a.avi", {.codec = "mpeg4"});
  std::string bytes = testing::read_file(dir / "a.avi");
  const std::size_t header = bytes.find("avih");
  const std::size_t stream = bytes.find("strh");
  ASSERT_NE(header, std::string::npos);
  bytes[header + 8 + 16] = 3;  // total frames
  bytes[stream + 8 + 32] = 3;  // length of the stream
  write_file(dir / "b.avi", bytes);
  const Played played = play(dir / "b.avi");
  EXPECT_EQ(played.frames.size(), 10u);
  EXPECT_FALSE(played.error);
}

TEST(Source, StopsAfterMaxFrames) {
  const TestDirectory dir;
  write_video(dir / "a.mkv", {});
  EXPECT_EQ(play(dir / "a.mkv", {.max_frames = 1}).frames.size(), 1u);
  EXPECT_EQ(play(dir / "a.mkv", {.max_frames = 4}).frames.size(), 4u);
  EXPECT_EQ(play(dir / "a.mkv", {.max_frames = 99}).frames.size(), 10u);
}

TEST(Source, GivesTheSameFramesWithDecoderThreads) {
  const TestDirectory dir;
  write_video(dir / "a.mp4", {.codec = "mpeg4", .b_frames = 2});
  const Played one = play(dir / "a.mp4");
  const Played two = play(dir / "a.mp4", {.decoder_threads = 2});
  ASSERT_EQ(one.frames.size(), 10u);
  EXPECT_EQ(ticks_of(one), ticks_of(two));
}

TEST(Source, TakesRotationFromTheContainer) {
  const TestDirectory dir;
  for (const int clockwise : {0, 90, 180, 270}) {
    std::int32_t matrix[9];
    av_display_rotation_set(matrix, clockwise);
    write_video(dir / "r.mp4", {.codec = "mpeg4", .times = {0, 1}, .display_matrix = matrix});
    auto source = open_source((dir / "r.mp4").string());
    ASSERT_TRUE(source.ok());
    const bool sideways = clockwise % 180 != 0;
    EXPECT_EQ((*source)->info().display_size, (sideways ? Size{48, 64} : Size{64, 48}));
    const Played played = play(**source);
    ASSERT_EQ(played.frames.size(), 2u);
    for (const SourceFrame& frame : played.frames) {
      EXPECT_EQ(static_cast<int>(frame.frame.view().rotation), clockwise);
      EXPECT_FALSE(frame.frame.view().flip);
    }
  }
}

// Standard input replaced by the read end of a pipe.
class PipedInput {
 public:
  PipedInput() {
    saved_ = ::dup(STDIN_FILENO);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writer_ = ends[1];
  }
  ~PipedInput() {
    close_writer();
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }
  void write(const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::write(writer_, bytes.data() + done, bytes.size() - done);
      if (count <= 0) return;
      done += static_cast<std::size_t>(count);
    }
  }
  void close_writer() {
    if (writer_ >= 0) ::close(writer_);
    writer_ = -1;
  }

 private:
  int saved_ = -1;
  int writer_ = -1;
};

TEST(Source, ReadsStandardInput) {
  const TestDirectory dir;
  write_video(dir / "a.mkv", {});
  const std::string bytes = testing::read_file(dir / "a.mkv");
  PipedInput pipe;
  std::thread writer([&] {
    pipe.write(bytes);
    pipe.close_writer();
  });
  auto source = open_source("-");
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  EXPECT_EQ(play(**source).frames.size(), 10u);
  EXPECT_EQ((*source)->info().name, "standard input");
  writer.join();
}

// MPEG-4 that does not fit into any buffer on the way.
TestVideo noisy_video(const std::string& movflags) {
  TestVideo video;
  video.codec = "mpeg4";
  video.width = 320;
  video.height = 240;
  video.movflags = movflags;
  video.paint = [](AVFrame& frame, int index) {
    std::minstd_rand random(static_cast<unsigned>(index + 1));
    for (int p = 0; p < 3; ++p) {
      const int bytes = frame.linesize[p] * (p == 0 ? frame.height : frame.height / 2);
      for (int i = 0; i < bytes; ++i) frame.data[p][i] = static_cast<std::uint8_t>(random());
    }
  };
  return video;
}

TEST(Source, SaysThatAPipedMp4HasItsIndexAtTheEnd) {
  const TestDirectory dir;
  const auto piped = [&](const std::string& bytes) {
    PipedInput pipe;
    std::thread writer([&] {
      pipe.write(bytes);
      pipe.close_writer();
    });
    auto source = open_source("-");
    std::string error = source.ok() ? "" : source.error().to_string();
    if (source.ok()) {
      const Played played = play(**source);
      error = played.error ? played.error->to_string() : "none";
    }
    writer.join();
    return error;
  };
  write_video(dir / "last.mp4", noisy_video(""));
  EXPECT_EQ(play(dir / "last.mp4").frames.size(), 10u);
  const std::string last = testing::read_file(dir / "last.mp4");
  ASSERT_GT(last.size(), 200000u);
  EXPECT_THAT(piped(last), HasSubstr("its index is at the end, and a pipe cannot be rewound"));
  EXPECT_THAT(piped(last), HasSubstr("-movflags +faststart"));
  EXPECT_THAT(piped(last.substr(0, last.size() / 2)), HasSubstr("moov atom not found"));
  write_video(dir / "first.mp4", noisy_video("faststart"));
  const std::string first = testing::read_file(dir / "first.mp4");
  EXPECT_EQ(piped(first), "none");
  EXPECT_THAT(piped(first.substr(0, first.size() / 2)), HasSubstr("truncated"));
}

// Standard input is a file, from an offset on.
class RedirectedInput {
 public:
  RedirectedInput(const fs::path& file, off_t offset) : saved_(::dup(STDIN_FILENO)) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(::lseek(descriptor, offset, SEEK_SET), offset);
    ::dup2(descriptor, STDIN_FILENO);
    ::close(descriptor);
  }
  ~RedirectedInput() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

TEST(Source, SeeksInAFileThatIsStandardInput) {
  const TestDirectory dir;
  write_video(dir / "a.mp4", noisy_video(""));
  {
    const RedirectedInput input(dir / "a.mp4", 0);
    auto source = open_source("-");
    ASSERT_TRUE(source.ok()) << source.error().to_string();
    EXPECT_EQ((*source)->info().name, "standard input");
    const Played played = play(**source);
    EXPECT_EQ(played.frames.size(), 10u);
    EXPECT_FALSE(played.error);
  }
  // What was read of it before is not read again.
  write_video(dir / "b.mkv", {});
  write_file(dir / "c", "a header\n" + testing::read_file(dir / "b.mkv"));
  const RedirectedInput input(dir / "c", 9);
  auto source = open_source("-");
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  EXPECT_EQ(play(**source).frames.size(), 10u);
}

TEST(Source, SaysWhenStandardInputIsEmpty) {
  PipedInput pipe;
  pipe.close_writer();
  EXPECT_THAT(opening_error("-"), HasSubstr("no data"));
}

TEST(Source, ASilentPipeCanBeInterrupted) {
  PipedInput pipe;
  std::stop_source stop;
  std::thread interrupt([&] { stop.request_stop(); });
  const auto source = open_source("-", {.stop = stop.get_token()});
  interrupt.join();
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::kInterrupted);
}

TEST(Source, WaitsForTheWriterOfAFifo) {
  const TestDirectory dir;
  const std::string fifo = (dir / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::stop_source stop;
  std::thread interrupt([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // mostly inside the wait
    stop.request_stop();
  });
  auto source = open_source(fifo, {.stop = stop.get_token()});
  interrupt.join();
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::kInterrupted);
  EXPECT_THAT(source.error().to_string(), HasSubstr(fifo));

  write_video(dir / "a.mkv", {});
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    write_file(fifo, testing::read_file(dir / "a.mkv"));
  });
  source = open_source(fifo);
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  EXPECT_EQ(play(**source).frames.size(), 10u);
  EXPECT_EQ((*source)->info().name, fifo);
  EXPECT_TRUE((*source)->info().live);
  EXPECT_FALSE((*open_source((dir / "a.mkv").string()))->info().live);
  writer.join();
  source.value().reset();  // else the next writer finds a reader, and is gone before ours opens

  std::thread silent([&] { write_file(fifo, ""); });
  EXPECT_THAT(opening_error(fifo), HasSubstr("no data"));
  silent.join();
}

TEST(Source, APipeThatItsWriterHasLeftIsAtItsEnd) {
  PipedInput pipe;
  pipe.close_writer();
  EXPECT_THAT(opening_error("/dev/stdin"), HasSubstr("no data"));
}

TEST(Source, NamesEachKindOfBadInput) {
  const TestDirectory dir;
  EXPECT_THAT(opening_error((dir / "none.mp4").string()), HasSubstr("no such file"));
  write_file(dir / "empty.mp4", "");
  EXPECT_THAT(opening_error((dir / "empty.mp4").string()), HasSubstr("it is empty"));
  write_file(dir / "notes.txt", "just some words\nand a second line of them\n");
  EXPECT_THAT(opening_error((dir / "notes.txt").string()), HasSubstr("not a video"));
  write_file(dir / "notes.mp4", "just some words\nand a second line of them\n");
  EXPECT_THAT(opening_error((dir / "notes.mp4").string()), HasSubstr("not a video"));
  write_file(dir / "zeros.avi", std::string(100000, '\0'));
  EXPECT_THAT(opening_error((dir / "zeros.avi").string()), HasSubstr("not a video"));
  EXPECT_THAT(opening_error((dir / "*.png").string()), HasSubstr("no file matches"));
  EXPECT_THAT(opening_error((dir / "*.txt").string()), HasSubstr("no image matches, only "));
  EXPECT_THAT(opening_error(dir.path().string()), HasSubstr("no images, only empty.mp4, "));
  fs::create_directory(dir / "sub");
  EXPECT_THAT(opening_error((dir / "sub").string()), HasSubstr("it is empty"));
  opening_error("", ErrorCode::kInvalidArgument);
  EXPECT_FALSE(open_source((dir / "notes.txt").string(), {.decoder_threads = -1}).ok());
  EXPECT_FALSE(open_source((dir / "notes.txt").string(), {.max_frames = -1}).ok());
  const std::string network = opening_error("rtsp://me:secret@camera/1", ErrorCode::kNotSupported);
  EXPECT_THAT(network, HasSubstr("rtsp://"));
  EXPECT_THAT(network, HasSubstr("ffmpeg -i URL -an -c copy -f matroska - | sparing detect -"));
  EXPECT_EQ(network.find("secret"), std::string::npos);
  if (::geteuid() != 0) {  // root may read everything
    fs::permissions(dir / "notes.txt", fs::perms::none);
    EXPECT_THAT(opening_error((dir / "notes.txt").string()), HasSubstr("ermission"));
  }
}

TEST(Source, SoundAloneIsNotAVideo) {
  // A WAV of 1000 silent samples.
  std::string wav = "RIFF....WAVEfmt ";
  const auto word = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) wav += static_cast<char>(value >> (8 * i));
  };
  word(16, 4), word(1, 2), word(1, 2), word(8000, 4), word(16000, 4), word(2, 2), word(16, 2);
  wav += "data";
  word(2000, 4);
  wav += std::string(2000, '\0');
  const TestDirectory dir;
  write_file(dir / "a.wav", wav);
  EXPECT_THAT(opening_error((dir / "a.wav").string()), HasSubstr("no video stream"));
}

TEST(Source, APercentSignInANameIsNoPattern) {
  const TestDirectory dir;
  write_video(dir / "50%03d [x].mkv", {});
  EXPECT_EQ(play(dir / "50%03d [x].mkv").frames.size(), 10u);
}

TEST(Source, ReadsAPlaylistOfLocalFiles) {
  const TestDirectory dir;
  write_video(dir / "1.ts", {.codec = "mpeg2video"});
  write_file(dir / "list.m3u8",
             "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.4,\n1.ts\n#EXT-X-ENDLIST\n");
  const Played played = play(dir / "list.m3u8");
  EXPECT_FALSE(played.error);
  EXPECT_EQ(played.frames.size(), 10u);
}

TEST(Source, AFileCannotMakeUsConnect) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  const TestDirectory dir;
  write_file(dir / "list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:" +
                                    std::to_string(ntohs(address.sin_port)) +
                                    "/1.ts\n#EXT-X-ENDLIST\n");
  opening_error((dir / "list.m3u8").string());
  EXPECT_LT(::accept(listener, nullptr, nullptr), 0);  // nobody called
  ::close(listener);
}

struct CutCase {
  const char* name;
  const char* codec;
  const char* movflags;
  bool piped = false;
  bool live = false;
};

// As it comes through a pipe to standard input.
Played play_piped(const std::string& bytes) {
  PipedInput pipe;
  std::thread writer([&] {
    pipe.write(bytes);
    pipe.close_writer();
  });
  auto source = open_source("-");
  EXPECT_TRUE(source.ok()) << source.error().to_string();
  Played played = source.ok() ? play(**source) : Played{};
  writer.join();
  return played;
}

class CutFile : public ::testing::TestWithParam<CutCase> {};

TEST_P(CutFile, GivesWhatIsThereAndThenAnError) {
  const TestDirectory dir;
  const fs::path whole = dir / (std::string("whole") + GetParam().name);
  const fs::path cut = dir / (std::string("cut") + GetParam().name);
  std::vector<std::int64_t> times(60);
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<std::int64_t>(i);
  write_video(whole, {.codec = GetParam().codec,
                      .times = times,
                      .movflags = GetParam().movflags,
                      .live = GetParam().live});
  const std::string bytes = testing::read_file(whole);
  const bool piped = GetParam().piped;
  const Played all = piped ? play_piped(bytes) : play(whole);
  ASSERT_EQ(all.frames.size(), 60u);
  ASSERT_FALSE(all.error) << all.error->to_string();
  // Wherever the cut falls: in a picture, or between two.
  for (std::size_t part = 40; part < 70; ++part) {
    const std::string kept = bytes.substr(0, bytes.size() * part / 100 + part % 7);
    write_file(cut, kept);
    const Played played = piped ? play_piped(kept) : play(cut);
    EXPECT_GT(played.frames.size(), 5u);
    EXPECT_LT(played.frames.size(), 60u);
    ASSERT_TRUE(played.error) << part;
    EXPECT_EQ(played.error->code, ErrorCode::kInput);
    EXPECT_THAT(played.error->to_string(), HasSubstr(piped ? "standard input" : cut.string()));
    EXPECT_THAT(played.error->to_string(), HasSubstr("truncated"));
    EXPECT_THAT(played.error->to_string(),
                HasSubstr("after " + std::to_string(played.frames.size()) + " frames"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Containers, CutFile,
    ::testing::Values(CutCase{".avi", "mpeg4", ""}, CutCase{".mkv", "mpeg4", ""},
                      CutCase{".mp4", "mpeg4", "faststart"}, CutCase{".avi", "mpeg4", "", true},
                      CutCase{".mkv", "mpeg4", "", true}, CutCase{".mkv", "mpeg4", "", true, true},
                      CutCase{".mp4", "mpeg4", "faststart", true},
                      CutCase{".mp4", "mpeg4", "frag_keyframe+empty_moov", true}),
    [](const auto& test) {
      const CutCase& c = test.param;
      return std::string(c.name).substr(1) + (c.piped ? "_piped" : "") + (c.live ? "_live" : "") +
             (std::string(c.movflags).starts_with("frag") ? "_fragments" : "");
    });

TEST(Source, SaysThatAnMp4WithoutItsIndexIsIncomplete) {
  const TestDirectory dir;
  write_video(dir / "a.mp4", {.codec = "mpeg4"});  // index at the end
  const std::string bytes = testing::read_file(dir / "a.mp4");
  write_file(dir / "b.mp4", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(opening_error((dir / "b.mp4").string()), HasSubstr("moov atom not found"));
}

TEST(Source, CountsDamagedFramesAndGoesOn) {
  const TestDirectory dir;
  write_video(dir / "a.avi", {.codec = "mpeg4", .width = 320, .height = 240});
  std::string bytes = testing::read_file(dir / "a.avi");
  // Overwrite the inside of the sixth picture, an intra frame, but for its headers.
  std::size_t chunk = bytes.find("movi");
  for (int i = 0; i < 6; ++i) chunk = bytes.find("00dc", chunk + 4);
  for (std::size_t i = chunk + 100; i < chunk + 400; ++i) bytes[i] = '\x5A';
  write_file(dir / "b.avi", bytes);
  auto source = open_source((dir / "b.avi").string());
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  const Played played = play(**source);
  EXPECT_FALSE(played.error);
  EXPECT_GE(played.frames.size(), 9u);
  EXPECT_GE((*source)->damaged_frames(), 1);
}

TEST(Source, ReadsTheSampleVideoWhenItIsThere) {
  const char* sample = std::getenv("SPARING_SAMPLE");
  if (sample == nullptr) GTEST_SKIP() << "set SPARING_SAMPLE to vtest.avi";
  const Played played = play(sample);
  EXPECT_EQ(played.frames.size(), 795u);
  EXPECT_FALSE(played.error);
}

}  // namespace
}  // namespace sparing
