// Casts of any format, rule, rounding and overflow. quantize_any_ref() of the CPU defines the bits. A warp computes the scale
// of a block, and a thread computes the codes of a pack. If block_scale.hpp requires it, a warp then sets the scale of each
// block with a NaN to NaN.
#include "kernels/quantize/cuda/cuda_any.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_list.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

constexpr uint32_t kWarps = kBlockThreads / 32;
constexpr int64_t kMostBlocksOfGrid = int64_t{1} << 20;

struct AnyCastJob {
  AnyNumbers source;
  AnyCodes target;
  lpt_rounding rounding;
  lpt_overflow overflow;
  ScaleSpec spec;  // without the inverse tensor scale and the list
  ScaleList list;
  bool is_given;
  int64_t blocks_across, block_count, units_of_row, unit_elements;
  RandomSource random;
  int64_t random_column_stride;
  float *amax;
  bool *has_nan;
};

struct AnyBlock {
  int64_t row, rows, column, columns, index;
};

__device__ __forceinline__ AnyBlock block_at(const AnyCastJob &job, int64_t number) {
  const AnyCodes &target = job.target;
  const int64_t block_row = number / job.blocks_across, block_column = number % job.blocks_across;
  AnyBlock block = {};
  block.row = block_row * target.block_rows;
  block.column = block_column * target.block_columns;
  const int64_t rows = target.rows - block.row, columns = target.columns - block.column;
  block.rows = rows < target.block_rows ? rows : target.block_rows;
  block.columns = columns < target.block_columns ? columns : target.block_columns;
  block.index = block_row * target.block_scale_stride + block_column;
  return block;
}

// Statistics of a block.

struct BlockExtremes {
  float amax = 0.0f, low = 0.0f, high = 0.0f;
  bool has_nan = false, has_infinity = false;
};

__device__ __forceinline__ float finite_magnitude(float number) {
  const float magnitude = magnitude_of(number);
  return magnitude <= kLargestFloat ? magnitude : 0.0f;
}

__device__ __forceinline__ void add_extremes(BlockExtremes &facts, float number) {
  const float magnitude = magnitude_of(number);
  facts.has_nan |= magnitude != magnitude;
  facts.has_infinity |= magnitude > kLargestFloat;
  if (!(magnitude <= kLargestFloat)) return;
  if (magnitude > facts.amax) facts.amax = magnitude;
  if (number < facts.low) facts.low = number;
  if (number > facts.high) facts.high = number;
}

__device__ __forceinline__ BlockExtremes facts_of_warp(BlockExtremes facts) {
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    const float amax = __shfl_xor_sync(kAllLanes, facts.amax, distance);
    const float low = __shfl_xor_sync(kAllLanes, facts.low, distance);
    const float high = __shfl_xor_sync(kAllLanes, facts.high, distance);
    if (amax > facts.amax) facts.amax = amax;
    if (low < facts.low) facts.low = low;
    if (high > facts.high) facts.high = high;
  }
  facts.has_nan = __ballot_sync(kAllLanes, facts.has_nan) != 0;
  facts.has_infinity = __ballot_sync(kAllLanes, facts.has_infinity) != 0;
  return facts;
}

__device__ __forceinline__ BlockExtremes facts_of_block(const AnyCastJob &job, const AnyBlock &block) {
  BlockExtremes facts;
  const int64_t count = block.rows * block.columns;
  for (int64_t i = threadIdx.x % 32; i < count; i += 32) {
    const int64_t row = block.rows == 1 ? 0 : i / block.columns;
    add_extremes(facts, number_at(job.source, block.row + row, block.column + i - row * block.columns));
  }
  return facts_of_warp(facts);
}

