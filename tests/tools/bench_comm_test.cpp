// The collective benchmark as a user calls it. Its speed is not tested.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "comm_race.hpp"
#include "error.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

using nlohmann::json;

std::vector<std::string> bench(const std::vector<std::string> &words) {
  std::vector<std::string> all = {"bench", "comm", "--quiet", "--seconds", "0.001"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

TEST(BenchComm, MeasuresEachCollectiveInEachFormat) {
  const Workplace workplace;
  const Outcome outcome =
      run_lpt(workplace, bench({"--least", "1KiB", "--most", "32KiB", "--json", workplace.path("out.json")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(workplace.read("out.json"));
  EXPECT_EQ(report.at("ranks").get<int>(), 2);
  std::multiset<std::string> found;
  for (const json &result : report.at("results")) {
    const auto collective = result.at("collective").get<std::string>();
    const auto bytes = result.at("bytes").get<double>();
    found.insert(collective + " " + result.at("format").get<std::string>());
    EXPECT_GT(result.at("seconds").get<double>(), 0) << result;
    // 2 (R - 1) / R of the bytes, or half of that, for two ranks.
    EXPECT_EQ(result.at("rank_bytes").get<double>(), collective == "all_reduce" ? bytes : bytes / 2) << result;
  }
  for (const std::string collective : {"all_reduce ", "reduce_scatter ", "all_gather "}) {
    for (const std::string format : {"f32", "bf16"}) EXPECT_EQ(found.count(collective + format), 4u) << outcome.out;
  }
}

// If the times fit no link, the program reports it and continues.
TEST(BenchComm, FitsALinkOrSaysWhyNot) {
  const Workplace workplace;
  const Outcome outcome =
      run_lpt(workplace, bench({"--collective", "all_reduce", "--format", "f32", "--payload", "bf16", "--payload",
                                "nvfp4", "--most", "1MiB", "--json", workplace.path("out.json")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(workplace.read("out.json"));
  if (report.at("fits").empty()) {
    EXPECT_NE(outcome.out.find("no latency and bandwidth: "), std::string::npos) << outcome.out;
    return;
  }
  const json &link = report.at("fits")[0];
  EXPECT_GE(link.at("latency_seconds").get<double>(), 0);
  EXPECT_GT(link.at("bytes_per_second").get<double>(), 0);
  ASSERT_EQ(report.at("break_even").size(), 2u);
  for (const json &even : report.at("break_even")) {
    const auto elements = even.at("elements").get<int64_t>();
    EXPECT_TRUE(elements == -1 || elements >= 1) << even;
    EXPECT_GT(even.at("encode_bytes_per_second").get<double>(), 0) << even;
    EXPECT_GT(even.at("decode_bytes_per_second").get<double>(), 0) << even;
  }
}

TEST(BenchComm, TakesRanksThreadsAndALink) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(
      workplace, bench({"--ranks", "3", "--threads", "2", "--most", "4KiB", "--collective", "all_reduce", "--messages",
                        "--link-latency", "5", "--link-bandwidth", "2.5", "--json", workplace.path("out.json")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(workplace.read("out.json"));
  EXPECT_EQ(report.at("ranks").get<int>(), 3);
  EXPECT_EQ(report.at("threads").get<int>(), 2);
  EXPECT_DOUBLE_EQ(report.at("emulated_link").at("latency_seconds").get<double>(), 5e-6);
  EXPECT_DOUBLE_EQ(report.at("emulated_link").at("bytes_per_second").get<double>(), 2.5e9);
  EXPECT_EQ(outcome.out.find("played no part") != std::string::npos, report.at("engine").get<std::string>() == "local");
}

// Three ranks with messages use one step for small sizes and two for large ones. The bytes of each identify the algorithm.
TEST(BenchComm, CountsTheStepsOfCalls) {
  const Workplace workplace;
  const Outcome outcome = run_lpt(workplace, bench({"--ranks", "3", "--least", "6KiB", "--most", "96KiB", "--format",
                                                    "f32", "--messages", "--json", workplace.path("out.json")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(workplace.read("out.json"));
  EXPECT_EQ(report.at("results").size(), 9u);
  for (const json &result : report.at("results")) {
    const bool is_all_reduce = result.at("collective").get<std::string>() == "all_reduce";
    const auto bytes = result.at("bytes").get<double>();
    const bool is_small = bytes <= (16 << 10);
    EXPECT_EQ(result.at("steps").get<int>(), is_all_reduce && !is_small ? 2 : 1) << result;
    if (is_all_reduce && is_small) {
      EXPECT_EQ(result.at("rank_bytes").get<double>(), 2 * bytes) << result;
    }
  }
}

// Reductions with each wire format, and without one in the same run. A gather has no wire format.
TEST(BenchComm, MeasuresWires) {
  const Workplace workplace;
  const Outcome outcome =
      run_lpt(workplace,
              bench({"--ranks", "3", "--least", "64KiB", "--most", "256KiB", "--format", "f32", "--wire",
                     "int8_1x32,f16", "--json", workplace.path("out.json"), "--picture", workplace.path("out.svg")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(workplace.read("out.json"));
  EXPECT_EQ(report.at("results").size(), 2u * (3 + 3 + 1));
  const double shares[] = {36.0 / 128, 0.5};
  for (const json &result : report.at("results")) {
    if (!result.contains("wire")) continue;
    const bool is_int8 = result.at("wire").get<std::string>() == "int8_1x32";
    const double all = (result.at("collective").get<std::string>() == "all_reduce" ? 4.0 : 2.0) / 3;
    const double sent = all * shares[is_int8 ? 0 : 1] * result.at("bytes").get<double>();
    EXPECT_NEAR(result.at("rank_bytes").get<double>(), sent, 0.03 * sent) << result;
  }
  ASSERT_EQ(report.at("wires").size(), 4u);
  for (const json &wire : report.at("wires")) {
    const auto shares_of_time = wire.at("shares").get<std::vector<double>>();
    ASSERT_EQ(shares_of_time.size(), 2u);
    EXPECT_EQ(wire.at("pays_from_bytes").is_null(), shares_of_time.back() >= 1) << wire;
  }
  EXPECT_NE(outcome.out.find("all_reduce f32 by int8_1x32"), std::string::npos) << outcome.out;
  EXPECT_NE(workplace.read("out.svg").find("all_reduce f32 by f16"), std::string::npos);
}

TEST(BenchComm, DrawsAPicture) {
  const Workplace workplace;
  const Outcome outcome =
      run_lpt(workplace, bench({"--most", "4KiB", "--format", "f32", "--picture", workplace.path("out.svg")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string picture = workplace.read("out.svg");
  for (const std::string word :
       {"Collectives of 2 ranks", "all_reduce f32", "reduce_scatter f32", "all_gather f32", "1.0 KiB", "</svg>"}) {
    EXPECT_NE(picture.find(word), std::string::npos) << word;
  }
  for (const std::string word : {"nan", "inf"}) EXPECT_EQ(picture.find(word), std::string::npos) << word;
}

// With one size there is no size axis and no link.
TEST(BenchComm, DrawsOneSize) {
  const Workplace workplace;
  const Outcome outcome =
      run_lpt(workplace, bench({"--least", "64", "--most", "64", "--picture", workplace.path("out.svg")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("no latency and bandwidth: "), std::string::npos) << outcome.out;
  EXPECT_EQ(workplace.read("out.svg").find("nan"), std::string::npos);
}

TEST(BenchComm, RejectsInOneLine) {
  const Workplace workplace;
  for (const std::vector<std::string> &words : {std::vector<std::string>{"--payload", "fp7"},
                                                {"--wire", "f16,fp7"},
                                                {"--least", "8"},
                                                {"--least", "1MiB", "--most", "1KiB"},
                                                {"--most", "64GiB"}}) {
    const Outcome outcome = run_lpt(workplace, bench(words));
    EXPECT_EQ(outcome.status, 2) << words[1];
    EXPECT_EQ(outcome.err.find("lpt: "), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
  }
  for (const std::vector<std::string> &words : {std::vector<std::string>{"--ranks", "1"},
                                                {"--threads", "0"},
                                                {"--collective", "broadcast"},
                                                {"--format", "e4m3fn"},
                                                {"--least", "a lot"},
                                                {"--link-latency", "-1"}}) {
    EXPECT_EQ(run_lpt(workplace, bench(words)).status, 2) << words[0];
  }
}

// Ranks that fail.

std::string problem_of(const tool::CommRace &racing, const std::vector<tool::CommTask> &tasks) {
  try {
    tool::race(racing, tasks);
  } catch (const tool::Error &problem) {
    return problem.what();
  }
  return "";
}

const std::vector<tool::CommTask> kTwoTasks(2, {LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_FORMAT_F32, 1024});

TEST(CommRace, EndsWhenOneRankFails) {
  tool::CommRace racing;
  racing.ranks = 4;
  racing.seconds = 0.001;
  racing.on_time = [](size_t, const tool::CommTime &) { throw tool::Error("enough"); };
  EXPECT_EQ(problem_of(racing, kTwoTasks), "rank 0: enough");
}

TEST(CommRace, TellsWhatTheLibraryRejects) {
  tool::CommRace racing;
  racing.options.timeout_seconds = -1;
  EXPECT_NE(problem_of(racing, kTwoTasks).find("timeout_seconds is -1"), std::string::npos);
  racing.options.timeout_seconds = 600;
  EXPECT_NE(problem_of(racing, {{LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_FORMAT_E4M3FN, 1024}}).find("e4m3fn"),
            std::string::npos);
}

}  // namespace
}  // namespace tool_tests
