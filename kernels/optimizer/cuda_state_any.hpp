// Eight elements of a state array whose storage is known at run time: f16, e4m3, blocks with expansion, compensations. A
// separate kernel uses this code, so that the kernels of common storage are small.
#pragma once

#include "kernels/optimizer/cuda_state.hpp"
#include "kernels/optimizer/power.hpp"

namespace lpt {

__device__ __forceinline__ float with_sign_of(float magnitude, float number) {
  return bits_float((float_bits(magnitude) & 0x7FFFFFFFu) | (float_bits(number) & 0x80000000u));
}

__device__ __forceinline__ const DynamicTree &tree_of(const StateJob &job, const Trees &trees) {
  return job.element == kDynamicSigned ? *trees.of_signed : *trees.of_unsigned;
}

__device__ __forceinline__ float any_element(const StateJob &job, const Trees &trees, int64_t index) {
  if (job.element == LPT_FORMAT_F32) return static_cast<const float *>(job.data)[index];
  if (is_dynamic(job.element)) return tree_of(job, trees).level[static_cast<const uint8_t *>(job.data)[index]];
  return decode(job.any, load_code(job.any, job.data, index));
}

__device__ __forceinline__ int64_t group_of(const StateJob &job, int64_t index) {
  return job.lanes == 0 ? 0 : index >> job.block_shift;
}

__device__ __forceinline__ FloatVec8 load_any_state(const StateJob &job, const Trees &trees, int64_t index,
                                                    int32_t count, float whole_scale) {
  FloatVec8 eight = {};
  if (job.data == nullptr || count == 0) return eight;
  const int64_t group = group_of(job, index);
  const float scale = job.lanes == 0 ? whole_scale : job.block_scales[group];
  const bool is_expanded = job.exponents != nullptr;
  Expansion expansion = {};
  if (is_expanded) expansion = make_expansion(job.largest, scale, job.exponents[group]);
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i >= count) continue;
    const float element = any_element(job, trees, index + i);
    eight.number[i] =
        is_expanded ? with_sign_of(compressed(expansion, magnitude_of(element)), element) : element * scale;
  }
  return eight;
}

// Parameters that encode the elements of a block.
struct AnyCoding {
  float inverse;
  bool is_expanded;
  Expansion expansion;
};

__device__ __forceinline__ float least_of_lanes(const FloatVec8 &eight, uint32_t lanes) {
  float least = bits_float(kFloatInfinityBits);
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float magnitude = magnitude_of(eight.number[i]);
    if (magnitude > 0.0f && magnitude < least) least = magnitude;
  }
  for (uint32_t distance = lanes / 2; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(kAllLanes, least, distance);
    least = other < least ? other : least;
  }
  return least;
}

// Computes and stores the exponent and the amax of the thread's block. All lanes of a warp must call it, and the functions that
// call it, because they reduce a block together.
__device__ __forceinline__ AnyCoding settle_expansion(const StateJob &job, const FloatVec8 &eight, int64_t index,
                                                      int32_t count) {
  const float amax = largest_of_lanes(finite_amax(eight), job.lanes);
  const float least = least_of_lanes(eight, job.lanes);
  const uint16_t exponent =
      amax == 0.0f ? expansion_exponent(job.largest, 0.0f, 0.0f) : expansion_exponent(job.largest, amax, least);
  const float kept = amax == 0.0f ? 1.0f : amax;
  if (count > 0 && threadIdx.x % job.lanes == 0) {
    job.exponents[group_of(job, index)] = exponent;
    job.block_scales[group_of(job, index)] = kept;
  }
  return {1.0f, true, make_expansion(job.largest, kept, exponent)};
}

__device__ __forceinline__ AnyCoding settle_any_state(const StateJob &job, const FloatVec8 &eight, int64_t index,
                                                      int32_t count, float whole_inverse) {
  if (job.exponents != nullptr) return settle_expansion(job, eight, index, count);
  if (job.lanes != 0) return {compute_state_scale<StateStorage::kAny>(job, eight, index, count), false, {}};
  return {whole_inverse, false, {}};
}

__device__ __forceinline__ uint32_t any_state_code(const StateJob &job, const Rounded &number) {
  const bool is_under = magnitude_of(number.scaled) < decode(job.any, 1);
  const bool is_drawn = job.is_drawn || (job.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC && is_under);
  const lpt_rounding rounding = is_drawn ? LPT_ROUNDING_STOCHASTIC : LPT_ROUNDING_NEAREST_EVEN;
  const uint32_t code = encode(job.any, number.scaled, rounding, LPT_OVERFLOW_SATURATE, number.random, job.random.bits);
  const bool is_zero = (code & ((1u << (job.any.bits - 1)) - 1)) == 0;
  return job.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP && is_zero && number.value != 0.0f ? code | 1 : code;
}

__device__ __forceinline__ void store_any_number(const StateJob &job, const Trees &trees, int64_t index,
                                                 const Rounded &number) {
  if (job.element == LPT_FORMAT_F32) {
    static_cast<float *>(job.data)[index] = number.scaled;
  } else if (is_dynamic(job.element)) {
    static_cast<uint8_t *>(job.data)[index] = static_cast<uint8_t>(tree_code(job, tree_of(job, trees), number));
  } else {
    store_code(job.any, job.data, index, any_state_code(job, number));
  }
}

__device__ __forceinline__ void store_any_state(const StateJob &job, const Trees &trees, int64_t index, int32_t count,
                                                const FloatVec8 &eight, float whole_inverse) {
  if (job.data == nullptr) return;
  const AnyCoding coding = settle_any_state(job, eight, index, count, whole_inverse);
  if (count == 0) return;
  RandomFragment random = {};
  if (has_draws(job)) random = draw_eight(job.random, index);
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i >= count) continue;
    const float value = eight.number[i];
    const float scaled = coding.is_expanded ? with_sign_of(expanded(coding.expansion, magnitude_of(value)), value)
                                            : value * coding.inverse;
    store_any_number(job, trees, index + i, {value, positive_nan(scaled), random_of(random, job.random.bits, i)});
  }
}

}  // namespace lpt
