// Eight elements of a state array: load, decode, scale, encode and store. Class State of ref.cpp defines the bits.
#pragma once

#include "kernels/common/cuda_encode.hpp"
#include "kernels/optimizer/cuda_eight.hpp"
#include "kernels/optimizer/optimizer.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// Storage of a state, as a template parameter of kernels. kNumbers is f32 or bf16; kBytes is e4m3fn or e5m2; kTree is a dynamic
// tree. kAny is any storage, which is known at run time (cuda_state_any.hpp).
enum class StateStorage { kNone, kNumbers, kBytes, kTree, kAny };

// A StateArray as a kernel argument, passed by value.
struct StateJob {
  void *data;  // NULL: none
  float *block_scales;
  lpt_format element;
  float scale, inverse;
  uint32_t lanes;        // threads per block of elements, a power of two; 0: no blocks
  uint32_t block_shift;  // log2 of the elements of a block
  bool is_drawn;         // rounds stochastically
  lpt_optimizer_underflow underflow;
  RandomSource random;
  bool is_aligned;  // groups of eight elements are aligned for vector loads and stores
  float largest;    // largest value of the element; 1 for trees
  // Only for StateStorage::kAny:
  uint16_t *exponents;  // NULL: not expanded
  Element any;          // not set for f32 and trees
};

// The dynamic trees in shared memory, where lanes can read different indices of them at once.
struct Trees {
  const DynamicTree *of_signed, *of_unsigned;
};

#if defined(LPT_SIMT)
static const DynamicTree kDeviceTrees[2] = {make_dynamic_tree(true), make_dynamic_tree(false)};
#else
static __device__ const DynamicTree kDeviceTrees[2] = {make_dynamic_tree(true), make_dynamic_tree(false)};
#endif

__device__ __forceinline__ float finite_magnitude(float number) {
  const uint32_t magnitude = float_bits(number) & 0x7FFFFFFFu;
  return magnitude < kFloatInfinityBits ? bits_float(magnitude) : 0.0f;
}

template <Element kElement>
__device__ __forceinline__ void decode_bytes(FloatVec8 &eight, const RawVec8 &raw) {
#pragma unroll
  for (int32_t i = 0; i < kEight; i += 4) small_four<kElement>(raw.word[i / 4], eight.number + i);
}

__device__ __forceinline__ void decode_tree(FloatVec8 &eight, const RawVec8 &raw, const DynamicTree &tree) {
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) eight.number[i] = tree.level[raw.word[i / 4] >> (8 * (i % 4)) & 0xFFu];
}

// Eight elements of a state as stored in memory, and their scale.
struct RawState {
  RawVec8 raw;
  float scale;
};

// Loads eight elements of a state. `whole_scale` is the scale of arrays without blocks. `is_whole`: eight elements, aligned for
// vector loads.
template <StateStorage kKept>
__device__ __forceinline__ RawState load_raw_state(const StateJob &job, int64_t index, int32_t count, bool is_whole,
                                                   float whole_scale) {
  RawState state = {{}, whole_scale};
  if (kKept == StateStorage::kNone || count == 0) return state;
  if constexpr (kKept != StateStorage::kNumbers) {
    if (job.lanes != 0) state.scale = job.block_scales[index >> job.block_shift];
  }
  if constexpr (kKept == StateStorage::kNumbers) {
    state.raw = load_raw_numbers(job.element == LPT_FORMAT_BF16, job.data, index, count, is_whole);
  } else {
    state.raw = load_raw_bytes(job.data, index, count, is_whole);
  }
  return state;
}

__device__ __forceinline__ FloatVec8 decoded_bytes(const StateJob &job, const RawVec8 &raw) {
  FloatVec8 eight;
  if (job.element == LPT_FORMAT_E4M3FN) {
    decode_bytes<kElementE4m3fn>(eight, raw);
  } else {
    decode_bytes<kElementE5m2>(eight, raw);
  }
  return eight;
}

__device__ __forceinline__ FloatVec8 decoded_tree(const StateJob &job, const Trees &trees, const RawVec8 &raw) {
  FloatVec8 eight;
  decode_tree(eight, raw, job.element == kDynamicSigned ? *trees.of_signed : *trees.of_unsigned);
  return eight;
}

