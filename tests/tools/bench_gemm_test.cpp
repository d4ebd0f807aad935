// The GEMM benchmark as a user calls it: its options, output and rejections. Its speed is not tested.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "workplace.hpp"

namespace tool_tests {
namespace {

using nlohmann::json;

std::vector<std::string> bench(const std::vector<std::string> &words) {
  std::vector<std::string> all = {"bench", "gemm", "--quiet", "--seconds", "0.001"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

TEST(BenchGemm, MeasuresEachPairWithPlainAndPackedWeights) {
  const Workplace workplace;
  const Outcome outcome =
      run_lpt(workplace, bench({"--shape", "8x64x96", "--shape", "1x128x64", "--pair", "e4m3fn:e4m3fn", "--pair",
                                "bf16:int4_1x128", "--json", workplace.path("out.json")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(workplace.read("out.json"));
  std::set<std::string> found;
  for (const json &rate : report.at("results")) {
    found.insert(rate.at("shape").get<std::string>() + " " + rate.at("name").get<std::string>() +
                 (rate.at("is_packed").get<bool>() ? " packed" : ""));
    const double flops = 2.0 * rate.at("m").get<double>() * rate.at("k").get<double>() * rate.at("n").get<double>();
    // Both have five digits.
    EXPECT_NEAR(rate.at("gflops").get<double>() * rate.at("seconds").get<double>() * 1e9 / flops, 1, 2e-4) << rate;
    EXPECT_GE(rate.at("median_seconds").get<double>(), rate.at("seconds").get<double>()) << rate;
    EXPECT_GT(rate.at("weight_bytes").get<double>(), 0) << rate;
    EXPECT_NE(rate.at("row").get<std::string>().find("gemm_"), std::string::npos) << rate;
    EXPECT_EQ(rate.at("limit").get<std::string>() == "read", rate.at("m").get<int>() == 1) << rate;
  }
  for (const json &line : report.at("left_out")) found.insert(line.get<std::string>());
  for (const std::string shape : {"8x64x96", "1x128x64"}) {
    EXPECT_TRUE(found.contains(shape + " e4m3fn:e4m3fn")) << outcome.out;
    EXPECT_TRUE(found.contains(shape + " e4m3fn:e4m3fn packed")) << outcome.out;
  }
}

TEST(BenchGemm, ComparesIntegersWithIntegerOperations) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "the CPU has no AVX2";
  const Workplace workplace;
  for (const char *isa : {"auto", "x86_avx2"}) {
    const Outcome outcome = run_lpt(workplace, bench({"--shape", "8x64x96", "--pair", "int8_row:int4_1x32", "--isa",
                                                      isa, "--json", workplace.path("out.json")}));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json report = json::parse(workplace.read("out.json"));
    EXPECT_GT(report.at("peaks").at("int8_gops").get<double>(), 0) << isa;
    ASSERT_FALSE(report.at("results").empty()) << isa;
    for (const json &rate : report.at("results")) EXPECT_EQ(rate.at("limit").get<std::string>(), "int8 dot") << rate;
  }
}

TEST(BenchGemm, ComparesThreads) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, bench({"--shape", "64", "--pair", "f32:f32", "--weights", "plain",
                                                    "--threads", "2", "--json", workplace.path("out.json")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(workplace.read("out.json"));
  EXPECT_EQ(report.at("threads").get<int>(), 2);
  ASSERT_EQ(report.at("results").size(), 1u);
  EXPECT_GT(report.at("results")[0].at("scaling").get<double>(), 0);
}

TEST(BenchGemm, DrawsOursAndPeersFromFiles) {
  const Workplace workplace;
  const Outcome measured = run_lpt(
      workplace, bench({"--shape", "8x64x96", "--pair", "e4m3fn:e4m3fn", "--json", workplace.path("ours.json")}));
  ASSERT_EQ(measured.status, 0) << measured.err;
  json peers = json::parse(workplace.read("ours.json"));
  json peer = peers.at("results")[0];
  peer["is_peer"] = true;
  peer["name"] = "a <peer>";
  json elsewhere = peer;
  elsewhere["shape"] = "9x9x9";
  elsewhere["name"] = "a stranger";
  peers["results"] = {peer, elsewhere};
  workplace.write("peers.json", peers.dump());
  const Outcome drawn = run_lpt(workplace, {"bench", "gemm", "--from", workplace.path("ours.json"), "--peers",
                                            workplace.path("peers.json"), "--picture", workplace.path("out.svg")});
  ASSERT_EQ(drawn.status, 0) << drawn.err;
  const std::string picture = workplace.read("out.svg");
  EXPECT_NE(picture.find("e4m3fn × e4m3fn"), std::string::npos);
  EXPECT_NE(picture.find("8 × 64 × 96, nt"), std::string::npos);
  EXPECT_NE(picture.find("a &lt;peer&gt;"), std::string::npos);
  EXPECT_EQ(picture.find("a stranger"), std::string::npos);
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
}

TEST(BenchGemm, RejectsInOneLine) {
  const Workplace workplace;
  const std::string good =
      R"({"build": "", "threads": 1, "isa": "auto", "load": 0, "is_judged": true, "missing_peers": [],
    "left_out": [], "peaks": {"f32_gflops": 1, "bf16_gflops": 1, "int8_gops": 1}, "results": [)";
  workplace.write("text", "no JSON");
  workplace.write("list", "[1, 2]");
  workplace.write("hollow", good + "{}]}");
  for (const std::vector<std::string> &words : {std::vector<std::string>{"--shape", "12x34"},
                                                {"--shape", "0x1x1"},
                                                {"--shape", "1x2x3x4"},
                                                {"--shape", "99999999999999999999"},
                                                {"--pair", "e4m3fn"},
                                                {"--pair", "e4m3fn:fp7"},
                                                {"--from", workplace.path("missing")},
                                                {"--from", workplace.path("text")},
                                                {"--from", workplace.path("list")},
                                                {"--from", workplace.path("hollow")}}) {
    const Outcome outcome = run_lpt(workplace, bench(words));
    EXPECT_EQ(outcome.status, 2) << words[1];
    EXPECT_EQ(outcome.err.find("lpt: "), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
  EXPECT_EQ(run_lpt(workplace, {"bench", "gemm", "--threads", "0"}).status, 2);
  EXPECT_EQ(run_lpt(workplace, {"bench", "gemm", "--weights", "boxed"}).status, 2);
}

}  // namespace
}  // namespace tool_tests
