// Statistics of a cast. Sixteen threads process a row of a tile, in the order of striped_sum(). Rows are then added to tiles,
// and tiles to the total, in ascending order.
#include "kernels/quantize/cuda/cuda_any.hpp"
#include "kernels/quantize/cuda/cuda_decode.hpp"
#include "kernels/quantize/cuda/cuda_sums.hpp"

namespace lpt {
namespace {

struct SumsJob {
  DecodeJob codes;  // `target` is the source of the cast
  AnyCodes any;     // for formats without a specialized kernel
  lpt_format source;
  int64_t tile_rows, tile_columns, across, tiles;
  float limit;  // an element whose scaled magnitude is above it was clipped
  double *lines, *tile_sums;
  CastStatistics *sums;
};

struct LaneSums {
  double squares = 0.0, errors = 0.0;
  uint32_t nans = 0, clipped = 0, underflows = 0;
  float amax = 0.0f;
};

__device__ __forceinline__ float source_at(const SumsJob &job, int64_t index) {
  if (job.source == LPT_FORMAT_F32) return static_cast<const float *>(job.codes.target)[index];
  const uint32_t code = static_cast<const uint16_t *>(job.codes.target)[index];
  return job.source == LPT_FORMAT_BF16 ? number_of<Dtype::kBf16>(code) : number_of<Dtype::kF16>(code);
}

// Loads a code. A code of 6 bits is in one byte or in two.
template <int32_t kBits>
__device__ __forceinline__ uint32_t stored_code(const DecodeJob &job, int64_t row, int64_t column) {
  const int64_t bit = column * kBits;
  const auto *const bytes = static_cast<const uint8_t *>(job.source) + row * job.source_stride + bit / 8;
  uint32_t word = bytes[0];
  if (bit % 8 + kBits > 8) word |= static_cast<uint32_t>(bytes[1]) << 8;
  return word >> (bit % 8) & ((1u << kBits) - 1);
}

// The dequantized value of a code, and the source element times the inverse scale.
struct Quantized {
  float decoded, scaled_value;
};

template <lpt_format kFormat>
__device__ __forceinline__ Quantized quantized_at(const SumsJob &job, int64_t row, int64_t column, float value) {
  if constexpr (kFormat == LPT_FORMAT_NONE) {
    const float inverse = inverse_scale(any_scale(job.any, row, column));
    return {any_number(job.any, row, column), scaled(value, inverse)};
  } else {
    constexpr Element kElement = small_element(kFormat);
    const float scale = scale_at(job.codes, row, column);
    const uint32_t code = stored_code<kElement.bits>(job.codes, row, column);
    return {unscaled(small_number<kElement>(code), scale), scaled(value, inverse_scale(scale))};
  }
}

// Returns whether an element was clipped. With a zero point, the sum before clamping is outside 0 .. limit.
template <lpt_format kFormat>
__device__ __forceinline__ bool is_clipped(const SumsJob &job, int64_t row, int64_t column, float scaled_value) {
  if (kFormat != LPT_FORMAT_NONE || job.any.zero_points == nullptr) {
    return bits_float(float_bits(scaled_value) & 0x7FFFFFFFu) > job.limit;
  }
  constexpr Element kWide = kElementInt16;
  const uint32_t code = encode(kWide, scaled_value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16);
  const float moved = static_cast<float>(static_cast<int16_t>(code)) + any_zero_point(job.any, row, column);
  return moved < 0.0f || moved > job.limit;
}

template <lpt_format kFormat>
__device__ __forceinline__ void add_number(const SumsJob &job, int64_t row, int64_t column, LaneSums &sums) {
  const float value = source_at(job, row * job.codes.target_stride + column);
  if (value != value) {
    ++sums.nans;
    return;
  }
  const auto [decoded, scaled_value] = quantized_at<kFormat>(job, row, column, value);
  const float magnitude = bits_float(float_bits(value) & 0x7FFFFFFFu);
  if (is_clipped<kFormat>(job, row, column, scaled_value)) ++sums.clipped;
  if (magnitude > kLargestFloat) return;
  if (magnitude > sums.amax) sums.amax = magnitude;
  if (value != 0.0f && decoded == 0.0f) ++sums.underflows;
  const float error = value - decoded;
  sums.squares += static_cast<double>(value * value);
  sums.errors += static_cast<double>(error * error);
}

__device__ __forceinline__ void join_lanes(LaneSums &sums) {
  for (uint32_t width = kStripes / 2; width > 0; width /= 2) {
    sums.squares += __shfl_down_sync(kAllLanes, sums.squares, width, kStripes);
    sums.errors += __shfl_down_sync(kAllLanes, sums.errors, width, kStripes);
    sums.nans += __shfl_down_sync(kAllLanes, sums.nans, width, kStripes);
    sums.clipped += __shfl_down_sync(kAllLanes, sums.clipped, width, kStripes);
    sums.underflows += __shfl_down_sync(kAllLanes, sums.underflows, width, kStripes);
    const float other = __shfl_down_sync(kAllLanes, sums.amax, width, kStripes);
    sums.amax = other > sums.amax ? other : sums.amax;
  }
}

__device__ __forceinline__ void count(int64_t &counter, uint32_t number) {
  if (number == 0) return;
  atomicAdd(reinterpret_cast<unsigned long long *>(&counter), static_cast<unsigned long long>(number));
}

template <lpt_format kFormat>
__global__ void __launch_bounds__(kBlockThreads) sum_lines(SumsJob job) {
  const int64_t line = (int64_t{blockIdx.x} * kBlockThreads + threadIdx.x) / kStripes;
  const int64_t row = line / job.across, begin = line % job.across * job.tile_columns;
  const int64_t left = job.codes.columns - begin;
  const int64_t end = row < job.codes.rows ? begin + (left < job.tile_columns ? left : job.tile_columns) : begin;
  LaneSums sums;
  for (int64_t column = begin + threadIdx.x % kStripes; column < end; column += kStripes) {
    add_number<kFormat>(job, row, column, sums);
  }
  join_lanes(sums);
  if (row >= job.codes.rows || threadIdx.x % kStripes != 0) return;
  job.lines[2 * line] = sums.squares;
  job.lines[2 * line + 1] = sums.errors;
  count(job.sums->nans, sums.nans);
  count(job.sums->clipped, sums.clipped);
  count(job.sums->underflows, sums.underflows);
  if (sums.amax > 0.0f) atomicMax(reinterpret_cast<uint32_t *>(&job.sums->amax), float_bits(sums.amax));
}

// Launched with one block.
__global__ void __launch_bounds__(kBlockThreads) add_tiles(SumsJob job) {
  for (int64_t tile = threadIdx.x; tile < job.tiles; tile += kBlockThreads) {
    const int64_t first = tile / job.across * job.tile_rows, last = first + job.tile_rows;
    double squares = 0.0, errors = 0.0;
    for (int64_t row = first; row < last && row < job.codes.rows; ++row) {
      const double *const line = job.lines + 2 * (row * job.across + tile % job.across);
      squares += line[0];
      errors += line[1];
    }
    job.tile_sums[2 * tile] = squares;
    job.tile_sums[2 * tile + 1] = errors;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  job.sums->elements += job.codes.rows * job.codes.columns;
  for (int64_t tile = 0; tile < job.tiles; ++tile) {
    job.sums->squares += job.tile_sums[2 * tile];
    job.sums->squared_errors += job.tile_sums[2 * tile + 1];
  }
}

SumsJob sums_job(const TileSumsRequest &request) {
  SumsJob job = {};
  const Format &format = request.quantized.format;
  job.codes = decode_job({request.quantized, request.source});
  job.any = any_codes(request.quantized);
  job.source = request.source.format.element;
  job.tile_rows = request.tile_rows;
  job.tile_columns = request.tile_columns;
  job.across = (request.source.columns + request.tile_columns - 1) / request.tile_columns;
  job.tiles = job.across * ((request.source.rows + request.tile_rows - 1) / request.tile_rows);
  job.limit = largest_of(format.element) * (format.has_zero_point() ? 1.0f : 1.0f + 0x1p-20f);
  job.lines = request.scratch;
  job.tile_sums = request.scratch + 2 * job.across * request.source.rows;
  job.sums = request.sums;
  return job;
}

template <lpt_format kFormat>
void launch_lines(const SumsJob &job, void *stream) {
  const int64_t lines = job.codes.rows * job.across;
  LPT_LAUNCH(sum_lines<kFormat>, blocks_for(lines * kStripes), kBlockThreads, 0, stream, job);
}

void launch_format(lpt_format element, const SumsJob &job, void *stream) {
  switch (element) {
    case LPT_FORMAT_E4M3FN:
      return launch_lines<LPT_FORMAT_E4M3FN>(job, stream);
    case LPT_FORMAT_E5M2:
      return launch_lines<LPT_FORMAT_E5M2>(job, stream);
    case LPT_FORMAT_E3M2FN:
      return launch_lines<LPT_FORMAT_E3M2FN>(job, stream);
    case LPT_FORMAT_E2M3FN:
      return launch_lines<LPT_FORMAT_E2M3FN>(job, stream);
    case LPT_FORMAT_INT8:
      return launch_lines<LPT_FORMAT_INT8>(job, stream);
    case LPT_FORMAT_INT4:
      return launch_lines<LPT_FORMAT_INT4>(job, stream);
    case LPT_FORMAT_E2M1FN:
      return launch_lines<LPT_FORMAT_E2M1FN>(job, stream);
    default:
      return launch_lines<LPT_FORMAT_NONE>(job, stream);
  }
}

}  // namespace

void tile_sums_cuda(const TileSumsRequest &request, void *stream) {
  if (request.source.rows == 0 || request.source.columns == 0) return;
  const SumsJob job = sums_job(request);
  launch_format(request.quantized.format.element, job, stream);
  LPT_LAUNCH(add_tiles, 1, kBlockThreads, 0, stream, job);
}

}  // namespace lpt
