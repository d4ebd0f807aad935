// Factor of a column in Smooth-SwiGLU: the smallest power of two that is at least the column's amax, as e8m0fnu; 1 for a column
// of zeros.
#pragma once

#include "src/formats/block_scale.hpp"

namespace lpt {

LPT_HOST_DEVICE static inline uint8_t smoothing_factor(float amax) {
  if (amax == 0.0f) return 127;
  const ScaleSpec power_above = {LPT_FORMAT_E8M0FNU, LPT_SCALE_RULE_ROUND_UP, 1.0f, 0, 1.0f, nullptr, 0};
  const uint32_t code = e8m0fnu_scale(power_above, amax);
  return static_cast<uint8_t>(code < 254 ? code : 254);
}

}  // namespace lpt
