// Codes back to numbers, and the amax of numbers: a thread takes sixteen of a row.
#include "kernels/quantize/cuda_blocks.hpp"
#include "kernels/quantize/cuda_rows.hpp"
#include "kernels/quantize/cuda_scaler.hpp"
#include "kernels/quantize/rows.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 256;

struct DecodeJob {
  const void *source, *block_scales;
  const float *tensor_scale;  // NULL: none
  void *target;
  int64_t rows, columns;
  int64_t source_stride;  // in bytes
  int64_t target_stride;  // in elements
  int64_t block_scale_stride;
  int64_t block_rows, block_columns;
  lpt_format scale;
  bool loads_whole, stores_whole;
};

__device__ __forceinline__ float scale_at(const DecodeJob &job, int64_t row, int64_t column) {
  const float tensor_scale = job.tensor_scale == nullptr ? 1.0f : *job.tensor_scale;
  if (job.scale == LPT_FORMAT_NONE) return tensor_scale;
  const int64_t index = row / job.block_rows * job.block_scale_stride + column / job.block_columns;
  const uint32_t code = job.scale == LPT_FORMAT_F32 ? float_bits(static_cast<const float *>(job.block_scales)[index])
                                                    : static_cast<const uint8_t *>(job.block_scales)[index];
  return block_scale_value(job.scale, code) * tensor_scale;
}

// Rows of the grid take rows of the matrix in turn.
template <lpt_format kFormat, Numeral kTarget>
__global__ void __launch_bounds__(kThreads) dequantize_strips(DecodeJob job) {
  constexpr Element kSource = small_element(kFormat);
  const int64_t column = first_column_of_grid();
  const int32_t count = strip_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const float scale = scale_at(job, row, column);
    const CodeStrip<kSource.bits> codes = load_codes<kSource.bits>(
        job.source, row * job.source_stride + column * kSource.bits / 8, count, count == kStrip && job.loads_whole);
    NumberStrip strip;
#pragma unroll
    for (int32_t i = 0; i < kStrip; ++i) strip.number[i] = unscaled(small_number<kSource>(code_at(codes, i)), scale);
    store_strip<kTarget>(job.target, row * job.target_stride + column, count, count == kStrip && job.stores_whole,
                         strip);
  }
}

DecodeJob decode_job(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Format &format = source.format;
  const int32_t bits = small_element(format.element).bits;
  DecodeJob job = {};
  job.source = source.data;
  job.block_scales = source.block_scales;
  job.tensor_scale = format.tensor_scale == LPT_FORMAT_NONE ? nullptr : source.tensor_scale;
  job.target = target.data;
  job.rows = source.rows;
  job.columns = source.columns;
  job.source_stride = source.row_stride * bits / 8;
  job.target_stride = target.row_stride;
  job.block_scale_stride = source.block_scale_stride;
  job.block_rows = format.block_rows == LPT_WHOLE ? source.rows : format.block_rows;
  job.block_columns = format.block_columns == LPT_WHOLE ? source.columns : format.block_columns;
  job.scale = format.block_scale;
  job.loads_whole = is_on(source.data, job.source_stride, code_boundary(bits));
  job.stores_whole = is_on(target.data, target.row_stride * number_bytes(target.format.element), 16);
  return job;
}

template <lpt_format kSource>
void launch_to(const DequantizeRequest &request, void *stream) {
  const DecodeJob job = decode_job(request);
  if (job.rows == 0 || job.columns == 0) return;
  const StripGrid shape = strip_grid(job.rows, job.columns, kThreads);
  const dim3 grid = blocks_of_grid(shape), block = threads_of_grid(shape);
  switch (request.target.format.element) {
    case LPT_FORMAT_F32:
      LPT_LAUNCH((dequantize_strips<kSource, Numeral::kF32>), grid, block, 0, stream, job);
      return;
    case LPT_FORMAT_BF16:
      LPT_LAUNCH((dequantize_strips<kSource, Numeral::kBf16>), grid, block, 0, stream, job);
      return;
    default:
      LPT_LAUNCH((dequantize_strips<kSource, Numeral::kF16>), grid, block, 0, stream, job);
  }
}

// ---- amax

struct AmaxJob {
  const void *source;
  int64_t rows, columns, stride;
  float *amax;
  bool *has_nan;
  bool loads_whole;
  const float *unless;  // NULL, or: nothing is sought where it is not 0
};

__global__ void clear_facts(AmaxJob job) {
  *job.amax = 0.0f;
  *job.has_nan = false;
}

template <Numeral kSource>
__global__ void __launch_bounds__(kThreads) raise_facts(AmaxJob job) {
  if (job.unless != nullptr && *job.unless != 0.0f) return;
  const int64_t column = first_column_of_grid();
  const int32_t count = strip_count(job.columns, column);
  StripFacts facts;
  for (int64_t row = first_row_of_grid(); row < job.rows && count > 0; row += rows_of_grid()) {
    const StripFacts own =
        facts_of(load_strip<kSource>(job.source, row * job.stride + column, count, count == kStrip && job.loads_whole));
    facts.amax = larger(facts.amax, own.amax);
    facts.has_nan |= own.has_nan;
  }
  tell_facts(job.amax, job.has_nan, facts);
}

void launch_amax(const AmaxRequest &request, const float *unless, void *stream) {
  const MatrixView source = with_adjacent_columns(request.source);
  const int64_t bytes = number_bytes(source.format.element);
  const AmaxJob job = {source.data,
                       source.rows,
                       source.columns,
                       source.row_stride,
                       request.amax,
                       request.has_nan,
                       is_on(source.data, source.row_stride * bytes, 16),
                       unless};
  LPT_LAUNCH(clear_facts, 1, 1, 0, stream, job);
  if (source.rows == 0 || source.columns == 0) return;
  const StripGrid shape = strip_grid(source.rows, source.columns, kThreads);
  const dim3 grid = blocks_of_grid(shape), block = threads_of_grid(shape);
  switch (source.format.element) {
    case LPT_FORMAT_F32:
      LPT_LAUNCH(raise_facts<Numeral::kF32>, grid, block, 0, stream, job);
      return;
    case LPT_FORMAT_BF16:
      LPT_LAUNCH(raise_facts<Numeral::kBf16>, grid, block, 0, stream, job);
      return;
    default:
      LPT_LAUNCH(raise_facts<Numeral::kF16>, grid, block, 0, stream, job);
  }
}

}  // namespace

void dequantize_strips_cuda(const DequantizeRequest &request, void *stream) {
  switch (request.source.format.element) {
    case LPT_FORMAT_E4M3FN:
      return launch_to<LPT_FORMAT_E4M3FN>(request, stream);
    case LPT_FORMAT_E5M2:
      return launch_to<LPT_FORMAT_E5M2>(request, stream);
    case LPT_FORMAT_E3M2FN:
      return launch_to<LPT_FORMAT_E3M2FN>(request, stream);
    case LPT_FORMAT_E2M3FN:
      return launch_to<LPT_FORMAT_E2M3FN>(request, stream);
    case LPT_FORMAT_INT8:
      return launch_to<LPT_FORMAT_INT8>(request, stream);
    case LPT_FORMAT_INT4:
      return launch_to<LPT_FORMAT_INT4>(request, stream);
    default:
      return launch_to<LPT_FORMAT_E2M1FN>(request, stream);
  }
}

void amax_cuda(const AmaxRequest &request, void *stream) { launch_amax(request, nullptr, stream); }

void look_cuda(const LookRequest &request, void *stream) { launch_amax(request.amax, request.unless, stream); }

}  // namespace lpt