// Returns the sum of term(number) over the finite elements of a block, to all lanes: each row in the order of striped_sum(),
// then rows in ascending order.
template <typename Term>
__device__ __forceinline__ float sum_of_block(const AnyCastJob &job, const AnyBlock &block, const Term &term) {
  const auto lane = static_cast<int64_t>(threadIdx.x % 32);
  float sum = 0.0f;
  for (int64_t row = 0; row < block.rows; ++row) {
    float own = 0.0f;
    for (int64_t i = lane; i < block.columns && lane < kStripes; i += kStripes) {
      const float number = number_at(job.source, block.row + row, block.column + i);
      own += finite_magnitude(number) == 0.0f ? 0.0f : term(number);
    }
    for (uint32_t width = kStripes / 2; width > 0; width /= 2) own += __shfl_down_sync(kAllLanes, own, width, kStripes);
    sum += __shfl_sync(kAllLanes, own, 0);
  }
  return sum;
}

// Scale of a block.

__device__ __forceinline__ float squared_error(const AnyCastJob &job, float number, float scale, float inverse) {
  const AnyElement &any = job.target.any;
  const float scaled_value = scaled(number, inverse);
  const uint32_t code =
      any.has_levels ? encode_level(any.levels, scaled_value)
                     : encode(any.element, scaled_value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16);
  const float element = any.has_levels ? any.levels.value[code & 15] : decode(any.element, code);
  const float error = number - element * scale;
  return error * error;
}

__device__ __forceinline__ uint32_t best_of_candidates(const AnyCastJob &job, const ScaleSpec &spec,
                                                       const AnyBlock &block, float amax) {
  uint32_t best = 0;
  float least = 0.0f;
  for (int32_t i = 0; i < candidate_count(spec); ++i) {
    const uint32_t code = candidate_code(spec, amax, i);
    const float scale = block_scale_value(spec.kind, code) * any_tensor_scale(job.target);
    const float inverse = inverse_scale(scale);
    const float error =
        sum_of_block(job, block, [&](float number) { return squared_error(job, number, scale, inverse); });
    if (i > 0 && !(error < least)) continue;
    best = code;
    least = error;
  }
  return best;
}

__device__ __forceinline__ uint32_t quest_code(const AnyCastJob &job, const ScaleSpec &spec, const AnyBlock &block,
                                               float amax) {
  BlockStats facts = {};
  facts.amax = amax;
  facts.count = static_cast<float>(block.rows * block.columns);
  facts.sum = sum_of_block(job, block, [](float number) { return number; });
  facts.square_sum = sum_of_block(job, block, [](float number) { return number * number; });
  return quest_scale(spec, facts);
}

__device__ __forceinline__ uint32_t mean_code(const AnyCastJob &job, const ScaleSpec &spec, const AnyBlock &block,
                                              float amax) {
  const float sum = sum_of_block(job, block, [](float number) { return magnitude_of(number); });
  const auto count = static_cast<float>(block.rows * block.columns);
  return float_bits(amax == 0.0f ? 1.0f : clamp_scale(sum / count * spec.tensor_inverse));
}

__device__ __forceinline__ uint32_t scale_code(const AnyCastJob &job, const AnyBlock &block, float amax) {
  ScaleSpec spec = job.spec;
  spec.tensor_inverse *= 1.0f / any_tensor_scale(job.target);
  if (spec.rule == LPT_SCALE_RULE_LIST) {
    return float_bits(listed_scale(job.list, (amax / spec.largest) * spec.tensor_inverse));
  }
  if (is_quest_rule(spec.rule)) return quest_code(job, spec, block, amax);
  if (spec.rule == LPT_SCALE_RULE_MEAN) return mean_code(job, spec, block, amax);
  const bool is_tried = spec.rule == LPT_SCALE_RULE_MSE || spec.rule == LPT_SCALE_RULE_FOUR_OVER_SIX;
  return is_tried ? best_of_candidates(job, spec, block, amax) : block_scale_code(spec, amax);
}

__device__ __forceinline__ void store_scale(const AnyCodes &codes, int64_t block, uint32_t code) {
  if (codes.scale == LPT_FORMAT_F32) {
    static_cast<float *>(codes.block_scales)[block] = bits_float(code);
  } else {
    static_cast<uint8_t *>(codes.block_scales)[block] = static_cast<uint8_t>(code);
  }
}

