// EXAQ (arXiv 2410.03185): the argument of exp in softmax is one of few levels, so that exp is one of few numbers, and their sum
// is known by how often each of them comes. f32 throughout, IEEE operations in one order: every row gives the same bits.
#pragma once

#include "src/formats/functions.hpp"

namespace lpt {

constexpr int32_t kMostExaqLevels = 16;

// Level k stands for the argument (k - last) · step, from the clip at 0 to 0 at the last one.
struct ExaqLevels {
  int32_t last;
  float step, units;  // units · step is 1
};

static inline ExaqLevels exaq_levels(int32_t bits, double clip) {
  const int32_t last = (1 << bits) - 1;
  return {last, static_cast<float>(-clip / last), static_cast<float>(last / -clip)};
}

// The level that is nearest to an argument, ties to the even one: the last one above 0, the first below the clip, as for a NaN.
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
