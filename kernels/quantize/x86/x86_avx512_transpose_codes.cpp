// Transposes codes of 8 or 4 bits with AVX-512.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/transpose_codes_loop.hpp"
#include "kernels/quantize/x86/avx512_blocks.hpp"

namespace lpt {
namespace {

// Moves element j of row i to element i of row j.
[[gnu::always_inline]] inline void transpose_words(__m512i (&rows)[8]) {
  __m512i pairs[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
    pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int odd = 0; odd < 2; ++odd) {
    const __m512i low04 = _mm512_shuffle_i64x2(pairs[odd], pairs[2 + odd], 0x88);
    const __m512i low26 = _mm512_shuffle_i64x2(pairs[odd], pairs[2 + odd], 0xDD);
    const __m512i high04 = _mm512_shuffle_i64x2(pairs[4 + odd], pairs[6 + odd], 0x88);
    const __m512i high26 = _mm512_shuffle_i64x2(pairs[4 + odd], pairs[6 + odd], 0xDD);
    rows[odd] = _mm512_shuffle_i64x2(low04, high04, 0x88);
    rows[4 + odd] = _mm512_shuffle_i64x2(low04, high04, 0xDD);
    rows[2 + odd] = _mm512_shuffle_i64x2(low26, high26, 0x88);
    rows[6 + odd] = _mm512_shuffle_i64x2(low26, high26, 0xDD);
  }
}

// Byte 8c + i is byte 8i + c of the source: transposes eight rows of eight bytes.
alignas(64) constexpr uint8_t kTransposedBytes[64] = {0, 8,  16, 24, 32, 40, 48, 56, 1, 9,  17, 25, 33, 41, 49, 57,
                                                      2, 10, 18, 26, 34, 42, 50, 58, 3, 11, 19, 27, 35, 43, 51, 59,
                                                      4, 12, 20, 28, 36, 44, 52, 60, 5, 13, 21, 29, 37, 45, 53, 61,
                                                      6, 14, 22, 30, 38, 46, 54, 62, 7, 15, 23, 31, 39, 47, 55, 63};

// Loads up to 64 codes of a row as bytes.
template <bool kIsPacked>
[[gnu::always_inline]] inline __m512i load_codes(const uint8_t *from, int64_t count) {
  if constexpr (!kIsPacked) {
    return _mm512_maskz_loadu_epi8(lane_mask(0, count), from);
  } else {
    const __m256i pairs = _mm256_maskz_loadu_epi8(static_cast<__mmask32>(lane_mask(0, (count + 1) / 2)), from);
    const __m512i spread = _mm512_cvtepu8_epi16(pairs);
    const __m512i both = _mm512_or_si512(spread, _mm512_slli_epi16(spread, 4));
    return _mm512_and_si512(both, _mm512_set1_epi8(0x0F));
  }
}

// Stores up to 64 codes from bytes. Bytes after the last code are zero, so that the last byte of a row is padded with zeros.
template <bool kIsPacked>
[[gnu::always_inline]] inline void store_codes(uint8_t *to, __m512i codes, int64_t count, bool is_streamed) {
  if constexpr (!kIsPacked) {
    if (count == 64 && is_streamed && reinterpret_cast<uintptr_t>(to) % 64 == 0) {
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to), codes);
    } else {
      _mm512_mask_storeu_epi8(to, lane_mask(0, count), codes);
    }
  } else {
    const __m512i pairs = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x1001));
    const auto mask = static_cast<__mmask32>(lane_mask(0, (count + 1) / 2));
    _mm256_mask_storeu_epi8(to, mask, _mm512_cvtepi16_epi8(pairs));
  }
}

// Transposes words of eight bytes, then the bytes of 8 × 8, then the words of eight such groups: 448 shuffles for 4096 codes.
struct CodeTranspose {
  static constexpr int64_t kRows = 64;
  static constexpr int64_t kColumns = 64;

  template <bool kIsPacked>
  static void transpose(const CodeSquare &square, const TransposedPlace &place) {
    const __m512i transposed_copy = _mm512_load_si512(kTransposedBytes);
    __m512i groups[8][8];
    for (int64_t group = 0; group < 8; ++group) {
      __m512i words[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        const int64_t row = 8 * group + i;
        words[i] = _mm512_setzero_si512();
        if (row < square.rows) words[i] = load_codes<kIsPacked>(square.from + row * square.stride, square.columns);
      }
      transpose_words(words);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) groups[i][group] = _mm512_permutexvar_epi8(transposed_copy, words[i]);
    }
    for (int64_t part = 0; 8 * part < square.columns; ++part) {
      __m512i words[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) words[i] = groups[part][i];
      transpose_words(words);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        const int64_t column = 8 * part + i;
        if (column >= square.columns) continue;
        store_codes<kIsPacked>(place.to + column * place.stride, words[i], square.rows, place.is_streamed);
      }
    }
  }
};

}  // namespace

void transpose_x86_avx512(const TransposeRequest &request) {
  transpose_matrix<CodeTranspose>(request);
  if (request.is_streamed) _mm_sfence();
}

}  // namespace lpt
