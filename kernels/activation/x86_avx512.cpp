// The layers without weights for AVX-512: any mix of f32, f16, bf16 with adjacent columns, sixteen columns at a time.
// SwiGLU does the operations of ref.cpp in the same order; tails are the same code under a mask. What is all f32 is
// compiled by itself (kIsF32), so that the loops ask nothing about formats.
#include <cstdint>

#include "kernels/activation/rows.hpp"
#include "kernels/common/intrinsics.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

constexpr int64_t kWidth = 16;
constexpr __mmask16 kAll = 0xFFFF;

// body(column, mask) for every group of sixteen columns in [begin, end); the mask is constant but for the last one.
template <typename Body>
inline __attribute__((always_inline)) void for_columns(int64_t begin, int64_t end, const Body &body) {
  int64_t column = begin;
  for (; column + kWidth <= end; column += kWidth) body(column, kAll);
  if (column < end) body(column, static_cast<__mmask16>((1u << (end - column)) - 1));
}

// ---- numbers in memory

struct Line {
  uint8_t *data;
  lpt_format format;
};

bool is_f32(const MatrixView &view) { return view.format.id == LPT_FORMAT_F32; }

int64_t bytes_of(lpt_format format) { return format == LPT_FORMAT_F32 ? 4 : 2; }

Line line_of(const MatrixView &view, int64_t row) {
  const lpt_format format = view.format.id;
  return {static_cast<uint8_t *>(view.data) + row * view.row_stride * bytes_of(format), format};
}

template <bool kIsF32>
inline __m512 load(const Line &line, int64_t column, __mmask16 mask) {
  if (kIsF32 || line.format == LPT_FORMAT_F32) return _mm512_maskz_loadu_ps(mask, line.data + 4 * column);
  const __m256i halves = _mm256_maskz_loadu_epi16(mask, line.data + 2 * column);
  if (line.format == LPT_FORMAT_F16) return _mm512_cvtph_ps(halves);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

// Nearest even; beyond the largest value infinity; NaN the positive quiet one.
template <bool kIsF32>
inline void store(const Line &line, int64_t column, __mmask16 mask, __m512 value) {
  const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  const __m512i bits = _mm512_mask_mov_epi32(_mm512_castps_si512(value), is_nan, _mm512_set1_epi32(0x7FC00000));
  if (kIsF32 || line.format == LPT_FORMAT_F32) {
    _mm512_mask_storeu_epi32(line.data + 4 * column, mask, bits);
    return;
  }
  __m256i halves;
  if (line.format == LPT_FORMAT_F16) {
    halves = _mm512_cvtps_ph(_mm512_castsi512_ps(bits), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
    halves = _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
  }
  _mm256_mask_storeu_epi16(line.data + 2 * column, mask, halves);
}

// ---- functions: the operations of src/formats/functions.hpp

// The operand order of min and max keeps NaN. scalef rounds once, as the two products of exp_f32 do.
__m512 exponential(__m512 x) {
  using K = ExpConstants;
  x = _mm512_max_ps(_mm512_set1_ps(K::kLowest), x);
  x = _mm512_min_ps(_mm512_set1_ps(K::kHighest), x);
  const __m512 bias = _mm512_set1_ps(K::kRoundBias);
  const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(K::kLog2E), bias), bias);
  __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-K::kLn2High), x);
  r = _mm512_fmadd_ps(n, _mm512_set1_ps(-K::kLn2Low), r);
  __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(K::kC6), r, _mm512_set1_ps(K::kC5));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(K::kC4));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(K::kC3));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(K::kC2));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(p, n);
}

struct Logistic {
  __m512 value, complement;
};

Logistic logistic(__m512 x) {
  const __m512 sign_bit = _mm512_set1_ps(-0.0f);
  const __m512 one = _mm512_set1_ps(1.0f);
  const __mmask16 is_negative = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
  const __m512 e = exponential(_mm512_or_ps(x, sign_bit));
  const __m512 larger = _mm512_div_ps(one, _mm512_add_ps(one, e));
  const __m512 smaller = _mm512_mul_ps(e, larger);
  return {_mm512_mask_blend_ps(is_negative, larger, smaller), _mm512_mask_blend_ps(is_negative, smaller, larger)};
}

