// What the files of this family offer to the table.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/hadamard/hadamard.hpp"
#include "src/base/host_device.hpp"

namespace lpt {

void hadamard_any_ref(const HadamardRequest &request);
LPT_DECLARE_SIMD(hadamard_floats, HadamardRequest)

// 1 / sqrt(size) for the powers of two up to 128.
LPT_HOST_DEVICE static inline float hadamard_factor(int64_t size) {
  float factor = 1.0f;
  for (; size >= 4; size /= 4) factor *= 0.5f;
  return size == 2 ? factor * 0.70710678118654752440f : factor;
}

// The group that begins with `left` columns left: the size, or the largest power of two that still fits.
static inline int64_t hadamard_group(int64_t size, int64_t left) {
  while (size > left) size /= 2;
  return size;
}

}  // namespace lpt
