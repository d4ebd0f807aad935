// Plans of a training step, against closed forms. Times of this machine are not tested.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "error.hpp"
#include "machine.hpp"
#include "plans.hpp"
#include "rank_team.hpp"
#include "training_plan.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

using nlohmann::json;
using namespace tool;

constexpr ModelSize kModel = {
    .layers = 6, .width = 96, .hidden = 160, .heads = 8, .key_value_heads = 4, .vocabulary = 320, .sequence = 64};

// All times are zero, so that a test sets only those that it measures.
Machine instant_machine() {
  Machine machine;
  for (const char *recipe : {"f32", "bf16", "mxfp8"}) machine.linear[recipe] = {};
  for (const char *format : {"f32", "bf16"}) machine.attention[format] = {};
  for (const char *moments : {"f32", "dynamic_1x256", "e4m3fn_1x128:e5m2_1x128"}) machine.optimizer[moments] = {};
  machine.wires["int8_1x32"] = {};
  return machine;
}

LinkLevel level(int64_t ranks, double latency, double rate) {
  LinkLevel level;
  level.ranks = ranks;
  level.link.latency_seconds = latency;
  level.link.bytes_per_second = rate;
  return level;
}

// Parameters of the matrices that GEMMs read.
double gemm_parameters(const ModelSize &model) {
  const auto width = static_cast<double>(model.width), layers = static_cast<double>(model.layers);
  const double layer = width * width * 2 + width * width + width * static_cast<double>(model.hidden) * 3;
  return layers * layer + width * static_cast<double>(model.vocabulary);
}

TEST(FitTime, FindsTheTermsOfExactTimes) {
  const OperationTime expected = {.call = 3e-6, .flops = 1e-11, .elements = 0, .outputs = 2e-9, .weights = 5e-10};
  std::vector<TimedCall> calls;
  for (const double rows : {64.0, 500.0, 3000.0}) {
    for (const double inputs : {32.0, 700.0}) {
      for (const double outputs : {48.0, 1000.0}) {
        const OperationTime counts = {.call = 1,
                                      .flops = rows * inputs * outputs,
                                      .elements = rows * inputs,
                                      .outputs = rows * outputs,
                                      .weights = inputs * outputs};
        calls.push_back({counts, seconds_of(expected, counts)});
      }
    }
  }
  const OperationTime found = fit_time(calls);
  EXPECT_NEAR(found.call, expected.call, 1e-6 * expected.call);
  EXPECT_NEAR(found.flops, expected.flops, 1e-6 * expected.flops);
  EXPECT_NEAR(found.elements, 0, 1e-6 * expected.outputs);
  EXPECT_NEAR(found.outputs, expected.outputs, 1e-6 * expected.outputs);
  EXPECT_NEAR(found.weights, expected.weights, 1e-6 * expected.weights);
}

// Times that fall with the count have a constant and no negative rate: the least squares of relative errors is the sum of 1 / t
// divided by the sum of 1 / t².
TEST(FitTime, HasNoNegativeTerm) {
  const std::vector<TimedCall> calls = {{{.call = 1, .elements = 1}, 3}, {{.call = 1, .elements = 2}, 2}};
  const OperationTime found = fit_time(calls);
  EXPECT_EQ(found.elements, 0);
  EXPECT_NEAR(found.call, (1.0 / 3 + 1.0 / 2) / (1.0 / 9 + 1.0 / 4), 1e-12);
}

TEST(RankTeam, RunsTheWorkOfAllRanksAndReportsAnError) {
  std::atomic<int> made = 0, calls = 0;
  const RankTeam team{3, 1, 1e-4};
  const double seconds = time_together(team, [&](lpt_context *) {
    ++made;
    return [&] { ++calls; };
  });
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(made, 3);
  EXPECT_GE(calls, 3 * 5);
  EXPECT_EQ(calls % 3, 0);
  std::atomic<int> number = 0;
  EXPECT_THROW(time_together(team,
                             [&](lpt_context *) -> std::function<void()> {
                               if (++number == 2) throw Error("rank 2 fails");
                               return [] {};
                             }),
               Error);
}

