// Conversion of operand codes to elements that a library multiplies. A thread converts 16 elements of a row.
#include "kernels/common/cuda_encode.hpp"
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/gemm/cuda/cuda_kernels.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

struct ConversionJob {
  const void *source, *block_scales;  // block_scales NULL: no scales are applied
  const uint8_t *zero_points;         // NULL: none
  const float *tensor_scale;          // NULL: none
  void *target;
  int64_t rows, columns;
  int64_t source_stride;  // in bytes
  int64_t target_stride;  // in elements
  int64_t block_scale_stride;
  int64_t block_rows, block_columns;
  lpt_format scale;
  bool loads_whole, stores_whole;
};

template <lpt_format kSource>
constexpr int32_t kSourceBits = kSource == LPT_FORMAT_BF16 || kSource == LPT_FORMAT_F16 ? 16
                                : kSource == LPT_FORMAT_INT8                            ? 8
                                                                                        : 4;

template <lpt_format kSource>
__device__ __forceinline__ float source_value(uint32_t code) {
  if constexpr (kSource == LPT_FORMAT_BF16) return number_of<Dtype::kBf16>(code);
  if constexpr (kSource == LPT_FORMAT_F16) return number_of<Dtype::kF16>(code);
  if constexpr (kSource == LPT_FORMAT_INT8) return static_cast<float>(static_cast<int32_t>(code << 24) >> 24);
  if constexpr (kSource == LPT_FORMAT_INT4) return static_cast<float>(static_cast<int32_t>(code << 28) >> 28);
  return static_cast<float>(code);
}

__device__ __forceinline__ int64_t block_at(const ConversionJob &job, int64_t row, int64_t column) {
  return row / job.block_rows * job.block_scale_stride + column / job.block_columns;
}

__device__ __forceinline__ float scale_at(const ConversionJob &job, int64_t row, int64_t column) {
  const float tensor_scale = job.tensor_scale == nullptr ? 1.0f : *job.tensor_scale;
  if (job.block_scales == nullptr) return tensor_scale;
  const int64_t index = block_at(job, row, column);
  const uint32_t code = job.scale == LPT_FORMAT_F32 ? float_bits(static_cast<const float *>(job.block_scales)[index])
                                                    : static_cast<const uint8_t *>(job.block_scales)[index];
  return block_scale_value(job.scale, code) * tensor_scale;
}

template <lpt_format kSource>
__device__ __forceinline__ FloatFragment conversion_fragment(const ConversionJob &job, int64_t row, int64_t column,
                                                             int32_t count) {
  constexpr int32_t kBits = kSourceBits<kSource>;
  const CodeFragment<kBits> codes = load_codes<kBits>(job.source, row * job.source_stride + column * kBits / 8, count,
                                                      count == kFragment && job.loads_whole);
  const float zero =
      job.zero_points == nullptr ? 0.0f : static_cast<float>(job.zero_points[block_at(job, row, column)]);
  const float scale = scale_at(job, row, column);
  FloatFragment fragment;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    fragment.number[i] = unscaled(source_value<kSource>(code_at(codes, i)) - zero, scale);
  }
  return fragment;
}

// Rows of the grid process rows of the matrix in a grid-stride loop.
template <lpt_format kSource, Dtype kTarget>
__global__ void __launch_bounds__(kBlockThreads) conversion_numbers(ConversionJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    store_fragment<kTarget>(job.target, row * job.target_stride + column, count, count == kFragment && job.stores_whole,
                            conversion_fragment<kSource>(job, row, column, count));
  }
}

// Converts int4 to e4m3fn, exactly.
__global__ void __launch_bounds__(kBlockThreads) conversion_bytes(ConversionJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const FloatFragment fragment = conversion_fragment<LPT_FORMAT_INT4>(job, row, column, count);
    CodeFragment<8> codes = {};
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) put_code(codes, i, nearest_code<kElementE4m3fn>(fragment.number[i]));
    store_codes(job.target, row * job.target_stride + column, count, count == kFragment && job.stores_whole, codes);
  }
}

// Returns the largest e8m0fnu scale code among 128 elements, from which the scale of the group is computed. A NaN code is the
// largest.
__device__ __forceinline__ uint32_t most_of_group(const uint8_t *scales, int64_t column, int64_t columns) {
  const int64_t first = column / 128 * 4;
  const int64_t end = (columns + 31) / 32;
  uint32_t most = 0;
#pragma unroll
  for (int32_t i = 0; i < 4; ++i) {
    const uint32_t code = first + i < end ? scales[first + i] : 0;
    most = code > most ? code : most;
  }
  return most;
}

// Returns 2^(code - most + 6), at least 2^-126. The factor 2^6 uses the range of e4m3fn beyond 6.
__device__ __forceinline__ float folded_scale(uint32_t code, uint32_t most) {
  const int32_t exponent = 127 + 6 + static_cast<int32_t>(code) - static_cast<int32_t>(most);
  return bits_float(static_cast<uint32_t>(exponent > 1 ? exponent : 1) << 23);
}

