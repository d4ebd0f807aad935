// Eight numbers as f64 of the instruction set that a file is compiled for.
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

// The upper half is added to the lower one, three times, as the references do.
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
