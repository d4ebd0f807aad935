// Masks of nonzero elements with AVX2. Included by an ISA file only.
#pragma once

#include "kernels/sparse_pack/avx2_bytes.hpp"
#include "kernels/sparse_pack/walk.hpp"

namespace lpt {
namespace {

template <int kCodeBits>
struct NonzeroStep {
  static constexpr int64_t kBits = kCodeBits;
  static constexpr int64_t kColumns = 256;

  static void nonzero(const uint8_t *source, uint32_t significant, uint8_t *mask) {
    const auto number = static_cast<int32_t>(significant);
    const __m256i bits = kCodeBits <= 8    ? _mm256_set1_epi8(static_cast<int8_t>(number))
                         : kCodeBits == 16 ? _mm256_set1_epi16(static_cast<int16_t>(number))
                                           : _mm256_set1_epi32(number);
    for (int64_t c = 0; c < kColumns; c += 32) {
      // The comparison yields -1 for zero; adding 1 yields 0 or 1.
      const __m256i is_zero = zeros_of_32(source + c * kCodeBits / 8, bits);
      write_bytes<false>(mask + c, _mm256_add_epi8(is_zero, _mm256_set1_epi8(1)));
    }
  }

 private:
  static __m256i zeros_of_32(const uint8_t *source, __m256i bits) {
    const auto words = [&](int i) { return _mm256_and_si256(load_bytes(source + 32 * i), bits); };
    const __m256i zero = _mm256_setzero_si256();
    if constexpr (kCodeBits == 4) {
      return _mm256_cmpeq_epi8(_mm256_and_si256(apart(load_half(source)), bits), zero);
    } else if constexpr (kCodeBits == 8) {
      return _mm256_cmpeq_epi8(words(0), zero);
    } else if constexpr (kCodeBits == 16) {
      return in_order(_mm256_packs_epi16(_mm256_cmpeq_epi16(words(0), zero), _mm256_cmpeq_epi16(words(1), zero)));
    } else {
      const auto pair = [&](int i) {
        return _mm256_packs_epi32(_mm256_cmpeq_epi32(words(i), zero), _mm256_cmpeq_epi32(words(i + 1), zero));
      };
      const __m256i fours = _mm256_packs_epi16(pair(0), pair(2));
      return _mm256_permutevar8x32_epi32(fours, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    }
  }
};

}  // namespace
}  // namespace lpt
