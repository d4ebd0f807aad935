// Epilogue of a library GEMM (factors, bias and rounding of its sums), and scales in the order that the library reads.
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/gemm/cuda/cuda_kernels.hpp"

namespace lpt {
namespace {

struct FinishJob {
  const void *x;
  void *c;
  const float *row_factors, *column_factors, *a_tensor, *b_tensor, *bias;
  int64_t rows, columns, x_stride, c_stride, rows_step, columns_step;
  float alpha, beta;
  lpt_format format;
  bool is_integer, loads_whole, has_whole;
};

__device__ __forceinline__ float given(const float *factor) { return factor == nullptr ? 1.0f : *factor; }

__device__ __forceinline__ FloatFragment sums_at(const FinishJob &job, int64_t row, int64_t column, int32_t count) {
  if (job.x == nullptr) return {};
  FloatFragment fragment =
      load_fragment<Dtype::kF32>(job.x, row * job.x_stride + column, count, count == kFragment && job.loads_whole);
  if (!job.is_integer) return fragment;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    fragment.number[i] = static_cast<float>(static_cast<int32_t>(float_bits(fragment.number[i])));
  }
  return fragment;
}

// Rows of the grid process rows of the matrix in a grid-stride loop. x and c may be the same memory: one thread reads each
// fragment before it writes it.
__global__ void __launch_bounds__(kBlockThreads) finish_fragments(FinishJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  const float whole = job.alpha * (given(job.a_tensor) * given(job.b_tensor));
  FloatFragment factors, bias;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    const bool is_present = i < count;
    factors.number[i] =
        is_present && job.column_factors != nullptr ? job.column_factors[(column + i) * job.columns_step] : 1.0f;
    bias.number[i] = is_present && job.bias != nullptr ? job.bias[column + i] : 0.0f;
  }
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    FloatFragment fragment = sums_at(job, row, column, count);
    const float factor = whole * (job.row_factors == nullptr ? 1.0f : job.row_factors[row * job.rows_step]);
    const bool is_whole = count == kFragment && job.has_whole;
    const int64_t place = row * job.c_stride + column;
    FloatFragment before = {};
    if (job.beta != 0.0f) before = load_numbers(job.format, job.c, place, count, is_whole);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float terms = job.beta != 0.0f ? job.beta * before.number[i] + bias.number[i] : bias.number[i];
      fragment.number[i] = fragment.number[i] * factor * factors.number[i] + terms;
    }
    store_numbers(job.format, job.c, place, count, is_whole, fragment);
  }
}

__global__ void write_factors(float alpha, float beta, const float *a_tensor, const float *b_tensor, float *factors) {
  factors[0] = alpha * (given(a_tensor) * given(b_tensor));
  factors[1] = beta;
}

struct ScalesJob {
  const void *source;
  void *target;
  int64_t stride, lanes, steps;
};

__device__ __forceinline__ int64_t index_of_grid() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

// Transposes scales to steps × lanes.
__global__ void __launch_bounds__(kBlockThreads) order_lanes(ScalesJob job) {
  const int64_t index = index_of_grid();
  if (index >= job.lanes * job.steps) return;
  static_cast<float *>(job.target)[index] =
      static_cast<const float *>(job.source)[index % job.lanes * job.stride + index / job.lanes];
}

// Copies rows of steps. Each row is padded to a multiple of four steps, with zeros.
__global__ void __launch_bounds__(kBlockThreads) order_blocks(ScalesJob job) {
  const int64_t index = index_of_grid();
  const int64_t pitch = (job.steps + 3) / 4 * 4;
  if (index >= job.lanes * pitch) return;
  const int64_t lane = index / pitch, step = index % pitch;
  static_cast<float *>(job.target)[index] =
      step < job.steps ? static_cast<const float *>(job.source)[lane * job.stride + step] : 0.0f;
}

// Copies scales to tiles of 128 lanes × 4 steps, stored as 32 × 4 × 4 bytes. Bytes outside the matrix are zero.
__global__ void __launch_bounds__(kBlockThreads) order_tiles(ScalesJob job) {
  const int64_t index = index_of_grid();
  const int64_t tiles = (job.steps + 3) / 4;
  if (index >= (job.lanes + 127) / 128 * tiles * 512) return;
  const int64_t tile = index / 512, place = index % 512;
  const int64_t lane = tile / tiles * 128 + place / 16 + place / 4 % 4 * 32;
  const int64_t step = tile % tiles * 4 + place % 4;
  const bool is_present = lane < job.lanes && step < job.steps;
  static_cast<uint8_t *>(job.target)[index] =
      is_present ? static_cast<const uint8_t *>(job.source)[lane * job.stride + step] : uint8_t{0};
}

// Host code.

FinishJob finish_job(const GemmEpilogueRequest &request) {
  const MatrixView &c = request.c;
  FinishJob job = {};
  job.x = request.x;
  job.c = c.data;
  job.row_factors = request.rows;
  job.column_factors = request.columns;
  job.a_tensor = request.a_tensor;
  job.b_tensor = request.b_tensor;
  job.bias = request.bias;
  job.rows = c.rows;
  job.columns = c.columns;
  job.x_stride = request.x_stride;
  job.c_stride = c.row_stride;
  job.rows_step = request.rows_step;
  job.columns_step = request.columns_step;
  job.alpha = request.alpha;
  job.beta = request.beta;
  job.format = c.format.element;
  job.is_integer = request.is_integer;
  job.loads_whole = are_rows_aligned(request.x, request.x_stride * 4);
  job.has_whole = are_rows_aligned(c.data, c.row_stride * number_bytes(c.format.element));
  return job;
}

}  // namespace

void gemm_finish_cuda(const GemmEpilogueRequest &request, void *stream) {
  const FinishJob job = finish_job(request);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid shape = fragment_grid(job.rows, job.columns, kBlockThreads);
  LPT_LAUNCH(finish_fragments, blocks_of_grid(shape), threads_of_grid(shape), 0, stream, job);
}

void gemm_factors_cuda(const GemmFactorsRequest &request, void *stream) {
  LPT_LAUNCH(write_factors, 1, 1, 0, stream, request.alpha, request.beta, request.a_tensor, request.b_tensor,
             request.factors);
}

void gemm_scales_cuda(const LibraryScalesRequest &request, void *stream) {
  const ScalesJob job = {request.source, request.target, request.stride, request.lanes, request.steps};
  const size_t bytes = library_scales_bytes(request.layout, request.lanes, request.steps);
  if (request.layout == LibraryScales::kLanes128) {
    LPT_LAUNCH(order_lanes, blocks_for(static_cast<int64_t>(bytes / 4)), kBlockThreads, 0, stream, job);
  } else if (request.layout == LibraryScales::kBlocks128) {
    LPT_LAUNCH(order_blocks, blocks_for(static_cast<int64_t>(bytes / 4)), kBlockThreads, 0, stream, job);
  } else {
    LPT_LAUNCH(order_tiles, blocks_for(static_cast<int64_t>(bytes)), kBlockThreads, 0, stream, job);
  }
}

}  // namespace lpt
