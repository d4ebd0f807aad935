// Transposed outputs: casts of a source whose rows are adjacent, and transposition of codes without conversion.
#include "kernels/quantize/cuda/cuda_blocks.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_transpose_codes.hpp"

namespace lpt {
namespace {

// The second output of a cast: codes in the order of the source.
struct UntransposedJob {
  void *target;  // NULL: none
  int64_t stride;
  const float *tensor_scale;
  bool stores_whole;
};

UntransposedJob untransposed_job(const MatrixView &target) {
  const bool has_scale = target.format.tensor_scale != LPT_FORMAT_NONE;
  return {target.data, target.row_stride, has_scale ? target.tensor_scale : nullptr,
          are_rows_aligned(target.data, target.row_stride)};
}

__device__ __forceinline__ float inverse_of(const float *tensor_scale) {
  return 1.0f / (tensor_scale == nullptr ? 1.0f : *tensor_scale);
}

// The rows and columns of a tile are those of the target. A line of the source is a column of the target.
template <lpt_format kFormat, Dtype kSource, bool kIsDrawn>
__global__ void __launch_bounds__(kTransposeThreads) quantize_transposed(CastJob job, UntransposedJob beside) {
  constexpr Element kTarget = small_element(kFormat);
  const int64_t first_row = (job.first_line + blockIdx.y) * kTransposeTile;
  const int64_t first_column = int64_t{blockIdx.x} * kTransposeTile;
  const int64_t column = first_column + transpose_line();
  const int64_t row = first_row + transpose_place();
  const int32_t count = column < job.columns ? count_below(row, job.rows) : 0;
  FloatFragment fragment = {};
  if (count > 0) {
    fragment = load_fragment<kSource>(job.source, column * job.source_column_stride + row, count,
                                      count == kFragment && job.loads_whole);
  }
  FragmentStats facts;
  if (job.amax != nullptr || job.has_nan != nullptr) facts = stats_of(fragment);
  const uint64_t random = random_index(job, row, column);
  if (beside.target != nullptr && count > 0) {
    store_codes(beside.target, column * beside.stride + row, count, count == kFragment && beside.stores_whole,
                cast_fragment<kTarget, kIsDrawn>(job, fragment, inverse_of(beside.tensor_scale), random, count));
  }
  const CodeFragment<8> transposed_copy =
      transpose_tile(cast_fragment<kTarget, kIsDrawn>(job, fragment, inverse_of(job.tensor_scale), random, count));
  const int64_t target_row = first_row + transpose_line();
  const int64_t target_column = first_column + transpose_place();
  const int32_t written = target_row < job.rows ? count_below(target_column, job.columns) : 0;
  store_codes(job.target, target_row * job.target_stride + target_column, written,
              written == kFragment && job.stores_whole, transposed_copy);
  report_stats(job.amax, job.has_nan, facts);
}

template <lpt_format kTarget>
void launch(const QuantizeRequest &request, void *stream) {
  const MatrixView &source = request.source;
  const auto tiles = static_cast<uint32_t>((source.columns + kTransposeTile - 1) / kTransposeTile);
  if (tiles == 0) return;
  CastJob whole = cast_job(request);
  whole.loads_whole = are_rows_aligned(source.data, source.column_stride * number_bytes(source.format.element));
  for_cast(request, [&]<Dtype kSource, bool kIsDrawn>(CastTag<kSource, kIsDrawn>) {
    const int64_t tile_rows = (source.rows + kTransposeTile - 1) / kTransposeTile;
    for_lines(whole, tile_rows, kMostGridLines, [&](const CastJob &job, uint32_t rows) {
      LPT_LAUNCH((quantize_transposed<kTarget, kSource, kIsDrawn>), dim3(tiles, rows), kTransposeThreads, 0, stream,
                 job, untransposed_job(request.untransposed));
    });
  });
}

// Transposition of codes.

struct TransposeJob {
  const void *source, *source_scales;
  void *target, *target_scales;
  int64_t rows, columns;                 // of the source
  int64_t source_stride, target_stride;  // in codes
  int64_t source_scale_stride, target_scale_stride;
  int64_t scale_rows, scale_columns;
  bool loads_whole, stores_whole;
};

template <int32_t kBits>
__global__ void __launch_bounds__(kTransposeThreads) transpose_codes(TransposeJob job) {
  const int64_t first_row = int64_t{blockIdx.x} * kTransposeTile;
  const int64_t first_column = int64_t{blockIdx.y} * kTransposeTile;
  const int64_t row = first_row + transpose_line();
  const int64_t column = first_column + transpose_place();
  const int32_t count = row < job.rows ? count_below(column, job.columns) : 0;
  const CodeFragment<kBits> transposed_copy = transpose_tile(load_codes<kBits>(
      job.source, (row * job.source_stride + column) * kBits / 8, count, count == kFragment && job.loads_whole));
  const int64_t target_row = first_column + transpose_line();
  const int64_t target_column = first_row + transpose_place();
  const int32_t written = target_row < job.columns ? count_below(target_column, job.rows) : 0;
  store_codes(job.target, (target_row * job.target_stride + target_column) * kBits / 8, written,
              written == kFragment && job.stores_whole, transposed_copy);
}

// Transposes the scales of square blocks, one per thread.
__global__ void __launch_bounds__(kTransposeThreads) transpose_scales_of_blocks(TransposeJob job) {
  const int64_t index = int64_t{blockIdx.x} * kTransposeThreads + threadIdx.x;
  if (index >= job.scale_rows * job.scale_columns) return;
  const int64_t row = index / job.scale_columns;
  const int64_t column = index % job.scale_columns;
  static_cast<float *>(job.target_scales)[column * job.target_scale_stride + row] =
      static_cast<const float *>(job.source_scales)[row * job.source_scale_stride + column];
}

int32_t bits_of(lpt_format element) {
  if (element == LPT_FORMAT_F32) return 32;
  return element == LPT_FORMAT_BF16 || element == LPT_FORMAT_F16 ? 16 : 8;
}

// Calls launch(job, grid) for at most 4,194,240 columns at a time: gridDim.y is at most 65535, and a tile has 64 columns.
template <typename Launch>
void for_columns_of_grid(const TransposeJob &whole, int64_t bytes, const Launch &launch) {
  constexpr int64_t kMost = kMostGridLines * kTransposeTile;
  const auto tiles_down = static_cast<uint32_t>((whole.rows + kTransposeTile - 1) / kTransposeTile);
  for (int64_t first = 0; first < whole.columns; first += kMost) {
    TransposeJob job = whole;
    job.source = static_cast<const uint8_t *>(whole.source) + first * bytes;
    job.target = static_cast<uint8_t *>(whole.target) + first * whole.target_stride * bytes;
    job.columns = whole.columns - first < kMost ? whole.columns - first : kMost;
    launch(job, dim3(tiles_down, static_cast<uint32_t>((job.columns + kTransposeTile - 1) / kTransposeTile)));
  }
}

}  // namespace

void quantize_transposed_cuda(const QuantizeRequest &request, void *stream) {
  switch (request.target.format.element) {
    case LPT_FORMAT_E4M3FN:
      return launch<LPT_FORMAT_E4M3FN>(request, stream);
    case LPT_FORMAT_E5M2:
      return launch<LPT_FORMAT_E5M2>(request, stream);
    default:
      return launch<LPT_FORMAT_INT8>(request, stream);
  }
}

void transpose_cuda(const TransposeRequest &request, void *stream) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const int32_t bits = bits_of(source.format.element);
  TransposeJob job = {};
  job.source = source.data;
  job.target = target.data;
  job.rows = source.rows;
  job.columns = source.columns;
  job.source_stride = source.row_stride;
  job.target_stride = target.row_stride;
  job.loads_whole = are_rows_aligned(source.data, source.row_stride * bits / 8);
  job.stores_whole = are_rows_aligned(target.data, target.row_stride * bits / 8);
  if (source.rows == 0 || source.columns == 0) return;
  for_columns_of_grid(job, bits / 8, [&](const TransposeJob &part, const dim3 &grid) {
    if (bits == 32) {
      LPT_LAUNCH(transpose_codes<32>, grid, kTransposeThreads, 0, stream, part);
    } else if (bits == 16) {
      LPT_LAUNCH(transpose_codes<16>, grid, kTransposeThreads, 0, stream, part);
    } else {
      LPT_LAUNCH(transpose_codes<8>, grid, kTransposeThreads, 0, stream, part);
    }
  });
  if (source.format.block_scale == LPT_FORMAT_NONE) return;
  const int64_t block = source.format.block_columns;
  job.source_scales = source.block_scales;
  job.target_scales = target.block_scales;
  job.source_scale_stride = source.block_scale_stride;
  job.target_scale_stride = target.block_scale_stride;
  job.scale_rows = (source.rows + block - 1) / block;
  job.scale_columns = (source.columns + block - 1) / block;
  const int64_t scales = job.scale_rows * job.scale_columns;
  LPT_LAUNCH(transpose_scales_of_blocks, static_cast<uint32_t>((scales + kTransposeThreads - 1) / kTransposeThreads),
             kTransposeThreads, 0, stream, job);
}

}  // namespace lpt
