// Reference kernel of optimizer steps: supports every method and every combination of states. It defines the bits. The order of
// operations is that of optimizer.hpp.
#include <algorithm>
#include <cmath>

#include "kernels/optimizer/optimizer.hpp"
#include "kernels/optimizer/power.hpp"
#include "kernels/optimizer/rule.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kUnit = 256;  // elements per iteration: the largest block

constexpr float kNan = __builtin_nanf("");

float magnitude_of(float value) { return std::fabs(value); }

bool is_nan(float value) { return value != value; }

float number_at(lpt_format format, const Element &element, const void *data, int64_t index) {
  if (format == LPT_FORMAT_F32) return static_cast<const float *>(data)[index];
  return decode(element, load_code(element, data, index));
}

Element layout_of(lpt_format format) {
  return format == LPT_FORMAT_F32 || is_dynamic(format) ? Element{} : element_of(format);
}

// Scale or expansion of a group of adjacent elements.
struct Coding {
  float scale, inverse;
  const Expansion *expansion;  // nullptr: the group is not expanded
};

// A state array and the layout of its element, which is looked up once.
class State {
 public:
  explicit State(const StateArray &array)
      : array_(array),
        element_(layout_of(array.element)),
        tree_(array.element == kDynamicSigned ? kSignedTree : kUnsignedTree),
        largest_(is_dynamic(array.element) ? 1.0f : largest_of(array.element)) {}

  // Decodes the elements [begin, begin + count). `begin` is the first element of a block.
  void load(int64_t begin, int64_t count, float *numbers) const {
    if (array_.block == 0) return load_group(begin, count, numbers, {array_.scale, 1.0f, nullptr});
    for (int64_t at = 0; at < count; at += array_.block) {
      load_block(begin + at, std::min(array_.block, count - at), numbers + at);
    }
  }

  void store(int64_t begin, int64_t count, const float *numbers) const {
    if (array_.block == 0) return store_group(begin, count, numbers, {array_.scale, array_.inverse_scale, nullptr});
    for (int64_t at = 0; at < count; at += array_.block) {
      store_block(begin + at, std::min(array_.block, count - at), numbers + at);
    }
  }

  // Raises `amax` to the largest finite magnitude if the array has one scale. Other arrays need no amax.
  void raise(int64_t count, const float *numbers, float &amax) const {
    if (array_.element == LPT_FORMAT_F32 || array_.element == LPT_FORMAT_BF16 || array_.block != 0) return;
    amax = std::max(amax, finite_amax(count, numbers));
  }

 private:
  void load_block(int64_t begin, int64_t count, float *numbers) const {
    const int64_t block = begin / array_.block;
    const float scale = array_.block_scales[block];
    if (array_.exponents == nullptr) return load_group(begin, count, numbers, {scale, 1.0f, nullptr});
    const Expansion expansion = make_expansion(largest_, scale, array_.exponents[block]);
    load_group(begin, count, numbers, {1.0f, 1.0f, &expansion});
  }

  void load_group(int64_t begin, int64_t count, float *numbers, const Coding &coding) const {
    for (int64_t i = 0; i < count; ++i) {
      const float value = element_at(begin + i);
      numbers[i] = coding.expansion == nullptr
                       ? value * coding.scale
                       : std::copysign(compressed(*coding.expansion, magnitude_of(value)), value);
    }
  }

  float element_at(int64_t index) const {
    if (is_dynamic(array_.element)) return tree_.level[static_cast<const uint8_t *>(array_.data)[index]];
    return number_at(array_.element, element_, array_.data, index);
  }

