// The layers without weights for AVX2 with FMA and F16C: any mix of f32, f16, bf16 with adjacent columns, eight columns
// at a time. SwiGLU does the operations of ref.cpp in the same order; a tail is padded with zeros in a register.
#include <cstdint>

#include "kernels/activation/rows.hpp"
#include "kernels/common/intrinsics.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

constexpr int64_t kWidth = 8;

// ---- numbers in memory

struct Line {
  uint8_t *data;
  lpt_format format;
};

int64_t bytes_of(lpt_format format) { return format == LPT_FORMAT_F32 ? 4 : 2; }

Line line_of(const MatrixView &view, int64_t row) {
  const lpt_format format = view.format.id;
  return {static_cast<uint8_t *>(view.data) + row * view.row_stride * bytes_of(format), format};
}

// Lanes below `count`.
__m256i mask_of(int64_t count) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count < kWidth ? static_cast<int>(count) : 8), lanes);
}

__m256 load_floats(const float *data, int64_t count) {
  return count >= kWidth ? _mm256_loadu_ps(data) : _mm256_maskload_ps(data, mask_of(count));
}

void store_floats(float *data, int64_t count, __m256 value) {
  if (count >= kWidth) {
    _mm256_storeu_ps(data, value);
  } else {
    _mm256_maskstore_ps(data, mask_of(count), value);
  }
}

// Columns `column` and up, at most eight of the `columns`; the rest zeros.
__m256 load(const Line &line, int64_t column, int64_t columns) {
  const int64_t count = columns - column;
  const uint8_t *place = line.data + column * bytes_of(line.format);
  if (line.format == LPT_FORMAT_F32) return load_floats(reinterpret_cast<const float *>(place), count);
  __m128i halves = _mm_setzero_si128();
  if (count >= kWidth) {
    halves = _mm_loadu_si128(reinterpret_cast<const __m128i *>(place));
  } else {
    __builtin_memcpy(&halves, place, static_cast<size_t>(2 * count));
  }
  if (line.format == LPT_FORMAT_F16) return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

// Nearest even; beyond the largest value infinity; NaN the positive quiet one.
void store(const Line &line, int64_t column, int64_t columns, __m256 value) {
  const int64_t count = columns - column;
  uint8_t *place = line.data + column * bytes_of(line.format);
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000));
  value = _mm256_blendv_ps(value, nan, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  if (line.format == LPT_FORMAT_F32) return store_floats(reinterpret_cast<float *>(place), count, value);
  __m128i halves;
  if (line.format == LPT_FORMAT_F16) {
    halves = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
    const __m256i codes = _mm256_srli_epi32(rounded, 16);
    halves = _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(codes, codes), 0x08));
  }
  if (count >= kWidth) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(place), halves);
  } else {
    __builtin_memcpy(place, &halves, static_cast<size_t>(2 * count));
  }
}

__m256 magnitude_of(__m256 value) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value); }

// ---- functions: the operations of src/formats/functions.hpp

__m256 power_of_two(__m256i n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

// The operand order of min and max keeps NaN, and so does a product with any power of two.
__m256 exponential(__m256 x) {
  using K = ExpConstants;
  x = _mm256_max_ps(_mm256_set1_ps(K::kLowest), x);
  x = _mm256_min_ps(_mm256_set1_ps(K::kHighest), x);
  const __m256 bias = _mm256_set1_ps(K::kRoundBias);
  const __m256 n = _mm256_sub_ps(_mm256_fmadd_ps(x, _mm256_set1_ps(K::kLog2E), bias), bias);
  __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-K::kLn2High), x);
  r = _mm256_fmadd_ps(n, _mm256_set1_ps(-K::kLn2Low), r);
  __m256 p = _mm256_fmadd_ps(_mm256_set1_ps(K::kC6), r, _mm256_set1_ps(K::kC5));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(K::kC4));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(K::kC3));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(K::kC2));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
  const __m256i exponent = _mm256_cvtps_epi32(n);
  const __m256i half = _mm256_srai_epi32(exponent, 1);
  return _mm256_mul_ps(_mm256_mul_ps(p, power_of_two(half)), power_of_two(_mm256_sub_epi32(exponent, half)));
}

struct Logistic {
  __m256 value, complement;
};

Logistic logistic(__m256 x) {
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 is_negative = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_LT_OQ);
  const __m256 e = exponential(_mm256_or_ps(x, _mm256_set1_ps(-0.0f)));
  const __m256 larger = _mm256_div_ps(one, _mm256_add_ps(one, e));
  const __m256 smaller = _mm256_mul_ps(e, larger);
  return {_mm256_blendv_ps(larger, smaller, is_negative), _mm256_blendv_ps(smaller, larger, is_negative)};
}

// ---- sums in f64

struct Sum {
  __m256d low, high;
};

__m256d low_half(__m256 value) { return _mm256_cvtps_pd(_mm256_castps256_ps128(value)); }
__m256d high_half(__m256 value) { return _mm256_cvtps_pd(_mm256_extractf128_ps(value, 1)); }

