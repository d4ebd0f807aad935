// Runs of one model with several precisions, with the same seeds and batches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../lm/data.hpp"
#include "../lm/trainer.hpp"

namespace compare_recipes {

// One training configuration, written as "recipe", "recipe:state", "recipe+backward" or both suffixes in this order.
struct Way {
  std::string name;
  lm::Precision precision;
  lm::Raised raised = lm::Raised::kNothing;
  bool has_pilot = false;
};

// Throws lm::Error for unknown names.
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

// Result of one run.
struct Outcome {
  lm::Measured measured;
  lm::Bytes bytes;
  double tokens_per_second = 0.0;
};

// The runs of one configuration, in the order of the seeds.
struct Runs {
  std::string name;
  std::vector<Outcome> outcomes;

  std::vector<double> final_losses() const;
};

// Trains the missing runs, several at once, and saves each outcome in the folder, so that an interrupted comparison resumes.
std::vector<Runs> compare(const Options &options);

double mean(const std::vector<double> &values);
double deviation(const std::vector<double> &values);  // of a sample

}  // namespace compare_recipes
