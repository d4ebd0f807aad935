// Masks of the elements that a cast clipped. A thread processes eight adjacent elements of a row, the bits of one byte.
#include <algorithm>
#include <limits>

#include "kernels/common/launch.hpp"
#include "kernels/linear/cuda_kernels.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

struct MaskJob {
  float *numbers;
  int64_t columns, stride;
  int64_t row_bytes, bytes;  // of the mask: per row, and in total
  uint8_t *mask;
  float largest;  // largest value of the element, without scales
  const float *tensor_scale;
  const void *block_scales;
  int64_t scale_stride, block_rows, block_columns;
  lpt_format scale;
};

struct Vec8 {
  int64_t row, begin, end;  // columns
};

__device__ __forceinline__ Vec8 vec8_of(const MaskJob &job, int64_t index) {
  const int64_t begin = index % job.row_bytes * 8;
  return {index / job.row_bytes, begin, begin + 8 < job.columns ? begin + 8 : job.columns};
}

__device__ __forceinline__ float limit_of(const MaskJob &job, int64_t row, int64_t column) {
  const float whole = job.tensor_scale == nullptr ? job.largest : job.largest * *job.tensor_scale;
  if (job.block_scales == nullptr) return whole;
  const int64_t place = row / job.block_rows * job.scale_stride + column / job.block_columns;
  if (job.scale == LPT_FORMAT_F32) return whole * static_cast<const float *>(job.block_scales)[place];
  return whole * block_scale_value(job.scale, static_cast<const uint8_t *>(job.block_scales)[place]);
}

__global__ void __launch_bounds__(kBlockThreads) write_mask_bytes(MaskJob job) {
  const int64_t index = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (index >= job.bytes) return;
  const Vec8 vec8 = vec8_of(job, index);
  uint32_t byte = 0;
  for (int64_t c = vec8.begin; c < vec8.end; ++c) {
    const float number = job.numbers[vec8.row * job.stride + c], limit = limit_of(job, vec8.row, c);
    const bool is_clipped = number > limit || number < -limit;  // false for NaN
    byte |= (is_clipped ? 0u : 1u) << (c - vec8.begin);
  }
  job.mask[index] = static_cast<uint8_t>(byte);
}

__global__ void __launch_bounds__(kBlockThreads) clear_masked(MaskJob job) {
  const int64_t index = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (index >= job.bytes) return;
  const uint32_t byte = job.mask[index];
  const Vec8 vec8 = vec8_of(job, index);
  for (int64_t c = vec8.begin; c < vec8.end; ++c) {
    if ((byte >> (c - vec8.begin) & 1) == 0) job.numbers[vec8.row * job.stride + c] = 0.0f;
  }
}

// Host code.

MaskJob mask_job(const MatrixView &numbers, uint8_t *mask) {
  MaskJob job = {};
  job.numbers = static_cast<float *>(numbers.data);
  job.columns = numbers.columns;
  job.stride = numbers.row_stride;
  job.row_bytes = (numbers.columns + 7) / 8;
  job.bytes = job.row_bytes * numbers.rows;
  job.mask = mask;
  return job;
}

}  // namespace

void clip_mask_cuda(const ClipMaskRequest &request, void *stream) {
  MaskJob job = mask_job(request.numbers, request.mask);
  if (job.bytes == 0) return;
  const MatrixView &codes = request.codes;
  const BlockGrid grid = block_grid(codes.format, codes.rows, codes.columns);
  job.largest = request.largest;
  job.tensor_scale = codes.tensor_scale;
  job.block_scales = codes.block_scales;
  job.scale_stride = codes.block_scale_stride;
  job.block_rows = std::max<int64_t>(grid.block_rows, 1);
  job.block_columns = std::max<int64_t>(grid.block_columns, 1);
  job.scale = codes.format.block_scale;
  LPT_LAUNCH(write_mask_bytes, blocks_for(job.bytes), kBlockThreads, 0, stream, job);
}

void clear_clipped_cuda(const ClearClippedRequest &request, void *stream) {
  const MaskJob job = mask_job(request.numbers, const_cast<uint8_t *>(request.mask));
  if (job.bytes == 0) return;
  LPT_LAUNCH(clear_masked, blocks_for(job.bytes), kBlockThreads, 0, stream, job);
}

}  // namespace lpt