TEST(TrainingPlan, CountsTheFlopsOfTheModel) {
  Machine machine = instant_machine();
  machine.linear["f32"].flops = 1e-9;
  machine.attention["f32"].flops = 1e-8;
  PlanModel plan(kModel, machine);
  Division division;
  division.sequences = 5;
  const PlanCost cost = plan.cost(division);
  const double rows = 5.0 * 64, linear = 6 * gemm_parameters(kModel) * rows;
  // Two GEMMs forward and five backward, over visible pairs of all heads.
  const double attention = 6 * 7 * 2 * (5.0 * 64 * 65 / 2) * 96;
  EXPECT_DOUBLE_EQ(cost.linear_seconds, linear * 1e-9);
  EXPECT_DOUBLE_EQ(cost.attention_seconds, attention * 1e-8);
  EXPECT_DOUBLE_EQ(cost.flops, linear + attention);
  EXPECT_DOUBLE_EQ(cost.step_seconds, cost.linear_seconds + cost.attention_seconds);
  EXPECT_EQ(cost.alpha, 1);
  EXPECT_DOUBLE_EQ(kModel.parameters(), gemm_parameters(kModel) + 320 * 96 + 13 * 96);
  EXPECT_DOUBLE_EQ(cost.weight_bytes, 4 * kModel.parameters());
  EXPECT_DOUBLE_EQ(cost.optimizer_bytes, 8 * kModel.parameters());
}

// Tensor ranks divide the work. The flops of all ranks together stay the same.
TEST(TrainingPlan, DividesLayersAmongTensorRanks) {
  Machine machine = instant_machine();
  machine.linear["f32"].flops = 1e-9;
  machine.elementwise[kSwiglu].elements = 1e-6;
  PlanModel plan(kModel, machine);
  Division one, four;
  four.tensor = 4;
  const PlanCost whole = plan.cost(one), part = plan.cost(four);
  EXPECT_DOUBLE_EQ(part.linear_seconds, whole.linear_seconds / 4);
  EXPECT_DOUBLE_EQ(part.elementwise_seconds, whole.elementwise_seconds / 4);
  EXPECT_DOUBLE_EQ(part.flops, whole.flops);
  EXPECT_DOUBLE_EQ(part.weight_bytes, 4 * (gemm_parameters(kModel) / 4 + 320 * 96 + 13 * 96));
}

// Recipes other than f32 have activations in bf16. A machine without times of bf16 has one time for both.
TEST(TrainingPlan, TakesTheTimesOfTheFormatOfActivations) {
  Machine machine = instant_machine();
  machine.elementwise[kSwiglu].elements = 1e-6;
  machine.elementwise[kEmbedding].elements = 1e-5;
  Division wide, narrow;
  narrow.recipe = "mxfp8";
  const double one_time = PlanModel(kModel, machine).cost(wide).elementwise_seconds;
  EXPECT_DOUBLE_EQ(PlanModel(kModel, machine).cost(narrow).elementwise_seconds, one_time);
  machine.elementwise["swiglu_bf16"].elements = 2e-6;
  const double swiglu = 6 * 1e-6 * 64 * static_cast<double>(kModel.hidden);
  EXPECT_DOUBLE_EQ(PlanModel(kModel, machine).cost(wide).elementwise_seconds, one_time);
  EXPECT_NEAR(PlanModel(kModel, machine).cost(narrow).elementwise_seconds, one_time + swiglu, 1e-12 * one_time);
}

