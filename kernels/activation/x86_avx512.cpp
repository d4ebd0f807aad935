// The layers without weights for AVX-512: any mix of f32, f16, bf16 with adjacent columns, sixteen columns at a time.
#include "kernels/activation/cross_entropy.hpp"
#include "kernels/activation/finish.hpp"
#include "kernels/activation/rmsnorm.hpp"
#include "kernels/activation/softmax.hpp"
#include "kernels/activation/swiglu.hpp"
#include "kernels/common/simd_avx512.hpp"

namespace lpt {
namespace {

struct Avx512 {
  static constexpr int64_t kWidth = 16;
  using Floats = __m512;
  using Doubles = __m512d;
  using Halves = __m256i;
  using Flags = __mmask16;
  using Columns = __mmask16;

  static Columns all_columns() { return 0xFFFF; }
  static Columns first_columns(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

  static Floats load(const float *from, Columns columns) { return _mm512_maskz_loadu_ps(columns, from); }
  static void store(float *to, Columns columns, Floats value) { _mm512_mask_storeu_ps(to, columns, value); }
  static Halves load_halves(const uint8_t *from, Columns columns) { return _mm256_maskz_loadu_epi16(columns, from); }
  static void store_halves(uint8_t *to, Columns columns, Halves halves) {
    _mm256_mask_storeu_epi16(to, columns, halves);
  }

  static Floats from_f16(Halves halves) { return _mm512_cvtph_ps(halves); }
  static Floats from_bf16(Halves halves) { return f32_of_bf16(halves); }
  static Halves to_f16(Floats value) { return _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Halves to_bf16(Floats value) { return _mm512_cvtepi32_epi16(_mm512_srli_epi32(bf16_rounded(value), 16)); }

  static Floats all(float value) { return _mm512_set1_ps(value); }
  static Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats fused_off(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a · b
  static Floats with_sign(Floats value) { return _mm512_or_ps(value, _mm512_set1_ps(-0.0f)); }
  static Floats magnitude(Floats value) { return _mm512_abs_ps(value); }
  static Floats flipped(Floats value, Floats signs) { return _mm512_xor_ps(value, signs); }
  static Floats if_negative(Floats value, Floats yes, Floats no) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(value, _mm512_setzero_ps(), _CMP_LT_OQ), no, yes);
  }
  static Floats where(Columns columns, Floats value, Floats other) { return _mm512_mask_mov_ps(other, columns, value); }
  static Flags is_nan(Floats value) { return _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q); }
  static bool has_any(Flags flags) { return flags != 0; }
  static Floats with_plain_nan(Floats value) {
    return _mm512_mask_mov_ps(value, is_nan(value), _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000)));
  }
  static Floats finite_magnitude(Floats value) {
    const Floats size = magnitude(value);
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(size, _mm512_set1_ps(__builtin_inff()), _CMP_LT_OQ), size);
  }

  // Rounds once, as the two products of exp_f32 do.
  static Floats times_power_of_two(Floats value, Floats n) { return _mm512_scalef_ps(value, n); }

  static float largest_of(Floats values) { return _mm512_reduce_max_ps(values); }

  static Doubles low_half(Floats value) { return _mm512_cvtps_pd(_mm512_castps512_ps256(value)); }
  static Doubles high_half(Floats value) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(value, 1)); }
  static Doubles fused(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
  static double total(Doubles sums) { return _mm512_reduce_add_pd(sums); }

  // sums[0 .. 16) += a · b where there are columns.
  static void add_products_to(double *sums, Columns columns, Floats a, Floats b) {
    const auto low = static_cast<__mmask8>(columns), high = static_cast<__mmask8>(columns >> 8);
    _mm512_mask_storeu_pd(sums, low, fused(low_half(a), low_half(b), _mm512_maskz_loadu_pd(low, sums)));
    if (high == 0) return;
    sums += 8;
    _mm512_mask_storeu_pd(sums, high, fused(high_half(a), high_half(b), _mm512_maskz_loadu_pd(high, sums)));
  }
};

}  // namespace

void swiglu_forward_x86_avx512(const SwigluForwardRequest &request) { swiglu_forward_of<Avx512>(request); }
void swiglu_backward_x86_avx512(const SwigluBackwardRequest &request) { swiglu_backward_of<Avx512>(request); }
void rmsnorm_forward_x86_avx512(const RmsnormForwardRequest &request) { rmsnorm_forward_of<Avx512>(request); }
void rmsnorm_backward_x86_avx512(const RmsnormBackwardRequest &request) { rmsnorm_backward_of<Avx512>(request); }
void softmax_forward_x86_avx512(const SoftmaxForwardRequest &request) { softmax_forward_of<Avx512>(request); }
void softmax_backward_x86_avx512(const SoftmaxBackwardRequest &request) { softmax_backward_of<Avx512>(request); }
void cross_entropy_sums_x86_avx512(const CrossEntropySumsRequest &request) { cross_entropy_sums_of<Avx512>(request); }
void cross_entropy_gradient_x86_avx512(const CrossEntropyGradientRequest &request) {
  cross_entropy_gradient_of<Avx512>(request);
}
void finish_x86_avx512(const EpilogueRequest &request) { finish_of<Avx512>(request); }

}  // namespace lpt
