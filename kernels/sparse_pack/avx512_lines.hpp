// Cache line loads with AVX-512, shared by the files of this family. Included by ISA files only.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"

namespace lpt {
namespace {

inline __m256i load_half_line(const uint8_t *from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
}

// Loads a line in halves: Zen 5 prefetches half-line streams well, but hardly prefetches several streams of full lines.
inline __m512i load_line(const uint8_t *from) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(load_half_line(from)), load_half_line(from + 32), 1);
}

}  // namespace
}  // namespace lpt
