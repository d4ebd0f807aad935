// Transposes codes of 8 or 4 bits with AVX2.
#include <cstring>

#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/transpose_codes_loop.hpp"
#include "kernels/quantize/x86/avx2_lanes.hpp"

namespace lpt {
namespace {

struct CodeTranspose {
  static constexpr int64_t kRows = 16;
  static constexpr int64_t kColumns = 32;

  // Loads 32 codes as bytes.
  template <bool kIsPacked>
  [[gnu::always_inline]] static inline __m256i load(const uint8_t *from) {
    if constexpr (!kIsPacked) return load_bytes(from);
    const __m128i pairs = load_half_bytes(from);
    const __m128i low = _mm_and_si128(pairs, _mm_set1_epi8(0x0F));
    const __m128i high = _mm_and_si128(_mm_srli_epi16(pairs, 4), _mm_set1_epi8(0x0F));
    return _mm256_set_m128i(_mm_unpackhi_epi8(low, high), _mm_unpacklo_epi8(low, high));
  }

  // Stores up to 16 codes from bytes. Bytes after the last code are zero, so that the last byte of a row is padded with zeros.
  template <bool kIsPacked>
  [[gnu::always_inline]] static inline void store(uint8_t *to, __m128i codes, int64_t count) {
    if constexpr (kIsPacked) codes = _mm_packus_epi16(_mm_maddubs_epi16(codes, _mm_set1_epi16(0x1001)), codes);
    const int64_t bytes = kIsPacked ? (count + 1) / 2 : count;
    if (bytes == 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to), codes);
    } else if (bytes == 8) {
      _mm_storel_epi64(reinterpret_cast<__m128i *>(to), codes);
    } else {
      alignas(16) uint8_t staged[16];
      _mm_store_si128(reinterpret_cast<__m128i *>(staged), codes);
      memcpy(to, staged, static_cast<size_t>(bytes));
    }
  }

  template <bool kIsPacked>
  static void transpose(const CodeSquare &square, const TransposedPlace &place) {
    __m256i v[kRows];
    if (square.rows == kRows && square.columns == kColumns) [[likely]] {
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) v[i] = load<kIsPacked>(square.from + i * square.stride);
    } else {
      alignas(32) uint8_t staged[kRows][kColumns] = {};
      const int64_t bytes = kIsPacked ? (square.columns + 1) / 2 : square.columns;
      for (int64_t i = 0; i < square.rows; ++i) {
        memcpy(staged[i], square.from + i * square.stride, static_cast<size_t>(bytes));
      }
      for (int i = 0; i < kRows; ++i) v[i] = load<kIsPacked>(staged[i]);
    }
    // Interleaving row i with row i + 8 rotates the bits of a byte's index by one. After four rounds rows are columns; those of
    // the first 16 codes of each row are in the low halves.
#pragma GCC unroll 4
    for (int transpose = 0; transpose < 4; ++transpose) {
      __m256i w[kRows];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        w[2 * i] = _mm256_unpacklo_epi8(v[i], v[i + 8]);
        w[2 * i + 1] = _mm256_unpackhi_epi8(v[i], v[i + 8]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) v[i] = w[i];
    }
    for (int64_t i = 0; i < kRows; ++i) {
      if (i < square.columns) {
        store<kIsPacked>(place.to + i * place.stride, _mm256_castsi256_si128(v[i]), square.rows);
      }
      if (i + 16 < square.columns) {
        store<kIsPacked>(place.to + (i + 16) * place.stride, _mm256_extracti128_si256(v[i], 1), square.rows);
      }
    }
  }
};

}  // namespace

void transpose_x86_avx2(const TransposeRequest &request) { transpose_matrix<CodeTranspose>(request); }

}  // namespace lpt
