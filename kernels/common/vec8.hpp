// What eight numbers have in common, whatever holds them (vec8_avx2.hpp, vec8_avx512.hpp). Included by an ISA file only.
#pragma once

namespace lpt {
namespace {

// The upper half is added to the lower one, three times, as the references do.
template <typename Vec8>
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
