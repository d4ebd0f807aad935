// The layers without weights for AVX2 with FMA and F16C: any mix of f32, f16, bf16 with adjacent columns, eight columns
// at a time.
#include "kernels/activation/cross_entropy.hpp"
#include "kernels/activation/finish.hpp"
#include "kernels/activation/rmsnorm.hpp"
#include "kernels/activation/softmax.hpp"
#include "kernels/activation/swiglu.hpp"
#include "kernels/common/simd_avx2.hpp"

namespace lpt {
namespace {

struct Avx2 {
  static constexpr int64_t kWidth = 8;
  using Floats = __m256;
  using Doubles = __m256d;
  using Halves = __m128i;
  using Flags = __m256i;
  using Columns = int64_t;  // how many there are

  static Columns all_columns() { return kWidth; }
  static Columns first_columns(int64_t count) { return count; }

  static Floats load(const float *from, Columns columns) {
    return columns == kWidth ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, first_lanes(columns));
  }
  static void store(float *to, Columns columns, Floats value) {
    if (columns == kWidth) return _mm256_storeu_ps(to, value);
    _mm256_maskstore_ps(to, first_lanes(columns), value);
  }
  static Halves load_halves(const uint8_t *from, Columns columns) {
    if (columns == kWidth) return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
    Halves halves = _mm_setzero_si128();
    __builtin_memcpy(&halves, from, static_cast<size_t>(2 * columns));
    return halves;
  }
  static void store_halves(uint8_t *to, Columns columns, Halves halves) {
    if (columns == kWidth) return _mm_storeu_si128(reinterpret_cast<__m128i *>(to), halves);
    __builtin_memcpy(to, &halves, static_cast<size_t>(2 * columns));
  }

  static Floats from_f16(Halves halves) { return _mm256_cvtph_ps(halves); }
  static Floats from_bf16(Halves halves) { return f32_of_bf16(halves); }
  static Halves to_f16(Floats value) { return _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Halves to_bf16(Floats value) {
    const __m256i codes = bf16_dwords(value);
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(codes, codes), 0x08));
  }

  static Floats all(float value) { return _mm256_set1_ps(value); }
  static Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats min(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats fused_off(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a · b
  static Floats with_sign(Floats value) { return _mm256_or_ps(value, _mm256_set1_ps(-0.0f)); }
  static Floats magnitude(Floats value) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value); }
  static Floats flipped(Floats value, Floats signs) { return _mm256_xor_ps(value, signs); }
  static Floats if_negative(Floats value, Floats yes, Floats no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(value, _mm256_setzero_ps(), _CMP_LT_OQ));
  }
  static Floats where(Columns columns, Floats value, Floats other) {
    if (columns == kWidth) return value;
    return _mm256_blendv_ps(other, value, _mm256_castsi256_ps(first_lanes(columns)));
  }
  static Flags is_nan(Floats value) { return _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q)); }
  static bool has_any(Flags flags) { return _mm256_movemask_epi8(flags) != 0; }
  static Floats with_plain_nan(Floats value) {
    const Floats nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
    return _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  }
  static Floats finite_magnitude(Floats value) {
    const Floats size = magnitude(value);
    return _mm256_and_ps(size, _mm256_cmp_ps(size, _mm256_set1_ps(__builtin_inff()), _CMP_LT_OQ));
  }

  static Floats power_of_two(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }
  // A product with any power of two keeps NaN.
  static Floats times_power_of_two(Floats value, Floats n) {
    const __m256i exponent = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(exponent, 1);
    return value * power_of_two(half) * power_of_two(_mm256_sub_epi32(exponent, half));
  }

  static float largest_of(Floats values) {
    float lanes[kWidth];
    _mm256_storeu_ps(lanes, values);
    float largest = lanes[0];
    for (const float lane : lanes) largest = lane > largest ? lane : largest;
    return largest;
  }

  static Doubles low_half(Floats value) { return _mm256_cvtps_pd(_mm256_castps256_ps128(value)); }
  static Doubles high_half(Floats value) { return _mm256_cvtps_pd(_mm256_extractf128_ps(value, 1)); }
  static Doubles fused(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
  static double total(Doubles sums) {
    const __m128d pairs = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd(sums, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pairs, _mm_unpackhi_pd(pairs, pairs)));
  }

  // sums[0 .. columns) += a · b
  static void add_products_to(double *sums, Columns columns, Floats a, Floats b) {
    double padded[kWidth] = {};
    double *place = sums;
    if (columns < kWidth) {
      place = padded;
      __builtin_memcpy(padded, sums, static_cast<size_t>(8 * columns));
    }
    _mm256_storeu_pd(place, fused(low_half(a), low_half(b), _mm256_loadu_pd(place)));
    _mm256_storeu_pd(place + 4, fused(high_half(a), high_half(b), _mm256_loadu_pd(place + 4)));
    if (columns < kWidth) __builtin_memcpy(sums, padded, static_cast<size_t>(8 * columns));
  }
};

}  // namespace

void swiglu_forward_x86_avx2(const SwigluForwardRequest &request) { swiglu_forward_of<Avx2>(request); }
void swiglu_backward_x86_avx2(const SwigluBackwardRequest &request) { swiglu_backward_of<Avx2>(request); }
void rmsnorm_forward_x86_avx2(const RmsnormForwardRequest &request) { rmsnorm_forward_of<Avx2>(request); }
void rmsnorm_backward_x86_avx2(const RmsnormBackwardRequest &request) { rmsnorm_backward_of<Avx2>(request); }
void softmax_forward_x86_avx2(const SoftmaxForwardRequest &request) { softmax_forward_of<Avx2>(request); }
void softmax_backward_x86_avx2(const SoftmaxBackwardRequest &request) { softmax_backward_of<Avx2>(request); }
void cross_entropy_sums_x86_avx2(const CrossEntropySumsRequest &request) { cross_entropy_sums_of<Avx2>(request); }
void cross_entropy_gradient_x86_avx2(const CrossEntropyGradientRequest &request) {
  cross_entropy_gradient_of<Avx2>(request);
}
void finish_x86_avx2(const EpilogueRequest &request) { finish_of<Avx2>(request); }

}  // namespace lpt
