// The bytes of a plan, against those of a training run: memory of one rank, and what it sends in a step.
#include <cmath>

#include "plans.hpp"
#include "run_support.hpp"

namespace train_lm {
namespace {

// The headers of messages, and sums of a few numbers, are not part of a plan.
constexpr double kLargestDifference = 0.01;

struct PlannedRun {
  const char *recipe, *state, *moments;
  lm::Grid grid;
  int64_t micro_batches;
  int32_t zero;
  double share;
  const char *wire;
};

// All times are zero.
tool::Machine instant_machine(const PlannedRun &run) {
  tool::Machine machine;
  for (const char *recipe : {"f32", "bf16", run.recipe}) machine.linear[recipe] = {};
  for (const char *format : {"f32", "bf16"}) machine.attention[format] = {};
  machine.optimizer[run.moments] = {};
  machine.wires[run.wire] = {};
  return machine;
}

tool::PlanCost planned(const Options &options, const PlannedRun &run) {
  const lm::ModelShape &shape = options.train.shape;
  const tool::ModelSize model = {.layers = shape.layers,
                                 .width = shape.width,
                                 .hidden = shape.hidden,
                                 .heads = shape.heads,
                                 .key_value_heads = shape.heads,
                                 .vocabulary = 256,
                                 .sequence = shape.sequence};
  tool::Division division;
  division.recipe = run.recipe;
  division.moments = run.moments;
  division.tensor = run.grid.tensor;
  division.data = run.grid.data;
  division.micro_batches = run.micro_batches;
  division.sequences = options.train.batch / run.grid.data / run.micro_batches;
  division.zero = run.zero;
  division.share = run.share;
  division.wire = options.wire.empty() ? "f32" : options.wire;
  const tool::Machine machine = instant_machine(run);
  return tool::PlanModel(model, machine).cost(division);
}

Options options_of(const std::string &folder, const PlannedRun &run) {
  Options options = small_options(folder, "planned");
  options.train.shape = {.width = 64, .layers = 3, .heads = 4, .hidden = 96, .sequence = 32};
  options.recipe = run.recipe;
  options.state = run.state;
  options.grid = run.grid;
  options.train.micro_batches = run.micro_batches;
  options.train.zero = run.zero;
  options.synced = run.share;
  options.wire = run.wire;
  options.train.validate_every = 100;
  options.train.steps = 100;
  options.has_no_twin = true;
  options.sample_bytes = 0;
  options.checkpoint_every = 0;
  return options;
}

TwinResult run_until(Options options, int64_t step) {
  options.stop_after = step;
  return run(options).twins[0];
}

void predicts_bytes(const std::string &folder, const PlannedRun &run, lm::Expect &expect) {
  const Options options = options_of(folder, run);
  const tool::PlanCost plan = planned(options, run);
  const TwinResult first = run_until(options, 1), third = run_until(options, 3);
  const std::string name = fmt::format("{} {}x{} zero {} share {} {}", run.recipe, run.grid.tensor, run.grid.data,
                                       run.zero, run.share, run.wire);
  const auto equals = [&](const char *part, double expected, size_t found) {
    expect.that(expected == static_cast<double>(found),
                fmt::format("{}: {} are {}, in the plan {}", name, part, found, expected));
  };
  equals("weights", plan.weight_bytes, third.bytes.weights);
  equals("casts", plan.cast_bytes, third.bytes.casts);
  equals("gradients", plan.gradient_bytes, third.bytes.gradients);
  equals("activations", plan.activation_bytes, third.bytes.activations);
  // Shards end at blocks, and the state of a moment has its scales in whole blocks.
  const double moments = static_cast<double>(third.bytes.moments);
  expect.that(std::abs(plan.optimizer_bytes / moments - 1) < kLargestDifference * (1 + run.zero),
              fmt::format("{}: moments are {}, in the plan {}", name, moments, plan.optimizer_bytes));
  const double sent = static_cast<double>(third.traffic.bytes_sent - first.traffic.bytes_sent) / 2;
  const double expected = plan.tensor_bytes + plan.data_bytes;
  expect.that(std::abs(expected - sent) <= kLargestDifference * sent,
              fmt::format("{}: a step sends {}, in the plan {}", name, sent, expected));
  fmt::print("{}: a step sends {} bytes, in the plan {}; moments {}, in the plan {}\n", name, sent, expected, moments,
             plan.optimizer_bytes);
}

void tests(const std::string &folder, lm::Expect &expect) {
  const PlannedRun runs[] = {
      {"f32", "f32", "f32", {.tensor = 1, .data = 1}, 1, 0, 1, ""},
      {"mxfp8", "f32", "f32", {.tensor = 2, .data = 1}, 2, 0, 1, ""},
      {"f32", "f32", "f32", {.tensor = 4, .data = 1}, 1, 0, 0.5, "int8_1x32"},
      {"fp8_current", "fp8_groups", "e4m3fn_1x128:e5m2_1x128", {.tensor = 1, .data = 2}, 2, 0, 1, ""},
      {"bf16", "f32", "f32", {.tensor = 1, .data = 2}, 1, 1, 1, ""},
      {"fp8_block", "f32", "f32", {.tensor = 2, .data = 2}, 1, 0, 0.25, ""}};
  for (const PlannedRun &one : runs) predicts_bytes(folder, one, expect);
}

}  // namespace
}  // namespace train_lm

int main(int argument_count, char **arguments) {
  return train_lm::run_tests(argument_count, arguments, train_lm::tests);
}
