// Interrupted runs of lpt convert: a second run resumes, and gives the same bytes or an error.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "image.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

std::vector<Matrix> many_matrices() {
  std::vector<Matrix> matrices;
  for (int i = 0; i < 12; ++i) matrices.push_back(random_matrix("layer." + std::to_string(i), 64, 256, 100 + i));
  return matrices;
}

// Ends the program during the first write beyond `bytes` of a file.
int run_until(const Workplace &workplace, uint64_t bytes, const std::vector<std::string> &arguments) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
  const pid_t process = start_lpt(workplace, arguments);
  setrlimit(RLIMIT_FSIZE, &before);
  return wait_for(process);
}

class Interrupted : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    workplace.write("in.safetensors", checkpoint(many_matrices()));
    ASSERT_EQ(run_lpt(workplace, arguments("whole.safetensors")).status, 0);
    whole = workplace.read("whole.safetensors");
  }
  std::vector<std::string> arguments(const std::string &output) const {
    return {"convert", workplace.path("in.safetensors"), workplace.path(output), "--to", GetParam()};
  }
  // Leaves an unfinished conversion to out.safetensors.
  void interrupt(double share) {
    const int status = run_until(workplace, static_cast<uint64_t>(share * static_cast<double>(whole.size())),
                                 arguments("out.safetensors"));
    ASSERT_EQ(status, 128 + SIGXFSZ);
    ASSERT_FALSE(workplace.has("out.safetensors"));
  }
  void expect_rejection(const std::vector<std::string> &words, const std::string &text) {
    const Outcome outcome = run_lpt(workplace, words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
  }

  Workplace workplace;
  std::string whole;
};

TEST_P(Interrupted, ASecondRunGivesTheSameBytes) {
  size_t resumed = 0;
  for (const double share : {0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.95, 0.999}) {
    interrupt(share);
    const Outcome second = run_lpt(workplace, arguments("out.safetensors"));
    ASSERT_EQ(second.status, 0) << second.err;
    resumed += second.err.find("going on after") != std::string::npos ? 1 : 0;
    EXPECT_EQ(workplace.read("out.safetensors"), whole) << share;
    EXPECT_FALSE(workplace.has("out.safetensors.partial") || workplace.has("out.safetensors.journal"));
    std::filesystem::remove(workplace.path("out.safetensors"));
  }
  EXPECT_GE(resumed, 5u);
}

TEST_P(Interrupted, SeveralTimesInARowStillGivesTheSameBytes) {
  for (const double share : {0.2, 0.4, 0.6, 0.8, 0.9}) interrupt(share);
  ASSERT_EQ(run_lpt(workplace, arguments("out.safetensors")).status, 0);
  EXPECT_EQ(workplace.read("out.safetensors"), whole);
}

TEST_P(Interrupted, ByAKillAtAnyMomentStillGivesTheSameBytes) {
  for (int delay = 0; delay < 12; ++delay) {
    const pid_t process = start_lpt(workplace, arguments("out.safetensors"));
    usleep(static_cast<useconds_t>(delay) * 3000);
    kill(process, SIGKILL);
    wait_for(process);
    const Outcome second = run_lpt(workplace, arguments("out.safetensors"));
    // A run that was killed after its last step has finished its work.
    const bool is_done = second.status == 2 && second.err.find("--force") != std::string::npos;
    ASSERT_TRUE(second.status == 0 || is_done) << second.err;
    EXPECT_EQ(workplace.read("out.safetensors"), whole) << delay;
    std::filesystem::remove(workplace.path("out.safetensors"));
  }
}

TEST_P(Interrupted, ATornJournalLineIsForgotten) {
  interrupt(0.6);
  const std::string journal = workplace.read("out.safetensors.journal");
  workplace.write("out.safetensors.journal", journal.substr(0, journal.size() - 9));
  ASSERT_EQ(run_lpt(workplace, arguments("out.safetensors")).status, 0);
  EXPECT_EQ(workplace.read("out.safetensors"), whole);
}

