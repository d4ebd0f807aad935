// Compares the gradient of a model that is split among ranks with central differences of the loss, in f64. Also tests a single
// rank, and ranks with full synchronization.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "../grid.hpp"
#include "../loss.hpp"
#include "../model.hpp"
#include "../random.hpp"
#include "expect.hpp"

namespace {

constexpr uint64_t kSeed = 7;
constexpr int64_t kSequences = 2;
constexpr int64_t kCoordinates = 4;  // tested per parameter and rank
constexpr double kStep = 1e-4;
constexpr double kTolerance = 1e-8;  // of gradients whose largest is about 0.1
constexpr lm::ModelShape kShape{.width = 32, .layers = 2, .heads = 4, .hidden = 24, .sequence = 5};

std::mutex expecting;

struct Text {
  std::vector<uint8_t> inputs;
  std::vector<uint8_t> targets;

  Text() {
    for (uint64_t i = 0; i < static_cast<uint64_t>(kSequences * kShape.sequence); ++i) {
      inputs.push_back(static_cast<uint8_t>(lm::random_bits(kSeed, 1000, i) % 5));
      targets.push_back(static_cast<uint8_t>(lm::random_bits(kSeed, 1001, i)));
    }
  }
};

// The model of one rank. All ranks make the same calls.
struct RankModel {
  RankModel(lm::OwnRank &rank, const lm::Grid &grid)
      : ranks(*rank.tensor),
        model(context.get(), kShape, lm::precision_of("f32"), kSeed, rank.parallel(grid)),
        activations(model.make_activations(context.get(), kSequences)) {}

  double *numbers(const lm::Tensor &tensor) {
    return static_cast<double *>(lm::tensor_data(context.get(), tensor.get()));
  }

  double loss() {
    model.prepare(context.get(), 0);
    model.forward(context.get(), text.inputs, {.is_training = false}, activations);
    return lm::cross_entropy(context.get(), &ranks, activations.logits, text.targets);
  }

  void backward() {
    model.prepare(context.get(), 0);
    model.forward(context.get(), text.inputs, {}, activations);
    lm::cross_entropy_to_gradient(context.get(), &ranks, activations.logits, text.targets);
    model.backward(context.get(), text.inputs, {}, activations);
    std::vector<lpt_tensor *> norms;
    for (const lm::Parameter &parameter : model.parameters()) {
      if (!parameter.is_matrix) {
        norms.push_back(parameter.gradient.get());
      }
    }
    ranks.sum(context.get(), norms);
  }

