// Eight lanes of AVX2, and block scales in them. Included by an ISA file only.
#pragma once

#include <cstring>

#include "kernels/common/simd_avx2.hpp"
#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

[[gnu::always_inline]] inline __m256i all_lanes(uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }
[[gnu::always_inline]] inline __m256 all_floats(uint32_t bits) { return _mm256_castsi256_ps(all_lanes(bits)); }
[[gnu::always_inline]] inline __m256i load_bytes(const void *from) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(from));
}
[[gnu::always_inline]] inline __m128i load_half_bytes(const void *from) {
  return _mm_loadu_si128(static_cast<const __m128i *>(from));
}

[[gnu::always_inline]] inline __m256 e8m0fnu_values(__m256i codes) {
  const __m256i is_least = _mm256_cmpeq_epi32(codes, _mm256_setzero_si256());
  const __m256i is_nan = _mm256_cmpeq_epi32(codes, all_lanes(0xFF));
  const __m256i power =
      _mm256_or_si256(_mm256_slli_epi32(codes, 23), _mm256_and_si256(is_least, all_lanes(0x00400000)));
  return _mm256_castsi256_ps(_mm256_or_si256(power, _mm256_and_si256(is_nan, all_lanes(kFloatNanBits))));
}

[[gnu::always_inline]] inline __m256 e4m3fn_values(__m256i codes) {
  const __m256i magnitude = _mm256_and_si256(codes, all_lanes(0x7F));
  const __m256i normal = _mm256_add_epi32(_mm256_slli_epi32(magnitude, 20), all_lanes((127 - 7) << 23));
  const __m256 small = _mm256_mul_ps(_mm256_cvtepi32_ps(magnitude), _mm256_set1_ps(0x1p-9f));
  const __m256i is_small = _mm256_cmpgt_epi32(all_lanes(8), magnitude);
  const __m256i is_nan = _mm256_cmpeq_epi32(magnitude, all_lanes(0x7F));
  __m256i bits = _mm256_blendv_epi8(normal, _mm256_castps_si256(small), is_small);
  bits = _mm256_or_si256(bits, _mm256_and_si256(is_nan, all_lanes(kFloatNanBits)));
  return _mm256_castsi256_ps(_mm256_or_si256(bits, _mm256_slli_epi32(_mm256_andnot_si256(all_lanes(0x7F), codes), 24)));
}

// Loads eight block scales, of which `count` exist; the others receive a value in range.
[[gnu::always_inline]] inline __m256 load_scales(const MatrixView &view, int64_t index, int64_t count) {
  alignas(32) uint8_t buffer[32];
  const bool is_f32 = view.format.block_scale == LPT_FORMAT_F32;
  const int64_t bytes = is_f32 ? 4 : 1;
  const uint8_t *from = static_cast<const uint8_t *>(view.block_scales) + index * bytes;
  if (count < 8) {
    memset(buffer, 0x3F, sizeof buffer);
    memcpy(buffer, from, static_cast<size_t>(count * bytes));
    from = buffer;
  }
  if (is_f32) return _mm256_castsi256_ps(load_bytes(from));
  const __m256i codes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)));
  return view.format.block_scale == LPT_FORMAT_E8M0FNU ? e8m0fnu_values(codes) : e4m3fn_values(codes);
}

// Returns the value of each lane's block for eight columns, where `slab` has one value per block.
struct BlockLanes {
  __m256i block_of_lane;
  int32_t log2_columns;

  explicit BlockLanes(int32_t log2) : log2_columns(log2) {
    block_of_lane = _mm256_srl_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm_cvtsi32_si128(log2));
  }
  [[gnu::always_inline]] inline __m256 of(const float *slab, int64_t column) const {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(slab + (column >> log2_columns)), block_of_lane);
  }
};

// Raises `amax` to the magnitudes below infinity. All operands are nonnegative integers.
[[gnu::always_inline]] inline __m256i raise_finite(__m256i amax, __m256i magnitude) {
  const __m256i is_finite = _mm256_cmpgt_epi32(all_lanes(kFloatInfinityBits), magnitude);
  return _mm256_max_epi32(amax, _mm256_and_si256(is_finite, magnitude));
}

// Elements of a source as f32.

constexpr int32_t kEndless = 62;  // log2 of the columns of an unbounded block

[[gnu::always_inline]] inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t source_bytes(const MatrixView &source) { return source.format.element == LPT_FORMAT_F32 ? 4 : 2; }

[[gnu::always_inline]] inline __m256 halves_to_floats(__m128i codes, bool is_f16) {
  if (is_f16) return _mm256_cvtph_ps(codes);
  return f32_of_bf16(codes);
}

// Returns `count` adjacent elements as f32; f16 and bf16 are converted into the buffer.
inline const float *numbers_at(const MatrixView &source, int64_t row, int64_t column, int64_t count, float *buffer) {
  const int64_t first = row * source.row_stride + column;
  if (source.format.element == LPT_FORMAT_F32) return static_cast<const float *>(source.data) + first;
  const bool is_f16 = source.format.element == LPT_FORMAT_F16;
  const uint16_t *from = static_cast<const uint16_t *>(source.data) + first;
  int64_t at = 0;
  for (; at + 8 <= count; at += 8) _mm256_storeu_ps(buffer + at, halves_to_floats(load_half_bytes(from + at), is_f16));
  if (at == count) return buffer;
  uint16_t rest[8] = {};
  memcpy(rest, from + at, static_cast<size_t>(count - at) * sizeof(uint16_t));
  float numbers[8];
  _mm256_storeu_ps(numbers, halves_to_floats(load_half_bytes(rest), is_f16));
  memcpy(buffer + at, numbers, static_cast<size_t>(count - at) * sizeof(float));
  return buffer;
}

}  // namespace
}  // namespace lpt
