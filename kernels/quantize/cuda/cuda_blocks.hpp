// Shared by the CUDA cast kernels: statistics of elements, block scales and rounding.
#pragma once

#include "kernels/common/cuda_encode.hpp"
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/common/cuda_random.hpp"
#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// Source of the block scales: computed by the cast kernel, computed by a preceding kernel, or supplied by the caller.
enum class BlockScales : uint8_t { kSettled, kSearched, kGiven };

// A QuantizeRequest as a kernel argument, passed by value.
struct CastJob {
  const void *source;
  void *target;
  void *block_scales;
  const float *tensor_scale;  // NULL: none
  float *amax;                // NULL, or raised to the largest finite magnitude
  bool *has_nan;              // NULL, or set to true if the source has a NaN
  int64_t rows, columns;
  int64_t first_line;                           // of the launch, in rows or in rows of blocks
  int64_t source_stride, source_column_stride;  // in elements
  int64_t target_stride;                        // in bytes
  int64_t block_scale_stride;
  int64_t random_column_stride;
  const float *factors, *signs;  // per column, multiplied before the cast; NULL: none
  ScaleSpec spec;                // without the inverse tensor scale, which is on the device
  RandomSource random;
  uint32_t lanes;       // fragments per block, a power of two; 0: no blocks
  uint32_t lane_shift;  // log2(lanes)
  BlockScales scales;
  bool loads_whole;   // fragments of the source are aligned to 16 bytes
  bool stores_whole;  // fragments of the target are aligned to code_boundary()
  bool is_rotated;    // in groups of 16 columns
};

// Statistics of elements. Magnitudes are compared as integers, because their bits have the same order.
struct FragmentStats {
  uint32_t amax = 0;  // bits of the largest finite magnitude
  bool has_nan = false;
};

__device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

__device__ __forceinline__ void add_number(FragmentStats &facts, float number) {
  const uint32_t magnitude = float_bits(number) & 0x7FFFFFFFu;
  facts.has_nan |= magnitude > kFloatInfinityBits;
  if (magnitude < kFloatInfinityBits) facts.amax = larger(facts.amax, magnitude);
}

// Computes the statistics of a fragment. It processes elements one by one only if the largest magnitude is not finite.
__device__ __forceinline__ FragmentStats stats_of(const FloatFragment &fragment) {
  FragmentStats facts;
  float most = 0.0f;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) most = larger_magnitude(most, fragment.number[i]);
  facts.amax = float_bits(most);
  if (facts.amax < kFloatInfinityBits) return facts;
  facts.amax = 0;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) add_number(facts, fragment.number[i]);
  return facts;
}

// Returns the statistics over each group of `lanes` lanes, a power of two, to all lanes of the group.
__device__ __forceinline__ FragmentStats facts_of_lanes(FragmentStats facts, uint32_t lanes) {
  for (uint32_t distance = lanes / 2; distance > 0; distance /= 2) {
    facts.amax = larger(facts.amax, __shfl_xor_sync(kAllLanes, facts.amax, distance));
  }
  const uint32_t first = thread_of_block() % 32 & ~(lanes - 1);
  const uint32_t votes = __ballot_sync(kAllLanes, facts.has_nan) >> first;
  facts.has_nan = (votes & (lanes == 32 ? kAllLanes : (1u << lanes) - 1)) != 0;
  return facts;
}

// Raises amax by one atomic per thread block, and sets has_nan; either pointer may be NULL. All threads of the block must call
// it exactly once, because it contains a barrier. Most kernels call it after their stores, so that the barrier delays none.
__device__ __forceinline__ void report_stats(float *amax, bool *has_nan, const FragmentStats &facts) {
  const uint32_t warp = thread_of_block() / 32, lane = thread_of_block() % 32;
  if (has_nan != nullptr && __ballot_sync(kAllLanes, facts.has_nan) != 0 && lane == 0) *has_nan = true;
  if (amax == nullptr) return;
  __shared__ uint32_t of_warps[32];
  const uint32_t of_warp = largest_of_warp(facts.amax);
  if (lane == 0) of_warps[warp] = of_warp;
  __syncthreads();
  if (warp != 0) return;
  const uint32_t most = largest_of_warp(lane < blockDim.x * blockDim.y / 32 ? of_warps[lane] : 0);
  if (lane == 0 && most != 0) atomicMax(reinterpret_cast<uint32_t *>(amax), most);
}

