// EXAQ (arXiv 2410.03185): rounds the argument of exp in softmax to few levels, so that the sum of exponentials follows from
// the counts of the levels. All operations are IEEE f32 in a fixed order, so that every kernel computes the same bits.
#pragma once

#include "src/formats/functions.hpp"

namespace lpt {

constexpr int32_t kMostExaqLevels = 16;

// Level k is the argument (k - last) · step: level 0 is the clip, the last level is 0.
struct ExaqLevels {
  int32_t last;
  float units;                          // levels per unit of the argument
  float exponentials[kMostExaqLevels];  // exp of each level
};

static inline ExaqLevels exaq_levels(int32_t bits, double clip) {
  const int32_t last = (1 << bits) - 1;
  const auto step = static_cast<float>(-clip / last);
  ExaqLevels levels{last, static_cast<float>(last / -clip), {}};
  for (int32_t k = 0; k <= last; ++k) levels.exponentials[k] = exp_f32(static_cast<float>(k - last) * step);
  return levels;
}

// Returns the level nearest to an argument, ties to even. Returns the last level above 0, the first below the clip and for a
// NaN.
LPT_HOST_DEVICE static inline int32_t exaq_level(const ExaqLevels &levels, float argument) {
  const float place = fused_multiply_add(argument, levels.units, static_cast<float>(levels.last));
  const float above = place > 0.0f ? place : 0.0f, most = static_cast<float>(levels.last);
  const float held = above < most ? above : most;
  return static_cast<int32_t>((held + ExpConstants::kRoundBias) - ExpConstants::kRoundBias);
}

// Computes numbers[k], the output of level k: exp divided by the sum, which is returned. With has_nan they are NaN.
static inline double exaq_outputs(const ExaqLevels &levels, const int64_t *counts, bool has_nan, float *numbers) {
  double sum = 0.0;
  for (int32_t k = 0; k <= levels.last; ++k) {
    sum += static_cast<double>(counts[k]) * static_cast<double>(levels.exponentials[k]);
  }
  const float inverse = has_nan ? __builtin_nanf("") : static_cast<float>(1.0 / sum);
  for (int32_t k = 0; k <= levels.last; ++k) numbers[k] = levels.exponentials[k] * inverse;
  return has_nan ? __builtin_nan("") : sum;
}

}  // namespace lpt