  Text text;
  lm::Context context = lm::make_context(1);
  lm::TensorRanks &ranks;
  lm::Model<double> model;
  lm::Activations<double> activations;
};

template <typename Body>
void on_all_ranks(int64_t count, double share, const Body &body) {
  const lm::Grid grid{.tensor = count};
  std::vector<lm::OwnRank> ranks = lm::make_local_ranks(grid, kShape.width, {.share = share});
  std::vector<std::jthread> threads;
  for (lm::OwnRank &rank : ranks) {
    threads.emplace_back([&] {
      RankModel one(rank, grid);
      body(one);
    });
  }
}

// Norm weights start at one, which would hide a missing factor. All ranks have the same values.
void disturb(RankModel &one) {
  for (const lm::Parameter &parameter : one.model.parameters()) {
    const uint64_t rank = parameter.is_sharded ? static_cast<uint64_t>(one.ranks.rank()) : 0;
    for (int64_t i = 0; i < parameter.elements(); ++i) {
      one.numbers(parameter.value)[i] +=
          0.2 * lm::random_normal(kSeed, 2000 + 64 * rank + parameter.index, static_cast<uint64_t>(i));
    }
  }
}

// Changes shards on one rank, and replicated parameters on all ranks.
double central_difference(RankModel &one, bool is_mine, double &value) {
  const double kept = value;
  value = is_mine ? kept + kStep : kept;
  const double above = one.loss();
  value = is_mine ? kept - kStep : kept;
  const double below = one.loss();
  value = kept;
  return (above - below) / (2.0 * kStep);
}

void check_parameter(RankModel &one, const lm::Parameter &parameter, lm::Expect &expect) {
  double largest = 0.0;
  double error = 0.0;
  for (int64_t owner = 0; owner < (parameter.is_sharded ? one.ranks.ranks() : 1); ++owner) {
    const bool is_mine = !parameter.is_sharded || one.ranks.rank() == owner;
    for (int64_t draw = 0; draw < kCoordinates; ++draw) {
      const int64_t rows = parameter.name == "embedding" ? 5 : parameter.rows;
      const auto i = static_cast<int64_t>(
          lm::random_bits(kSeed, 3000 + parameter.index, static_cast<uint64_t>(owner * kCoordinates + draw)) %
          static_cast<uint64_t>(rows * parameter.columns));
      const double gradient = one.numbers(parameter.gradient)[i];
      const double difference = central_difference(one, is_mine, one.numbers(parameter.value)[i]);
      if (is_mine) {
        largest = std::max(largest, std::abs(difference));
        error = std::max(error, std::abs(gradient - difference));
      }
    }
  }
  const std::lock_guard<std::mutex> lock(expecting);
  if (one.ranks.rank() == 0) {
    fmt::print("{:<22} largest gradient {:.3e}, error {:.1e}\n", parameter.name, largest, error);
  }
  expect.that(largest > 0.0 && error <= kTolerance,
              fmt::format("the gradient of {} on rank {}", parameter.name, one.ranks.rank()));
}

void check_gradients(int64_t ranks, double share, lm::Expect &expect) {
  fmt::print("{} ranks, {} of the channels in step\n", ranks, share);
  on_all_ranks(ranks, share, [&](RankModel &one) {
    disturb(one);
    one.backward();
    for (const lm::Parameter &parameter : one.model.parameters()) {
      check_parameter(one, parameter, expect);
    }
  });
}

double loss_alone() {
  const Text text;
  const lm::Context context = lm::make_context(1);
  lm::Model<double> model(context.get(), kShape, lm::precision_of("f32"), kSeed, lm::Parallel{});
  lm::Activations<double> activations = model.make_activations(context.get(), kSequences);
  model.forward(context.get(), text.inputs, {.is_training = false}, activations);
  return lm::cross_entropy(context.get(), nullptr, activations.logits, text.targets);
}

// Shards have the values of the full model. With full synchronization the losses are equal, with partial synchronization not.
void check_losses(lm::Expect &expect) {
  const double alone = loss_alone();
  for (const int64_t ranks : {2, 4}) {
    on_all_ranks(ranks, 1.0, [&](RankModel &one) {
      const double loss = one.loss();
      const std::lock_guard<std::mutex> lock(expecting);
      expect.that(std::abs(loss - alone) <= 1e-13 * alone, fmt::format("{} ranks in step give {:.17g}", ranks, loss));
    });
    on_all_ranks(ranks, 0.5, [&](RankModel &one) {
      const double loss = one.loss();
      const std::lock_guard<std::mutex> lock(expecting);
      expect.that(std::abs(loss - alone) > 1e-6, fmt::format("{} ranks in part differ", ranks));
    });
  }
}

std::vector<float> gradients_of(lm::Context &context, const lm::Model<float> &model) {
  std::vector<float> all;
  for (const lm::Parameter &parameter : model.parameters()) {
    const auto *numbers = static_cast<const float *>(lm::tensor_data(context.get(), parameter.gradient.get()));
    all.insert(all.end(), numbers, numbers + parameter.elements());
  }
  return all;
}

// Gradients averaged during backward equal those averaged after it.
void check_averages(lm::OwnRank &rank, const lm::Grid &grid, lm::Expect &expect) {
  Text text;
  for (uint8_t &byte : text.targets) {
    byte = static_cast<uint8_t>(byte + rank.index);
  }
  lm::Context context = lm::make_context(1);
  lm::Model<float> model(context.get(), kShape, lm::precision_of("f32"), kSeed, rank.parallel(grid));
  lm::Activations<float> activations = model.make_activations(context.get(), kSequences);
  const auto backward = [&](const lm::Pass &pass) {
    model.forward(context.get(), text.inputs, pass, activations);
    lm::cross_entropy_to_gradient(context.get(), rank.parallel(grid).tensor, activations.logits, text.targets);
    model.backward(context.get(), text.inputs, pass, activations);
  };
  std::vector<lpt_tensor *> tensors;
  for (const lm::Parameter &parameter : model.parameters()) {
    tensors.push_back(parameter.gradient.get());
  }
  backward({});
  lpt_reduce_options average = LPT_REDUCE_OPTIONS_INIT;
  average.reduction = LPT_REDUCTION_AVERAGE;
  lm::check(context.get(), lpt_all_reduce_many(context.get(), rank.data->handle(), tensors.data(),
                                               static_cast<int64_t>(tensors.size()), &average, nullptr));
  const std::vector<float> expected = gradients_of(context, model);
  rank.data->collect(context.get(), model.parameters());
  for (int pass = 0; pass < 2; ++pass) {
    rank.data->begin(context.get());
    backward({.ranks = rank.data.get()});
    rank.data->wait(context.get());
    const std::lock_guard<std::mutex> lock(expecting);
    expect.that(gradients_of(context, model) == expected,
                fmt::format("averages on rank {}, pass {}", rank.index, pass));
  }
}

void check_data_ranks(lm::Expect &expect) {
  const lm::Grid grid{.tensor = 1, .data = 3};
  std::vector<lm::OwnRank> ranks = lm::make_local_ranks(grid, kShape.width, {});
  std::vector<std::jthread> threads;
  for (lm::OwnRank &rank : ranks) {
    threads.emplace_back([&] { check_averages(rank, grid, expect); });
  }
}

}  // namespace

int main() {
  lm::Expect expect;
  check_losses(expect);
  check_data_ranks(expect);
  check_gradients(2, 1.0, expect);
  check_gradients(4, 0.5, expect);
  check_gradients(2, 0.25, expect);
  check_gradients(4, 0.0, expect);
  return expect.exit_code();
}
