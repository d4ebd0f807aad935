// One cast by the library at hand, taken apart into numbers that vectors can be compared with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "handles.hpp"

namespace tool {

// What a row of vectors says of a cast: "-" stands for a rule of no scales, and for no random bits. `random` is
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

lpt_rounding find_rounding(const std::string &name);  // throws Error when there is none

struct TrialResult {
  uint32_t tensor_scale = 0;  // f32 bits; 0 where the format has none
  std::vector<uint32_t> scales;
  std::vector<uint32_t> zero_points;
  std::vector<uint32_t> codes;  // row by row
};

// Casts rows × columns numbers that lie row by row; `is_transposed` hands them over as columns × rows and requests the
// transposed output, which is the same. A plain element without NaN is given zeros for NaN, as it would reject them.
TrialResult run_trial(lpt_context *context, const Trial &trial, std::vector<float> values, int64_t rows,
                      bool is_transposed);

constexpr uint32_t kNotCompared = 0xFFFFFFFFu;  // a code of a block whose scale is NaN

// One row of a matrix that was cast.
struct Place {
  size_t row = 0;
  size_t rows = 1;
};

// The items of a row, in `got` of all rows, beside what is expected there; "" where they are equal. `values`, if they are
// given, are the sources.
std::string first_difference(const char *what, const std::vector<uint32_t> &got, const Place &place,
                             const std::vector<uint32_t> &expected, const std::vector<float> *values = nullptr);

}  // namespace tool
