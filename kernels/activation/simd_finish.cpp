// SIMD kernel of the epilogue of a GEMM: the operations of src/formats/functions.hpp in the same order.
#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

struct ScaledExps {
  F32 fraction, power;
};

[[gnu::always_inline]] inline ScaledExps exp_of_minus(F32 high, F32 low) {
  using K = ExpConstants;
  const F32 bias = broadcast(K::kRoundBias);
  const F32 n = mul_add(high, broadcast(-K::kLog2E), bias) - bias;
  F32 r = neg_mul_add(n, broadcast(K::kLn2High), -high);
  r = neg_mul_add(n, broadcast(K::kLn2Low), r);
  return {exp_polynomial(r - low), n};
}

// The operand order of max keeps NaN and -0.
[[gnu::always_inline]] inline F32 without_tail(F32 x, F32 tail) { return max(broadcast(-0.0f), x) - tail; }

[[gnu::always_inline]] inline F32 gelu(F32 x) {
  using K = GeluConstants;
  const F32 a = min(broadcast(K::kHighest), abs(x));
  const F32 half = broadcast(0.5f) * a;
  const F32 square = half * a;
  const ScaledExps e = exp_of_minus(square, mul_add(half, a, -square));
  F32 numerator = mul_add(broadcast(K::kN4), a, broadcast(K::kN3));
  numerator = mul_add(numerator, a, broadcast(K::kN2));
  numerator = mul_add(numerator, a, broadcast(K::kN1));
  numerator = mul_add(numerator, a, broadcast(K::kN0));
  F32 denominator = mul_add(broadcast(K::kD5), a, broadcast(K::kD4));
  denominator = mul_add(denominator, a, broadcast(K::kD3));
  denominator = mul_add(denominator, a, broadcast(K::kD2));
  denominator = mul_add(denominator, a, broadcast(K::kD1));
  denominator = mul_add(denominator, a, broadcast(1.0f));
  return without_tail(x, times_power_of_two(e.fraction * (a * numerator / denominator), e.power));
}

[[gnu::always_inline]] inline F32 gelu_tanh(F32 x) {
  using K = GeluTanhConstants;
  const F32 cubic = broadcast(K::kCubic), linear = broadcast(K::kLinear);
  const F32 a = min(broadcast(K::kHighest), abs(x));
  const F32 s = a * a;
  const F32 s_low = mul_add(a, a, -s);
  const F32 g = mul_add(cubic, s, linear);
  F32 g_low = mul_add(cubic, s, linear - g);
  g_low = mul_add(broadcast(K::kCubicLow), s, g_low + broadcast(K::kLinearLow));
  g_low = mul_add(cubic, s_low, g_low);
  const F32 z = a * g;
  const ScaledExps e = exp_of_minus(z, mul_add(a, g_low, mul_add(a, g, -z)));
  const F32 whole = broadcast(1.0f) + times_power_of_two(e.fraction, e.power);
  return without_tail(x, times_power_of_two(e.fraction * (a / whole), e.power));
}

[[gnu::always_inline]] inline F32 silu(F32 x) { return x * logistic(x).value; }

template <lpt_activation kActivation>
[[gnu::always_inline]] inline F32 activate(const float *x, int64_t width, ActiveLanes columns) {
  const auto value = load(x, columns);
  if (kActivation == LPT_ACTIVATION_GELU) return gelu(value);
  if (kActivation == LPT_ACTIVATION_GELU_TANH) return gelu_tanh(value);
  if (kActivation == LPT_ACTIVATION_SILU) return silu(value);
  if (kActivation == LPT_ACTIVATION_SWIGLU) return silu(value) * load(x + width, columns);
  return value;
}

template <lpt_activation kActivation, bool kIsF32>
void finish(const EpilogueRequest &request) {
  const bool has_residual = request.residual.data != nullptr;
  for (int64_t row = 0; row < request.rows; ++row) {
    const float *x = request.x + row * request.x_stride;
    const RowSource outputs = line_of(request.out, row);
    const RowSource residuals = has_residual ? line_of(request.residual, row) : RowSource{};
    for_columns(
        0, request.columns, [&](int64_t column, ActiveLanes columns) __attribute__((always_inline)) {
          auto value = activate<kActivation>(x + column, request.columns, columns);
          if (has_residual) value = value + load_row<kIsF32>(residuals, column, columns);
          store_row<kIsF32>(outputs, column, columns, value);
        });
  }
}

template <lpt_activation kActivation>
void finish_as(const EpilogueRequest &request) {
  const bool all = is_f32(request.out) && (request.residual.data == nullptr || is_f32(request.residual));
  all ? finish<kActivation, true>(request) : finish<kActivation, false>(request);
}

}  // namespace

void LPT_KERNEL(finish)(const EpilogueRequest &request) {
  switch (request.activation) {
    case LPT_ACTIVATION_GELU:
      return finish_as<LPT_ACTIVATION_GELU>(request);
    case LPT_ACTIVATION_GELU_TANH:
      return finish_as<LPT_ACTIVATION_GELU_TANH>(request);
    case LPT_ACTIVATION_SILU:
      return finish_as<LPT_ACTIVATION_SILU>(request);
    case LPT_ACTIVATION_SWIGLU:
      return finish_as<LPT_ACTIVATION_SWIGLU>(request);
    default:
      return finish_as<LPT_ACTIVATION_NONE>(request);
  }
}

}  // namespace lpt