// A two-shot all-reduce sends 2 (R - 1) / R of the bytes. There are four of the shared columns in a layer and one of the input;
// the loss sends 32 bytes per row to each other rank, and the norms are summed once.
TEST(TrainingPlan, SendsTheBytesOfTensorRanks) {
  Machine machine = instant_machine();
  machine.links = {level(4, 0, 1e6)};
  PlanModel plan(kModel, machine);
  Division division;
  division.tensor = 4;
  division.micro_batches = 3;
  division.sequences = 2;
  division.share = 0.5;
  const double rows = 2 * 64, reduced = 2 * 3.0 / 4;
  const auto bytes = [&](double shared_bytes) {  // of one reduction of shared columns
    const double pass = 6 * 4 * shared_bytes + reduced * rows * 96 * 4 + 3 * 32 * rows;
    return 3 * pass + reduced * 13 * 96 * 4;
  };
  PlanCost cost = plan.cost(division);
  EXPECT_DOUBLE_EQ(cost.tensor_bytes, bytes(reduced * rows * 48 * 4));
  EXPECT_DOUBLE_EQ(cost.tensor_seconds, cost.tensor_bytes / 1e6);
  division.wire = "int8_1x32";
  machine.wires["int8_1x32"].call = 0.5;
  cost = plan.cost(division);
  EXPECT_DOUBLE_EQ(cost.tensor_bytes, bytes(3 * rows * 48 * 36 / 32));  // small messages go to all ranks at once
  EXPECT_DOUBLE_EQ(cost.tensor_seconds, cost.tensor_bytes / 1e6 + 3 * 6 * 4 * 0.5);
  division.sequences = 40;  // larger ones in two steps
  const double large = plan.cost(division).tensor_bytes, factor = 20;
  EXPECT_DOUBLE_EQ(large,
                   3 * factor * (6 * 4 * reduced * rows * 48 * 36 / 32 + reduced * rows * 96 * 4 + 3 * 32 * rows) +
                       reduced * 13 * 96 * 4);
}

// Groups of two ranks on fast links reduce first; the slow links then carry half.
TEST(TrainingPlan, ReducesGradientsByLevelsOfLinks) {
  Machine machine = instant_machine();
  machine.links = {level(2, 0, 1e9), level(8, 0, 1e6)};
  PlanModel plan(kModel, machine);
  Division division;
  division.data = 8;
  const double bytes = 4 * kModel.parameters();
  PlanCost cost = plan.cost(division);
  EXPECT_NEAR(cost.data_seconds, bytes * (2 * 0.5 / 1e9 + 0.5 * 2 * 3.0 / 4 / 1e6), 1e-9 * cost.data_seconds);
  EXPECT_NEAR(cost.data_bytes, bytes * (2 * 0.5 + 0.5 * 2 * 3.0 / 4), 1e-9 * cost.data_bytes);
  machine.links = {level(8, 0, 1e6)};
  cost = plan.cost(division);
  EXPECT_DOUBLE_EQ(cost.data_bytes, bytes * 2 * 7 / 8);
  EXPECT_DOUBLE_EQ(cost.data_seconds, cost.data_bytes / 1e6);
  division.zero = 1;  // the new weights are gathered
  cost = plan.cost(division);
  EXPECT_DOUBLE_EQ(cost.data_bytes, bytes * 3 * 7 / 8);
  EXPECT_DOUBLE_EQ(cost.optimizer_bytes, bytes * 2 / 8);
  machine.overlap = 0.5;
  machine.linear["f32"].call = 0.06;  // of 25 layers; two thirds of a pass are backward
  EXPECT_DOUBLE_EQ(plan.cost(division).data_seconds,
                   bytes * 2 * 7 / 8 / 1e6 - 0.5 * 25 * 0.06 * 2 / 3 + bytes * 7 / 8 / 1e6);
  machine.linear["f32"].call = 10;
  EXPECT_DOUBLE_EQ(plan.cost(division).data_seconds, bytes * 7 / 8 / 1e6);
}

// Tensor ranks are adjacent, then data ranks, then stages. Two ranks exchange casts in one message each.
TEST(TrainingPlan, UsesTheInnermostLevelOfAGroup) {
  Machine machine = instant_machine();
  machine.links = {level(4, 1, 0), level(8, 100, 0), level(16, 10000, 0)};
  PlanModel plan(kModel, machine);
  Division division;
  division.tensor = 2;
  division.data = 2;
  division.pipeline = 2;
  division.wire = "int8_1x32";
  division.sequences = 64;
  const PlanCost cost = plan.cost(division);
  // The first stage has four reductions in each of three layers, that of the input, and that of the norms; the last one the loss.
  EXPECT_EQ(cost.tensor_seconds, 4 * 3 + 2 + 2);
  EXPECT_EQ(cost.data_seconds, 2);
  EXPECT_EQ(cost.pipeline_seconds, 200);
  division.tensor = 4;
  EXPECT_EQ(plan.cost(division).data_seconds, 200);
  EXPECT_EQ(plan.cost(division).pipeline_seconds, 20000);
}

