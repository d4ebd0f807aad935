// The reader and the program reject every malicious file with one line that names the defect.
#include "hostile.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoint.hpp"
#include "error.hpp"
#include "hostile_gguf.hpp"
#include "tests/support/sanitized.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

std::vector<HostileFile> all_hostile_files() {
  std::vector<HostileFile> files = hostile_files();
  for (HostileFile &file : hostile_gguf_files()) files.push_back(std::move(file));
  return files;
}

// Returns the rejection, or "" if the file is accepted.
std::string rejection_of(const std::string &path) {
  try {
    tool::Checkpoint file(path);
    return "";
  } catch (const tool::Error &error) {
    return error.what();
  }
}

void expect_rejection(const HostileFile &file, const std::string &path, const std::string &rejection) {
  ASSERT_FALSE(rejection.empty()) << file.name << " is accepted";
  EXPECT_NE(rejection.find(path), std::string::npos) << rejection;
  for (const std::string &word : file.words) {
    EXPECT_NE(rejection.find(word), std::string::npos) << file.name << " lacks '" << word << "': " << rejection;
  }
  EXPECT_TRUE(std::none_of(rejection.begin(), rejection.end(), [](unsigned char c) { return c < 0x20u; })) << rejection;
  EXPECT_LT(rejection.size(), 600u);
}

TEST(HostileFiles, AreManyAndDifferent) {
  std::vector<std::string> names;
  for (const HostileFile &file : all_hostile_files()) names.emplace_back(file.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GE(names.size(), 100u);
}

TEST(HostileFiles, AreRejectedByTheReader) {
  const Workplace workplace;
  for (const HostileFile &file : all_hostile_files()) {
    const std::string path = workplace.write(std::string(file.name) + ".safetensors", file.bytes);
    expect_rejection(file, path, rejection_of(path));
  }
}

TEST(HostileFiles, AreRejectedByTheProgram) {
  const Workplace workplace;
  lpt::test::Random random(1);
  for (const HostileFile &file : all_hostile_files()) {
    if (!lpt::test::is_taken(random, 5)) continue;  // a process takes long to start with a sanitizer
    const std::string path = workplace.write("f.safetensors", file.bytes);
    const Outcome outcome =
        run_lpt(workplace, {"convert", path, workplace.path("o.safetensors"), "--to", "fp8", "--quiet"});
    EXPECT_EQ(outcome.status, 2) << file.name;
    ASSERT_FALSE(outcome.err.empty()) << file.name;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    expect_rejection(file, path, outcome.err.substr(0, outcome.err.size() - 1));
    EXPECT_FALSE(workplace.has("o.safetensors") || workplace.has("o.safetensors.partial")) << file.name;
  }
}

TEST(HostileFiles, ThatAreNoFilesAreRejected) {
  const Workplace workplace;
  EXPECT_NE(rejection_of(workplace.path("missing")).find("cannot be opened"), std::string::npos);
  EXPECT_NE(rejection_of(workplace.path("")).find("directory without *.safetensors"), std::string::npos);
  for (const char *name : {"b.safetensors", "c.safetensors", "a.safetensors", "d.safetensors", "index.json"}) {
    workplace.write(name, "");
  }
  EXPECT_NE(
      rejection_of(workplace.path("")).find("one of the 4 files that it holds: a.safetensors, b.safetensors, c.safe"),
      std::string::npos);
  EXPECT_NE(rejection_of("/dev/zero").find("no regular file"), std::string::npos);
}

}  // namespace
}  // namespace tool_tests
