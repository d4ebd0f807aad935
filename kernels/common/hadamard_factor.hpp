// The scale factor of Hadamard rotations.
#pragma once

#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

// Returns 1 / sqrt(size) for powers of two, rounded to f32.
LPT_HOST_DEVICE static inline float hadamard_factor(int64_t size) {
  float factor = 1.0f;
  for (; size >= 4; size /= 4) factor *= 0.5f;
  return size == 2 ? factor * 0.70710678118654752440f : factor;
}

}  // namespace lpt