  static float finite_amax(int64_t count, const float *numbers) {
    float amax = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
      const float magnitude = magnitude_of(numbers[i]);
      if (std::isfinite(magnitude)) amax = std::max(amax, magnitude);
    }
    return amax;
  }

  static float least_positive(int64_t count, const float *numbers) {
    float least = __builtin_inff();
    for (int64_t i = 0; i < count; ++i) {
      const float magnitude = magnitude_of(numbers[i]);
      if (magnitude > 0.0f) least = std::min(least, magnitude);
    }
    return least;
  }

  void store_block(int64_t begin, int64_t count, const float *numbers) const {
    const float amax = finite_amax(count, numbers);
    float &kept = array_.block_scales[begin / array_.block];
    if (array_.exponents != nullptr) {
      const uint16_t exponent = amax == 0.0f ? expansion_exponent(largest_, 0.0f, 0.0f)
                                             : expansion_exponent(largest_, amax, least_positive(count, numbers));
      array_.exponents[begin / array_.block] = exponent;
      kept = amax == 0.0f ? 1.0f : amax;
      const Expansion expansion = make_expansion(largest_, kept, exponent);
      return store_group(begin, count, numbers, {1.0f, 1.0f, &expansion});
    }
    const ScaleSpec spec = {LPT_FORMAT_F32, LPT_SCALE_RULE_AMAX, largest_, 0, 1.0f, nullptr, 0};
    kept = f32_scale(spec, amax);
    store_group(begin, count, numbers, {kept, inverse_scale(kept), nullptr});
    if (is_dynamic(array_.element) && std::any_of(numbers, numbers + count, is_nan)) kept = kNan;
  }

  void store_group(int64_t begin, int64_t count, const float *numbers, const Coding &coding) const {
    for (int64_t i = 0; i < count; ++i) store_number(begin + i, numbers[i], coding);
  }

  void store_number(int64_t index, float value, const Coding &coding) const {
    float scaled = coding.expansion == nullptr ? value * coding.inverse
                                               : std::copysign(expanded(*coding.expansion, magnitude_of(value)), value);
    if (is_nan(scaled)) scaled = kNan;
    if (array_.element == LPT_FORMAT_F32) {
      static_cast<float *>(array_.data)[index] = scaled;
    } else if (is_dynamic(array_.element)) {
      static_cast<uint8_t *>(array_.data)[index] = static_cast<uint8_t>(dynamic_code(index, value, scaled));
    } else {
      store_code(element_, array_.data, index, code(index, value, scaled));
    }
  }

  uint32_t random(int64_t index) const { return random_bits(array_.random, 0, index); }

  uint32_t code(int64_t index, float value, float scaled) const {
    const bool is_under = magnitude_of(scaled) < decode(element_, 1);
    const bool is_drawn = array_.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC && is_under;
    const lpt_rounding rounding = is_drawn ? LPT_ROUNDING_STOCHASTIC : array_.rounding;
    const uint32_t bits = rounding == LPT_ROUNDING_STOCHASTIC ? random(index) : 0;
    const uint32_t result = encode(element_, scaled, rounding, LPT_OVERFLOW_SATURATE, bits, array_.random.bits);
    const bool is_zero = (result & ((1u << (element_.bits - 1)) - 1)) == 0;
    return array_.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP && is_zero && value != 0.0f ? result | 1 : result;
  }

  // Returns the code of zero for a NaN, because trees have no NaN. store_block() sets the scale of its block to NaN.
  uint32_t dynamic_code(int64_t index, float value, float scaled) const {
    const auto zero = static_cast<uint32_t>(tree_.zero);
    if (is_nan(scaled)) return zero;
    const uint32_t least = zero != 0 && std::signbit(value) ? zero - 1 : zero + 1;
    const float share = magnitude_of(scaled) / tree_.level[zero + 1];
    if (array_.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC && share < 1.0f) {
      const uint32_t whole = 2u << array_.random.bits;
      const auto psi = static_cast<uint32_t>(share * static_cast<float>(whole));
      return psi + 2 * random(index) + 1 >= whole ? least : zero;
    }
    const uint32_t result = encode_dynamic(tree_, scaled);
    return array_.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP && result == zero && value != 0.0f ? least : result;
  }

  const StateArray &array_;
  Element element_;
  const DynamicTree &tree_;
  float largest_;
};

// Values of one element: first moment, second moment, parameter, compensation.
struct Numbers {
  float m, v, p, c;
};

// The state arrays of a step.
struct States {
  explicit States(const StepRequest &request)
      : first(request.first),
        second(request.second),
        parameter(request.parameter),
        compensation(request.compensation),
        has_second(request.second.data != nullptr),
        is_compensated(request.compensation.data != nullptr) {}
  State first, second, parameter, compensation;
  bool has_second, is_compensated;
};

// Decoded values of up to kUnit elements of each array.
struct Unit {
  float m[kUnit], v[kUnit] = {}, p[kUnit], c[kUnit];
};

void update(const StepRequest &request, int64_t begin, int64_t count, bool is_compensated, Unit &unit) {
  const StepConstants &c = request.constants;
  const Element gradient = layout_of(request.gradient_format);
  const Element parameter = layout_of(request.parameter.element);
  for (int64_t i = 0; i < count; ++i) {
    float g = number_at(request.gradient_format, gradient, request.gradient, begin + i) * c.gradient_scale;
    Numbers n = {unit.m[i], unit.v[i], unit.p[i], unit.c[i]};
    if (c.coupled_decay != 0.0f) g = g + c.coupled_decay * n.p;
    const float u = direction(request.method, c, g, n.m, n.v);
    unit.m[i] = n.m;
    unit.v[i] = n.v;
    if (!is_compensated) {
      unit.p[i] = (n.p - c.decay * n.p) - c.step_size * u;
      continue;
    }
    const float d = n.c - (c.decay * n.p + c.step_size * u);
    const StateArray &array = request.parameter;
    const uint32_t random = array.rounding == LPT_ROUNDING_STOCHASTIC ? random_bits(array.random, 0, begin + i) : 0;
    const uint32_t code = encode(parameter, n.p + d, array.rounding, LPT_OVERFLOW_SATURATE, random, array.random.bits);
    unit.p[i] = n.p + d;
    unit.c[i] = d - (decode(parameter, code) - n.p);
  }
}

}  // namespace

void step_any_ref(const StepRequest &request) {
  const States states(request);
  const int64_t end = request.begin + request.count;
  for (int64_t begin = request.begin; begin < end; begin += kUnit) {
    const int64_t count = std::min(kUnit, end - begin);
    Unit unit;
    states.first.load(begin, count, unit.m);
    if (states.has_second) states.second.load(begin, count, unit.v);
    states.parameter.load(begin, count, unit.p);
    if (states.is_compensated) states.compensation.load(begin, count, unit.c);
    update(request, begin, count, states.is_compensated, unit);
    if (request.amax != nullptr) {
      states.first.raise(count, unit.m, request.amax[0]);
      if (states.has_second) states.second.raise(count, unit.v, request.amax[1]);
      states.parameter.raise(count, unit.p, request.amax[2]);
    }
    if (request.is_measure) continue;
    states.first.store(begin, count, unit.m);
    if (states.has_second) states.second.store(begin, count, unit.v);
    states.parameter.store(begin, count, unit.p);
    if (states.is_compensated) states.compensation.store(begin, count, unit.c);
  }
}

}  // namespace lpt
