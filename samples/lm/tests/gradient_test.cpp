// Compares the gradient of the full model with central differences of the loss, in f64.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../loss.hpp"
#include "../model.hpp"
#include "../random.hpp"
#include "expect.hpp"

namespace {

constexpr uint64_t kSeed = 7;
constexpr int64_t kSequences = 3;
constexpr int64_t kCoordinates = 6;  // tested per parameter
constexpr double kStep = 1e-4;
constexpr double kTolerance = 1e-5;  // of the largest tested gradient of the parameter
constexpr lm::ModelShape kShape{.width = 24, .layers = 3, .heads = 3, .hidden = 20, .sequence = 7};

struct Problem {
  lm::Context context = lm::make_context(1);
  lm::Model<double> model{context.get(), kShape, lm::precision_of("f32"), kSeed, lm::Parallel{}};
  lm::Activations<double> activations = model.make_activations(context.get(), kSequences);
  std::vector<uint8_t> inputs;
  std::vector<uint8_t> targets;

  Problem() {
    for (uint64_t i = 0; i < static_cast<uint64_t>(kSequences * kShape.sequence); ++i) {
      inputs.push_back(static_cast<uint8_t>(lm::random_bits(kSeed, 1000, i) % 5));  // few values, so that bytes repeat
      targets.push_back(static_cast<uint8_t>(lm::random_bits(kSeed, 1001, i)));
    }
  }

  double *numbers(const lm::Tensor &tensor) {
    return static_cast<double *>(lm::tensor_data(context.get(), tensor.get()));
  }

  double loss() {
    model.prepare(context.get(), 0);
    model.forward(context.get(), inputs, {.is_training = false}, activations);
    return lm::cross_entropy(context.get(), nullptr, activations.logits, targets);
  }

  void backward(bool is_accumulated) {
    const lm::Pass pass{.is_accumulated = is_accumulated};
    model.prepare(context.get(), 0);
    model.forward(context.get(), inputs, pass, activations);
    lm::cross_entropy_to_gradient(context.get(), nullptr, activations.logits, targets);
    model.backward(context.get(), inputs, pass, activations);
  }
};

// Norm weights start at one, which would hide a missing factor.
void disturb(Problem &problem) {
  for (const lm::Parameter &parameter : problem.model.parameters()) {
    double *values = problem.numbers(parameter.value);
    for (int64_t i = 0; i < parameter.elements(); ++i) {
      values[i] += 0.2 * lm::random_normal(kSeed, 2000 + parameter.index, static_cast<uint64_t>(i));
    }
  }
}

// Rows of the embedding without an input have no gradient, so they are not tested.
int64_t coordinate(const lm::Parameter &parameter, int64_t draw) {
  const int64_t rows = parameter.name == "embedding" ? 5 : parameter.rows;
  return static_cast<int64_t>(lm::random_bits(kSeed, 3000 + parameter.index, static_cast<uint64_t>(draw)) %
                              static_cast<uint64_t>(rows * parameter.columns));
}

double central_difference(Problem &problem, double &value) {
  const double kept = value;
  value = kept + kStep;
  const double above = problem.loss();
  value = kept - kStep;
  const double below = problem.loss();
  value = kept;
  return (above - below) / (2.0 * kStep);
}

void check_parameter(Problem &problem, const lm::Parameter &parameter, lm::Expect &expect) {
  double largest = 0.0;
  double error = 0.0;
  for (int64_t draw = 0; draw < kCoordinates; ++draw) {
    const int64_t i = coordinate(parameter, draw);
    const double gradient = problem.numbers(parameter.gradient)[i];
    const double difference = central_difference(problem, problem.numbers(parameter.value)[i]);
    largest = std::max(largest, std::abs(difference));
    error = std::max(error, std::abs(gradient - difference));
  }
  fmt::print("{:<22} largest gradient {:.3e}, error {:.1e} of it\n", parameter.name, largest, error / largest);
  expect.that(largest > 0.0 && error <= kTolerance * largest, fmt::format("the gradient of {}", parameter.name));
}

// A second, accumulating pass must double every gradient.
void check_accumulation(Problem &problem, lm::Expect &expect) {
  std::vector<double> once;
  for (const lm::Parameter &parameter : problem.model.parameters()) {
    const double *gradient = problem.numbers(parameter.gradient);
    once.insert(once.end(), gradient, gradient + parameter.elements());
  }
  problem.backward(true);
  size_t i = 0;
  for (const lm::Parameter &parameter : problem.model.parameters()) {
    double error = 0.0;
    for (int64_t e = 0; e < parameter.elements(); ++e, ++i) {
      error = std::max(error, std::abs(problem.numbers(parameter.gradient)[e] - 2.0 * once[i]));
    }
    expect.that(error <= 1e-12, fmt::format("the gradient of {} adds up, error {:.1e}", parameter.name, error));
  }
}

}  // namespace

int main() {
  lm::Expect expect;
  Problem problem;
  disturb(problem);
  problem.backward(false);
  for (const lm::Parameter &parameter : problem.model.parameters()) {
    check_parameter(problem, parameter, expect);
  }
  check_accumulation(problem, expect);
  return expect.exit_code();
}