double total(const Sum &sum) {
  const __m256d all = _mm256_add_pd(sum.low, sum.high);
  const __m128d pairs = _mm_add_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd(all, 1));
  return _mm_cvtsd_f64(_mm_add_sd(pairs, _mm_unpackhi_pd(pairs, pairs)));
}

// sum + a · b, the product exact.
Sum add_products(const Sum &sum, __m256 a, __m256 b) {
  return {_mm256_fmadd_pd(low_half(a), low_half(b), sum.low), _mm256_fmadd_pd(high_half(a), high_half(b), sum.high)};
}

Sum add(const Sum &sum, __m256 value) {
  return {_mm256_add_pd(sum.low, low_half(value)), _mm256_add_pd(sum.high, high_half(value))};
}

// sums[0..count) += a · b
void add_to(double *sums, int64_t count, __m256 a, __m256 b) {
  double padded[kWidth] = {};
  double *place = sums;
  if (count < kWidth) {
    place = padded;
    __builtin_memcpy(padded, sums, static_cast<size_t>(8 * count));
  }
  _mm256_storeu_pd(place, _mm256_fmadd_pd(low_half(a), low_half(b), _mm256_loadu_pd(place)));
  _mm256_storeu_pd(place + 4, _mm256_fmadd_pd(high_half(a), high_half(b), _mm256_loadu_pd(place + 4)));
  if (count < kWidth) __builtin_memcpy(sums, padded, static_cast<size_t>(8 * count));
}

float largest_of(__m256 values) {
  float lanes[kWidth];
  _mm256_storeu_ps(lanes, values);
  float largest = lanes[0];
  for (const float lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

}  // namespace

// ---- SwiGLU

void swiglu_forward_x86_avx2(const SwigluForwardRequest &request) {
  const int64_t columns = request.gate.columns;
  const __m256 infinity = _mm256_set1_ps(__builtin_inff());
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const Line gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const Line outputs = line_of(request.output, row);
    for (int64_t column = 0; column < columns; column += kWidth) {
      const __m256 gate = load(gates, column, columns);
      const __m256 up = load(ups, column, columns);
      const __m256 silu = _mm256_mul_ps(gate, logistic(gate).value);
      store(outputs, column, columns, _mm256_mul_ps(silu, up));
      if (request.column_amax != nullptr) {
        float *place = request.column_amax + column;
        const __m256 magnitude = magnitude_of(up);
        const __m256 finite = _mm256_and_ps(magnitude, _mm256_cmp_ps(magnitude, infinity, _CMP_LT_OQ));
        store_floats(place, columns - column, _mm256_max_ps(load_floats(place, columns - column), finite));
      }
    }
  }
}

void swiglu_backward_x86_avx2(const SwigluBackwardRequest &request) {
  const int64_t columns = request.gate.columns;
  const __m256 one = _mm256_set1_ps(1.0f);
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    const Line gates = line_of(request.gate, row), ups = line_of(request.up, row);
    const Line gradients = line_of(request.output_gradient, row);
    const Line gate_gradients = line_of(request.gate_gradient, row), up_gradients = line_of(request.up_gradient, row);
    for (int64_t column = 0; column < columns; column += kWidth) {
      const __m256 gate = load(gates, column, columns);
      const __m256 up = load(ups, column, columns);
      const __m256 dy = load(gradients, column, columns);
      const Logistic s = logistic(gate);
      const __m256 derivative = _mm256_mul_ps(s.value, _mm256_fmadd_ps(gate, s.complement, one));
      store(gate_gradients, column, columns, _mm256_mul_ps(_mm256_mul_ps(dy, up), derivative));
      store(up_gradients, column, columns, _mm256_mul_ps(dy, _mm256_mul_ps(gate, s.value)));
    }
  }
}

// ---- RMSNorm

void rmsnorm_forward_x86_avx2(const RmsnormForwardRequest &request) {
  const int64_t columns = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  auto *inverses = static_cast<float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const Line inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    Sum sum = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (int64_t column = 0; column < columns; column += kWidth) {
      const __m256 x = load(inputs, column, columns);
      sum = add_products(sum, x, x);
    }
    const double square = (columns == 0 ? 0.0 : total(sum) / static_cast<double>(columns)) + request.epsilon;
    const float inverse = static_cast<float>(square == 0.0 ? 0.0 : 1.0 / __builtin_sqrt(square));
    const __m256 r = _mm256_set1_ps(inverse);
    for (int64_t column = 0; column < columns; column += kWidth) {
      const __m256 normal = _mm256_mul_ps(load(inputs, column, columns), r);
      store(outputs, column, columns, _mm256_mul_ps(normal, load_floats(weights + column, columns - column)));
    }
    if (inverses != nullptr) inverses[row] = inverse;
  }
}