// Returns the statistics over all threads of the block, to each thread. All threads must call it, at most once in a kernel.
__device__ __forceinline__ FragmentStats facts_of_block(const FragmentStats &facts) {
  __shared__ uint32_t amax;
  __shared__ uint32_t has_nan;
  if (threadIdx.x == 0) {
    amax = 0;
    has_nan = 0;
  }
  __syncthreads();
  const FragmentStats warp = facts_of_lanes(facts, 32);
  if (threadIdx.x % 32 == 0) {
    atomicMax(&amax, warp.amax);
    if (warp.has_nan) has_nan = 1;
  }
  __syncthreads();
  FragmentStats all;
  all.amax = amax;
  all.has_nan = has_nan != 0;
  return all;
}

__device__ __forceinline__ float tensor_scale_of(const CastJob &job) {
  return job.tensor_scale == nullptr ? 1.0f : *job.tensor_scale;
}

// The scale code of a block, and the factor of its elements: 1 / (block scale · tensor scale).
struct BlockGridScale {
  uint32_t code;
  float inverse;
};

template <lpt_format kScale>
__device__ __forceinline__ float scale_value(uint32_t code) {
  if constexpr (kScale == LPT_FORMAT_E4M3FN) return small_number<kElementE4m3fn>(code);
  return block_scale_value(kScale, code);
}

// Computes block_scale_code(). For e4m3fn it rounds by cuda_encode.hpp, which halves the instructions.
template <lpt_format kScale>
__device__ __forceinline__ uint32_t scale_code(const ScaleSpec &spec, float amax) {
  if constexpr (kScale != LPT_FORMAT_E4M3FN) {
    return block_scale_code(spec, amax);
  } else {
    float units = (amax / spec.largest) * spec.tensor_inverse;
    if (spec.rule == LPT_SCALE_RULE_HEADROOM) units *= 17.0f / 16.0f;
    uint32_t code = nearest_code<kElementE4m3fn>(units);
    if (spec.rule == LPT_SCALE_RULE_ROUND_UP && code < kElementE4m3fn.max_code && scale_value<kScale>(code) < units)
      ++code;
    return code == 0 ? 1 : code;
  }
}

template <lpt_format kScale>
__device__ __forceinline__ BlockGridScale compute_scale(const CastJob &job, uint32_t amax) {
  ScaleSpec spec = job.spec;
  spec.kind = kScale;  // a constant, so that two of three branches are removed
  const float tensor_scale = tensor_scale_of(job);
  if (job.tensor_scale != nullptr) spec.tensor_inverse *= 1.0f / tensor_scale;
  const uint32_t code = scale_code<kScale>(spec, bits_float(amax));
  return {code, inverse_scale(scale_value<kScale>(code) * tensor_scale)};
}

template <lpt_format kScale>
__device__ __forceinline__ uint32_t load_scale(const CastJob &job, int64_t block_row, int64_t block_column) {
  const int64_t index = block_row * job.block_scale_stride + block_column;
  if constexpr (kScale == LPT_FORMAT_F32) return float_bits(static_cast<const float *>(job.block_scales)[index]);
  return static_cast<const uint8_t *>(job.block_scales)[index];
}

template <lpt_format kScale>
__device__ __forceinline__ void store_scale(const CastJob &job, int64_t block_row, int64_t block_column,
                                            uint32_t code) {
  const int64_t index = block_row * job.block_scale_stride + block_column;
  if constexpr (kScale == LPT_FORMAT_F32) {
    static_cast<float *>(job.block_scales)[index] = bits_float(code);
  } else {
    static_cast<uint8_t *>(job.block_scales)[index] = static_cast<uint8_t>(code);
  }
}

