// Casts with AVX2: what AVX-512 does in x86_avx512.cpp, eight lanes wide; ends of rows go through a small buffer.
#include <cstring>

#include "kernels/common/intrinsics.hpp"
#include "kernels/quantize/rows.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

// Rows and columns, with a matrix that has no gaps taken as one row.
struct Extent {
  int64_t rows, columns;
};

Extent folded(const MatrixView &source, const MatrixView &target) {
  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns;
  if (is_dense) return {1, source.rows * source.columns};
  return {source.rows, source.columns};
}

[[gnu::always_inline]] inline __m256i magnitude_bits(__m256 value) {
  return _mm256_and_si256(_mm256_castps_si256(value), _mm256_set1_epi32(0x7FFFFFFF));
}

// Raises `amax` to the finite magnitudes, as bits; all of them are positive integers.
[[gnu::always_inline]] inline __m256i raise_finite(__m256i amax, __m256 value) {
  const __m256i magnitude = magnitude_bits(value);
  const __m256i is_finite = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x7F800000), magnitude);
  return _mm256_max_epi32(amax, _mm256_and_si256(is_finite, magnitude));
}

uint32_t largest_lane(__m256i lanes) {
  uint32_t values[8];
  memcpy(values, &lanes, sizeof values);
  uint32_t largest = 0;
  for (const uint32_t value : values) largest = value > largest ? value : largest;
  return largest;
}

// The first `count` lanes; the others are zero.
__m256 load_some(const float *from, int64_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_maskload_ps(from, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane));
}

// Magnitudes of a row as bits: of all numbers, and of the finite ones.
struct RowMagnitudes {
  __m256i largest, finite;
};

RowMagnitudes row_magnitudes(const float *from, int64_t count) {
  __m256i largest[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  __m256i finite[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  for (int64_t at = 0; at < count; at += 16) {
    for (int i = 0; i < 2; ++i) {
      const int64_t begin = at + 8 * i;
      if (begin >= count) break;
      const __m256 value = begin + 8 <= count ? _mm256_loadu_ps(from + begin) : load_some(from + begin, count - begin);
      largest[i] = _mm256_max_epi32(largest[i], magnitude_bits(value));
      finite[i] = raise_finite(finite[i], value);
    }
  }
  return {_mm256_max_epi32(largest[0], largest[1]), _mm256_max_epi32(finite[0], finite[1])};
}

struct E4m3fn {
  static constexpr Element kElement = kElementE4m3fn;
  static constexpr float kLargest = 448.0f;
  static constexpr float kNan = 480.0f;  // its code would be that of NaN
};
struct E4m3 {
  static constexpr Element kElement = kElementE4m3;
};
struct E5m2 {
  static constexpr Element kElement = kElementE5m2;
  static constexpr float kLargest = 57344.0f;
  static constexpr float kNan = 98304.0f;
};

// Codes in the lanes, by the rounding sum that avx512_bytes.hpp explains.
template <typename Float>
[[gnu::always_inline]] inline __m256i nearest_code(__m256 source, __m256 inverse) {
  constexpr int kMantissaBits = Float::kElement.mantissa_bits;
  constexpr int kDropped = 23 - kMantissaBits;
  constexpr int kMinField = Float::kElement.min_exponent + 127;
  const __m256 product = _mm256_castsi256_ps(magnitude_bits(_mm256_mul_ps(source, inverse)));
  const __m256 held = _mm256_min_ps(_mm256_set1_ps(Float::kLargest), product);
  const __m256 magnitude = _mm256_min_ps(held, _mm256_set1_ps(Float::kNan));
  const __m256i exponent = _mm256_and_si256(_mm256_castps_si256(magnitude), _mm256_set1_epi32(0x7F800000));
  const __m256i field = _mm256_max_epi32(exponent, _mm256_set1_epi32(kMinField << 23));
  const __m256 magic = _mm256_castsi256_ps(_mm256_add_epi32(field, _mm256_set1_epi32(kDropped << 23)));
  const __m256i sum = _mm256_castps_si256(_mm256_add_ps(magnitude, magic));
  const __m256i biased = _mm256_add_epi32(sum, _mm256_srli_epi32(field, kDropped));
  const __m256i code = _mm256_sub_epi32(biased, _mm256_set1_epi32(kMinField << kMantissaBits));
  const __m256i sign = _mm256_srli_epi32(_mm256_castps_si256(source), 24);
  return _mm256_or_si256(_mm256_and_si256(code, _mm256_set1_epi32(0x7F)),
                         _mm256_and_si256(sign, _mm256_set1_epi32(0x80)));
}

// 32 adjacent numbers.
template <typename Float>
[[gnu::always_inline]] inline __m256i cast_32(const float *from, __m256 inverse, __m256i &amax) {
  __m256i codes[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256 source = _mm256_loadu_ps(from + 8 * i);
    amax = raise_finite(amax, source);
    codes[i] = nearest_code<Float>(source, inverse);
  }
  const __m256i low = _mm256_packus_epi32(codes[0], codes[1]);
  const __m256i high = _mm256_packus_epi32(codes[2], codes[3]);
  // Packing works inside 128-bit halves; the dwords hold 0-3, 8-11, 16-19, 24-27, 4-7, …
  return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

template <typename Float>
void cast_row(const float *from, uint8_t *to, int64_t count, __m256 inverse, __m256i &amax) {
  int64_t at = 0;
  for (; at + 32 <= count; at += 32) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at), cast_32<Float>(from + at, inverse, amax));
  }
  if (at == count) return;
  float rest[32] = {};
  uint8_t codes[32];
  memcpy(rest, from + at, static_cast<size_t>(count - at) * sizeof(float));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(codes), cast_32<Float>(rest, inverse, amax));
  memcpy(to + at, codes, static_cast<size_t>(count - at));
}

