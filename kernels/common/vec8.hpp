// Eight values as f64, for the instruction set that a file is compiled for.
#pragma once

#include "kernels/common/simd.hpp"

#if defined(__AVX512F__)
#include "kernels/common/vec8_avx512.hpp"
#elif defined(__AVX2__)
#include "kernels/common/vec8_avx2.hpp"
#else
#include "kernels/common/vec8_neon.hpp"
#endif

namespace lpt {
namespace {

// Adds the upper half of the lanes to the lower half three times, as the reference kernels do.
double sum_of_eight(const Vec8 &lanes) {
  double sum[8];
  lanes.store(sum);
  for (int width = 4; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) sum[lane] += sum[lane + width];
  }
  return sum[0];
}

}  // namespace
}  // namespace lpt
