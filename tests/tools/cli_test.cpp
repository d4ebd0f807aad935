// The program's manners: what it prints, how it exits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lpt.h"
#include "workplace.hpp"

namespace tool_tests {
namespace {

TEST(Program, ListsEveryFormatOfTheLibrary) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"formats"});
  ASSERT_EQ(outcome.status, 0);
  const std::string lines = "\n" + outcome.out;
  int count = 0;
  for (lpt_format format = 1; format < 128; ++format) {
    char name[64] = "";
    if (lpt_format_name(format, name, sizeof name, nullptr) != LPT_OK) continue;
    ++count;
    EXPECT_NE(lines.find(fmt::format("\n{} ", name)), std::string::npos) << name;
  }
  EXPECT_GE(count, 28);
}

TEST(Program, TellsWhatTheBytesOfAFormatMean) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"formats", "nvfp4"});
  ASSERT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("e2m1fn"), std::string::npos);
  EXPECT_NE(outcome.out.find("nvfp4-pack-quantized"), std::string::npos);
}

TEST(Program, DoctorNamesReleaseMachineAndKernels) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"doctor"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const std::string word :
       {lpt_version_string(), lpt_build_info(), "reference", "devices", "quantize_", "gemm_"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
}

TEST(Program, TellsOfEveryKindOfDevice) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"devices"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("cpu"), std::string::npos);
  EXPECT_NE(outcome.out.find("cuda:0"), std::string::npos);
}

TEST(Program, RefusesInOneLine) {
  const Workplace workplace;
  for (const std::vector<std::string> &words : {std::vector<std::string>{"formats", "fp7"},
                                                {"inspect", workplace.path("missing")},
                                                {"verify", workplace.path("missing")},
                                                {"convert", workplace.path("a"), workplace.path("b"), "--to", "fp8"}}) {
    const Outcome outcome = run_lpt(workplace, words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err.find("lpt: "), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
}

TEST(Program, KnowsItsOptions) {
  const Workplace workplace;
  EXPECT_EQ(run_lpt(workplace, {"--help"}).status, 0);
  EXPECT_EQ(run_lpt(workplace, {"convert", "--help"}).status, 0);
  EXPECT_EQ(run_lpt(workplace, {"--version"}).out, std::string(lpt_version_string()) + "\n");
  EXPECT_EQ(run_lpt(workplace, {}).status, 2);
  EXPECT_EQ(run_lpt(workplace, {"convert"}).status, 2);
  EXPECT_EQ(run_lpt(workplace, {"convert", "a", "b", "--to", "fp8", "--memory", "0"}).status, 2);
  EXPECT_EQ(run_lpt(workplace, {"verify", "a", "--isa", "sse2"}).status, 2);
}

}  // namespace
}  // namespace tool_tests