// Returns the scale code to store. If the block has a NaN, it is a NaN, unless the scale is f32 and the element has a NaN.
template <Element kTarget, lpt_format kScale>
__device__ __forceinline__ uint32_t written_scale(uint32_t code, bool has_nan) {
  constexpr bool kGoesToScale = kScale != LPT_FORMAT_F32 || kTarget.nan_code == 0;
  constexpr uint32_t kNan = kScale == LPT_FORMAT_F32      ? kFloatNanBits
                            : kScale == LPT_FORMAT_E4M3FN ? kElementE4m3fn.nan_code
                                                          : kElementE8m0fnu.nan_code;
  return has_nan && kGoesToScale ? kNan : code;
}

__device__ __forceinline__ uint64_t random_index(const CastJob &job, int64_t row, int64_t column) {
  return static_cast<uint64_t>(job.random.offset + row * job.random.row_stride + column * job.random_column_stride);
}

template <Element kTarget>
__device__ __forceinline__ CodeFragment<kTarget.bits> nearest_fragment(const FloatFragment &fragment, float inverse) {
  CodeFragment<kTarget.bits> codes = {};
  if constexpr (kIsE2m1<kTarget>) {
    // Signs and magnitudes are shifted in, the last element first. kOnesBits of the last two magnitudes remains in the word and
    // is subtracted.
#pragma unroll
    for (int32_t i = kFragment - 1; i >= 0; --i) {
      uint32_t &word = codes.word[i / 8];
      word = __funnelshift_r(float_bits(fragment.number[i]), word, 31);
      word = word * 8 + nearest_e2m1(magnitude_of(fragment.number[i] * inverse));
    }
    for (uint32_t &word : codes.word) word -= kOnesBits + (kOnesBits << 4);
  } else if constexpr (kTarget.bits == 8) {
    nearest_bytes<kTarget>(fragment.number, inverse, codes.word);
  } else {
#pragma unroll
    for (int32_t i = 0; i < kFragment; i += 2) {
      put_pair(codes, i,
               nearest_pair<kTarget>(scaled(fragment.number[i], inverse), scaled(fragment.number[i + 1], inverse)));
    }
  }
  return codes;
}

template <Element kTarget, int32_t kBits>
__device__ __forceinline__ CodeFragment<kTarget.bits> drawn_fragment(const FloatFragment &fragment, float inverse,
                                                                     const RandomFragment &random) {
  CodeFragment<kTarget.bits> codes = {};
#pragma unroll
  for (int32_t i = 0; i < kFragment; i += 2) {
    const uint32_t first =
        stochastic_code<kTarget>(scaled(fragment.number[i], inverse), random_of(random, kBits, i), kBits);
    const uint32_t second =
        stochastic_code<kTarget>(scaled(fragment.number[i + 1], inverse), random_of(random, kBits, i + 1), kBits);
    put_pair(codes, i, first | second << kTarget.bits);
  }
  return codes;
}

// Computes 16 codes, of which `count` are used. `index` is the random index of the first element, for stochastic rounding.
template <Element kTarget, bool kIsDrawn>
__device__ __forceinline__ CodeFragment<kTarget.bits> cast_fragment(const CastJob &job, const FloatFragment &fragment,
                                                                    float inverse, uint64_t index, int32_t count) {
  if constexpr (!kIsDrawn) return nearest_fragment<kTarget>(fragment, inverse);
  const RandomFragment random = random_fragment(job.random, index, count);
  return job.random.bits == 16 ? drawn_fragment<kTarget, 16>(fragment, inverse, random)
                               : drawn_fragment<kTarget, 8>(fragment, inverse, random);
}

// Host code.