// Eight codes → f32.
template <typename Float>
[[gnu::always_inline]] inline __m256 decoded(__m256i codes) {
  constexpr Element kElement = Float::kElement;
  constexpr int kMantissaBits = kElement.mantissa_bits;
  const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi32(0x7F));
  const __m256i shifted = _mm256_slli_epi32(magnitude, 23 - kMantissaBits);
  __m256i bits = _mm256_add_epi32(shifted, _mm256_set1_epi32((kElement.min_exponent + 126) << 23));
  const __m256 unit = _mm256_castsi256_ps(_mm256_set1_epi32((kElement.min_exponent - kMantissaBits + 127) << 23));
  const __m256i small = _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(magnitude), unit));
  bits = _mm256_blendv_epi8(bits, small, _mm256_cmpgt_epi32(_mm256_set1_epi32(1 << kMantissaBits), magnitude));
  const __m256i is_special = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(static_cast<int>(kElement.max_code)));
  bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32(0x7FC00000), is_special);
  if constexpr (kElement.infinity_code != kElement.nan_code) {
    const __m256i infinity = _mm256_set1_epi32(static_cast<int>(kElement.infinity_code));
    bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32(0x7F800000), _mm256_cmpeq_epi32(magnitude, infinity));
  }
  const __m256i sign = _mm256_slli_epi32(_mm256_and_si256(codes, _mm256_set1_epi32(0x80)), 24);
  return _mm256_castsi256_ps(_mm256_or_si256(bits, sign));
}

// The NaN of every row: quiet, with its sign.
[[gnu::always_inline]] inline __m256 with_plain_nan(__m256 value) {
  const __m256 sign = _mm256_and_ps(value, _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MIN)));
  const __m256 nan = _mm256_or_ps(sign, _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)));
  return _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
}

