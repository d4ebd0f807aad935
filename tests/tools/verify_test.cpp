// lpt verify replays the installed vectors with every instruction set, and names the vector that is wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "handles.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

std::string vectors(const std::string &name) {
  std::ifstream file(LPT_VECTORS "/" + name + ".csv", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns the lines of a file that begin with one of these texts, and its comment and header.
std::string some_of(const std::string &name, const std::vector<std::string> &begins) {
  std::istringstream lines(vectors(name));
  std::string text;
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    bool is_expected = count++ < 2;
    for (const std::string &begin : begins) is_expected = is_expected || line.starts_with(begin);
    if (is_expected) text += line + "\n";
  }
  return text;
}

// Replaces the word at `column` of the first line that begins with `begin`.
std::string changed(std::string text, const std::string &begin, int column, const std::string &to) {
  size_t at = text.find("\n" + begin);
  EXPECT_NE(at, std::string::npos) << begin;
  for (++at; column > 0; --column) at = text.find(',', at) + 1;
  return text.replace(at, text.find_first_of(",\n", at) - at, to);
}

std::string word(const std::string &text, const std::string &begin, int column) {
  size_t at = text.find("\n" + begin) + 1;
  for (; column > 0; --column) at = text.find(',', at) + 1;
  return text.substr(at, text.find_first_of(",\n", at) - at);
}

constexpr int kScales = 7, kZeroPoints = 8, kCodes = 9, kTensorScale = 6;
constexpr int kCodeDigest = 8;

class Verify : public testing::Test {
 protected:
  // Runs verify on this file, with its sources in the same folder.
  static Outcome replay(const std::string &name, const std::string &text) {
    const Workplace workplace;
    workplace.write("cast_sources.csv", vectors("cast_sources"));
    workplace.write(name + ".csv", text);
    return run_lpt(workplace, {"verify", workplace.path("")});
  }

  // Returns the line that names the error, for a run with one wrong vector.
  static std::string complaint(const std::string &name, const std::string &text) {
    const Outcome outcome = replay(name, text);
    EXPECT_EQ(1, outcome.status) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find(", 1 wrong\n"), std::string::npos) << outcome.out;
    const size_t at = outcome.out.find("\nfirst: ");
    return at == std::string::npos ? outcome.out : outcome.out.substr(at + 1);
  }

  Workplace workplace_;
};

void expect_in(const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

// Returns the suffix of kernel names. No cast kernel requires the bf16 instructions.
std::string kernels_of(lpt_isa isa) {
  if (isa == LPT_ISA_REFERENCE) return "_ref";
  return isa == LPT_ISA_X86_AVX2 ? "_x86_avx2" : "_x86_avx512";
}

TEST_F(Verify, ReplaysCastsByEveryInstructionSet) {
  workplace_.write("cast_sources.csv", vectors("cast_sources"));
  workplace_.write("cast_vectors.csv", vectors("cast_vectors"));
  // Some of the digests are enough: with sanitizers all of them take long.
  workplace_.write("cast_digests.csv", some_of("cast_digests", {"mxfp4,", "nvfp4,headroom,", "uint4_1x32,",
                                                                "e4m3fn_tensor,amax,", "e4m3fn,-,stochastic,"}));
  const tool::Context context = tool::make_context(1);
  for (const tool::NamedIsa &isa : tool::kIsas) {
    if (lpt_context_set_isa(context.get(), isa.isa) != LPT_OK) continue;
    const Outcome outcome = run_lpt(workplace_, {"verify", workplace_.path(""), "--isa", isa.name});
    EXPECT_EQ(0, outcome.status) << isa.name << "\n" << outcome.out << outcome.err;
    const std::string head = outcome.out.substr(0, outcome.out.find('\n'));
    expect_in(head.substr(head.rfind(' ')), {kernels_of(isa.isa)});
    for (const std::string rule : {"floor", "ceil", "round_up", "even", "round_up stochastic"}) {
      for (const std::string format : {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"}) {
        expect_in(outcome.out, {"cast_vectors " + format + " " + rule + " "});
      }
    }
    expect_in(outcome.out, {"mxint8 floor", "nvfp4 nearest", "nvfp4 headroom stochastic", "int4_1x32 amax",
                            "uint4_1x32 amax", "cast_digests nvfp4", "cast_digests e4m3fn ", "cast_digests uint4_1x32",
                            "cast_digests e4m3fn_tensor", " 0 wrong"});
  }
}

TEST_F(Verify, ReplaysElements) {
  // One set of ten million is enough: the tests of the library run all of them.
  std::istringstream lines(vectors("digests"));
  std::string digests;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("random,") != 0 || line.find("random,e4m3fn,") == 0) digests += line + "\n";
  }
  workplace_.write("digests.csv", digests);
  for (const char *name : {"e4m3fn", "e2m3fn", "custom_elements", "roundings"}) {
    const bool is_long = name == std::string("roundings");
    workplace_.write(std::string(name) + ".csv",
                     is_long ? some_of(name, {"bf16_", "midpoints_", "bf16,e3m0"}) : vectors(name));
  }
  const Outcome outcome = run_lpt(workplace_, {"verify", workplace_.path("")});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  expect_in(outcome.out, {fmt::format("{:<48} {:>6} checks  right", "e4m3fn", 256),
                          fmt::format("{:<48} {:>6} checks  right", "custom_elements e6m1b31-ieee", 256),
                          "\nroundings ", " 0 wrong"});
}