void rmsnorm_backward_x86_avx2(const RmsnormBackwardRequest &request) {
  const int64_t columns = request.input.columns;
  const auto *weights = static_cast<const float *>(request.weight);
  const auto *inverses = static_cast<const float *>(request.inverse_rms);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const Line inputs = line_of(request.input, row), gradients = line_of(request.output_gradient, row);
    const __m256 r = _mm256_set1_ps(inverses[row]);
    Sum sum = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (int64_t column = 0; column < columns; column += kWidth) {
      const __m256 dy = load(gradients, column, columns);
      const __m256 normal = _mm256_mul_ps(load(inputs, column, columns), r);
      sum = add_products(sum, _mm256_mul_ps(dy, load_floats(weights + column, columns - column)), normal);
      if (request.weight_gradient_sum != nullptr) {
        add_to(request.weight_gradient_sum + column, columns - column, dy, normal);
      }
    }
    if (request.input_gradient.data == nullptr) continue;
    const Line outputs = line_of(request.input_gradient, row);
    const __m256 mean = _mm256_set1_ps(static_cast<float>(total(sum) / static_cast<double>(columns)));
    for (int64_t column = 0; column < columns; column += kWidth) {
      const __m256 normal = _mm256_mul_ps(load(inputs, column, columns), r);
      const __m256 weighted =
          _mm256_mul_ps(load(gradients, column, columns), load_floats(weights + column, columns - column));
      store(outputs, column, columns, _mm256_mul_ps(r, _mm256_fnmadd_ps(normal, mean, weighted)));
    }
  }
}

// ---- softmax

void softmax_forward_x86_avx2(const SoftmaxForwardRequest &request) {
  const int64_t columns = request.input.columns;
  const float scale = static_cast<float>(request.scale);
  const __m256 scales = _mm256_set1_ps(scale);
  // A negative scale looks for the smallest: the largest of -x.
  const __m256 flip = _mm256_set1_ps(scale < 0.0f ? -0.0f : 0.0f);
  const __m256 lowest = _mm256_set1_ps(-__builtin_inff());
  for (int64_t row = 0; row < request.input.rows; ++row) {
    int64_t seen = columns;
    if (request.is_causal) {
      seen = (request.first_row + row) % request.period + columns - request.period + 1;
      seen = seen < 0 ? 0 : seen > columns ? columns : seen;
    }
    const Line inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    const bool is_kept =
        outputs.format == LPT_FORMAT_F32;  // exponentials wait in the output, unless it would round them

    // max_ps gives its second operand when one is NaN: the peak is over numbers.
    __m256 peaks = lowest;
    __m256 nans = _mm256_setzero_ps();
    for (int64_t column = 0; column < seen; column += kWidth) {
      const __m256 x = _mm256_xor_ps(load(inputs, column, seen), flip);
      const __m256 numbers = _mm256_blendv_ps(lowest, x, _mm256_castsi256_ps(mask_of(seen - column)));
      peaks = _mm256_max_ps(numbers, peaks);
      nans = _mm256_or_ps(nans, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    }
    const float peak = largest_of(peaks);
    const bool is_empty = _mm256_movemask_ps(nans) == 0 && peak == -__builtin_inff();
    if (is_empty) seen = 0;
    const __m256 top = _mm256_xor_ps(_mm256_set1_ps(peak), flip);

    Sum sum = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (int64_t column = 0; column < seen; column += kWidth) {
      const __m256 all = exponential(_mm256_mul_ps(scales, _mm256_sub_ps(load(inputs, column, seen), top)));
      const __m256 e = _mm256_and_ps(all, _mm256_castsi256_ps(mask_of(seen - column)));
      sum = add(sum, e);
      if (is_kept) store(outputs, column, seen, e);
    }
    const __m256 inverse = _mm256_set1_ps(static_cast<float>(1.0 / total(sum)));
    for (int64_t column = 0; column < seen; column += kWidth) {
      const __m256 e = is_kept ? load(outputs, column, seen)
                               : exponential(_mm256_mul_ps(scales, _mm256_sub_ps(load(inputs, column, seen), top)));
      store(outputs, column, seen, _mm256_mul_ps(e, inverse));
    }
    for (int64_t column = seen; column < columns; column += kWidth) {
      store(outputs, column, columns, _mm256_setzero_ps());
    }
  }
}

void softmax_backward_x86_avx2(const SoftmaxBackwardRequest &request) {
  const int64_t columns = request.output.columns;
  const __m256 scale = _mm256_set1_ps(static_cast<float>(request.scale));
  for (int64_t row = 0; row < request.output.rows; ++row) {
    const Line ys = line_of(request.output, row), gradients = line_of(request.output_gradient, row);
    const Line targets = line_of(request.input_gradient, row);
    Sum sum = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (int64_t column = 0; column < columns; column += kWidth) {
      sum = add_products(sum, load(ys, column, columns), load(gradients, column, columns));
    }
    const __m256 mean = _mm256_set1_ps(static_cast<float>(total(sum)));
    for (int64_t column = 0; column < columns; column += kWidth) {
      const __m256 y = load(ys, column, columns);
      const __m256 dy = load(gradients, column, columns);
      store(targets, column, columns, _mm256_mul_ps(_mm256_mul_ps(scale, y), _mm256_sub_ps(dy, mean)));
    }
  }
}

}  // namespace lpt