// Computes and stores the scale and zero point of a block. It computes with half of each extreme, because high - low can
// overflow f32.
__device__ __forceinline__ void compute_zero_point(const AnyCastJob &job, int64_t block, const BlockExtremes &facts) {
  const Element &element = job.target.any.element;
  const float half = facts.high * 0.5f - facts.low * 0.5f;
  const float scale = half == 0.0f ? 1.0f : clamp_scale(half / (static_cast<float>(element.max_code) * 0.5f));
  const uint32_t zero =
      encode(element, -facts.low * inverse_scale(scale), LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16);
  job.target.zero_points[block] = static_cast<uint8_t>(zero);
  store_scale(job.target, block, float_bits(scale));
}

__device__ __forceinline__ int64_t first_block() { return int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; }

__global__ void __launch_bounds__(kBlockThreads) compute_scales_any(AnyCastJob job) {
  for (int64_t number = first_block(); number < job.block_count; number += int64_t{gridDim.x} * kWarps) {
    const AnyBlock block = block_at(job, number);
    const BlockExtremes facts = facts_of_block(job, block);
    if (job.target.zero_points != nullptr) {
      if (threadIdx.x % 32 == 0) compute_zero_point(job, block.index, facts);
      continue;
    }
    const uint32_t code = scale_code(job, block, facts.amax);
    if (threadIdx.x % 32 == 0) store_scale(job.target, block.index, code);
  }
}

// Sets the scale of each block with a NaN to NaN; with overflow INFINITE also that of a block with an infinity. It runs after
// quantize_any(), because codes are those of the finite scale.
__global__ void __launch_bounds__(kBlockThreads) store_nan_scales_any(AnyCastJob job) {
  for (int64_t number = first_block(); number < job.block_count; number += int64_t{gridDim.x} * kWarps) {
    const AnyBlock block = block_at(job, number);
    const BlockExtremes facts = facts_of_block(job, block);
    const bool is_spoiled = facts.has_nan || (facts.has_infinity && job.overflow == LPT_OVERFLOW_INFINITE);
    if (is_spoiled && threadIdx.x % 32 == 0) store_scale(job.target, block.index, block_scale_nan(job.target.scale));
  }
}

// Codes.

// Computes random_bits(). No index into the Philox block is variable, because that would place the block in local memory.
__device__ __forceinline__ uint32_t drawn_bits(const RandomSource &source, uint64_t index) {
  const uint32_t of_word = source.bits == 16 ? 2 : 4;
  const PhiloxBlock block = random_block(source, index / (4 * of_word));
  const auto place = static_cast<uint32_t>(index % (4 * of_word) / of_word);
  const uint32_t low = (place & 1) != 0 ? block.word[1] : block.word[0];
  const uint32_t high = (place & 1) != 0 ? block.word[3] : block.word[2];
  const uint32_t word = (place & 2) != 0 ? high : low;
  const auto bits = static_cast<uint32_t>(source.bits);
  return word >> (index % of_word * bits) & ((1u << bits) - 1);
}

__device__ __forceinline__ uint32_t bits_at(const AnyCastJob &job, int64_t row, int64_t column) {
  const int64_t along = column * job.random_column_stride;
  const auto index = static_cast<uint64_t>(job.random.offset + row * job.random.row_stride + along);
  const uint8_t *const words = job.random.words;
  if (words == nullptr) return drawn_bits(job.random, index);
  return job.random.bits == 8 ? words[index] : words[2 * index] | static_cast<uint32_t>(words[2 * index + 1]) << 8;
}

// If the element has no NaN, replaces an infinity that must not saturate by a NaN, so that it has the code of a NaN.
__device__ __forceinline__ float reported_value(const AnyCastJob &job, const Element &element, float value) {
  const bool is_infinity = float_bits(magnitude_of(value)) == kFloatInfinityBits;
  if (element.nan_code != 0 || !is_infinity || job.overflow != LPT_OVERFLOW_INFINITE) return value;
  return bits_float(float_bits(value) | kFloatNanBits);
}