__device__ __forceinline__ FloatVec8 scaled_eight(FloatVec8 eight, float scale) {
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) eight.number[i] *= scale;
  return eight;
}

// Decodes eight elements of a state. f32 and bf16 have no scale.
template <StateStorage kKept>
__device__ __forceinline__ FloatVec8 state_numbers(const StateJob &job, const Trees &trees, const RawState &state) {
  if constexpr (kKept == StateStorage::kNone) {
    return {};
  } else if constexpr (kKept == StateStorage::kNumbers) {
    return raw_numbers(job.element == LPT_FORMAT_BF16, state.raw);
  } else if constexpr (kKept == StateStorage::kTree) {
    return scaled_eight(decoded_tree(job, trees, state.raw), state.scale);
  } else {
    return scaled_eight(decoded_bytes(job, state.raw), state.scale);
  }
}

__device__ __forceinline__ float finite_amax(const FloatVec8 &eight) {
  float amax = 0.0f;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) amax = larger_magnitude(amax, eight.number[i]);
  if (float_bits(amax) < kFloatInfinityBits) return amax;
  amax = 0.0f;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float magnitude = finite_magnitude(eight.number[i]);
    amax = magnitude > amax ? magnitude : amax;
  }
  return amax;
}

__device__ __forceinline__ bool has_nan(const FloatVec8 &eight) {
  bool result = false;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) result |= eight.number[i] != eight.number[i];
  return result;
}

// Returns the largest magnitude of each group of `lanes` lanes, to all lanes of the group. `lanes` is 16 or 32.
__device__ __forceinline__ float largest_of_lanes(float number, uint32_t lanes) {
  if (lanes == 32) number = larger_magnitude(number, __shfl_xor_sync(kAllLanes, number, 16));
#pragma unroll
  for (uint32_t distance = 8; distance > 0; distance /= 2) {
    number = larger_magnitude(number, __shfl_xor_sync(kAllLanes, number, distance));
  }
  return number;
}

// Computes the new scale of the thread's block and returns its inverse. The first lane of the block stores the scale. All lanes
// of a warp must call it.
template <StateStorage kKept>
__device__ __forceinline__ float compute_state_scale(const StateJob &job, const FloatVec8 &eight, int64_t index,
                                                     int32_t count) {
  const float amax = largest_of_lanes(finite_amax(eight), job.lanes);
  float scale = clamp_scale(amax / job.largest);
  if (amax == 0.0f) scale = 1.0f;
  const float inverse = inverse_scale(scale);
  if (kKept != StateStorage::kBytes && is_dynamic(job.element)) {
    const uint32_t nans = __ballot_sync(kAllLanes, has_nan(eight)) >> (threadIdx.x % 32 & ~(job.lanes - 1));
    if ((nans & (job.lanes == 32 ? kAllLanes : (1u << job.lanes) - 1)) != 0) scale = bits_float(kFloatNanBits);
  }
  if (count > 0 && (threadIdx.x & (job.lanes - 1)) == 0) job.block_scales[index >> job.block_shift] = scale;
  return inverse;
}

// Computes psi and the quotient of encode() for bf16. Its exponents are those of f32, so they are the bits of f32, truncated to
// b + 1 bits below the last place of bf16. For b = 16 that is one bit more than f32 has, so the bits are doubled first.
__device__ __forceinline__ uint32_t bf16_drawn(uint32_t magnitude, uint32_t random, uint32_t bits) {
  const uint32_t lifted = magnitude * 2 >> (16 - bits);
  return (lifted + 2 * random + 1) >> (bits + 1);
}

__device__ __forceinline__ uint32_t bf16_state_code(float number, bool is_drawn, uint32_t random, uint32_t bits) {
  const uint32_t sign = float_bits(number) >> 16 & 0x8000u;
  const uint32_t magnitude = float_bits(number) & 0x7FFFFFFFu;
  if (magnitude > kFloatInfinityBits) return 0x7FC0u | sign;
  const uint32_t nearest = (magnitude + 0x7FFFu + (magnitude >> 16 & 1)) >> 16;
  const uint32_t code = is_drawn ? bf16_drawn(magnitude, random, bits) : nearest;
  return (code > 0x7F7Fu ? 0x7F7Fu : code) | sign;
}

