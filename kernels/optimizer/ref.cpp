// The plain AdamW step: any mix of state formats. It decides the bits.
//
// Per element, all in f32, one rounding per sign, nothing contracted:
//   g  = gradient · gradient_scale
//   m' = beta1 · m + one_minus_beta1 · g
//   v' = beta2 · v + (one_minus_beta2 · g) · g
//   u  = m' / (sqrt(v' · root_correction) + epsilon);  0 where m' is zero, so that 0 / 0 never happens
//   p' = (p - decay · p) - step_size · u
// A state is read as element · scale and written as round(value · inverse_scale), saturated; a NaN as the positive quiet
// one. An f32 or bf16 array has no scale: its amax is left alone.
#include <cmath>

#include "kernels/optimizer/rows.hpp"
#include "src/formats/element.hpp"
#include "src/formats/format.hpp"

namespace lpt {
namespace {

float load(lpt_format format, const void *data, int64_t index) {
  if (format == LPT_FORMAT_F32) return static_cast<const float *>(data)[index];
  const Element element = element_of(format);
  return decode(element, element.bits == 16 ? static_cast<const uint16_t *>(data)[index]
                                            : static_cast<const uint8_t *>(data)[index]);
}

float load_state(const StateArray &array, int64_t index) { return load(array.element, array.data, index) * array.scale; }

void store_state(const StateArray &array, int64_t index, float value) {
  const float product = value * array.inverse_scale;
  const float scaled = product == product ? product : bits_float(0x7FC00000u);
  if (array.element == LPT_FORMAT_F32) {
    static_cast<float *>(array.data)[index] = scaled;
    return;
  }
  const Element element = element_of(array.element);
  const uint32_t random = array.rounding == LPT_ROUNDING_STOCHASTIC ? random_bits(array.random, 0, index) : 0;
  uint32_t code = encode(element, scaled, array.rounding, LPT_OVERFLOW_SATURATE, random, array.random.bits);
  const bool is_zero = (code & ((1u << (element.bits - 1)) - 1)) == 0;
  if (array.is_clamped && is_zero && value != 0.0f) code |= 1;
  if (element.bits == 16) {
    static_cast<uint16_t *>(array.data)[index] = static_cast<uint16_t>(code);
  } else {
    static_cast<uint8_t *>(array.data)[index] = static_cast<uint8_t>(code);
  }
}

void raise(const StateArray &array, float value, float &amax) {
  if (array.element == LPT_FORMAT_F32 || array.element == LPT_FORMAT_BF16) return;
  const float magnitude = std::fabs(value);
  if (std::isfinite(magnitude) && magnitude > amax) amax = magnitude;
}

}  // namespace

void adamw_any_ref(const AdamwRequest &request) {
  const AdamwConstants &c = request.constants;
  for (int64_t index = request.begin; index < request.begin + request.count; ++index) {
    const float g = load(request.gradient_format, request.gradient, index) * c.gradient_scale;
    const float m = c.beta1 * load_state(request.first, index) + c.one_minus_beta1 * g;
    const float v = c.beta2 * load_state(request.second, index) + (c.one_minus_beta2 * g) * g;
    const float u = m == 0.0f ? 0.0f : m / (std::sqrt(v * c.root_correction) + c.epsilon);
    const float old = load_state(request.parameter, index);
    const float p = (old - c.decay * old) - c.step_size * u;
    if (request.is_measure) {
      raise(request.first, m, request.amax[0]);
      raise(request.second, v, request.amax[1]);
      raise(request.parameter, p, request.amax[2]);
    } else {
      store_state(request.first, index, m);
      store_state(request.second, index, v);
      store_state(request.parameter, index, p);
    }
  }
}

}  // namespace lpt
