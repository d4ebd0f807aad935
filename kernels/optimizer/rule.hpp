// The update rules of the methods: new moments and the direction of a step, in the order of operations of optimizer.hpp. The
// reference, CUDA and SIMD kernels share them: `Number` is a float or a vector of floats. The functions are always inlined
// because ISA files must not define weak functions.
#pragma once

#include "kernels/optimizer/optimizer.hpp"
#include "src/base/host_device.hpp"

namespace lpt {

// `c` has the members of StepConstants, of type Number.

// Adam and AdamW.
template <typename Constants, typename Number>
LPT_HOST_DEVICE [[gnu::always_inline]] static inline Number adam_first(const Constants &c, Number m, Number g) {
  return c.beta1 * m + c.one_minus_beta1 * g;
}
template <typename Constants, typename Number>
LPT_HOST_DEVICE [[gnu::always_inline]] static inline Number adam_second(const Constants &c, Number v, Number g) {
  return c.beta2 * v + (c.one_minus_beta2 * g) * g;
}

// SGD: the new momentum, and the direction that follows from it.
template <typename Constants, typename Number>
LPT_HOST_DEVICE [[gnu::always_inline]] static inline Number sgd_first(const Constants &c, Number m, Number g) {
  return c.beta1 * m + g;
}
template <typename Constants, typename Number>
LPT_HOST_DEVICE [[gnu::always_inline]] static inline Number sgd_direction(const Constants &c, Number first, Number g) {
  return c.is_nesterov ? g + c.beta1 * first : first;
}

// Lion: the direction is the sign of lion_mixed().
template <typename Constants, typename Number>
LPT_HOST_DEVICE [[gnu::always_inline]] static inline Number lion_mixed(const Constants &c, Number m, Number g) {
  return c.beta1 * m + c.one_minus_beta1 * g;
}
template <typename Constants, typename Number>
LPT_HOST_DEVICE [[gnu::always_inline]] static inline Number lion_first(const Constants &c, Number m, Number g) {
  return c.beta2 * m + c.one_minus_beta2 * g;
}

// Returns the square root, rounded to nearest.
LPT_HOST_DEVICE static inline float root_of(float value) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(value);
#else
  return __builtin_sqrtf(value);
#endif
}

// Returns the direction u of a method for one element and updates m and v.
LPT_HOST_DEVICE static inline float direction(lpt_optimizer_method method, const StepConstants &c, float g, float &m,
                                              float &v) {
  if (method == LPT_OPTIMIZER_METHOD_SGD) {
    m = sgd_first(c, m, g);
    return sgd_direction(c, m, g);
  }
  if (method == LPT_OPTIMIZER_METHOD_LION) {
    const float mixed = lion_mixed(c, m, g);
    m = lion_first(c, m, g);
    return mixed > 0.0f ? 1.0f : mixed < 0.0f ? -1.0f : mixed;
  }
  m = adam_first(c, m, g);
  v = adam_second(c, v, g);
  return m == 0.0f ? 0.0f : m / (root_of(v * c.root_correction) + c.epsilon);
}

}  // namespace lpt
