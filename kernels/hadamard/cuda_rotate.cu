// Rotations. A thread processes 16 adjacent elements of a row. Steps of strides below 16 combine registers of the thread. Steps
// of larger strides exchange elements with other lanes of the warp. Memory is read once and written once.
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/common/cuda_rotation.hpp"
#include "kernels/hadamard/cuda_kernels.hpp"
#include "kernels/hadamard/hadamard.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

struct RotationJob {
  const void *source;
  void *target;
  int64_t rows, columns;
  int64_t source_stride, target_stride;  // in elements
  int32_t size;                          // 0: no rotation
  lpt_format target_format;
  const float *factors, *row_factors;       // NULL: none
  const float *signs_before, *signs_after;  // NULL: none
  bool loads_whole, stores_whole;
};

// Combines elements of two lanes. All lanes of the warp must call it. `is_paired`: the group of the thread is larger than the
// stride.
__device__ __forceinline__ void step_between(FloatFragment &fragment, uint32_t distance, bool is_paired) {
  const bool is_upper = (thread_of_block() & distance) != 0;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    const float own = fragment.number[i];
    const float other = __shfl_xor_sync(kAllLanes, own, distance);
    const float after = is_upper ? other - own : own + other;
    fragment.number[i] = is_paired ? after : own;
  }
}

// Returns the size of the group of a fragment that begins at `column`. Groups of `job.size` elements come first, then the
// powers of two of the remaining columns. If the groups are within the fragment, it returns 16.
__device__ __forceinline__ int32_t group_size(const RotationJob &job, int64_t column) {
  const int64_t whole = job.columns & ~int64_t{job.size - 1};
  if (column < whole) return job.size;
  const auto left = static_cast<int32_t>(job.columns - whole);
  auto place = static_cast<int32_t>(column - whole);
  for (int32_t size = job.size / 2; size > kFragment; size /= 2) {
    if ((left & size) == 0) continue;
    if (place < size) return size;
    place -= size;
  }
  return kFragment;
}

__device__ __forceinline__ void rotate(const RotationJob &job, FloatFragment &fragment, int64_t column, int32_t count) {
  steps_inside(fragment, count);
  const int32_t size = group_size(job, column);
  for (int32_t stride = kFragment; stride < job.size; stride *= 2) {
    step_between(fragment, static_cast<uint32_t>(stride / kFragment), size > stride);
  }
  const float factor = hadamard_factor(size);
  scale_inside(fragment, count, factor);
}

template <Dtype kSource>
__global__ void __launch_bounds__(kBlockThreads, 4) rotate_fragments(RotationJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t columns = fragment_count(job.columns, column);
  const bool is_full = columns == kFragment;
  for (int64_t first = int64_t{blockIdx.y} * blockDim.y; first < job.rows; first += rows_of_grid()) {
    const int64_t row = first + threadIdx.y;
    const int32_t count = row < job.rows ? columns : 0;
    FloatFragment fragment = {};
    if (count > 0) {
      fragment =
          load_fragment<kSource>(job.source, row * job.source_stride + column, count, is_full && job.loads_whole);
      if (job.row_factors != nullptr) {
        const float factor = job.row_factors[row];
#pragma unroll
        for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] = times(fragment.number[i], factor);
      }
      multiply(fragment, job.factors, column, count);
      multiply(fragment, job.signs_before, column, count);
    }
    if (job.size != 0) rotate(job, fragment, column, count);
    if (count == 0) continue;
    multiply(fragment, job.signs_after, column, count);
    store_numbers(job.target_format, job.target, row * job.target_stride + column, count, is_full && job.stores_whole,
                  fragment);
  }
}

// Vectors of the caller.

__device__ __forceinline__ float factor_of(const FactorRequest &request, int64_t index) {
  if (request.format == LPT_FORMAT_INT8) return static_cast<const int8_t *>(request.source)[index] < 0 ? -1.0f : 1.0f;
  if (request.format == LPT_FORMAT_F32) return inverse_scale(static_cast<const float *>(request.source)[index]);
  return 1.0f / block_scale_value(LPT_FORMAT_E8M0FNU, static_cast<const uint8_t *>(request.source)[index]);
}

__global__ void __launch_bounds__(kBlockThreads) make_factors(FactorRequest request) {
  const int64_t index = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (index < request.count) request.factors[index] = factor_of(request, index % request.given);
}

// Host code.

RotationJob rotation_job(const HadamardRequest &request) {
  RotationJob job = {};
  job.source = request.source.data;
  job.target = request.target.data;
  job.rows = request.source.rows;
  job.columns = request.source.columns;
  job.source_stride = request.source.row_stride;
  job.target_stride = request.target.row_stride;
  job.size = request.size;
  job.target_format = request.target.format.element;
  job.factors = request.factors;
  job.row_factors = request.row_factors;
  (request.is_inverse ? job.signs_after : job.signs_before) = request.signs;
  job.loads_whole =
      are_rows_aligned(request.source.data, request.source.row_stride * number_bytes(request.source.format.element));
  job.stores_whole =
      are_rows_aligned(request.target.data, request.target.row_stride * number_bytes(request.target.format.element));
  return job;
}

}  // namespace

void factors_cuda(const FactorRequest &request, void *stream) {
  if (request.count == 0) return;
  LPT_LAUNCH(make_factors, blocks_for(request.count), kBlockThreads, 0, stream, request);
}

void hadamard_cuda(const HadamardRequest &request, void *stream) {
  const RotationJob job = rotation_job(request);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid grid = fragment_grid(job.rows, job.columns, kBlockThreads);
  for_float_dtype(request.source.format.element, [&]<Dtype kSource>(DtypeTag<kSource>) {
    LPT_LAUNCH(rotate_fragments<kSource>, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  });
}

}  // namespace lpt
