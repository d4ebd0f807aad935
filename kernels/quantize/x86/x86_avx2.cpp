// Amax and dequantize with AVX2, eight lanes wide; see x86_avx512.cpp. Ends of rows are copied through a small buffer.
#include <cstring>

#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx2_decode.hpp"
#include "kernels/quantize/x86/avx2_scales.hpp"

namespace lpt {
namespace {

// Largest magnitudes of a row as bits: of all elements, and of finite elements.
struct RowMagnitudes {
  uint32_t largest, finite;
};

RowMagnitudes row_magnitudes(const float *from, int64_t count) {
  __m256i largest[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  __m256i finite[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  const auto raise = [&](int i, __m256 value) {
    const __m256i magnitude = magnitude_bits(value);
    largest[i] = _mm256_max_epi32(largest[i], magnitude);
    finite[i] = raise_finite(finite[i], magnitude);
  };
  int64_t at = 0;
  for (; at + 16 <= count; at += 16) {
    raise(0, _mm256_loadu_ps(from + at));
    raise(1, _mm256_loadu_ps(from + at + 8));
  }
  for (; at < count; at += 8) raise(0, load_some(from + at, least(8, count - at)));
  return {largest_lane(_mm256_max_epi32(largest[0], largest[1])), largest_lane(_mm256_max_epi32(finite[0], finite[1]))};
}

uint32_t largest_half(__m256i halves) {
  return largest_lane(_mm256_max_epi32(_mm256_srli_epi32(halves, 16), _mm256_and_si256(halves, all_lanes(0xFFFF))));
}

// Returns the same for f16 and bf16, whose bits are ordered like their magnitudes.
RowMagnitudes half_magnitudes(const uint16_t *from, int64_t count, uint16_t infinity) {
  __m256i largest = _mm256_setzero_si256();
  __m256i finite = _mm256_setzero_si256();
  const auto raise = [&](__m256i halves) {
    const __m256i magnitude = _mm256_and_si256(halves, _mm256_set1_epi16(0x7FFF));
    const __m256i is_finite = _mm256_cmpgt_epi16(_mm256_set1_epi16(static_cast<int16_t>(infinity)), magnitude);
    largest = _mm256_max_epi16(largest, magnitude);
    finite = _mm256_max_epi16(finite, _mm256_and_si256(is_finite, magnitude));
  };
  int64_t at = 0;
  for (; at + 16 <= count; at += 16) raise(load_bytes(from + at));
  if (at < count) {
    uint16_t rest[16] = {};
    memcpy(rest, from + at, static_cast<size_t>(count - at) * sizeof(uint16_t));
    raise(load_bytes(rest));
  }
  return {largest_half(largest), largest_half(finite)};
}

}  // namespace

void amax_x86_avx2(const AmaxRequest &request) {
  const MatrixView source = with_adjacent_columns(request.source);
  const lpt_format plain = source.format.element;
  const Element element = plain == LPT_FORMAT_F16 ? kElementF16 : kElementBf16;
  const uint32_t infinity = plain == LPT_FORMAT_F32 ? kFloatInfinityBits : element.infinity_code;
  const bool is_dense = source.row_stride == source.columns;
  const int64_t rows = is_dense ? 1 : source.rows;
  const int64_t columns = is_dense ? source.rows * source.columns : source.columns;
  RowMagnitudes most = {0, 0};
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row * source.row_stride;
    const RowMagnitudes found = plain == LPT_FORMAT_F32
                                    ? row_magnitudes(static_cast<const float *>(source.data) + first, columns)
                                    : half_magnitudes(static_cast<const uint16_t *>(source.data) + first, columns,
                                                      static_cast<uint16_t>(infinity));
    most.largest = found.largest > most.largest ? found.largest : most.largest;
    most.finite = found.finite > most.finite ? found.finite : most.finite;
  }
  *request.amax = plain == LPT_FORMAT_F32 ? bits_float(most.finite) : decode(element, most.finite);
  *request.has_nan = most.largest > infinity;
}

void dequantize_x86_avx2(const DequantizeRequest &request) { decode_matrix(request); }

}  // namespace lpt
