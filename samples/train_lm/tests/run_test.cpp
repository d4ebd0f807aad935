// Trains a small model on a generated text. The model learns, its loss is close to that of f32, and a stopped run resumes with
// equal results.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "../../lm/side_by_side.hpp"
#include "run_support.hpp"

namespace train_lm {
namespace {

constexpr double kLargestLoss = 1.0;  // bits per byte; the text has 0.65, and training starts at eight

void learns_and_stays_near_its_twin(const std::string &folder, lm::Expect &expect) {
  for (const char *recipe : {"bf16", "fp8_trillion"}) {
    Options options = small_options(folder, recipe);
    options.recipe = recipe;
    options.train.steps = 150;
    options.train.batch = 16;
    const Results results = run(options);
    const double loss = results.twins[0].validation_loss;
    fmt::print("{}: {:.4f} bits per byte, f32 {:.4f}, gap {:+.2f} %\n", recipe, loss, results.twins[1].validation_loss,
               results.gap_percent());
    expect.that(loss < kLargestLoss, fmt::format("{} ends at {:.3f} bits per byte", recipe, loss));
    expect.that(results.gap_percent() < kLargestGap,
                fmt::format("{} ends {:.2f} % above f32", recipe, results.gap_percent()));
  }
}

// Every recipe and every state by name: the loss is far below the initial eight bits per byte.
void learns_by_every_name(const std::string &folder, lm::Expect &expect) {
  const auto learns = [&](const std::string &recipe, const std::string &state, const std::string &method) {
    const std::string name = fmt::format("{}-{}-{}", recipe, state, method);
    Options options = small_options(folder, name);
    options.recipe = recipe;
    options.state = state;
    options.method = method;
    options.has_no_twin = true;
    options.train.steps = 40;
    options.train.is_watched = true;
    if (method == "lion") options.train.learning_rate = 2e-3;
    if (method == "sgd") options.train.learning_rate = 0.5;
    const double loss = run(options).twins[0].validation_loss;
    fmt::print("{}: {:.4f} bits per byte\n", name, loss);
    expect.that(loss < kLargestEarlyLoss, fmt::format("{} ends at {:.3f} bits per byte", name, loss));
    expect.that(read(options.out + "/monitor.csv").find("40,noise/ratio,") != std::string::npos,
                fmt::format("{} tells its noise", name));
    const bool is_sparse = recipe.find("24") != std::string::npos || recipe == "mvue12_gradients";
    const bool is_cast = recipe != "f32" && !is_sparse;
    if (is_cast) {
      expect.that(
          read(options.out + "/monitor.csv").find("40,block0.gate_up/forward_input/clipped,") != std::string::npos,
          fmt::format("{} tells what its casts clipped", name));
    }
  };
  for (const std::string &recipe : lm::recipe_names()) {
    learns(recipe, "", "adamw");
  }
  for (const std::string &state : lm::state_names()) {
    learns("bf16", state, "adamw");
  }
  for (const std::string &method : lm::method_names()) {
    learns("fp8_current", "f32", method);
  }
}

enum class Raises { kNothing, kBackward, kFnt, kByAutopilot };

void goes_on_bit_for_bit(const std::string &folder, const std::string &recipe, int64_t micro_batches, Raises raises,
                         lm::Expect &expect, const lm::Grid &grid = {}) {
  const auto options_of = [&](const char *name) {
    Options options = small_options(folder, fmt::format("{}_{}_{}_{}", name, recipe, micro_batches, grid.ranks()));
    options.recipe = recipe;
    options.train.micro_batches = micro_batches;
    options.grid = grid;
    options.synced = grid.tensor > 1 ? 0.5 : 1.0;
    if (raises == Raises::kBackward || raises == Raises::kFnt) {
      options.train.raised = raises == Raises::kFnt ? lm::Raised::kFnt : lm::Raised::kBackward;
      options.train.raised_from = 0.3;  // before the stop
    }
    options.train.pilot_budget = raises == Raises::kByAutopilot ? 0.65 : 0.0;
    options.train.loss_scale = micro_batches == 2 ? "dynamic" : "";
    return options;
  };
  run(options_of("whole"));
  Options first = options_of("first");
  first.stop_after = 9;
  run(first);
  Options second = options_of("second");
  second.resume = first.out + "/checkpoint.bin";
  run(second);
  const std::string whole = read(options_of("whole").out + "/losses.csv");
  expect.that(!whole.empty() && read(second.out + "/losses.csv") == whole,
              fmt::format("a resumed run of {} repeats the losses, {} micro-batches", recipe, micro_batches));
  expect.that(read(second.out + "/checkpoint.bin") == read(options_of("whole").out + "/checkpoint.bin"),
              fmt::format("a resumed run of {} leaves the same checkpoint, {} micro-batches", recipe, micro_batches));
}

// The autopilot uses its budget but for less than one step, and writes its decisions.
void stays_within_its_budget(const std::string &folder, lm::Expect &expect) {
  Options options = small_options(folder, "autopilot");
  options.recipe = "fp4_all_the_way";
  options.train.pilot_budget = 0.3;
  options.train.steps = 60;
  const Results results = run(options);
  const double share = results.twins[0].high_share;
  expect.that(share <= 0.3 + 1e-6 && share > 0.3 - 1.0 / 60, fmt::format("{} of the work is raised", share));
  expect.that(results.twins[1].high_share == 0.0, "the twin has no autopilot");
  const std::string csv = read(options.out + "/autopilot.csv");
  expect.that(std::count(csv.begin(), csv.end(), '\n') > 2 * 4, "each forward GEMM has a decision");
  expect.that(csv.find(",block1.down,forward,0,1,") != std::string::npos, "decisions name their layers");
}

void trains_without_a_checkpoint(const std::string &folder, lm::Expect &expect) {
  Options options = small_options(folder, "unsaved");
  options.has_no_twin = true;
  options.checkpoint_every = 0;
  options.stop_after = 3;
  const Results results = run(options);
  expect.that(results.steps == 3, fmt::format("{} of 3 steps without a checkpoint", results.steps));
  expect.that(!std::filesystem::exists(options.out + "/checkpoint.bin"), "no checkpoint");
  const std::vector<double> &seconds = results.twins[0].measured.step_seconds;
  expect.that(seconds.size() == 3 && *std::min_element(seconds.begin(), seconds.end()) > 0.0,
              fmt::format("{} steps have a time", seconds.size()));
}

// Training resumes after each checkpoint. The first report has the loss of the last step.
void reports_the_last_loss_at_once(const std::string &folder, lm::Expect &expect) {
  const Options options = small_options(folder, "watched");
  const lm::ByteText text = lm::ByteText::read(options.data);
  std::vector<std::unique_ptr<lm::Trainer>> trainers;
  trainers.push_back(
      std::make_unique<lm::Trainer>(options.train, lm::precision_of("f32", "", options.method), text, 1));
  lm::train_side_by_side(trainers, 1, [](std::span<const lm::Standing>) {});
  std::vector<double> losses;
  lm::train_side_by_side(trainers, 2,
                         [&](std::span<const lm::Standing> standings) { losses.push_back(standings.front().loss); });
  expect.that(losses.front() > 0.0, fmt::format("the first report has the loss {}", losses.front()));
}

// A scale that is a power of two changes no bit. With one that makes gradients infinite, all steps are skipped.
void scales_the_loss(const std::string &folder, lm::Expect &expect) {
  const auto measured_of = [&](const std::string &scale, const lm::Grid &grid) {
    Options options = small_options(folder, fmt::format("scale_{}_{}", scale, grid.ranks()));
    options.recipe = "fp8_current";
    options.grid = grid;
    options.train.zero = grid.data > 1 ? 1 : 0;
    options.train.micro_batches = 2;
    options.train.loss_scale = scale;
    options.has_no_twin = true;
    return run(options).twins[0].measured;
  };
  for (const lm::Grid &grid : {lm::Grid{}, {.tensor = 2, .data = 2}}) {
    const lm::Measured plain = measured_of("", grid);
    for (const char *scale : {"1024", "dynamic"}) {
      const lm::Measured scaled = measured_of(scale, grid);
      expect.that(scaled.training == plain.training && scaled.validation == plain.validation,
                  fmt::format("--loss-scale {} changes no bit of {} ranks", scale, grid.ranks()));
    }
    const lm::Measured none = measured_of("8e37", grid);
    expect.that(none.validation.front() == none.validation.back() && none.validation.back() > 7.0,
                fmt::format("{} ranks skip steps with infinite gradients", grid.ranks()));
  }
}

void rejects_bad_options(const std::string &folder, lm::Expect &expect) {
  Options options = small_options(folder, "wrong");
  const std::string good = read(folder + "/first_fp8_trillion_1_1/checkpoint.bin");
  options.resume = folder + "/damaged.bin";
  write(options.resume, good.substr(0, good.size() / 2));
  expect.rejects([&] { Run{options}; }, "truncated or damaged");
  std::string flipped = good;
  flipped[good.size() / 3] = static_cast<char>(flipped[good.size() / 3] ^ 4);
  write(options.resume, flipped);
  expect.rejects([&] { Run{options}; }, "truncated or damaged");
  write(options.resume, "something else altogether");
  expect.rejects([&] { Run{options}; }, "is not a checkpoint");
  options.resume.clear();
  options.data = folder + "/short.txt";
  write(options.data, "too short");
  expect.rejects([&] { Run{options}; }, "expected at least");
  options.data = folder + "/missing.txt";
  expect.rejects([&] { Run{options}; }, "cannot be opened");
}

void run_all(const std::string &folder, lm::Expect &expect) {
  learns_and_stays_near_its_twin(folder, expect);
  trains_without_a_checkpoint(folder, expect);
  stays_within_its_budget(folder, expect);
  reports_the_last_loss_at_once(folder, expect);
  learns_by_every_name(folder, expect);
  goes_on_bit_for_bit(folder, "fp8_trillion", 1, Raises::kNothing, expect);
  goes_on_bit_for_bit(folder, "fp8_trillion", 2, Raises::kNothing, expect, {.tensor = 1, .data = 2});
  goes_on_bit_for_bit(folder, "coat", 1, Raises::kNothing, expect);
  goes_on_bit_for_bit(folder, "quartet_v1", 2, Raises::kBackward, expect);
  goes_on_bit_for_bit(folder, "luq", 1, Raises::kFnt, expect);
  goes_on_bit_for_bit(folder, "quartet_v1", 2, Raises::kNothing, expect, {.tensor = 2, .data = 2});
  goes_on_bit_for_bit(folder, "fp4_all_the_way", 1, Raises::kByAutopilot, expect);
  goes_on_bit_for_bit(folder, "fp8_trillion", 2, Raises::kByAutopilot, expect);
  goes_on_bit_for_bit(folder, "fully_sparse24", 2, Raises::kNothing, expect);
  goes_on_bit_for_bit(folder, "sparse24_from_dense", 1, Raises::kNothing, expect);
  scales_the_loss(folder, expect);
  rejects_bad_options(folder, expect);
}

}  // namespace
}  // namespace train_lm

int main(int argument_count, char **arguments) {
  return train_lm::run_tests(argument_count, arguments, train_lm::run_all);
}
