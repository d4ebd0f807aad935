// Codes of 8 or 4 bits turned, with AVX-512. Included by an ISA file only.
#pragma once

#include "kernels/quantize/avx512_blocks.hpp"

namespace lpt {
namespace {

// Where the turned codes of a square go.
struct TurnedPlace {
  uint8_t *to;
  int64_t stride;  // bytes
  bool is_streamed;
};

// Number j of row i goes to row j, place i.
[[gnu::always_inline]] inline void turn_words(__m512i (&rows)[8]) {
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

// Byte 8c + i takes byte 8i + c: eight rows of eight bytes, turned.
alignas(64) constexpr uint8_t kTurnedBytes[64] = {0, 8,  16, 24, 32, 40, 48, 56, 1, 9,  17, 25, 33, 41, 49, 57,
                                                  2, 10, 18, 26, 34, 42, 50, 58, 3, 11, 19, 27, 35, 43, 51, 59,
                                                  4, 12, 20, 28, 36, 44, 52, 60, 5, 13, 21, 29, 37, 45, 53, 61,
                                                  6, 14, 22, 30, 38, 46, 54, 62, 7, 15, 23, 31, 39, 47, 55, 63};

// Reads up to 64 codes of a row as bytes.
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

// Writes up to 64 codes that lie in bytes.
template <bool kIsPacked>
[[gnu::always_inline]] inline void store_codes(uint8_t *to, __m512i codes, int64_t count, bool is_streamed) {
  if constexpr (!kIsPacked) {
    if (count == 64 && is_streamed && reinterpret_cast<uintptr_t>(to) % 64 == 0) {
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to), codes);
    } else {
      _mm512_mask_storeu_epi8(to, lane_mask(0, count), codes);
    }
  } else {
    // Codes behind the last one are zero, so that the last byte of a row ends in zeros.
    const __m512i kept = _mm512_maskz_mov_epi8(lane_mask(0, count), codes);
    const __m512i pairs = _mm512_maddubs_epi16(kept, _mm512_set1_epi16(0x1001));
    const auto mask = static_cast<__mmask32>(lane_mask(0, (count + 1) / 2));
    _mm256_mask_storeu_epi8(to, mask, _mm512_cvtepi16_epi8(pairs));
  }
}

// Up to 64 rows of up to 64 codes at `from`. Words of eight bytes are turned, then the bytes of 8 × 8, then the words of
// eight such groups: 448 shuffles for 4096 codes.
template <bool kIsPacked>
void turn_square(const uint8_t *from, int64_t stride, int64_t rows, int64_t columns, const TurnedPlace &place) {
  const __m512i turned = _mm512_load_si512(kTurnedBytes);
  __m512i groups[8][8];
  for (int64_t group = 0; group < 8; ++group) {
    __m512i words[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int64_t row = 8 * group + i;
      words[i] = row < rows ? load_codes<kIsPacked>(from + row * stride, columns) : _mm512_setzero_si512();
    }
    turn_words(words);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) groups[i][group] = _mm512_permutexvar_epi8(turned, words[i]);
  }
  for (int64_t part = 0; 8 * part < columns; ++part) {
    __m512i words[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) words[i] = groups[part][i];
    turn_words(words);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const int64_t column = 8 * part + i;
      if (column < columns) store_codes<kIsPacked>(place.to + column * place.stride, words[i], rows, place.is_streamed);
    }
  }
}

// Rows of the target are written from their beginning on, 64 columns of the source at a time.
template <bool kIsPacked>
void turn_codes(const TurnRequest &request, bool is_streamed) {
  constexpr int64_t kPerByte = kIsPacked ? 2 : 1;
  constexpr int64_t kNearRows = 256;
  const MatrixView &source = request.source;
  const auto place_of = [](const MatrixView &view, int64_t row, int64_t column) {
    return static_cast<uint8_t *>(view.data) + (row * view.row_stride + column) / kPerByte;
  };
  for (int64_t first = 0; first < source.rows; first += kNearRows) {
    for (int64_t column = 0; column < source.columns; column += 64) {
      for (int64_t row = first; row < least(first + kNearRows, source.rows); row += 64) {
        const TurnedPlace place = {place_of(request.target, column, row), request.target.row_stride / kPerByte,
                                   is_streamed};
        turn_square<kIsPacked>(place_of(source, row, column), source.row_stride / kPerByte,
                               least(source.rows - row, 64), least(source.columns - column, 64), place);
      }
    }
  }
}

}  // namespace
}  // namespace lpt
