// Runs of one model under many precisions, from the same seeds on the same batches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../lm/data.hpp"
#include "../lm/trainer.hpp"

namespace compare_recipes {

// One way to train, spelled "recipe", "recipe:state", "recipe+backward" or both, in this order.
struct Way {
  std::string name;
  lm::Precision precision;
  lm::Raised raised = lm::Raised::kNothing;
};

// Throws lm::Error for names that are unknown.
Way way_of(const std::string &name);

struct Options {
  lm::TrainSettings train;
  std::string data;
  std::string out = "build/compare";
  std::vector<std::string> ways;
  int64_t seeds = 3;
  int64_t at_once = 2;
  bool is_quiet = false;
};

// What one run of one way came to.
struct Outcome {
  lm::Measured measured;
  lm::Bytes bytes;
  double tokens_per_second = 0.0;
};

// The runs of a way, seed after seed.
struct Runs {
  std::string name;
  std::vector<Outcome> outcomes;

  std::vector<double> final_losses() const;
};

// Trains what is missing, some runs at once, and keeps each outcome in the folder: a comparison that was stopped goes on.
std::vector<Runs> compare(const Options &options);

double mean(const std::vector<double> &values);
double deviation(const std::vector<double> &values);  // of a sample

}  // namespace compare_recipes
