// Trains a small model on a generated text. The model learns, its loss is close to that of f32, and a stopped run resumes with
// equal results.
#include "../run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "../../lm/random.hpp"
#include "../../lm/side_by_side.hpp"
#include "../../lm/tests/expect.hpp"

namespace {

constexpr double kLargestLoss = 1.0;       // bits per byte; the text has 0.65, and training starts at eight
constexpr double kLargestGap = 3.0;        // percent
constexpr double kLargestDrift = 1e-3;     // bits per byte between synchronized ranks and one rank, after 20 steps
constexpr double kLargestEarlyLoss = 4.5;  // bits per byte after 40 steps

// Words of a small vocabulary in random order: easy to learn, impossible to guess.
std::string made_up_text() {
  static const char *const kWords[] = {"river", "stone", "and", "the", "a", "walks", "under", "light", "old", "sings"};
  std::string text;
  for (uint64_t i = 0; text.size() < 60000; ++i) {
    text += kWords[lm::random_bits(1, 1, i) % std::size(kWords)];
    text += i % 9 == 8 ? ".\n" : " ";
  }
  return text;
}

void write(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

train_lm::Options small_options(const std::string &folder, const std::string &name) {
  train_lm::Options options;
  options.train.shape = {.width = 32, .layers = 2, .heads = 2, .hidden = 48, .sequence = 32};
  options.train.steps = 20;
  options.train.batch = 8;
  options.train.learning_rate = 1e-2;
  options.train.validate_every = 5;
  options.train.validation_windows = 16;
  options.data = folder + "/text.txt";
  options.out = folder + "/" + name;
  options.sample_bytes = 20;
  options.is_quiet = true;
  return options;
}

train_lm::Results run(const train_lm::Options &options) {
  train_lm::Run one(options);
  one.train();
  const train_lm::Results results = one.results();
  train_lm::write_results(options, results);
  return results;
}

void learns_and_stays_near_its_twin(const std::string &folder, lm::Expect &expect) {
  for (const char *recipe : {"bf16", "fp8_trillion"}) {
    train_lm::Options options = small_options(folder, recipe);
    options.recipe = recipe;
    options.train.steps = 150;
    options.train.batch = 16;
    const train_lm::Results results = run(options);
    const double loss = results.twins[0].validation_loss;
    fmt::print("{}: {:.4f} bits per byte, f32 {:.4f}, gap {:+.2f} %\n", recipe, loss, results.twins[1].validation_loss,
               results.gap_percent());
    expect.that(loss < kLargestLoss, fmt::format("{} ends at {:.3f} bits per byte", recipe, loss));
    expect.that(results.gap_percent() < kLargestGap,
                fmt::format("{} ends {:.2f} % above f32", recipe, results.gap_percent()));
  }
}

// Ranks that share the optimizer state have the same bits as ranks with the full state.
void shares_its_state(train_lm::Options whole, train_lm::Options shared, lm::Expect &expect) {
  for (train_lm::Options *options : {&whole, &shared}) {
    options->recipe = "fp8_trillion";
    options->train.batch = 12;
    options->train.micro_batches = 2;
  }
  shared.train.zero = 1;
  const std::string name = fmt::format("{}x{}", whole.grid.tensor, whole.grid.data);
  const train_lm::TwinResult expected = run(whole).twins[0], found = run(shared).twins[0];
  expect.that(found.measured.training == expected.measured.training, fmt::format("{} in shards learns the same", name));
  expect.that(found.validation_loss == expected.validation_loss, fmt::format("{} in shards ends the same", name));
  expect.that(found.bytes.moments < expected.bytes.moments, fmt::format("{} in shards has less state", name));
}

// Ranks that share layers, the batch, or both. With full synchronization they equal a single rank except for the order of sums.
// With partial synchronization they learn too.
void learns_in_ranks(const std::string &folder, lm::Expect &expect) {
  const auto options_of = [&](const char *name, const lm::Grid &grid) {
    train_lm::Options options = small_options(folder, name);
    options.recipe = "f32";
    options.grid = grid;
    options.has_no_twin = true;
    return options;
  };
  const double alone = run(options_of("alone", {})).twins[0].validation_loss;
  for (const lm::Grid &grid : {lm::Grid{.tensor = 2, .data = 1}, {.tensor = 1, .data = 2}, {.tensor = 2, .data = 2}}) {
    const std::string name = fmt::format("ranks_{}x{}", grid.tensor, grid.data);
    const train_lm::Results results = run(options_of(name.c_str(), grid));
    const double loss = results.twins[0].validation_loss;
    fmt::print("{}: {:.6f} bits per byte, alone {:.6f}\n", name, loss, alone);
    expect.that(std::abs(loss - alone) < kLargestDrift,
                fmt::format("{} ends at {:.6f}, alone {:.6f}", name, loss, alone));
    expect.that(results.twins[0].traffic.bytes_sent > 0, fmt::format("{} counts what it sends", name));
    expect.that(results.parameter_count == 256 * 32 * 2 + 32 + 2 * (2 * 32 + 4 * 32 * 32 + 3 * 32 * 48),
                fmt::format("{} has all parameters", name));
  }
  for (const lm::Grid &grid : {lm::Grid{.tensor = 1, .data = 3}, {.tensor = 2, .data = 2}}) {
    shares_its_state(options_of("whole_state", grid), options_of("shared_state", grid), expect);
  }
  train_lm::Options options = options_of("in_part", {.tensor = 2, .data = 1});
  options.recipe = "bf16";
  options.synced = 0.5;
  options.wire = "int8_1x32";
  options.train.steps = 150;
  options.train.batch = 16;
  options.has_no_twin = false;
  const train_lm::Results results = run(options);
  fmt::print("in part: gap {:+.2f} %\n", results.gap_percent());
  expect.that(results.gap_percent() < kLargestGap,
              fmt::format("in part it ends {:.2f} % above", results.gap_percent()));
  expect.that(results.twins[0].traffic.bytes_sent < results.twins[1].traffic.bytes_sent / 3,
              "half of the channels in a quarter of the bytes");
  expect.rejects(
      [&] {
        train_lm::Options wrong = options_of("wrong", {});
        wrong.wire = "int9";
        train_lm::Run{wrong};
      },
      "int9");
}

// Every recipe and every state by name: the loss is far below the initial eight bits per byte.
void learns_by_every_name(const std::string &folder, lm::Expect &expect) {
  const auto learns = [&](const std::string &recipe, const std::string &state, const std::string &method) {
    const std::string name = fmt::format("{}-{}-{}", recipe, state, method);
    train_lm::Options options = small_options(folder, name);
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
    train_lm::Options options =
        small_options(folder, fmt::format("{}_{}_{}_{}", name, recipe, micro_batches, grid.ranks()));
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
  train_lm::Options first = options_of("first");
  first.stop_after = 9;
  run(first);
  train_lm::Options second = options_of("second");
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
  train_lm::Options options = small_options(folder, "autopilot");
  options.recipe = "fp4_all_the_way";
  options.train.pilot_budget = 0.3;
  options.train.steps = 60;
  const train_lm::Results results = run(options);
  const double share = results.twins[0].high_share;
  expect.that(share <= 0.3 + 1e-6 && share > 0.3 - 1.0 / 60, fmt::format("{} of the work is raised", share));
  expect.that(results.twins[1].high_share == 0.0, "the twin has no autopilot");
  const std::string csv = read(options.out + "/autopilot.csv");
  expect.that(std::count(csv.begin(), csv.end(), '\n') > 2 * 4, "each forward GEMM has a decision");
  expect.that(csv.find(",block1.down,forward,0,1,") != std::string::npos, "decisions name their layers");
}

void trains_without_a_checkpoint(const std::string &folder, lm::Expect &expect) {
  train_lm::Options options = small_options(folder, "unsaved");
  options.has_no_twin = true;
  options.checkpoint_every = 0;
  options.stop_after = 3;
  const train_lm::Results results = run(options);
  expect.that(results.steps == 3, fmt::format("{} of 3 steps without a checkpoint", results.steps));
  expect.that(!std::filesystem::exists(options.out + "/checkpoint.bin"), "no checkpoint");
  const std::vector<double> &seconds = results.twins[0].measured.step_seconds;
  expect.that(seconds.size() == 3 && *std::min_element(seconds.begin(), seconds.end()) > 0.0,
              fmt::format("{} steps have a time", seconds.size()));
}

// Training resumes after each checkpoint. The first report has the loss of the last step.
void reports_the_last_loss_at_once(const std::string &folder, lm::Expect &expect) {
  const train_lm::Options options = small_options(folder, "watched");
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

// A rank that completes no pass does not change the mean: two ranks, of which the second one stops at once, train as one rank with
// half of the batch. The gradient of SGD has no other scale.
void averages_over_complete_passes(const std::string &folder, lm::Expect &expect) {
  train_lm::Options options = small_options(folder, "complete");
  options.train.learning_rate = 0.5;
  options.train.largest_norm = 1e9;
  options.train.steps = 1;
  const lm::ByteText text = lm::ByteText::read(options.data);
  const auto validation_of = [&](const lm::Grid &grid, int64_t batch, std::vector<double> thresholds,
                                 const lm::LossySettings &lossy = {}) {
    std::vector<lm::OwnRank> ranks = lm::make_local_ranks(grid, options.train.shape.width, {});
    std::vector<std::unique_ptr<lm::Trainer>> trainers;
    for (const lm::OwnRank &rank : ranks) {
      lm::TrainSettings settings = options.train;
      settings.batch = batch;
      settings.lossy = lossy;
      settings.drop = {.is_enabled = grid.data > 1, .threshold = thresholds[static_cast<size_t>(rank.index)]};
      trainers.push_back(
          std::make_unique<lm::Trainer>(settings, lm::precision_of("f32", "", "sgd"), text, 1, rank.parallel(grid)));
    }
    lm::train_side_by_side(trainers, options.train.steps, [](std::span<const lm::Standing>) {});
    return trainers.front()->measured();
  };
  const lm::Measured alone = validation_of({}, 4, {0.0});
  for (const bool is_lossy : {false, true}) {
    const lm::Measured both = validation_of({.tensor = 1, .data = 2}, 8, {1e6, 1e-9}, {.is_enabled = is_lossy});
    expect.that(both.kept == std::vector<double>{0.5}, "one rank of two keeps half of the passes");
    expect.that(both.training == alone.training && both.validation == alone.validation,
                fmt::format("the loss of one rank of two is {:.17g}, alone {:.17g}, by packets: {}",
                            both.validation.back(), alone.validation.back(), is_lossy));
  }
  options.train.steps = 3;
  const auto later = [&](bool is_lossy) {
    return validation_of({.tensor = 1, .data = 2}, 8, {1e6, 1e-9}, {.is_enabled = is_lossy}).training;
  };
  expect.that(later(false) == later(true), "packets give the losses of reliable collectives, with a rank that stops");
}

// Weights, moments, and the amaxes of delayed scales, although each rank casts other batches.
void has_the_same_state_on_data_ranks(const std::string &folder, lm::Expect &expect) {
  train_lm::Options options = small_options(folder, "data_ranks");
  options.train.steps = 3;
  const lm::Grid grid{.tensor = 1, .data = 2};
  const lm::ByteText text = lm::ByteText::read(options.data);
  std::vector<lm::OwnRank> ranks = lm::make_local_ranks(grid, options.train.shape.width, {});
  std::vector<std::unique_ptr<lm::Trainer>> trainers;
  for (const lm::OwnRank &rank : ranks) {
    trainers.push_back(
        std::make_unique<lm::Trainer>(options.train, lm::precision_of("fp8_trillion"), text, 1, rank.parallel(grid)));
  }
  lm::train_side_by_side(trainers, 3, [](std::span<const lm::Standing>) {});
  std::vector<std::string> states;
  for (const std::unique_ptr<lm::Trainer> &trainer : trainers) {
    lm::ArchiveWriter archive;
    trainer->save(archive, "rank");
    archive.write(folder + "/rank.bin");
    states.push_back(read(folder + "/rank.bin"));
  }
  expect.that(states[0].size() > 1000 && states[0] == states[1], "data-parallel ranks have the same state");
}

// A threshold that no rank reaches changes no bit. If all ranks stop at once, every step is skipped.
void drops_nothing_or_all(const std::string &folder, lm::Expect &expect) {
  const auto measured_of = [&](const char *name, double threshold) {
    train_lm::Options options = small_options(folder, name);
    options.recipe = threshold < 1.0 ? "f32" : "fp8_trillion";  // scales of skipped steps change
    options.train.micro_batches = 2;
    options.grid.data = 2;
    options.has_no_twin = true;
    options.train.drop = {.is_enabled = std::isfinite(threshold), .threshold = threshold};
    return run(options).twins[0].measured;
  };
  const lm::Measured whole = measured_of("whole_steps", INFINITY), kept = measured_of("kept_steps", 1e6);
  expect.that(kept.training == whole.training && kept.validation == whole.validation, "a late threshold drops nothing");
  expect.that(kept.kept == std::vector<double>(20, 1.0), "a late threshold keeps all passes");
  const lm::Measured none = measured_of("no_steps", 1e-9);
  expect.that(none.kept == std::vector<double>(20, 0.0), "an early threshold keeps no pass");
  expect.that(none.validation.front() == none.validation.back(), "skipped steps change no weight");
}

// A scale that is a power of two changes no bit. With one that makes gradients infinite, all steps are skipped.
void scales_the_loss(const std::string &folder, lm::Expect &expect) {
  const auto measured_of = [&](const std::string &scale, const lm::Grid &grid) {
    train_lm::Options options = small_options(folder, fmt::format("scale_{}_{}", scale, grid.ranks()));
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

// The threshold of stragglers is found after 50 steps, saved, and reported.
void drops_stragglers(const std::string &folder, lm::Expect &expect) {
  const auto options_of = [&](const char *name) {
    train_lm::Options options = small_options(folder, name);
    options.recipe = "f32";
    options.train.steps = 90;
    options.train.batch = 16;
    options.train.micro_batches = 4;
    options.grid.data = 2;
    options.train.drop = {.is_enabled = true, .stragglers = 8.0};
    return options;
  };
  train_lm::Options delayed = options_of("delayed");
  delayed.stop_after = 10;
  delayed.train.drop = {.is_enabled = true, .threshold = 0.02, .stragglers = 1000.0};  // delays of half a second
  expect.that(run(delayed).twins[0].dropped_share() > 0.1, "delayed passes are dropped");
  train_lm::Options first = options_of("stragglers");
  first.stop_after = 70;
  const train_lm::TwinResult found = run(first).twins[0];
  fmt::print("stragglers: {:.1f} % dropped after {:.4f} s, speedup {:.2f} predicted, {:.4f} bits per byte\n",
             100.0 * found.dropped_share(), found.drop.threshold, found.drop.speedup, found.validation_loss);
  expect.that(found.drop.first_step == 50, fmt::format("a threshold after step {}", found.drop.first_step));
  expect.that(std::isfinite(found.drop.threshold) == (found.drop.speedup > 1.0),
              fmt::format("a threshold of {} s, speedup {}", found.drop.threshold, found.drop.speedup));
  expect.that(std::count(found.measured.kept.begin(), found.measured.kept.begin() + 50, 1.0) == 50,
              "no pass is dropped while times are measured");
  train_lm::Options second = options_of("stragglers_resumed");
  second.resume = first.out + "/checkpoint.bin";
  const train_lm::TwinResult resumed = run(second).twins[0];
  expect.that(resumed.drop.threshold == found.drop.threshold && resumed.drop.first_step == 50,
              "a resumed run has the threshold");
  expect.that(resumed.measured.kept.size() == 90, "a resumed run has the kept passes of all steps");
  expect.that(read(second.out + "/losses.csv").starts_with("step,f32_training,f32_validation,f32_kept\n"),
              "losses.csv has the kept passes");
  const std::string json = read(second.out + "/metrics.json");
  for (const char *key : {"drop_threshold_seconds", "dropped_share", "steps_per_second", "drop_predicted_speedup"}) {
    expect.that(json.find(fmt::format("\"{}\": ", key)) != std::string::npos, fmt::format("metrics.json has {}", key));
  }
}

train_lm::Options packet_options(const std::string &folder, const std::string &state, const std::string &lossy) {
  train_lm::Options options = small_options(folder, fmt::format("packets_{}_{}", state, lossy));
  options.recipe = "fp8_current";
  options.state = state;
  options.grid.data = 3;
  options.train.micro_batches = 2;
  options.train.batch = 12;
  options.has_no_twin = true;
  options.lossy = lossy;
  options.train.lossy = train_lm::lossy_of(options);
  return options;
}

// Without loss, packets give the bits of reliable collectives.
void trains_by_packets(const std::string &folder, lm::Expect &expect) {
  for (const char *state : {"f32", "bf16_stochastic", "coat"}) {
    const train_lm::TwinResult reliable = run(packet_options(folder, state, "")).twins[0];
    const train_lm::TwinResult packets = run(packet_options(folder, state, "0")).twins[0];
    expect.that(packets.measured.training == reliable.measured.training &&
                    packets.measured.validation == reliable.measured.validation,
                fmt::format("packets give a loss of {:.17g}, reliable collectives {:.17g}, state {}",
                            packets.validation_loss, reliable.validation_loss, state));
    expect.that(packets.lost_share() == 0.0 && packets.links.size() == 2, "no packet is lost");
  }
}

std::vector<std::unique_ptr<lm::Trainer>> trainers_of(const train_lm::Options &options, const lm::ByteText &text,
                                                      const std::vector<lm::OwnRank> &ranks) {
  std::vector<std::unique_ptr<lm::Trainer>> trainers;
  for (const lm::OwnRank &rank : ranks) {
    trainers.push_back(std::make_unique<lm::Trainer>(options.train, lm::precision_of(options.recipe), text, 1,
                                                     rank.parallel(options.grid)));
  }
  return trainers;
}

// If no packet arrives, one rank changes a parameter, and the others keep it.
void steps_its_own_parameters(const std::string &folder, lm::Expect &expect) {
  const train_lm::Options options = packet_options(folder, "f32", "0.999999999");
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::vector<lm::OwnRank> ranks = lm::make_local_ranks(options.grid, options.train.shape.width, {});
  const std::vector<std::unique_ptr<lm::Trainer>> trainers = trainers_of(options, text, ranks);
  const auto value_of = [&](lm::Trainer &trainer, const char *name) {
    lm::ArchiveWriter archive;
    trainer.save(archive, "rank");
    archive.write(folder + "/rank.bin");
    const lm::ArchiveReader reader(folder + "/rank.bin");
    return reader.get_numbers<float>(fmt::format("rank/value/{}/{}", name, LPT_TENSOR_PART_PAYLOAD + 0));
  };
  constexpr const char *kNames[] = {"embedding",      "block0.attention_norm", "block0.qkv",  "block0.output",
                                    "block0.gate_up", "block0.down",           "block1.down", "head"};
  std::vector<std::vector<float>> first;
  for (const char *name : kNames) {
    first.push_back(value_of(*trainers[0], name));
  }
  lm::train_side_by_side(trainers, 1, [](std::span<const lm::Standing>) {});
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const auto changed = std::count_if(trainers.begin(), trainers.end(),
                                       [&](const auto &trainer) { return value_of(*trainer, kNames[i]) != first[i]; });
    expect.that(changed == 1, fmt::format("{} ranks change {}", changed, kNames[i]));
  }
}

// Replicas drift apart until the last step. The share of lost packets is within four standard deviations of its probability.
void learns_in_spite_of_lost_packets(const std::string &folder, lm::Expect &expect) {
  constexpr double kLoss = 0.3;
  train_lm::Options options = packet_options(folder, "f32", fmt::format("{}", kLoss));
  options.train.steps = 40;
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::vector<lm::OwnRank> ranks = lm::make_local_ranks(options.grid, options.train.shape.width, {});
  const std::vector<std::unique_ptr<lm::Trainer>> trainers = trainers_of(options, text, ranks);
  const auto validations_of = [&](int64_t step) {
    lm::train_side_by_side(trainers, step, [](std::span<const lm::Standing>) {});
    std::set<double> losses;
    for (const std::unique_ptr<lm::Trainer> &trainer : trainers) {
      losses.insert(trainer->measured().validation.back());
    }
    return losses;
  };
  expect.that(validations_of(35).size() == 3, "replicas differ");
  const std::set<double> last = validations_of(40);
  expect.that(last.size() == 1 && *last.begin() < kLargestEarlyLoss,
              fmt::format("{} losses of replicas at the end, {:.3f} bits per byte", last.size(), *last.begin()));
  for (const std::unique_ptr<lm::Trainer> &trainer : trainers) {
    for (const lm::LinkCounts &link : trainer->links()) {
      const auto sent = static_cast<double>(link.received + link.lost);
      const double deviation = std::sqrt(kLoss * (1.0 - kLoss) / sent);
      expect.that(link.sent > 1000 && std::abs(static_cast<double>(link.lost) / sent - kLoss) < 4.0 * deviation,
                  fmt::format("{} of {} packets of rank {} are lost", link.lost, sent, link.peer));
    }
  }
}

void rejects_bad_options(const std::string &folder, lm::Expect &expect) {
  train_lm::Options options = small_options(folder, "wrong");
  const std::string good = read(folder + "/first_fp8_trillion_1_1/checkpoint.bin");
  options.resume = folder + "/damaged.bin";
  write(options.resume, good.substr(0, good.size() / 2));
  expect.rejects([&] { train_lm::Run{options}; }, "truncated or damaged");
  std::string flipped = good;
  flipped[good.size() / 3] = static_cast<char>(flipped[good.size() / 3] ^ 4);
  write(options.resume, flipped);
  expect.rejects([&] { train_lm::Run{options}; }, "truncated or damaged");
  write(options.resume, "something else altogether");
  expect.rejects([&] { train_lm::Run{options}; }, "is not a checkpoint");
  options.resume.clear();
  options.data = folder + "/short.txt";
  write(options.data, "too short");
  expect.rejects([&] { train_lm::Run{options}; }, "expected at least");
  options.data = folder + "/missing.txt";
  expect.rejects([&] { train_lm::Run{options}; }, "cannot be opened");
}

}  // namespace

int main(int argument_count, char **arguments) {
  if (argument_count != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", arguments[0]);
    return 2;
  }
  const std::string folder = arguments[1];
  std::filesystem::create_directories(folder);
  write(folder + "/text.txt", made_up_text());
  lm::Expect expect;
  learns_and_stays_near_its_twin(folder, expect);
  trains_without_a_checkpoint(folder, expect);
  stays_within_its_budget(folder, expect);
  reports_the_last_loss_at_once(folder, expect);
  learns_in_ranks(folder, expect);
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
  averages_over_complete_passes(folder, expect);
  has_the_same_state_on_data_ranks(folder, expect);
  scales_the_loss(folder, expect);
  drops_nothing_or_all(folder, expect);
  drops_stragglers(folder, expect);
  trains_by_packets(folder, expect);
  steps_its_own_parameters(folder, expect);
  learns_in_spite_of_lost_packets(folder, expect);
  rejects_bad_options(folder, expect);
  return expect.exit_code();
}