// ---- sums in f64

struct Sum {
  __m512d low, high;
};

__m512d low_half(__m512 value) { return _mm512_cvtps_pd(_mm512_castps512_ps256(value)); }
__m512d high_half(__m512 value) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(value, 1)); }

double total(const Sum &sum) { return _mm512_reduce_add_pd(_mm512_add_pd(sum.low, sum.high)); }

// sum + a · b, the product exact.
Sum add_products(const Sum &sum, __m512 a, __m512 b) {
  return {_mm512_fmadd_pd(low_half(a), low_half(b), sum.low), _mm512_fmadd_pd(high_half(a), high_half(b), sum.high)};
}

Sum add(const Sum &sum, __m512 value) {
  return {_mm512_add_pd(sum.low, low_half(value)), _mm512_add_pd(sum.high, high_half(value))};
}

// ---- SwiGLU

template <bool kIsF32>
void swiglu_forward(const SwigluForwardRequest &request) {
  const __m512 infinity = _mm512_set1_ps(__builtin_inff());
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const Line gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const Line outputs = line_of(request.output, row);
    for_columns(0, request.gate.columns, [&](int64_t column, __mmask16 mask) {
      const __m512 gate = load<kIsF32>(gates, column, mask);
      const __m512 up = load<kIsF32>(ups, column, mask);
      const __m512 silu = _mm512_mul_ps(gate, logistic(gate).value);
      store<kIsF32>(outputs, column, mask, _mm512_mul_ps(silu, up));
      if (request.column_amax != nullptr) {
        const __m512 magnitude = _mm512_abs_ps(up);
        const __mmask16 is_finite = _mm512_mask_cmp_ps_mask(mask, magnitude, infinity, _CMP_LT_OQ);
        const __m512 amax = _mm512_maskz_loadu_ps(mask, request.column_amax + column);
        _mm512_mask_storeu_ps(request.column_amax + column, is_finite, _mm512_max_ps(amax, magnitude));
      }
    });
  }
}

template <bool kIsF32>
void swiglu_backward(const SwigluBackwardRequest &request) {
  const __m512 one = _mm512_set1_ps(1.0f);
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const Line gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const Line gradients = line_of(request.output_gradient, row);
    const Line gate_gradients = line_of(request.gate_gradient, row), up_gradients = line_of(request.up_gradient, row);
    for_columns(0, request.gate.columns, [&](int64_t column, __mmask16 mask) {
      const __m512 gate = load<kIsF32>(gates, column, mask);
      const __m512 up = load<kIsF32>(ups, column, mask);
      const __m512 dy = load<kIsF32>(gradients, column, mask);
      const Logistic s = logistic(gate);
      const __m512 derivative = _mm512_mul_ps(s.value, _mm512_fmadd_ps(gate, s.complement, one));
      store<kIsF32>(gate_gradients, column, mask, _mm512_mul_ps(_mm512_mul_ps(dy, up), derivative));
      store<kIsF32>(up_gradients, column, mask, _mm512_mul_ps(dy, _mm512_mul_ps(gate, s.value)));
    });
  }
}

// ---- RMSNorm

template <bool kIsF32>
void rmsnorm_forward(const RmsnormForwardRequest &request) {
  const int64_t columns = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  auto *inverses = static_cast<float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const Line inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    Sum sum = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    for_columns(0, columns, [&](int64_t column, __mmask16 mask) {
      const __m512 x = load<kIsF32>(inputs, column, mask);
      sum = add_products(sum, x, x);
    });
    const double square = (columns == 0 ? 0.0 : total(sum) / static_cast<double>(columns)) + request.epsilon;
    const float inverse = static_cast<float>(square == 0.0 ? 0.0 : 1.0 / __builtin_sqrt(square));
    const __m512 r = _mm512_set1_ps(inverse);
    for_columns(0, columns, [&](int64_t column, __mmask16 mask) {
      const __m512 normal = _mm512_mul_ps(load<kIsF32>(inputs, column, mask), r);
      const __m512 weight = _mm512_maskz_loadu_ps(mask, weights + column);
      store<kIsF32>(outputs, column, mask, _mm512_mul_ps(normal, weight));
    });
    if (inverses != nullptr) inverses[row] = inverse;
  }
}