__device__ __forceinline__ uint32_t element_code(const AnyCastJob &job, const Element &element, float value,
                                                 int64_t row, int64_t column) {
  uint32_t random = 0;
  if (job.rounding == LPT_ROUNDING_STOCHASTIC || job.rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW) {
    random = bits_at(job, row, column);
  }
  return encode(element, reported_value(job, element, value), job.rounding, job.overflow, random, job.random.bits);
}

__device__ __forceinline__ uint32_t any_code(const AnyCastJob &job, float value, int64_t row, int64_t column) {
  const AnyElement &any = job.target.any;
  if (any.has_levels) return encode_level(any.levels, reported_value(job, any.element, value));
  return element_code(job, any.element, value, row, column);
}

// Returns the code of a format with zero points: rounds to a wide integer, adds the zero point, and clamps to 0 .. max_code.
__device__ __forceinline__ uint32_t zero_point_code(const AnyCastJob &job, float value, int64_t row, int64_t column) {
  constexpr Element kWide = kElementInt16;
  const auto rounded = static_cast<int16_t>(element_code(job, kWide, value, row, column));
  const int32_t moved = rounded + job.target.zero_points[any_block(job.target, row, column)];
  const auto most = static_cast<int32_t>(job.target.any.element.max_code);
  return static_cast<uint32_t>(moved < 0 ? 0 : moved > most ? most : moved);
}

__device__ __forceinline__ void store_any(const AnyCastJob &job, float value, int64_t row, int64_t column) {
  const AnyElement &any = job.target.any;
  const int64_t index = row * job.target.stride + column;
  if (any.wide_bytes == 8) {
    static_cast<double *>(job.target.data)[index] = static_cast<double>(value);
  } else if (any.wide_bytes == 4) {
    static_cast<float *>(job.target.data)[index] = value;
  } else if (job.target.zero_points != nullptr) {
    store_code(any.element, job.target.data, index, zero_point_code(job, value, row, column));
  } else {
    store_code(any.element, job.target.data, index, any_code(job, value, row, column));
  }
}

// Returns 1 / (block scale · tensor scale) of an element. A format with zero points has no tensor scale.
__device__ __forceinline__ float inverse_at(const AnyCastJob &job, int64_t row, int64_t column) {
  if (job.target.scale == LPT_FORMAT_NONE) return 1.0f / any_tensor_scale(job.target);
  return inverse_scale(any_scale(job.target, row, column));
}

// Computes scaled() with the NaNs of the CPU: an f32 NaN keeps its payload, a NaN of 16 bits keeps only its sign. A
// multiplication on a GPU returns 0x7FFFFFFF for every NaN.
__device__ __forceinline__ float scaled_number(const AnyNumbers &source, float number, float inverse) {
  if (number == number) return scaled(number, inverse);
  return bits_float((float_bits(number) & source.nan_bits) | kFloatNanBits);
}

// A thread computes the codes of a whole pack, so that no two threads write the same byte.
__global__ void __launch_bounds__(kBlockThreads) quantize_any(AnyCastJob job) {
  BlockExtremes facts;
  const int64_t count = job.units_of_row * job.target.rows;
  for (int64_t unit = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; unit < count;
       unit += int64_t{gridDim.x} * kBlockThreads) {
    const int64_t row = unit / job.units_of_row, begin = unit % job.units_of_row * job.unit_elements;
    for (int64_t column = begin; column < begin + job.unit_elements && column < job.target.columns; ++column) {
      const float number = number_at(job.source, row, column);
      add_extremes(facts, number);
      store_any(job, scaled_number(job.source, number, inverse_at(job, row, column)), row, column);
    }
  }
  const BlockExtremes all = facts_of_warp(facts);
  if (threadIdx.x % 32 != 0) return;
  if (job.amax != nullptr && all.amax > 0.0f) atomicMax(reinterpret_cast<uint32_t *>(job.amax), float_bits(all.amax));
  if (job.has_nan != nullptr && all.has_nan) *job.has_nan = true;
}