// An element to encode. `value` is the element before its scale is applied, `scaled` after; a NaN in `scaled` is positive.
struct Rounded {
  float value, scaled;
  uint32_t random;
};

__device__ __forceinline__ Rounded rounded_at(const StateJob &job, const FloatVec8 &eight, float inverse,
                                              const RandomFragment &random, int32_t i) {
  return {eight.number[i], positive_nan(eight.number[i] * inverse), random_of(random, job.random.bits, i)};
}

// Returns whether codes of the array need random bits. The result is the same for all threads.
__device__ __forceinline__ bool has_draws(const StateJob &job) {
  return job.is_drawn || job.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC;
}

// Replaces a zero code of a nonzero value by the smallest code, if the option is set.
template <Element kElement>
__device__ __forceinline__ uint32_t clamped_code(const StateJob &job, uint32_t code, float value) {
  const bool is_zero = (code & ((1u << (kElement.bits - 1)) - 1)) == 0;
  return job.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP && is_zero && value != 0.0f ? code | 1 : code;
}

template <Element kElement>
__device__ __forceinline__ uint32_t drawn_state_code(const StateJob &job, const Rounded &number) {
  constexpr float kLeast = kElement.bits == 16 ? 0x1p-133f : kElement.mantissa_bits == 3 ? 0x1p-9f : 0x1p-16f;
  const bool is_under = bits_float(float_bits(number.scaled) & 0x7FFFFFFFu) < kLeast;
  const bool is_drawn = job.is_drawn || (job.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC && is_under);
  const auto bits = static_cast<uint32_t>(job.random.bits);
  if constexpr (kElement.bits == 16) return bf16_state_code(number.scaled, is_drawn, number.random, bits);
  return is_drawn ? stochastic_code<kElement>(number.scaled, number.random, bits)
                  : nearest_code<kElement>(number.scaled);
}

// Makes a NaN positive. On a device, arithmetic returns only positive NaNs.
__device__ __forceinline__ float canonical_nan(float number) {
#if defined(__CUDA_ARCH__)
  return number;
#else
  return positive_nan(number);
#endif
}

template <Element kElement, int32_t kBits>
__device__ __forceinline__ void drawn_bytes(const FloatVec8 &eight, float inverse, const RandomFragment &random,
                                            CodeVec8<8> &codes) {
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const float scaled_value = canonical_nan(eight.number[i] * inverse);
    put_code(codes, i, stochastic_code<kElement>(scaled_value, random_of(random, kBits, i), kBits));
  }
}

// Rounds to nearest even, and stochastically below the smallest code.
template <Element kElement>
__device__ __forceinline__ void underflow_bytes(const StateJob &job, const FloatVec8 &eight, float inverse,
                                                const RandomFragment &random, CodeVec8<8> &codes) {
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    put_code(codes, i, drawn_state_code<kElement>(job, rounded_at(job, eight, inverse, random, i)));
  }
}

// Replaces zero codes of nonzero values by the smallest code.
__device__ __forceinline__ void clamp_bytes(const FloatVec8 &eight, CodeVec8<8> &codes) {
  const uint32_t none_is_zero =
      ((codes.word[0] & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) & ((codes.word[1] & 0x7F7F7F7Fu) + 0x7F7F7F7Fu);
  if ((none_is_zero & 0x80808080u) == 0x80808080u) return;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if ((code_at(codes, i) & 0x7Fu) == 0 && eight.number[i] != 0.0f) put_code(codes, i, 1);
  }
}

template <Element kElement>
__device__ __forceinline__ CodeVec8<8> float_bytes(const StateJob &job, const FloatVec8 &eight, float inverse,
                                                   const RandomFragment &random) {
  CodeVec8<8> codes = {};
  if (job.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC && !job.is_drawn) {
    underflow_bytes<kElement>(job, eight, inverse, random, codes);
  } else if (!job.is_drawn) {
    FloatVec8 made;
    for (int32_t i = 0; i < kEight; ++i) made.number[i] = canonical_nan(eight.number[i]);
    nearest_bytes<kElement>(made.number, inverse, codes.word);
  } else if (job.random.bits == 16) {
    drawn_bytes<kElement, 16>(eight, inverse, random, codes);
  } else {
    drawn_bytes<kElement, 8>(eight, inverse, random, codes);
  }
  if (job.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP) clamp_bytes(eight, codes);
  return codes;
}