// sums[0..16) += a · b where the mask is set.
inline void add_to(double *sums, __mmask16 mask, __m512 a, __m512 b) {
  const auto low = static_cast<__mmask8>(mask), high = static_cast<__mmask8>(mask >> 8);
  _mm512_mask_storeu_pd(sums, low, _mm512_fmadd_pd(low_half(a), low_half(b), _mm512_maskz_loadu_pd(low, sums)));
  if (high == 0) return;
  sums += 8;
  _mm512_mask_storeu_pd(sums, high, _mm512_fmadd_pd(high_half(a), high_half(b), _mm512_maskz_loadu_pd(high, sums)));
}

template <bool kIsF32>
void rmsnorm_backward(const RmsnormBackwardRequest &request) {
  const int64_t columns = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  const auto *inverses = static_cast<const float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const Line inputs = line_of(request.input, row), gradients = line_of(request.output_gradient, row);
    const __m512 r = _mm512_set1_ps(inverses[row]);
    Sum sum = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    for_columns(0, columns, [&](int64_t column, __mmask16 mask) {
      const __m512 dy = load<kIsF32>(gradients, column, mask);
      const __m512 normal = _mm512_mul_ps(load<kIsF32>(inputs, column, mask), r);
      sum = add_products(sum, _mm512_mul_ps(dy, _mm512_maskz_loadu_ps(mask, weights + column)), normal);
      if (request.weight_gradient_sum != nullptr) add_to(request.weight_gradient_sum + column, mask, dy, normal);
    });
    if (request.input_gradient.data == nullptr) continue;
    const Line outputs = line_of(request.input_gradient, row);
    const __m512 mean = _mm512_set1_ps(static_cast<float>(total(sum) / static_cast<double>(columns)));
    for_columns(0, columns, [&](int64_t column, __mmask16 mask) {
      const __m512 normal = _mm512_mul_ps(load<kIsF32>(inputs, column, mask), r);
      const __m512 weight = _mm512_maskz_loadu_ps(mask, weights + column);
      const __m512 weighted = _mm512_mul_ps(load<kIsF32>(gradients, column, mask), weight);
      store<kIsF32>(outputs, column, mask, _mm512_mul_ps(r, _mm512_fnmadd_ps(normal, mean, weighted)));
    });
  }
}

// ---- softmax

template <bool kIsF32>
void softmax_forward(const SoftmaxForwardRequest &request) {
  const int64_t columns = request.input.columns;
  const float scale = static_cast<float>(request.scale);
  const __m512 scales = _mm512_set1_ps(scale);
  // A negative scale looks for the smallest: the largest of -x.
  const __m512 flip = _mm512_set1_ps(scale < 0.0f ? -0.0f : 0.0f);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    int64_t seen = columns;
    if (request.is_causal) {
      seen = (request.first_row + row) % request.period + columns - request.period + 1;
      seen = seen < 0 ? 0 : seen > columns ? columns : seen;
    }
    const Line inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    // Exponentials wait in the output, unless it would round them.
    const bool is_kept = kIsF32 || outputs.format == LPT_FORMAT_F32;

    // max_ps gives its second operand when one is NaN: the peak is over numbers.
    __m512 peaks = _mm512_set1_ps(-__builtin_inff());
    __mmask16 has_nan = 0;
    for_columns(0, seen, [&](int64_t column, __mmask16 mask) {
      const __m512 x = _mm512_xor_ps(load<kIsF32>(inputs, column, mask), flip);
      peaks = _mm512_mask_max_ps(peaks, mask, x, peaks);
      has_nan |= _mm512_mask_cmp_ps_mask(mask, x, x, _CMP_UNORD_Q);
    });
    const float peak = _mm512_reduce_max_ps(peaks);
    const bool is_empty = has_nan == 0 && peak == -__builtin_inff();
    if (is_empty) seen = 0;
    const __m512 top = _mm512_xor_ps(_mm512_set1_ps(peak), flip);

    Sum sum = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    for_columns(0, seen, [&](int64_t column, __mmask16 mask) {
      const __m512 x = load<kIsF32>(inputs, column, mask);
      const __m512 e = exponential(_mm512_mul_ps(scales, _mm512_sub_ps(x, top)));
      sum = add(sum, _mm512_maskz_mov_ps(mask, e));
      if (is_kept) _mm512_mask_storeu_ps(outputs.data + 4 * column, mask, e);
    });
    const __m512 inverse = _mm512_set1_ps(static_cast<float>(1.0 / total(sum)));
    for_columns(0, seen, [&](int64_t column, __mmask16 mask) {
      const __m512 e = is_kept
                           ? _mm512_maskz_loadu_ps(mask, outputs.data + 4 * column)
                           : exponential(_mm512_mul_ps(scales, _mm512_sub_ps(load<kIsF32>(inputs, column, mask), top)));
      store<kIsF32>(outputs, column, mask, _mm512_mul_ps(e, inverse));
    });
    for_columns(seen, columns,
                [&](int64_t column, __mmask16 mask) { store<kIsF32>(outputs, column, mask, _mm512_setzero_ps()); });
  }
}

