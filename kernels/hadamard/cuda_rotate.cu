// Rotations. A thread processes 16 adjacent elements of a row. Steps of strides below 16 combine registers of the thread. Steps
// of larger strides exchange elements with other lanes of the warp. Memory is read once and written once. Groups of more than 128
// columns have a block each, which combines elements in shared memory.
#include <algorithm>
#include <bit>

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

// Loads elements of a row, and multiplies them by the factors that precede the rotation.
template <Dtype kSource>
__device__ __forceinline__ FloatFragment prepared(const RotationJob &job, int64_t row, int64_t column, int32_t count) {
  FloatFragment fragment = load_fragment<kSource>(job.source, row * job.source_stride + column, count,
                                                  count == kFragment && job.loads_whole);
  if (job.row_factors != nullptr) {
    const float factor = job.row_factors[row];
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] = times(fragment.number[i], factor);
  }
  multiply(fragment, job.factors, column, count);
  multiply(fragment, job.signs_before, column, count);
  return fragment;
}

__device__ __forceinline__ void store_rotated(const RotationJob &job, int64_t row, int64_t column, int32_t count,
                                              FloatFragment &fragment) {
  multiply(fragment, job.signs_after, column, count);
  store_numbers(job.target_format, job.target, row * job.target_stride + column, count,
                count == kFragment && job.stores_whole, fragment);
}

template <Dtype kSource>
__global__ void __launch_bounds__(kBlockThreads, 4) rotate_fragments(RotationJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t columns = fragment_count(job.columns, column);
  for (int64_t first = int64_t{blockIdx.y} * blockDim.y; first < job.rows; first += rows_of_grid()) {
    const int64_t row = first + threadIdx.y;
    const int32_t count = row < job.rows ? columns : 0;
    FloatFragment fragment = {};
    if (count > 0) fragment = prepared<kSource>(job, row, column, count);
    if (job.size != 0) rotate(job, fragment, column, count);
    if (count > 0) store_rotated(job, row, column, count, fragment);
  }
}

// Groups of more than 128 columns.

// A group of a row, or the last columns if they are fewer than a fragment.
struct RowGroup {
  int64_t column;
  int32_t columns;
};

// Returns group `index` of a row: groups of `size` columns come first, then the powers of two of the remaining columns.
__device__ __forceinline__ RowGroup group_of_row(const RotationJob &job, int64_t index) {
  const int64_t groups = job.columns / job.size;
  if (index < groups) return {index * job.size, job.size};
  RowGroup group = {groups * job.size, 0};
  const auto left = static_cast<int32_t>(job.columns - group.column);
  for (int32_t size = job.size / 2; size >= kFragment; size /= 2) {
    if ((left & size) == 0) continue;
    group.columns = size;
    if (index == groups) return group;
    group.column += size;
    --index;
  }
  group.columns = left % kFragment;
  return group;
}

// Returns the index in shared memory of an element of a group. The distance of fragments is odd, so that threads use all banks.
__device__ __forceinline__ int32_t shared_index(int32_t element) { return element + element / 32; }

// A thread loads and stores a fragment of the group. In between, it combines pairs of elements.
template <Dtype kSource>
__global__ void __launch_bounds__(kLargestRotation / kFragment) rotate_groups(RotationJob job) {
  __shared__ float numbers[kLargestRotation + kLargestRotation / 32];
  const RowGroup group = group_of_row(job, blockIdx.x);
  const auto thread = static_cast<int32_t>(threadIdx.x), threads = static_cast<int32_t>(blockDim.x);
  const int32_t first = thread * kFragment, left = group.columns - first;
  const int32_t count = left < 0 ? 0 : left < kFragment ? left : kFragment;
  const float factor = hadamard_factor(group.columns);
  for (int64_t row = blockIdx.y; row < job.rows; row += gridDim.y) {
    FloatFragment fragment = {};
    if (count > 0) fragment = prepared<kSource>(job, row, group.column + first, count);
    steps_inside(fragment, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      if (i < count) numbers[shared_index(first + i)] = fragment.number[i];
    }
    for (int32_t stride = kFragment; stride < group.columns; stride *= 2) {
      __syncthreads();
      for (int32_t pair = thread; pair < group.columns / 2; pair += threads) {
        const int32_t lower = pair / stride * 2 * stride + pair % stride;
        float &a = numbers[shared_index(lower)], &b = numbers[shared_index(lower + stride)];
        const float sum = a + b, difference = a - b;
        a = sum;
        b = difference;
      }
    }
    __syncthreads();
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      if (i < count) fragment.number[i] = numbers[shared_index(first + i)];
    }
    scale_inside(fragment, count, factor);
    if (count > 0) store_rotated(job, row, group.column + first, count, fragment);
    __syncthreads();  // before the next row replaces the elements
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

void hadamard_groups_cuda(const HadamardRequest &request, void *stream) {
  const RotationJob job = rotation_job(request);
  if (job.rows == 0 || job.columns == 0) return;
  const int64_t left = job.columns % job.size;
  const int64_t groups =
      job.columns / job.size + std::popcount(static_cast<uint64_t>(left / kFragment)) + (left % kFragment != 0 ? 1 : 0);
  const int64_t rows = std::min({job.rows, kMostGridRows, std::max(kMostBlocks / groups, int64_t{1})});
  const dim3 grid(static_cast<uint32_t>(groups), static_cast<uint32_t>(rows));
  const auto threads = static_cast<uint32_t>(job.size / kFragment);
  for_float_dtype(request.source.format.element, [&]<Dtype kSource>(DtypeTag<kSource>) {
    LPT_LAUNCH(rotate_groups<kSource>, grid, threads, 0, stream, job);
  });
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