TEST_P(Interrupted, ADamagedJournalLineEndsTheJournal) {
  interrupt(0.6);
  std::string journal = workplace.read("out.safetensors.journal");
  const size_t place = journal.rfind("\"written\":") + 12;
  journal[place] = journal[place] == '1' ? '2' : '1';
  workplace.write("out.safetensors.journal", journal);
  ASSERT_EQ(run_lpt(workplace, arguments("out.safetensors")).status, 0);
  EXPECT_EQ(workplace.read("out.safetensors"), whole);
}

TEST_P(Interrupted, OtherOptionsAreRejected) {
  interrupt(0.6);
  auto words = arguments("out.safetensors");
  words.insert(words.end(), {"--exclude", "layer.9"});
  expect_rejection(words, "other options");
  words = arguments("out.safetensors");
  words.back() = "int8";
  expect_rejection(words, "other options");
  words.push_back("--restart");
  EXPECT_EQ(run_lpt(workplace, words).status, 0);
}

TEST_P(Interrupted, AChangedInputIsRejected) {
  interrupt(0.6);
  const std::string path = workplace.path("in.safetensors");
  struct stat before {};
  stat(path.c_str(), &before);
  std::string bytes = workplace.read("in.safetensors");
  const size_t first_number = bytes.find("}}") + 2 + 400;
  bytes[first_number] = static_cast<char>(bytes[first_number] ^ 0x10);
  workplace.write("in.safetensors", bytes);
  expect_rejection(arguments("out.safetensors"), "input has changed");
  // The check also detects a change with the old modification time.
  const timespec times[2] = {before.st_atim, before.st_mtim};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
  expect_rejection(arguments("out.safetensors"), "has changed since");
}

TEST_P(Interrupted, ADamagedPartialFileIsRejected) {
  interrupt(0.6);
  std::string bytes = workplace.read("out.safetensors.partial");
  const size_t place = bytes.size() / 3;
  bytes[place] = static_cast<char>(bytes[place] ^ 1);
  workplace.write("out.safetensors.partial", bytes);
  expect_rejection(arguments("out.safetensors"), "is damaged");
}

TEST_P(Interrupted, APartialFileWithADamagedHeaderIsRejected) {
  interrupt(0.05);
  const std::string good = workplace.read("out.safetensors.partial");
  std::string bytes = good;
  bytes[40] = static_cast<char>(bytes[40] ^ 1);
  workplace.write("out.safetensors.partial", bytes);
  expect_rejection(arguments("out.safetensors"), "the header is damaged");
  workplace.write("out.safetensors.partial", good.substr(0, 40));
  expect_rejection(arguments("out.safetensors"), "is 40 bytes long: expected at least ");
}

TEST_P(Interrupted, AShortenedPartialFileIsRejected) {
  interrupt(0.6);
  const std::string partial = workplace.path("out.safetensors.partial");
  for (const uintmax_t bytes : {std::filesystem::file_size(partial) / 2, uintmax_t{100}, uintmax_t{0}}) {
    std::filesystem::resize_file(partial, bytes);
    expect_rejection(arguments("out.safetensors"),
                     "partial: is " + std::to_string(bytes) + " bytes long: expected at least ");
    expect_rejection(arguments("out.safetensors"), ", or --restart");
  }
  auto words = arguments("out.safetensors");
  words.push_back("--restart");
  EXPECT_EQ(run_lpt(workplace, words).status, 0);
  EXPECT_EQ(workplace.read("out.safetensors"), whole);
}

TEST_P(Interrupted, AnExchangedPartialFileIsRejected) {
  interrupt(0.6);
  const std::string partial = workplace.path("out.safetensors.partial"), moved = workplace.path("moved");
  std::filesystem::rename(partial, moved);
  const std::string bytes = workplace.read("moved");
  std::filesystem::create_symlink(moved, partial);
  expect_rejection(arguments("out.safetensors"), "symbolic link");
  std::filesystem::remove(partial);
  std::filesystem::create_hard_link(moved, partial);
  expect_rejection(arguments("out.safetensors"), "2 names");
  EXPECT_EQ(workplace.read("moved"), bytes);
}

INSTANTIATE_TEST_SUITE_P(Formats, Interrupted, testing::Values("fp8", "nvfp4"));

}  // namespace
}  // namespace tool_tests
