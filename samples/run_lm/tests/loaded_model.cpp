#include "loaded_model.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/random.hpp"

namespace run_lm_tests {

std::vector<int32_t> random_tokens(uint64_t place, int64_t count) {
  lpt::test::Random random(place);
  std::vector<int32_t> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random.below(600)));
  return tokens;
}

std::vector<float> values_of(const lpt_tensor *tensor) {
  const auto *values = static_cast<const float *>(lpt_tensor_const_data(tensor));
  return {values, values + lpt_tensor_extent(tensor, 0) * lpt_tensor_extent(tensor, 1)};
}

std::vector<float> logits_of(run_lm::Decoder &decoder, const std::vector<int32_t> &tokens) {
  decoder.clear();
  return values_of(decoder.logits(decoder.forward(tokens)));
}

double difference(const std::vector<float> &found, const std::vector<float> &expected) {
  double error = found.size() == expected.size() ? 0.0 : HUGE_VAL;
  for (size_t i = 0; i < found.size(); ++i) error = std::max(error, std::abs(double{found[i]} - expected[i]));
  return error;
}

double relative_difference(const std::vector<float> &found, const std::vector<std::vector<double>> &expected) {
  double largest = 0.0, error = 0.0;
  size_t i = 0;
  for (const std::vector<double> &row : expected) {
    for (const double value : row) {
      largest = std::max(largest, std::abs(value));
      error = std::max(error, std::abs(value - found[i++]));
    }
  }
  return error / largest;
}

}  // namespace run_lm_tests