inline float largest_of_element(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_E4M3FN:
      return 448.0f;
    case LPT_FORMAT_E5M2:
      return 57344.0f;
    case LPT_FORMAT_E3M2FN:
      return 28.0f;
    case LPT_FORMAT_E2M3FN:
      return 7.5f;
    case LPT_FORMAT_INT8:
      return 127.0f;
    case LPT_FORMAT_INT4:
      return 7.0f;
    default:
      return 6.0f;  // e2m1fn
  }
}

// Returns the element of a format. Kernels are templates of a format, because nvcc generates no host stub for template
// arguments of class type.
LPT_HOST_DEVICE constexpr Element small_element(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_E4M3FN:
      return kElementE4m3fn;
    case LPT_FORMAT_E5M2:
      return kElementE5m2;
    case LPT_FORMAT_E3M2FN:
      return kElementE3m2fn;
    case LPT_FORMAT_E2M3FN:
      return kElementE2m3fn;
    case LPT_FORMAT_INT8:
      return kElementInt8;
    case LPT_FORMAT_INT4:
      return kElementInt4;
    default:
      return kElementE2m1fn;
  }
}

inline CastJob cast_job(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Format &format = target.format;
  const Element element = small_element(format.element);
  const bool has_space = request.rule == LPT_SCALE_RULE_THREE_QUARTERS;  // as in scale_spec()
  CastJob job = {};
  job.source = source.data;
  job.target = target.data;
  job.block_scales = target.block_scales;
  job.tensor_scale = format.tensor_scale == LPT_FORMAT_NONE ? nullptr : target.tensor_scale;
  job.amax = request.amax;
  job.has_nan = request.has_nan;
  job.rows = source.rows;
  job.columns = source.columns;
  job.source_stride = source.row_stride;
  job.source_column_stride = source.column_stride;
  job.target_stride = target.row_stride * element.bits / 8;
  job.block_scale_stride = target.block_scale_stride;
  job.random_column_stride = request.random_column_stride;
  job.spec = {format.block_scale,
              request.rule,
              largest_of_element(format.element),
              element.mantissa_bits,
              has_space ? 4.0f / 3.0f : 1.0f,
              nullptr,
              0};
  job.random = request.random;
  job.factors = request.factors;
  job.signs = request.signs;
  job.is_rotated = request.is_rotated;
  job.scales = request.rule == LPT_SCALE_RULE_FIXED ? BlockScales::kGiven
               : is_rule_of_amax(request.rule)      ? BlockScales::kSettled
                                                    : BlockScales::kSearched;
  job.lanes = format.block_scale == LPT_FORMAT_NONE ? 0 : static_cast<uint32_t>(format.block_columns / kFragment);
  while (job.lanes >> job.lane_shift > 1) ++job.lane_shift;
  const int64_t bytes = number_bytes(source.format.element);
  job.loads_whole = source.column_stride == 1 && are_rows_aligned(source.data, source.row_stride * bytes);
  job.stores_whole = are_rows_aligned(target.data, job.target_stride, code_boundary(element.bits));
  return job;
}

// Template parameters of a cast kernel in addition to its formats. for_cast() calls body(CastTag<...>{}).
template <Dtype kSource, bool kIsDrawn>
struct CastTag {};

template <typename Body>
void for_cast(const QuantizeRequest &request, const Body &body) {
  for_float_dtype(request.source.format.element, [&]<Dtype kSource>(DtypeTag<kSource>) {
    if (request.rounding == LPT_ROUNDING_STOCHASTIC) return body(CastTag<kSource, true>{});
    body(CastTag<kSource, false>{});
  });
}

// Calls launch(job, count) for at most `most` lines at a time, because the extents of a grid are limited.
template <typename Launch>
void for_lines(CastJob job, int64_t lines, int64_t most, const Launch &launch) {
  for (; job.first_line < lines; job.first_line += most) {
    const int64_t left = lines - job.first_line;
    launch(job, static_cast<uint32_t>(left < most ? left : most));
  }
}

constexpr int64_t kMostGridLines = 65535;  // limit of gridDim.y

}  // namespace lpt
