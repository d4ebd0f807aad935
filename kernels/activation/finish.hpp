// The loops of a GEMM's epilogue, once for all instruction sets: the operations of src/formats/functions.hpp in the
// same order. Included by ISA files.
#pragma once

#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

template <typename Isa>
struct ScaledExps {
  typename Isa::Floats fraction, power;
};

template <typename Isa>
[[gnu::always_inline]] inline ScaledExps<Isa> exp_of_minus(typename Isa::Floats high, typename Isa::Floats low) {
  using K = ExpConstants;
  using Floats = typename Isa::Floats;
  const Floats bias = Isa::all(K::kRoundBias);
  const Floats n = Isa::fused(high, Isa::all(-K::kLog2E), bias) - bias;
  Floats r = Isa::fused_off(n, Isa::all(K::kLn2High), -high);
  r = Isa::fused_off(n, Isa::all(K::kLn2Low), r);
  return {exp_polynomial<Isa>(r - low), n};
}

// The operand order of max keeps NaN and -0.
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats without_tail(typename Isa::Floats x, typename Isa::Floats tail) {
  return Isa::max(Isa::all(-0.0f), x) - tail;
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats gelu(typename Isa::Floats x) {
  using K = GeluConstants;
  using Floats = typename Isa::Floats;
  const Floats a = Isa::min(Isa::all(K::kHighest), Isa::magnitude(x));
  const Floats half = Isa::all(0.5f) * a;
  const Floats square = half * a;
  const ScaledExps<Isa> e = exp_of_minus<Isa>(square, Isa::fused(half, a, -square));
  Floats numerator = Isa::fused(Isa::all(K::kN4), a, Isa::all(K::kN3));
  numerator = Isa::fused(numerator, a, Isa::all(K::kN2));
  numerator = Isa::fused(numerator, a, Isa::all(K::kN1));
  numerator = Isa::fused(numerator, a, Isa::all(K::kN0));
  Floats denominator = Isa::fused(Isa::all(K::kD5), a, Isa::all(K::kD4));
  denominator = Isa::fused(denominator, a, Isa::all(K::kD3));
  denominator = Isa::fused(denominator, a, Isa::all(K::kD2));
  denominator = Isa::fused(denominator, a, Isa::all(K::kD1));
  denominator = Isa::fused(denominator, a, Isa::all(1.0f));
  return without_tail<Isa>(x, Isa::times_power_of_two(e.fraction * (a * numerator / denominator), e.power));
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats gelu_tanh(typename Isa::Floats x) {
  using K = GeluTanhConstants;
  using Floats = typename Isa::Floats;
  const Floats cubic = Isa::all(K::kCubic), linear = Isa::all(K::kLinear);
  const Floats a = Isa::min(Isa::all(K::kHighest), Isa::magnitude(x));
  const Floats s = a * a;
  const Floats s_low = Isa::fused(a, a, -s);
  const Floats g = Isa::fused(cubic, s, linear);
  Floats g_low = Isa::fused(cubic, s, linear - g);
  g_low = Isa::fused(Isa::all(K::kCubicLow), s, g_low + Isa::all(K::kLinearLow));
  g_low = Isa::fused(cubic, s_low, g_low);
  const Floats z = a * g;
  const ScaledExps<Isa> e = exp_of_minus<Isa>(z, Isa::fused(a, g_low, Isa::fused(a, g, -z)));
  const Floats whole = Isa::all(1.0f) + Isa::times_power_of_two(e.fraction, e.power);
  return without_tail<Isa>(x, Isa::times_power_of_two(e.fraction * (a / whole), e.power));
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats silu(typename Isa::Floats x) {
  return x * logistic<Isa>(x).value;
}

template <typename Isa, lpt_activation kActivation>
[[gnu::always_inline]] inline typename Isa::Floats activate(const float *x, int64_t width,
                                                            typename Isa::Columns columns) {
  const auto value = Isa::load(x, columns);
  if (kActivation == LPT_ACTIVATION_GELU) return gelu<Isa>(value);
  if (kActivation == LPT_ACTIVATION_GELU_TANH) return gelu_tanh<Isa>(value);
  if (kActivation == LPT_ACTIVATION_SILU) return silu<Isa>(value);
  if (kActivation == LPT_ACTIVATION_SWIGLU) return silu<Isa>(value) * Isa::load(x + width, columns);
  return value;
}

template <typename Isa, lpt_activation kActivation, bool kIsF32>
void finish(const EpilogueRequest &request) {
  const bool has_residual = request.residual.data != nullptr;
  for (int64_t row = 0; row < request.rows; ++row) {
    const float *x = request.x + row * request.x_stride;
    const RowSource outputs = line_of(request.out, row);
    const RowSource residuals = has_residual ? line_of(request.residual, row) : RowSource{};
    for_columns<Isa>(
        0, request.columns, [&](int64_t column, typename Isa::Columns columns) __attribute__((always_inline)) {
          auto value = activate<Isa, kActivation>(x + column, request.columns, columns);
          if (has_residual) value = value + load<Isa, kIsF32>(residuals, column, columns);
          store<Isa, kIsF32>(outputs, column, columns, value);
        });
  }
}

template <typename Isa, lpt_activation kActivation>
void finish_as(const EpilogueRequest &request) {
  const bool all = is_f32(request.out) && (request.residual.data == nullptr || is_f32(request.residual));
  all ? finish<Isa, kActivation, true>(request) : finish<Isa, kActivation, false>(request);
}

template <typename Isa>
void finish_of(const EpilogueRequest &request) {
  switch (request.activation) {
    case LPT_ACTIVATION_GELU:
      return finish_as<Isa, LPT_ACTIVATION_GELU>(request);
    case LPT_ACTIVATION_GELU_TANH:
      return finish_as<Isa, LPT_ACTIVATION_GELU_TANH>(request);
    case LPT_ACTIVATION_SILU:
      return finish_as<Isa, LPT_ACTIVATION_SILU>(request);
    case LPT_ACTIVATION_SWIGLU:
      return finish_as<Isa, LPT_ACTIVATION_SWIGLU>(request);
    default:
      return finish_as<Isa, LPT_ACTIVATION_NONE>(request);
  }
}

}  // namespace
}  // namespace lpt