__global__ void __launch_bounds__(kBlockThreads) fold_fragments(ConversionJob job, float *folded) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const uint8_t *const scales = static_cast<const uint8_t *>(job.block_scales) + row * job.block_scale_stride;
    const uint32_t most = most_of_group(scales, column, job.columns);
    const float scale = folded_scale(scales[column / 32], most);
    const CodeFragment<4> source =
        load_codes<4>(job.source, row * job.source_stride + column / 2, count, count == kFragment && job.loads_whole);
    CodeFragment<8> codes = {};
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      put_code(codes, i, nearest_code<kElementE4m3fn>(small_number<kElementE2m1fn>(code_at(source, i)) * scale));
    }
    store_codes(job.target, row * job.target_stride + column, count, count == kFragment && job.stores_whole, codes);
    if (column % 128 == 0)
      folded[column / 128 * job.rows + row] = block_scale_value(LPT_FORMAT_E8M0FNU, most) * 0x1p-6f;
  }
}

// Host code.

ConversionJob conversion_job(const OperandConversionRequest &request) {
  const MatrixView &source = request.source, &target = request.target;
  const Format &format = source.format;
  const int32_t bits = element_bits(format.element);
  const lpt_format element = target.format.element;
  const int64_t bytes = element == LPT_FORMAT_F32 ? 4 : element == LPT_FORMAT_E4M3FN ? 1 : 2;
  ConversionJob job = {};
  job.source = source.data;
  job.block_scales = request.has_scales && format.block_scale != LPT_FORMAT_NONE ? source.block_scales : nullptr;
  job.tensor_scale = request.has_scales && format.tensor_scale != LPT_FORMAT_NONE ? source.tensor_scale : nullptr;
  job.zero_points = format.has_zero_point() ? source.zero_points : nullptr;
  job.target = target.data;
  job.rows = source.rows;
  job.columns = source.columns;
  job.source_stride = source.row_stride * bits / 8;
  job.target_stride = target.row_stride;
  job.block_scale_stride = source.block_scale_stride;
  job.block_rows = format.block_rows == LPT_BLOCK_EXTENT_FULL ? source.rows : format.block_rows;
  job.block_columns = format.block_columns == LPT_BLOCK_EXTENT_FULL ? source.columns : format.block_columns;
  job.scale = format.block_scale;
  job.loads_whole = are_rows_aligned(source.data, job.source_stride, code_boundary(bits));
  job.stores_whole = are_rows_aligned(target.data, target.row_stride * bytes);
  return job;
}

struct ConversionGrid {
  dim3 grid, block;
};

ConversionGrid grid_of(const ConversionJob &job) {
  const FragmentGrid shape = fragment_grid(job.rows, job.columns, kBlockThreads);
  return {blocks_of_grid(shape), threads_of_grid(shape)};
}

template <lpt_format kSource>
void launch_integers(const ConversionJob &job, lpt_format target, void *stream) {
  const ConversionGrid at = grid_of(job);
  if (target == LPT_FORMAT_F32) {
    LPT_LAUNCH((conversion_numbers<kSource, Dtype::kF32>), at.grid, at.block, 0, stream, job);
  } else if (target == LPT_FORMAT_BF16) {
    LPT_LAUNCH((conversion_numbers<kSource, Dtype::kBf16>), at.grid, at.block, 0, stream, job);
  } else {
    LPT_LAUNCH((conversion_numbers<kSource, Dtype::kF16>), at.grid, at.block, 0, stream, job);
  }
}

}  // namespace

void gemm_conversion_cuda(const OperandConversionRequest &request, void *stream) {
  const ConversionJob job = conversion_job(request);
  const lpt_format source = request.source.format.element, target = request.target.format.element;
  if (job.rows == 0 || job.columns == 0) return;
  const ConversionGrid at = grid_of(job);
  if (source == LPT_FORMAT_E2M1FN) {
    LPT_LAUNCH(fold_fragments, at.grid, at.block, 0, stream, job, static_cast<float *>(request.target.block_scales));
  } else if (target == LPT_FORMAT_E4M3FN) {
    LPT_LAUNCH(conversion_bytes, at.grid, at.block, 0, stream, job);
  } else if (source == LPT_FORMAT_BF16) {
    LPT_LAUNCH((conversion_numbers<LPT_FORMAT_BF16, Dtype::kF32>), at.grid, at.block, 0, stream, job);
  } else if (source == LPT_FORMAT_F16) {
    LPT_LAUNCH((conversion_numbers<LPT_FORMAT_F16, Dtype::kF32>), at.grid, at.block, 0, stream, job);
  } else if (source == LPT_FORMAT_INT8) {
    launch_integers<LPT_FORMAT_INT8>(job, target, stream);
  } else if (source == LPT_FORMAT_INT4) {
    launch_integers<LPT_FORMAT_INT4>(job, target, stream);
  } else {
    launch_integers<LPT_FORMAT_UINT4>(job, target, stream);
  }
}

}  // namespace lpt