__device__ __forceinline__ uint32_t tree_code(const StateJob &job, const DynamicTree &tree, const Rounded &number) {
  const auto zero = static_cast<uint32_t>(tree.zero);
  if (number.scaled != number.scaled) return zero;
  const bool is_negative = (float_bits(number.value) >> 31) != 0;
  const uint32_t least = zero != 0 && is_negative ? zero - 1 : zero + 1;
  if (job.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC) {
    const float share = bits_float(float_bits(number.scaled) & 0x7FFFFFFFu) / tree.level[zero + 1];
    const uint32_t whole = 2u << job.random.bits;
    const auto psi = static_cast<uint32_t>(share * static_cast<float>(whole));
    if (share < 1.0f) return psi + 2 * number.random + 1 >= whole ? least : zero;
  }
  const uint32_t code = encode_dynamic(tree, number.scaled);
  return job.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP && code == zero && number.value != 0.0f ? least : code;
}

__device__ __forceinline__ void tree_bytes(const StateJob &job, const DynamicTree &tree, const FloatVec8 &eight,
                                           float inverse, const RandomFragment &random, CodeVec8<8> &codes) {
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    put_code(codes, i, tree_code(job, tree, rounded_at(job, eight, inverse, random, i)));
  }
}

__device__ __forceinline__ CodeVec8<16> encode_halves(const StateJob &job, const FloatVec8 &eight, float inverse,
                                                      const RandomFragment &random) {
  CodeVec8<16> codes = {};
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const Rounded number = rounded_at(job, eight, inverse, random, i);
    put_code(codes, i, clamped_code<kElementBf16>(job, drawn_state_code<kElementBf16>(job, number), number.value));
  }
  return codes;
}

__device__ __forceinline__ FloatVec8 encode_f32(const FloatVec8 &eight) {
  FloatVec8 written;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) written.number[i] = positive_nan(eight.number[i]);
  return written;
}

template <StateStorage kKept>
__device__ __forceinline__ CodeVec8<8> encode_bytes(const StateJob &job, const Trees &trees, const FloatVec8 &eight,
                                                    float inverse, const RandomFragment &random) {
  if constexpr (kKept == StateStorage::kTree) {
    CodeVec8<8> codes = {};
    tree_bytes(job, job.element == kDynamicSigned ? *trees.of_signed : *trees.of_unsigned, eight, inverse, random,
               codes);
    return codes;
  }
  return job.element == LPT_FORMAT_E4M3FN ? float_bytes<kElementE4m3fn>(job, eight, inverse, random)
                                          : float_bytes<kElementE5m2>(job, eight, inverse, random);
}

// Encodes and stores eight elements of a state. All lanes of a warp must call it, also lanes without elements, because they
// compute the scales of blocks together. `whole_inverse` is the inverse scale of arrays without blocks.
template <StateStorage kKept>
__device__ __forceinline__ void store_state(const StateJob &job, const Trees &trees, int64_t index, int32_t count,
                                            const FloatVec8 &eight, float whole_inverse) {
  if constexpr (kKept == StateStorage::kNone) return;
  float inverse = whole_inverse;
  if constexpr (kKept != StateStorage::kNumbers) {
    if (job.lanes != 0) inverse = compute_state_scale<kKept>(job, eight, index, count);
  }
  if (count == 0) return;
  const bool is_whole = job.is_aligned && count == kEight;
  RandomFragment random = {};
  if (has_draws(job)) random = draw_eight(job.random, index);
  if constexpr (kKept != StateStorage::kNumbers) {
    store_bytes(job.data, index, count, is_whole, encode_bytes<kKept>(job, trees, eight, inverse, random));
  } else if (job.element == LPT_FORMAT_F32) {
    store_f32(job.data, index, count, is_whole, encode_f32(eight));
  } else {
    store_halves(job.data, index, count, is_whole, encode_halves(job, eight, inverse, random));
  }
}

}  // namespace lpt
