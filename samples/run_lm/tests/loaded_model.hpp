// A model that run_lm has loaded, and its logits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../measure.hpp"

namespace run_lm_tests {

using run_lm::kInF32;
inline const run_lm::Report kIgnore = [](size_t) {};

// Tokens below 600, the vocabulary of TinyModel.
std::vector<int32_t> random_tokens(uint64_t place, int64_t count);

struct LoadedModel {
  tool::Context context = tool::make_context(1);
  run_lm::ModelFiles files;
  run_lm::ModelWeights weights;

  explicit LoadedModel(const std::string &path)
      : files(context.get(), path), weights(load_weights(context.get(), files)) {}
  run_lm::Decoder decoder(const run_lm::Precision &precision = kInF32) const {
    return {context.get(), files.config(), weights, precision, 64};
  }
};

std::vector<float> values_of(const lpt_tensor *tensor);

// Clears the cache first.
std::vector<float> logits_of(run_lm::Decoder &decoder, const std::vector<int32_t> &tokens);

// Returns the largest difference.
double difference(const std::vector<float> &found, const std::vector<float> &expected);
// Returns the largest difference relative to the largest expected magnitude.
double relative_difference(const std::vector<float> &found, const std::vector<std::vector<double>> &expected);

}  // namespace run_lm_tests