struct F16 {
  static constexpr int kBytes = 2;
  static __m256 load(const uint8_t *from) {
    return with_plain_nan(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
  }
};
struct Bf16 {
  static constexpr int kBytes = 2;
  static __m256 load(const uint8_t *from) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
    return with_plain_nan(_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16)));
  }
};
template <typename Float>
struct Bytes {
  static constexpr int kBytes = 1;
  static __m256 load(const uint8_t *from) {
    return decoded<Float>(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from))));
  }
};

template <typename Source>
void decode_row(const uint8_t *from, float *to, int64_t count, __m256 scale) {
  int64_t at = 0;
  for (; at + 8 <= count; at += 8) {
    _mm256_storeu_ps(to + at, _mm256_mul_ps(Source::load(from + at * Source::kBytes), scale));
  }
  if (at == count) return;
  uint8_t codes[16] = {};
  float numbers[8];
  memcpy(codes, from + at * Source::kBytes, static_cast<size_t>((count - at) * Source::kBytes));
  _mm256_storeu_ps(numbers, _mm256_mul_ps(Source::load(codes), scale));
  memcpy(to + at, numbers, static_cast<size_t>(count - at) * sizeof(float));
}

using DecodeRow = void (*)(const uint8_t *, float *, int64_t, __m256);

DecodeRow decode_row_of(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_E4M3FN:
      return decode_row<Bytes<E4m3fn>>;
    case LPT_FORMAT_E4M3:
      return decode_row<Bytes<E4m3>>;
    case LPT_FORMAT_E5M2:
      return decode_row<Bytes<E5m2>>;
    case LPT_FORMAT_F16:
      return decode_row<F16>;
    default:
      return decode_row<Bf16>;
  }
}

}  // namespace

void amax_f32_x86_avx2(const AmaxRequest &request) {
  const MatrixView source = with_adjacent_columns(request.source);
  const Extent extent = folded(source, source);
  __m256i largest = _mm256_setzero_si256();
  __m256i finite = _mm256_setzero_si256();
  for (int64_t row = 0; row < extent.rows; ++row) {
    const RowMagnitudes found =
        row_magnitudes(static_cast<const float *>(source.data) + row * source.row_stride, extent.columns);
    largest = _mm256_max_epi32(largest, found.largest);
    finite = _mm256_max_epi32(finite, found.finite);
  }
  *request.amax = bits_float(largest_lane(finite));
  *request.has_nan = largest_lane(largest) > kFloatInfinityBits;
}

void quantize_f32_fp8_x86_avx2(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const Extent extent = folded(request.source, target);
  const auto cast = target.format.element == LPT_FORMAT_E4M3FN ? cast_row<E4m3fn> : cast_row<E5m2>;
  const __m256 inverse = _mm256_set1_ps(request.tensor_inverse);
  __m256i finite = _mm256_setzero_si256();
  for (int64_t row = 0; row < extent.rows; ++row) {
    cast(static_cast<const float *>(request.source.data) + row * request.source.row_stride,
         static_cast<uint8_t *>(target.data) + row * target.row_stride, extent.columns, inverse, finite);
  }
  const float amax = bits_float(largest_lane(finite));
  if (request.amax != nullptr && amax > *request.amax) *request.amax = amax;
}

void dequantize_floats_f32_x86_avx2(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Extent extent = folded(source, target);
  const DecodeRow decode_one = decode_row_of(source.format.element);
  const bool has_halves = source.format.element == LPT_FORMAT_F16 || source.format.element == LPT_FORMAT_BF16;
  const int64_t bytes = has_halves ? 2 : 1;
  const bool has_scale = source.format.tensor_scale != LPT_FORMAT_NONE;
  const __m256 scale = _mm256_set1_ps(has_scale ? *source.tensor_scale : 1.0f);
  for (int64_t row = 0; row < extent.rows; ++row) {
    decode_one(static_cast<const uint8_t *>(source.data) + row * source.row_stride * bytes,
               static_cast<float *>(target.data) + row * target.row_stride, extent.columns, scale);
  }
}

}  // namespace lpt
