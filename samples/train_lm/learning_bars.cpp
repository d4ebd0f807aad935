// Measures how far fp8_trillion ends from f32, against what the seed alone changes: three seeds with their twins, and
// f32 alone for two more. Prints the mean gap and the deviation of five f32 runs. Takes many minutes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "../lm/data.hpp"
#include "../lm/progress.hpp"
#include "../lm/side_by_side.hpp"

namespace {

constexpr uint64_t kPairs = 3;

struct Wish {
  std::string recipe;
  uint64_t seed = 0;
};

// Trains two models at once and gives their last validation losses, in bits per byte.
std::vector<double> train_two(const lm::TrainSettings &settings, const lm::ByteText &text,
                              const std::vector<Wish> &wishes) {
  std::vector<std::unique_ptr<lm::Trainer>> trainers;
  for (const Wish &wish : wishes) {
    lm::TrainSettings own = settings;
    own.seed = wish.seed;
    trainers.push_back(std::make_unique<lm::Trainer>(own, lm::precision_of(wish.recipe), text, 1));
  }
  lm::Progress progress(settings.steps, 0, false);
  lm::train_side_by_side(trainers, settings.steps, [&](std::span<const lm::Standing> standings) {
    progress.show(standings.front().steps, fmt::format("{} seed {}, {} seed {}", wishes[0].recipe, wishes[0].seed,
                                                       wishes[1].recipe, wishes[1].seed));
  });
  std::vector<double> losses;
  for (const auto &trainer : trainers) {
    losses.push_back(trainer->measured().validation.back());
  }
  return losses;
}

double mean(const std::vector<double> &values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

// Of a sample: divided by one less than its size.
double deviation(const std::vector<double> &values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += (value - mean(values)) * (value - mean(values));
  }
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

void measure(const lm::TrainSettings &settings, const lm::ByteText &text, const std::string &recipe) {
  std::vector<double> full;
  std::vector<double> gaps;
  for (uint64_t seed = 1; seed <= kPairs; ++seed) {
    const std::vector<double> losses = train_two(settings, text, {{recipe, seed}, {"f32", seed}});
    full.push_back(losses[1]);
    gaps.push_back(losses[0] - losses[1]);
    fmt::print("seed {}: {} {:.4f}, f32 {:.4f}, gap {:+.4f} bits per byte, {:+.2f} %\n", seed, recipe, losses[0],
               losses[1], gaps.back(), 100.0 * gaps.back() / losses[1]);
  }
  const std::vector<double> more = train_two(settings, text, {{"f32", kPairs + 1}, {"f32", kPairs + 2}});
  full.insert(full.end(), more.begin(), more.end());
  fmt::print("seeds {} and {}: f32 {:.4f} and {:.4f}\n", kPairs + 1, kPairs + 2, more[0], more[1]);
  fmt::print("mean gap {:+.4f} bits per byte, {:+.2f} %; f32 over {} seeds: mean {:.4f}, deviation {:.4f}\n",
             mean(gaps), 100.0 * mean(gaps) / mean(full), full.size(), mean(full), deviation(full));
}

}  // namespace

int main(int argument_count, char **arguments) {
  lm::TrainSettings settings;
  std::string data;
  std::string recipe = "fp8_trillion";
  CLI::App app("Measures the gap between a recipe and f32 over seeds.");
  app.add_option("--data", data, "Text to learn")->required();
  app.add_option("--recipe", recipe, "Recipe to measure")->capture_default_str();
  app.add_option("--steps", settings.steps, "Optimizer steps of each run")->capture_default_str();
  CLI11_PARSE(app, argument_count, arguments);
  try {
    measure(settings, lm::ByteText::read(data), recipe);
    return 0;
  } catch (const std::exception &error) {
    fmt::print(stderr, "learning_bars: {}\n", error.what());
    return 2;
  }
}
