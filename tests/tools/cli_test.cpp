// The program's manners: what it prints, how it exits.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "lpt.h"
#include "workplace.hpp"

namespace tool_tests {
namespace {

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Program, ListsEveryFormatOfTheLibrary) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, {"formats"});
  ASSERT_EQ(outcome.status, 0);
  int count = 0;
  for (lpt_format format = 1; format < 128; ++format) {
    char name[64] = "";
    if (lpt_format_name(format, name, sizeof name, nullptr) != LPT_OK) continue;
    ++count;
    EXPECT_NE(("\n" + outcome.out).find("\n" + std::string(name) + " "), std::string::npos) << name;
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
       {lpt_version_string(), lpt_build_info(), "reference", "plugins", "quantize_", "gemm_"}) {
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
  }
}

TEST(Program, VerifiesTheConformanceVectors) {
  const Workplace workplace;
  // One set of ten million is enough here: the library's own tests take them all.
  std::istringstream lines(read_file(LPT_VECTORS "/digests.csv"));
  std::string digests;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("random,") != 0 || line.find("random,e4m3fn,") == 0) digests += line + "\n";
  }
  workplace.write("digests.csv", digests);
  workplace.write("e4m3fn.csv", read_file(LPT_VECTORS "/e4m3fn.csv"));
  workplace.write("e2m3fn.csv", read_file(LPT_VECTORS "/e2m3fn.csv"));
  const Outcome outcome = run_lpt(workplace, {"verify", workplace.path("")});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("e4m3fn            256 checks  right"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(" 0 wrong"), std::string::npos);
}

TEST(Program, TellsWhichVectorIsWrong) {
  const Workplace workplace;
  workplace.write("e5m2.csv", "# by hand\ncode,f32_bits\n60,3f800000\n61,3f800000\n");
  workplace.write("digests.csv", "set,element,digest\nf16,e5m2,0000000000000000\n");
  const Outcome outcome = run_lpt(workplace, {"verify", workplace.path("")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("code 61 decodes to 3fa00000: expected 3f800000"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("f16 of e5m2 has digest"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("3 checks, 2 wrong"), std::string::npos) << outcome.out;
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
}

}  // namespace
}  // namespace tool_tests
