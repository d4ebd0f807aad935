// Trains a byte-level language model in low precision with LPT, and its f32 twin beside it, on the same batches.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "run.hpp"

namespace {

constexpr int kUserError = 2;

void print(const train_lm::Options &options, const train_lm::Results &results) {
  if (options.is_json) {
    fmt::print("{}", train_lm::metrics_json(options, results));
    return;
  }
  fmt::print("{}", train_lm::results_table(options, results));
  if (!results.sample.empty()) {
    fmt::print("\n  {} writes:\n\n{}\n", results.twins.front().recipe, results.sample);
  }
  fmt::print("\n  curves, losses, metrics and checkpoint are in {}\n", options.out);
}

}  // namespace

int main(int argument_count, char **arguments) {
  try {
    const train_lm::Options options = train_lm::parse_options(argument_count, arguments);
    train_lm::Run run(options);
    run.train();
    const train_lm::Results results = run.results();
    if (run.is_first()) {
      train_lm::write_results(options, results);
      print(options, results);
    }
    return 0;
  } catch (const std::exception &error) {
    fmt::print(stderr, "train_lm: {}\n", error.what());
    return kUserError;
  }
}