// Dequantization.

struct AnyDecodeJob {
  AnyCodes source;
  AnyNumbers target;
};

__global__ void __launch_bounds__(kBlockThreads) dequantize_any(AnyDecodeJob job) {
  const int64_t count = job.source.rows * job.source.columns;
  for (int64_t i = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < count;
       i += int64_t{gridDim.x} * kBlockThreads) {
    const int64_t row = i / job.source.columns, column = i % job.source.columns;
    const float number = any_number(job.source, row, column);
    const int64_t index = row * job.target.row_stride + column * job.target.column_stride;
    if (job.target.format == LPT_FORMAT_F32) {
      static_cast<float *>(job.target.data)[index] = number;
    } else {
      const bool is_bf16 = job.target.format == LPT_FORMAT_BF16;
      const uint32_t code = is_bf16 ? code_of<Dtype::kBf16>(number) : code_of<Dtype::kF16>(number);
      static_cast<uint16_t *>(job.target.data)[index] = static_cast<uint16_t>(code);
    }
  }
}

// Host code.

uint32_t grid_of(int64_t work, int64_t of_block) {
  const int64_t blocks = (work + of_block - 1) / of_block;
  return static_cast<uint32_t>(blocks < kMostBlocksOfGrid ? blocks : kMostBlocksOfGrid);
}

AnyCastJob any_cast_job(const QuantizeRequest &request) {
  const Format &format = request.target.format;
  const BlockGrid grid = block_grid(format, request.target.rows, request.target.columns);
  AnyCastJob job = {};
  job.source = any_numbers(request.source);
  job.target = any_codes(request.target);
  job.rounding = request.rounding;
  job.overflow = request.overflow;
  job.spec = scale_spec(format, request.rule, 1.0f, nullptr, 0);
  job.list = scale_list_of(request.rule, request.scale_list, request.scale_list_count);
  job.is_given = request.rule == LPT_SCALE_RULE_FIXED;
  job.blocks_across = grid.columns;
  job.block_count = grid.rows * grid.columns;
  job.unit_elements = packing_of(format.element).elements;
  job.units_of_row = (request.target.columns + job.unit_elements - 1) / job.unit_elements;
  job.random = request.random;
  job.random_column_stride = request.random_column_stride;
  job.amax = request.amax;
  job.has_nan = request.has_nan;
  return job;
}

bool has_nan_scale(const Format &format) {
  if (format.has_zero_point()) return true;
  return !has_element(format.element) || nan_goes_to_scale(format.block_scale, element_of(format.element));
}

}  // namespace

void quantize_any_cuda(const QuantizeRequest &request, void *stream) {
  if (request.target.rows == 0 || request.target.columns == 0) return;
  const AnyCastJob job = any_cast_job(request);
  const bool settles = request.target.format.has_block_scale() && !job.is_given;
  const uint32_t blocks = grid_of(job.block_count, kWarps);
  if (settles) LPT_LAUNCH(compute_scales_any, blocks, kBlockThreads, 0, stream, job);
  LPT_LAUNCH(quantize_any, grid_of(job.units_of_row * job.target.rows, kBlockThreads), kBlockThreads, 0, stream, job);
  if (settles && has_nan_scale(request.target.format))
    LPT_LAUNCH(store_nan_scales_any, blocks, kBlockThreads, 0, stream, job);
}

void dequantize_any_cuda(const DequantizeRequest &request, void *stream) {
  if (request.source.rows == 0 || request.source.columns == 0) return;
  const AnyDecodeJob job = {any_codes(request.source), any_numbers(request.target)};
  LPT_LAUNCH(dequantize_any, grid_of(request.source.rows * request.source.columns, kBlockThreads), kBlockThreads, 0,
             stream, job);
}

}  // namespace lpt
