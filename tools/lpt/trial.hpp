// One cast by the library, decomposed into numbers that can be compared with vectors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "handles.hpp"

namespace tool {

// The cast of a row of vectors. "-" stands for a rule without scales, and for no random bits. `random` is
// seed:offset:stream:step:rounds:bits.
struct Trial {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_format_description description = {};
  lpt_quantize_options options = {};

  bool is_plain() const {
    return description.block_scale == LPT_FORMAT_NONE && description.tensor_scale == LPT_FORMAT_NONE;
  }
  bool is_random() const {
    return options.rounding == LPT_ROUNDING_STOCHASTIC || options.rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW;
  }
};

Trial make_trial(const std::string &format, const std::string &rule, const std::string &rounding,
                 const std::string &random);

lpt_rounding find_rounding(const std::string &name);  // throws Error if there is none

struct TrialResult {
  uint32_t tensor_scale = 0;  // f32 bits; 0 if the format has none
  std::vector<uint32_t> scales;
  std::vector<uint32_t> zero_points;
  std::vector<uint32_t> codes;  // row by row
};

// Casts rows × columns values in row order. With `is_transposed` the source is columns × rows and the transposed output is
// requested, which is equal. For an element without NaN and scales, NaN is replaced by zero, because the cast rejects it.
TrialResult run_trial(lpt_context *context, const Trial &trial, std::vector<float> values, int64_t rows,
                      bool is_transposed);

constexpr uint32_t kNotCompared = 0xFFFFFFFFu;  // a code of a block whose scale is NaN

// One row of a matrix that was cast.
struct Place {
  size_t row = 0;
  size_t rows = 1;
};

// Compares the items of a row, in `got` of all rows, with the expected ones. Returns the first difference, or "". `values`, if
// given, are the sources.
std::string first_difference(const char *what, const std::vector<uint32_t> &got, const Place &place,
                             const std::vector<uint32_t> &expected, const std::vector<float> *values = nullptr);

}  // namespace tool
