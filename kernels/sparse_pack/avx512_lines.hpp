// Lines of memory with AVX-512, as the files of this family read them. Included by ISA files only.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"

namespace lpt {
namespace {

inline __m256i load_half_line(const uint8_t *from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
}

// In halves: Zen 5 reads ahead of what does so, and hardly of what reads several streams in whole lines.
inline __m512i load_line(const uint8_t *from) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(load_half_line(from)), load_half_line(from + 32), 1);
}

}  // namespace
}  // namespace lpt
