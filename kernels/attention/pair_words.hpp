// Words of two bf16. Included by ISA files: all functions have internal linkage.
#pragma once

#include "kernels/attention/panels.hpp"

namespace lpt {
namespace {

// Words of two adjacent bf16 along the sum of a GEMM.
struct PairWords {
  using Word = uint32_t;
  using Vector = __m512i;
  static constexpr int64_t kNumbers = 2;

  static Vector repeat(const Word *word) { return _mm512_set1_epi32(static_cast<int32_t>(*word)); }
  static Vector read(const Word *words) { return _mm512_loadu_si512(words); }
  static F32 add(F32 sum, Vector left, Vector right) { return _mm512_dpbf16_ps(sum, (__m512bh)left, (__m512bh)right); }

  static Vector words_along(const RowSource &row, int64_t first, int64_t numbers) {
    const auto present = static_cast<__mmask32>(lane_mask(0, numbers - 2 * first));
    return _mm512_maskz_loadu_epi16(present, row.data + 4 * first);
  }
  static void store_words(Word *to, Vector words, int64_t count) {
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(lane_mask(0, count)), words);
  }
  static void store_words_across(Word *to, const RowSource *rows, int64_t column, int64_t columns) {
    const auto present = static_cast<__mmask32>(lane_mask(0, columns - column));
    const auto load_row = [&](const RowSource &row) {
      return row.data == nullptr ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi16(present, row.data + 2 * column);
    };
    const __m512i first = load_row(rows[0]), second = load_row(rows[1]);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(first, interleaved(0), second));
    _mm512_storeu_si512(to + kLanes, _mm512_permutex2var_epi16(first, interleaved(16), second));
  }
  static void store_words_along(Word *to, F32 low, F32 high) {
    _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
  static void store_words_of(Word *to, const F32 *rows) {
    const auto halves = (__m512i)_mm512_cvtne2ps_pbh(rows[1], rows[0]);
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i words = _mm512_or_si512(lane, _mm512_slli_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(16)), 16));
    _mm512_storeu_si512(to, _mm512_permutexvar_epi16(words, halves));
  }

 private:
  // Returns the indices that interleave the words of two vectors, from word `first` of each on.
  static __m512i interleaved(int32_t first) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i low = _mm512_add_epi32(lane, _mm512_set1_epi32(first));
    return _mm512_or_si512(low, _mm512_slli_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(32)), 16));
  }
};

}  // namespace
}  // namespace lpt
