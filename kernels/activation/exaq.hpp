// EXAQ (arXiv 2410.03185): rounds the argument of exp in softmax to few levels, so that the sum of exponentials follows from
// the counts of the levels. All operations are IEEE f32 in a fixed order, so that every kernel computes the same bits.
#pragma once

#include "src/formats/functions.hpp"

namespace lpt {

constexpr int32_t kMostExaqLevels = 16;

// Level k is the argument (k - last) · step: level 0 is the clip, the last level is 0.
struct ExaqLevels {
  int32_t last;
  float step, units;  // units = 1 / step
};

static inline ExaqLevels exaq_levels(int32_t bits, double clip) {
  const int32_t last = (1 << bits) - 1;
  return {last, static_cast<float>(-clip / last), static_cast<float>(last / -clip)};
}

// Returns the level nearest to an argument, ties to even. Returns the last level above 0, the first below the clip and for a
// NaN.
LPT_HOST_DEVICE static inline int32_t exaq_level(const ExaqLevels &levels, float argument) {
  const float place = fused_multiply_add(argument, levels.units, static_cast<float>(levels.last));
  const float above = place > 0.0f ? place : 0.0f, most = static_cast<float>(levels.last);
  const float held = above < most ? above : most;
  return static_cast<int32_t>((held + ExpConstants::kRoundBias) - ExpConstants::kRoundBias);
}

LPT_HOST_DEVICE static inline float exaq_exponential(const ExaqLevels &levels, int32_t level) {
  return exp_f32(static_cast<float>(level - levels.last) * levels.step);
}

}  // namespace lpt