// Equal stages: a step takes M + P - 1 times one micro-batch, and the first stage keeps the activations of P micro-batches.
TEST(TrainingPlan, FillsAndDrainsStages) {
  Machine machine = instant_machine();
  machine.attention["f32"].call = 1;
  PlanModel plan(kModel, machine);
  Division division;
  division.micro_batches = 8;
  PlanCost whole = plan.cost(division);
  EXPECT_DOUBLE_EQ(whole.step_seconds, 8 * 6);
  division.pipeline = 3;
  PlanCost cost = plan.cost(division);
  EXPECT_DOUBLE_EQ(cost.attention_seconds, 8 * 2);
  EXPECT_DOUBLE_EQ(cost.bubble_seconds, 2 * 2);
  EXPECT_DOUBLE_EQ(cost.step_seconds, (8 + 2) * 2);
  EXPECT_DOUBLE_EQ(cost.flops, whole.flops);
  division.pipeline = 4;  // two stages of two layers, two of one
  EXPECT_DOUBLE_EQ(plan.cost(division).step_seconds, (8 + 3) * 2);
  machine.links = {level(64, 0.5, 1e3)};
  division.pipeline = 3;
  cost = plan.cost(division);
  const double message = 4 * 64 * 96;
  EXPECT_DOUBLE_EQ(cost.pipeline_bytes, 8 * 2 * message);
  EXPECT_DOUBLE_EQ(cost.pipeline_seconds, 8 * 2 * (0.5 + message / 1e3));
}

TEST(TrainingPlan, KeepsActivationsOfMicroBatchesInFlight) {
  const Machine machine = instant_machine();
  PlanModel plan(kModel, machine);
  Division division;
  division.pipeline = 3;
  division.micro_batches = 1;
  const double one = plan.cost(division).activation_bytes;
  const auto first_of = [&](int64_t micro_batches) {
    division.micro_batches = micro_batches;
    return plan.cost(division).activation_bytes;
  };
  // With one micro-batch the last stage has the most memory, since it has the head; with more the first.
  EXPECT_DOUBLE_EQ(first_of(3), 3.0 / 2 * first_of(2));
  EXPECT_DOUBLE_EQ(first_of(8), first_of(3));
  EXPECT_LT(one, first_of(2));
}

TEST(TrainingPlan, CountsBytesOfMomentsWithTheirScales) {
  const Machine machine = instant_machine();
  PlanModel plan(kModel, machine);
  Division division;
  division.moments = "e4m3fn_1x128:e5m2_1x128";
  EXPECT_DOUBLE_EQ(plan.cost(division).optimizer_bytes, 2 * kModel.parameters() * (1 + 4.0 / 128));
}

TEST(TrainingPlan, NamesATimeThatTheMachineLacks) {
  const Machine machine = instant_machine();
  PlanModel plan(kModel, machine);
  Division division;
  division.recipe = "quartet_v1";
  try {
    plan.cost(division);
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("linear.quartet_v1: expected one of bf16, f32, mxfp8"), std::string::npos)
        << error.what();
  }
}

// The program.

const std::vector<std::string> kSizes = {"--layers",   "6",  "--width",           "96", "--hidden",     "160",
                                         "--heads",    "8",  "--key-value-heads", "4",  "--vocabulary", "320",
                                         "--sequence", "64", "--batch",           "8"};

