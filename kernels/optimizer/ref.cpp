// The plain AdamW step: any mix of state formats. It decides the bits; the order of operations is the contract's.
#include <cmath>

#include "kernels/optimizer/rows.hpp"
#include "src/formats/element.hpp"
#include "src/formats/format.hpp"

namespace lpt {
namespace {

float number_at(lpt_format format, const Element &element, const void *data, int64_t index) {
  if (format == LPT_FORMAT_F32) return static_cast<const float *>(data)[index];
  return decode(element, element.bits == 16 ? static_cast<const uint16_t *>(data)[index]
                                            : static_cast<const uint8_t *>(data)[index]);
}

Element layout_of(lpt_format format) { return format == LPT_FORMAT_F32 ? Element{} : element_of(format); }

// A state array beside its element, which is looked up once.
struct State {
  explicit State(const StateArray &array) : array(array), element(layout_of(array.element)) {}

  float load(int64_t index) const { return number_at(array.element, element, array.data, index) * array.scale; }

  void store(int64_t index, float value) const {
    const float product = value * array.inverse_scale;
    const float scaled = product == product ? product : bits_float(0x7FC00000u);
    if (array.element == LPT_FORMAT_F32) {
      static_cast<float *>(array.data)[index] = scaled;
      return;
    }
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

  void raise(float value, float &amax) const {
    if (array.element == LPT_FORMAT_F32 || array.element == LPT_FORMAT_BF16) return;
    const float magnitude = std::fabs(value);
    if (std::isfinite(magnitude) && magnitude > amax) amax = magnitude;
  }

  const StateArray &array;
  Element element;
};

}  // namespace

void adamw_any_ref(const AdamwRequest &request) {
  const AdamwConstants &c = request.constants;
  const State first(request.first), second(request.second), parameter(request.parameter);
  const Element gradient = layout_of(request.gradient_format);
  for (int64_t index = request.begin; index < request.begin + request.count; ++index) {
    const float g = number_at(request.gradient_format, gradient, request.gradient, index) * c.gradient_scale;
    const float m = c.beta1 * first.load(index) + c.one_minus_beta1 * g;
    const float v = c.beta2 * second.load(index) + (c.one_minus_beta2 * g) * g;
    const float u = m == 0.0f ? 0.0f : m / (std::sqrt(v * c.root_correction) + c.epsilon);
    const float old = parameter.load(index);
    const float p = (old - c.decay * old) - c.step_size * u;
    if (request.is_measure) {
      first.raise(m, request.amax[0]);
      second.raise(v, request.amax[1]);
      parameter.raise(p, request.amax[2]);
    } else {
      first.store(index, m);
      second.store(index, v);
      parameter.store(index, p);
    }
  }
}

}  // namespace lpt