template <bool kIsF32>
void softmax_backward(const SoftmaxBackwardRequest &request) {
  const int64_t columns = request.output.columns;
  const __m512 scale = _mm512_set1_ps(static_cast<float>(request.scale));
  for (int64_t row = 0; row < request.output.rows; ++row) {
    const Line ys = line_of(request.output, row), gradients = line_of(request.output_gradient, row);
    const Line targets = line_of(request.input_gradient, row);
    Sum sum = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    for_columns(0, columns, [&](int64_t column, __mmask16 mask) {
      sum = add_products(sum, load<kIsF32>(ys, column, mask), load<kIsF32>(gradients, column, mask));
    });
    const __m512 mean = _mm512_set1_ps(static_cast<float>(total(sum)));
    for_columns(0, columns, [&](int64_t column, __mmask16 mask) {
      const __m512 y = load<kIsF32>(ys, column, mask);
      const __m512 dy = load<kIsF32>(gradients, column, mask);
      store<kIsF32>(targets, column, mask, _mm512_mul_ps(_mm512_mul_ps(scale, y), _mm512_sub_ps(dy, mean)));
    });
  }
}

}  // namespace

void swiglu_forward_x86_avx512(const SwigluForwardRequest &request) {
  const bool all = is_f32(request.gate) && is_f32(request.up) && is_f32(request.output);
  all ? swiglu_forward<true>(request) : swiglu_forward<false>(request);
}

void swiglu_backward_x86_avx512(const SwigluBackwardRequest &request) {
  const bool all = is_f32(request.gate) && is_f32(request.up) && is_f32(request.output_gradient) &&
                   is_f32(request.gate_gradient) && is_f32(request.up_gradient);
  all ? swiglu_backward<true>(request) : swiglu_backward<false>(request);
}

void rmsnorm_forward_x86_avx512(const RmsnormForwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output);
  all ? rmsnorm_forward<true>(request) : rmsnorm_forward<false>(request);
}

void rmsnorm_backward_x86_avx512(const RmsnormBackwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output_gradient) &&
                   (request.input_gradient.data == nullptr || is_f32(request.input_gradient));
  all ? rmsnorm_backward<true>(request) : rmsnorm_backward<false>(request);
}

void softmax_forward_x86_avx512(const SoftmaxForwardRequest &request) {
  const bool all = is_f32(request.input) && is_f32(request.output);
  all ? softmax_forward<true>(request) : softmax_forward<false>(request);
}

void softmax_backward_x86_avx512(const SoftmaxBackwardRequest &request) {
  const bool all = is_f32(request.output) && is_f32(request.output_gradient) && is_f32(request.input_gradient);
  all ? softmax_backward<true>(request) : softmax_backward<false>(request);
}

}  // namespace lpt