std::vector<std::string> plan_words(const std::string &machine, const std::vector<std::string> &more) {
  std::vector<std::string> words = {"plan", "--machine", machine};
  words.insert(words.end(), kSizes.begin(), kSizes.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string write_machine(const Workplace &workplace, const Machine &machine) {
  return workplace.write("machine.json", machine_json(machine, {{"build", "a comment"}}));
}

TEST(PlanCommand, ListsAllDivisionsTheFastestFirst) {
  const Workplace workplace;
  Machine machine = instant_machine();
  machine.linear["f32"].flops = 1e-9;
  machine.linear["mxfp8"].flops = 1e-10;
  machine.links = {level(8, 1e-3, 1e6)};
  machine.watts = 100;
  const std::string file = write_machine(workplace, machine), out = workplace.path("plans.json");
  const Outcome outcome = run_lpt(
      workplace, plan_words(file, {"--ranks", "4",       "--recipe", "f32",       "--recipe",
                                   "mxfp8",   "--share", "1",        "--share",   "0.5",
                                   "--wire",  "f32",     "--wire",   "int8_1x32", "--top",
                                   "0",       "--json",  out,        "--picture", workplace.path("plans.svg")}));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json plans = json::parse(workplace.read("plans.json")).at("plans");
  // Two recipes; TP 1: PP 1, 2, 4, of which two have data ranks with two states; TP 2: PP 1, 2, TP 4: PP 1, with two shares and
  // two wires.
  EXPECT_EQ(plans.size(), 2u * ((2 + 2 + 1) + 4 * (2 + 1) + 4));
  double before = 0;
  for (const json &plan : plans) {
    EXPECT_EQ(plan.at("tensor").get<int>() * plan.at("pipeline").get<int>() * plan.at("data").get<int>(), 4);
    EXPECT_EQ(plan.at("data").get<int>() * plan.at("micro_batches").get<int>() * plan.at("sequences").get<int>(), 8);
    EXPECT_GE(plan.at("step_seconds").get<double>(), before);
    before = plan.at("step_seconds").get<double>();
    EXPECT_DOUBLE_EQ(plan.at("joules").get<double>(), 400 * before);
    EXPECT_DOUBLE_EQ(plan.at("tokens_per_second").get<double>(), 512 / before);
    double parts = 0;
    for (const char *part : {"linear_seconds", "attention_seconds", "elementwise_seconds", "tensor_seconds",
                             "pipeline_seconds", "bubble_seconds", "data_seconds", "optimizer_seconds"}) {
      parts += plan.at(part).get<double>();
    }
    EXPECT_NEAR(parts, before, 1e-12 * before);
  }
  const std::string svg = workplace.read("plans.svg");
  EXPECT_EQ(svg.compare(0, 4, "<svg"), 0);
  EXPECT_NE(svg.find("mxfp8 TP 2"), std::string::npos);
  EXPECT_NE(outcome.out.find("joules"), std::string::npos);
}

TEST(PlanCommand, LeavesOutPlansThatExceedTheMemory) {
  const Workplace workplace;
  Machine machine = instant_machine();
  const std::string out = workplace.path("plans.json");
  const auto count = [&](double bytes) {
    machine.memory_bytes = bytes;
    const Outcome outcome = run_lpt(
        workplace, plan_words(write_machine(workplace, machine), {"--ranks", "2", "--top", "0", "--json", out}));
    return outcome.status == 0 ? json::parse(workplace.read("plans.json")).at("plans").size() : 0u;
  };
  const size_t all = count(0), some = count(9e6);
  EXPECT_GT(all, some);
  EXPECT_GT(some, 0u);
  for (const json &plan : json::parse(workplace.read("plans.json")).at("plans")) {
    EXPECT_LE(plan.at("memory_bytes").get<double>(), 9e6);
  }
  EXPECT_EQ(count(1e6), 0u);
}

TEST(PlanCommand, ReadsTheSizesOfAModel) {
  const Workplace workplace;
  const std::string machine = write_machine(workplace, instant_machine());
  const std::string config = workplace.write(
      "config.json", R"({"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 96, "num_attention_heads": 4,
                         "num_key_value_heads": 2, "vocab_size": 100, "head_dim": 16})");
  const Outcome outcome = run_lpt(workplace, {"plan", "--machine", machine, "--config", config, "--sequence", "8",
                                              "--batch", "1", "--layers", "3"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  // 3 layers of 64 · (64 + 32 + 32 + 64 + 3 · 96 + 2), two matrices of 100 classes and a norm.
  EXPECT_EQ(3 * 64 * (64 + 32 + 32 + 64 + 3 * 96 + 2) + 2 * 100 * 64 + 64, 105408);
  EXPECT_EQ(outcome.out.find("1.054e+05 parameters"), 0u) << outcome.out;
}

struct BadMachine {
  const char *name, *text, *error;
};

TEST(PlanCommand, RejectsBadMachinesWithTheMember) {
  const Workplace workplace;
  const std::string nested(1000000, '['), deep = "{\"links\":[" + nested + std::string(1000000, ']') + "]}";
  const BadMachine cases[] = {
      {"text", "machine", "expected a JSON object"},
      {"array", "[1]", "expected a JSON object"},
      {"negative", R"({"linear": {"f32": {"flops_per_second": -1}}})", "linear.f32.flops_per_second is -1"},
      {"string", R"({"linear": {"f32": {"call_seconds": "1"}}})", "linear.f32.call_seconds is \"1\""},
      {"no_object", R"({"attention": {"f32": 3}})", "attention.f32 is 3: expected an object"},
      {"no_map", R"({"wires": []})", "wires is []: expected an object"},
      {"links", R"({"links": {}})", "links is {}: expected an array"},
      {"ranks", R"({"links": [{"ranks": 0}]})", "links[0].ranks is 0: expected 1 to 1048576"},
      {"fraction", R"({"links": [{"ranks": 1.5}]})", "links[0].ranks is 1.5"},
      {"order", R"({"links": [{"ranks": 4}, {"ranks": 4}]})", "links[1].ranks is 4: expected 5 to"},
      {"rate", R"({"links": [{"ranks": 4, "bytes_per_second": null}]})", "links[0].bytes_per_second is null"},
      {"overlap", R"({"overlap": 2})", "overlap is 2: expected 0 to 1"},
      {"infinite", R"({"memory_bytes": 1e999})", "expected a JSON object"},
      {"tiny", R"({"linear": {"f32": {"flops_per_second": 1e-320}}})", "expected 0, or a number from 1e-30 to 1e+30"},
      {"deep", deep.c_str(), "expected an object"},
      {"empty", "{}", "the machine has no time of linear.f32: expected a machine with this time"}};
  for (const BadMachine &one : cases) {
    const Outcome outcome = run_lpt(workplace, plan_words(workplace.write(one.name, one.text), {}));
    EXPECT_EQ(outcome.status, 2) << one.name;
    EXPECT_NE(outcome.err.find(one.error), std::string::npos) << one.name << ": " << outcome.err;
  }
}

TEST(PlanCommand, RejectsSizesThatNoPlanDivides) {
  const Workplace workplace;
  const std::string machine = write_machine(workplace, instant_machine());
  const std::string config =
      workplace.write("config.json", R"({"hidden_size": 64, "num_attention_heads": 4, "head_dim": 20})");
  const auto error_of = [&](const std::vector<std::string> &words) {
    const Outcome outcome = run_lpt(workplace, words);
    EXPECT_EQ(outcome.status, 2);
    return outcome.err;
  };
  EXPECT_NE(error_of(plan_words(machine, {"--ranks", "7"})).find("no plan has 7 ranks"), std::string::npos);
  EXPECT_NE(error_of({"plan", "--machine", machine, "--sequence", "8", "--batch", "1", "--layers", "1"})
                .find("--width is 0: expected 1 to"),
            std::string::npos);
  EXPECT_NE(error_of({"plan", "--machine", machine, "--sequence", "8", "--batch", "1", "--config", config})
                .find("head_dim is 20: expected"),
            std::string::npos);
  EXPECT_NE(error_of(plan_words(machine, {"--wire", "nothing", "--ranks", "2"})).find("format is"), std::string::npos);
}

// The benchmark writes a machine that has all times of its plans. With few seconds it leaves out large shapes.
TEST(BenchStep, WritesAMachineForPlans) {
  const Workplace workplace;
  const std::string machine = workplace.path("machine.json");
  const Outcome measured = run_lpt(workplace, {"bench", "step", "--ranks", "2", "--recipe", "f32", "--recipe", "mxfp8",
                                               "--seconds", "0.0005", "--json", machine, "--quiet"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  const Machine found = read_machine(machine);
  for (const char *recipe : {"f32", "mxfp8", "bf16"}) EXPECT_TRUE(found.linear.contains(recipe)) << recipe;
  ASSERT_EQ(found.links.size(), 1u);
  EXPECT_EQ(found.links[0].ranks, 2);
  EXPECT_GT(found.links[0].link.bytes_per_second, 0);
  for (const char *name :
       {"rmsnorm", "swiglu", "rotary", "embedding", "cross_entropy", "rmsnorm_bf16", "swiglu_bf16", "rotary_bf16"}) {
    EXPECT_TRUE(found.elementwise.contains(name)) << name;
  }
  const Outcome planned =
      run_lpt(workplace, plan_words(machine, {"--ranks", "2", "--recipe", "mxfp8", "--wire", "int8_1x32"}));
  EXPECT_EQ(planned.status, 0) << planned.err;
}

}  // namespace
}  // namespace tool_tests
