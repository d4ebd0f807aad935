// Trains a small model on several ranks, which share layers, the batch or the optimizer state. They stop early, lose packets, or
// average weights during the next step.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "../../lm/side_by_side.hpp"
#include "run_support.hpp"

namespace train_lm {
namespace {

constexpr double kLargestDrift = 1e-3;  // bits per byte between synchronized ranks and one rank, after 20 steps

std::vector<std::unique_ptr<lm::Trainer>> trainers_of(const Options &options, const lm::Precision &precision,
                                                      const lm::ByteText &text, const std::vector<lm::OwnRank> &ranks) {
  std::vector<std::unique_ptr<lm::Trainer>> trainers;
  for (const lm::OwnRank &rank : ranks) {
    trainers.push_back(std::make_unique<lm::Trainer>(options.train, precision, text, 1, rank.parallel(options.grid)));
  }
  return trainers;
}

// Ranks that share the optimizer state have the same bits as ranks with the full state.
void shares_its_state(Options whole, Options shared, lm::Expect &expect) {
  for (Options *options : {&whole, &shared}) {
    options->recipe = "fp8_trillion";
    options->train.batch = 12;
    options->train.micro_batches = 2;
  }
  shared.train.zero = 1;
  const std::string name = fmt::format("{}x{}", whole.grid.tensor, whole.grid.data);
  const TwinResult expected = run(whole).twins[0], found = run(shared).twins[0];
  expect.that(found.measured.training == expected.measured.training, fmt::format("{} in shards learns the same", name));
  expect.that(found.validation_loss == expected.validation_loss, fmt::format("{} in shards ends the same", name));
  expect.that(found.bytes.moments < expected.bytes.moments, fmt::format("{} in shards has less state", name));
}

// Ranks that share layers, the batch, or both. With full synchronization they equal a single rank except for the order of sums.
// With partial synchronization they learn too.
void learns_in_ranks(const std::string &folder, lm::Expect &expect) {
  const auto options_of = [&](const char *name, const lm::Grid &grid) {
    Options options = small_options(folder, name);
    options.recipe = "f32";
    options.grid = grid;
    options.has_no_twin = true;
    return options;
  };
  const double alone = run(options_of("alone", {})).twins[0].validation_loss;
  for (const lm::Grid &grid : {lm::Grid{.tensor = 2, .data = 1},
                               {.tensor = 1, .data = 2},
                               {.tensor = 2, .data = 2},
                               {.sequence = 2},
                               {.tensor = 2, .data = 2, .sequence = 2}}) {
    const std::string name = fmt::format("ranks_{}x{}x{}", grid.tensor, grid.data, grid.sequence);
    const Results results = run(options_of(name.c_str(), grid));
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
  Options divided = options_of("divided", {.data = 2, .sequence = 2});
  divided.sequence_wire = "int8_1x32";
  divided.sample_bytes = 5;
  const double cast_loss = run(divided).twins[0].validation_loss;
  fmt::print("keys and values in int8: {:.6f} bits per byte\n", cast_loss);
  expect.that(cast_loss != alone && std::abs(cast_loss - alone) < 10 * kLargestDrift,
              fmt::format("keys and values in int8 end at {:.6f}, alone {:.6f}", cast_loss, alone));
  Options options = options_of("in_part", {.tensor = 2, .data = 1});
  options.recipe = "bf16";
  options.synced = 0.5;
  options.wire = "int8_1x32";
  options.train.steps = 150;
  options.train.batch = 16;
  options.has_no_twin = false;
  const Results results = run(options);
  fmt::print("in part: gap {:+.2f} %\n", results.gap_percent());
  expect.that(results.gap_percent() < kLargestGap,
              fmt::format("in part it ends {:.2f} % above", results.gap_percent()));
  expect.that(results.twins[0].traffic.bytes_sent < results.twins[1].traffic.bytes_sent / 3,
              "half of the channels in a quarter of the bytes");
  expect.rejects(
      [&] {
        Options wrong = options_of("wrong", {});
        wrong.wire = "int9";
        Run{wrong};
      },
      "int9");
}

// A rank that completes no pass does not change the mean: two ranks, of which the second one stops at once, train as one rank with
// half of the batch. The gradient of SGD has no other scale.
void averages_over_complete_passes(const std::string &folder, lm::Expect &expect) {
  Options options = small_options(folder, "complete");
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
  Options options = small_options(folder, "data_ranks");
  options.train.steps = 3;
  options.grid.data = 2;
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::vector<lm::OwnRank> ranks = lm::make_local_ranks(options.grid, options.train.shape.width, {});
  const std::vector<std::unique_ptr<lm::Trainer>> trainers =
      trainers_of(options, lm::precision_of("fp8_trillion"), text, ranks);
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
    Options options = small_options(folder, name);
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

// The threshold of stragglers is found after 50 steps, saved, and reported.
void drops_stragglers(const std::string &folder, lm::Expect &expect) {
  const auto options_of = [&](const char *name) {
    Options options = small_options(folder, name);
    options.recipe = "f32";
    options.train.steps = 90;
    options.train.batch = 16;
    options.train.micro_batches = 4;
    options.grid.data = 2;
    options.train.drop = {.is_enabled = true, .stragglers = 8.0};
    return options;
  };
  Options delayed = options_of("delayed");
  delayed.stop_after = 10;
  delayed.train.drop = {.is_enabled = true, .threshold = 0.02, .stragglers = 1000.0};  // delays of half a second
  expect.that(run(delayed).twins[0].dropped_share() > 0.1, "delayed passes are dropped");
  Options first = options_of("stragglers");
  first.stop_after = 70;
  const TwinResult found = run(first).twins[0];
  fmt::print("stragglers: {:.1f} % dropped after {:.4f} s, speedup {:.2f} predicted, {:.4f} bits per byte\n",
             100.0 * found.dropped_share(), found.drop.threshold, found.drop.speedup, found.validation_loss);
  expect.that(found.drop.first_step == 50, fmt::format("a threshold after step {}", found.drop.first_step));
  expect.that(std::isfinite(found.drop.threshold) == (found.drop.speedup > 1.0),
              fmt::format("a threshold of {} s, speedup {}", found.drop.threshold, found.drop.speedup));
  expect.that(std::count(found.measured.kept.begin(), found.measured.kept.begin() + 50, 1.0) == 50,
              "no pass is dropped while times are measured");
  Options second = options_of("stragglers_resumed");
  second.resume = first.out + "/checkpoint.bin";
  const TwinResult resumed = run(second).twins[0];
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

Options packet_options(const std::string &folder, const std::string &state, const std::string &lossy) {
  Options options = small_options(folder, fmt::format("packets_{}_{}", state, lossy));
  options.recipe = "fp8_current";
  options.state = state;
  options.grid.data = 3;
  options.train.micro_batches = 2;
  options.train.batch = 12;
  options.has_no_twin = true;
  options.lossy = lossy;
  options.train.lossy = lossy_of(options);
  return options;
}

// Without loss, packets give the bits of reliable collectives.
void trains_by_packets(const std::string &folder, lm::Expect &expect) {
  for (const char *state : {"f32", "bf16_stochastic", "coat"}) {
    const TwinResult reliable = run(packet_options(folder, state, "")).twins[0];
    const TwinResult packets = run(packet_options(folder, state, "0")).twins[0];
    expect.that(packets.measured.training == reliable.measured.training &&
                    packets.measured.validation == reliable.measured.validation,
                fmt::format("packets give a loss of {:.17g}, reliable collectives {:.17g}, state {}",
                            packets.validation_loss, reliable.validation_loss, state));
    expect.that(packets.lost_share() == 0.0 && packets.links.size() == 2, "no packet is lost");
  }
}

std::vector<float> value_of(lm::Trainer &trainer, const std::string &folder, const char *name) {
  lm::ArchiveWriter archive;
  trainer.save(archive, "rank");
  archive.write(folder + "/rank.bin");
  const lm::ArchiveReader reader(folder + "/rank.bin");
  return reader.get_numbers<float>(fmt::format("rank/value/{}/{}", name, LPT_TENSOR_PART_PAYLOAD + 0));
}

// If no packet arrives, one rank changes a parameter, and the others keep it.
void steps_its_own_parameters(const std::string &folder, lm::Expect &expect) {
  const Options options = packet_options(folder, "f32", "0.999999999");
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::vector<lm::OwnRank> ranks = lm::make_local_ranks(options.grid, options.train.shape.width, {});
  const std::vector<std::unique_ptr<lm::Trainer>> trainers =
      trainers_of(options, lm::precision_of(options.recipe), text, ranks);
  constexpr const char *kNames[] = {"embedding",      "block0.attention_norm", "block0.qkv",  "block0.output",
                                    "block0.gate_up", "block0.down",           "block1.down", "head"};
  std::vector<std::vector<float>> first;
  for (const char *name : kNames) {
    first.push_back(value_of(*trainers[0], folder, name));
  }
  lm::train_side_by_side(trainers, 1, [](std::span<const lm::Standing>) {});
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const auto changed = std::count_if(trainers.begin(), trainers.end(), [&](const auto &trainer) {
      return value_of(*trainer, folder, kNames[i]) != first[i];
    });
    expect.that(changed == 1, fmt::format("{} ranks change {}", changed, kNames[i]));
  }
}

// Replicas drift apart until the last step. The share of lost packets is within four standard deviations of its probability.
void learns_in_spite_of_lost_packets(const std::string &folder, lm::Expect &expect) {
  constexpr double kLoss = 0.3;
  Options options = packet_options(folder, "f32", fmt::format("{}", kLoss));
  options.train.steps = 40;
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::vector<lm::OwnRank> ranks = lm::make_local_ranks(options.grid, options.train.shape.width, {});
  const std::vector<std::unique_ptr<lm::Trainer>> trainers =
      trainers_of(options, lm::precision_of(options.recipe), text, ranks);
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

Options delayed_options(const std::string &folder, const char *name) {
  Options options = small_options(folder, name);
  options.recipe = "f32";
  options.grid.data = 2;
  options.has_no_twin = true;
  options.train.delay_compensation = 0.2;
  return options;
}

// Ranks with equal batches have equal weights, and train as one rank.
void averages_equal_weights(const std::string &folder, lm::Expect &expect) {
  const Options options = delayed_options(folder, "equal_weights");
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::vector<lm::OwnRank> ranks = lm::make_local_ranks(options.grid, options.train.shape.width, {});
  std::vector<std::unique_ptr<lm::Trainer>> trainers;
  for (const lm::OwnRank &rank : ranks) {
    trainers.push_back(std::make_unique<lm::Trainer>(options.train, lm::precision_of("f32"), text, 1,
                                                     lm::Parallel{.data = rank.data.get()}));
  }
  lm::Trainer alone(options.train, lm::precision_of("f32"), text, 1);
  alone.train_until(options.train.steps);
  lm::train_side_by_side(trainers, options.train.steps, [](std::span<const lm::Standing>) {});
  for (const std::unique_ptr<lm::Trainer> &trainer : trainers) {
    expect.that(trainer->measured().training == alone.measured().training &&
                    trainer->measured().validation == alone.measured().validation,
                "ranks with equal batches train as one rank");
  }
}

// A step of Lion changes each weight by the learning rate. So the weights of two ranks differ by twice that or by nothing, because
// the average replaces them before each step. It also replaces those of the last step.
void averages_during_the_next_step(const std::string &folder, lm::Expect &expect) {
  Options options = delayed_options(folder, "lion");
  options.train.weight_decay = 0.0;
  const lm::ByteText text = lm::ByteText::read(options.data);
  const std::vector<lm::OwnRank> ranks = lm::make_local_ranks(options.grid, options.train.shape.width, {});
  const std::vector<std::unique_ptr<lm::Trainer>> trainers =
      trainers_of(options, lm::precision_of("f32", "", "lion"), text, ranks);
  for (const int64_t step : {1, 10}) {
    lm::train_side_by_side(trainers, step, [](std::span<const lm::Standing>) {});
    const double rate = lm::learning_rate_at(options.train, step - 1);
    for (const char *name : {"block0.output", "block0.qkv", "block1.down", "head"}) {
      const std::vector<float> one = value_of(*trainers[0], folder, name), other = value_of(*trainers[1], folder, name);
      int64_t equal = 0, apart = 0;
      for (size_t i = 0; i < one.size(); ++i) {
        const double distance = std::abs(static_cast<double>(one[i]) - other[i]);
        equal += distance <= 1e-3 * rate ? 1 : 0;
        apart += std::abs(distance - 2.0 * rate) <= 1e-3 * rate ? 1 : 0;
      }
      expect.that(apart > 0 && equal + apart == std::ssize(one),
                  fmt::format("step {}: {} elements of {} are equal and {} apart, of {}", step, equal, name, apart,
                              one.size()));
    }
  }
  lm::train_side_by_side(trainers, options.train.steps, [](std::span<const lm::Standing>) {});
  expect.that(value_of(*trainers[0], folder, "head") == value_of(*trainers[1], folder, "head"),
              "replicas are equal at the end");
}

// The correction changes the losses. A checkpoint has the average that the next step uses.
void resumes_with_an_average(const std::string &folder, lm::Expect &expect) {
  run(delayed_options(folder, "delayed"));
  Options plain = delayed_options(folder, "uncorrected");
  plain.train.delay_compensation = 0.0;
  run(plain);
  Options first = delayed_options(folder, "delayed_first"), second = delayed_options(folder, "delayed_second");
  first.stop_after = 9;
  run(first);
  second.resume = first.out + "/checkpoint.bin";
  run(second);
  const std::string whole = read(folder + "/delayed/losses.csv");
  expect.that(!whole.empty() && read(plain.out + "/losses.csv") != whole, "the correction changes the losses");
  expect.that(read(second.out + "/losses.csv") == whole, "a resumed run with an average repeats the losses");
  expect.that(read(second.out + "/checkpoint.bin") == read(folder + "/delayed/checkpoint.bin"),
              "a resumed run with an average leaves the same checkpoint");
}

void run_all(const std::string &folder, lm::Expect &expect) {
  learns_in_ranks(folder, expect);
  averages_over_complete_passes(folder, expect);
  has_the_same_state_on_data_ranks(folder, expect);
  drops_nothing_or_all(folder, expect);
  drops_stragglers(folder, expect);
  trains_by_packets(folder, expect);
  steps_its_own_parameters(folder, expect);
  learns_in_spite_of_lost_packets(folder, expect);
  averages_equal_weights(folder, expect);
  averages_during_the_next_step(folder, expect);
  resumes_with_an_average(folder, expect);
}

}  // namespace
}  // namespace train_lm

int main(int argument_count, char **arguments) {
  return train_lm::run_tests(argument_count, arguments, train_lm::run_all);
}