TEST_F(Verify, TellsWhichElementIsWrong) {
  workplace_.write("e5m2.csv", "# by hand\ncode,f32_bits\n60,3f800000\n61,3f800000\n");
  workplace_.write("digests.csv", "set,element,digest\nf16,e5m2,0000000000000000\n");
  const Outcome outcome = run_lpt(workplace_, {"verify", workplace_.path("")});
  EXPECT_EQ(outcome.status, 1);
  expect_in(outcome.out,
            {"code 61 decodes to 3fa00000: expected 3f800000", "f16 of e5m2 has digest", "3 checks, 2 wrong"});
}

TEST_F(Verify, TellsFormatRuleSourceAndCodeThatAreWrong) {
  const std::string right = some_of("cast_vectors", {"mxfp4,floor,", "nvfp4,headroom,stochastic", "uint4_1x32,"});
  const std::string begin = "mxfp4,floor,nearest_even,-,mx_ties_0,";
  std::string codes = word(right, begin, kCodes);
  const std::string last = codes.substr(codes.size() - 2);
  codes.replace(codes.size() - 2, 2, last == "00" ? "01" : "00");
  expect_in(complaint("cast_vectors", changed(right, begin, kCodes, codes)),
            {"cast_vectors mxfp4 floor: mx_ties_0, alone: code 31 is " + last + ": expected",
             "its source has the bits d0ae0000"});
  expect_in(complaint("cast_vectors", changed(right, begin, kScales, "01")), {"scale 0 is ", ": expected 01"});
  expect_in(complaint("cast_vectors", changed(right, "uint4_1x32,amax,nearest_even", kZeroPoints, "10")),
            {"uint4_1x32 amax: ", "zero point 0 is ", ": expected 10"});
  expect_in(complaint("cast_vectors", changed(right, "nvfp4,headroom,stochastic", kTensorScale, "3f800001")),
            {"nvfp4 headroom stochastic: ", "the tensor scale is ", ": expected 3f800001"});
  // Other random bits give other codes.
  const std::string other = changed(right, "nvfp4,headroom,stochastic", 3, "77:0:0:0:7:16");
  expect_in(complaint("cast_vectors", other), {"nvfp4 headroom stochastic: ", "code "});
}

TEST_F(Verify, TellsWhichDigestIsWrong) {
  const std::string right = some_of("cast_digests", {"mxfp8_e4m3,"});
  const std::string begin = "mxfp8_e4m3,even,";
  expect_in(complaint("cast_digests", changed(right, begin, kCodeDigest, "0000000000000000")),
            {"cast_digests mxfp8_e4m3: even nearest_even of f16_mixed in 1 row; digest of codes ",
             ": expected 0000000000000000; the plain rows are wrong, too"});
}

TEST_F(Verify, CountsWhatIsNoVectorAsWrong) {
  const std::string right = some_of("cast_vectors", {"mxfp4,floor,nearest_even,-,mx_ties_0,"});
  const std::string begin = "mxfp4,floor";
  expect_in(complaint("cast_vectors", changed(right, begin, 0, "mxfp5")), {"mxfp5"});
  expect_in(complaint("cast_vectors", changed(right, begin, 1, "sideways")), {"the rule \"sideways\""});
  expect_in(complaint("cast_vectors", changed(right, begin, 2, "upward")), {"the rounding \"upward\""});
  expect_in(complaint("cast_vectors", changed(right, begin, 3, "1:2")), {"the random bits \"1:2\"", "seed:offset"});
  expect_in(complaint("cast_vectors", changed(right, begin, 4, "nowhere")), {"the source \"nowhere\""});
  expect_in(complaint("cast_vectors", changed(right, begin, kCodes, "0g")), {"\"0g\"", "expected a number"});
  expect_in(complaint("cast_vectors", changed(right, begin, kScales, "123")), {"3 digits"});
  expect_in(complaint("cast_vectors", changed(right, begin, kCodes, "00,00")), {"11 words: expected 10"});
  expect_in(complaint("cast_vectors", changed(right, begin, kCodes, "00")), {"1 codes: expected one for each of 32"});
  expect_in(complaint("cast_vectors", changed(right, begin, kScales, "7f7f")), {"1 scales in 1 rows: expected 2"});
  // Vectors that the library rejects.
  expect_in(complaint("cast_vectors", changed(right, begin, 1, "nearest")), {"unsupported", "scale_rule"});
  expect_in(complaint("cast_vectors", changed(right, begin, 1, "\x1B[31m")), {"\\x1B[31m"});
  expect_in(complaint("ternary", "code,f32_bits\n0,00000000\n"), {"the element ternary"});
  expect_in(complaint("f32", "code,f32_bits\n0,00000000\n"), {"the element f32"});
  const std::string digest = some_of("cast_digests", {"mxfp4,floor,"});
  expect_in(complaint("cast_digests", changed(digest, "mxfp4", 1, "nearest")), {"unsupported", "scale_rule"});
}

TEST_F(Verify, NamesWhatItLeavesOut) {
  workplace_.write("e5m2.csv", vectors("e5m2"));
  workplace_.write("later.csv", "sort,of,a,later,release\n1,2,3,4,5\n");
  workplace_.write("lists.csv", some_of("lists", {"thresholds,nf4"}));
  const Outcome outcome = run_lpt(workplace_, {"verify", workplace_.path("")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expect_in(outcome.out, {"left out", "later.csv", "thresholds of nf4 in lists.csv"});
}

}  // namespace
}  // namespace tool_tests
