// Dequantization, and the amax of a matrix: a thread processes 16 adjacent elements of a row.
#include "kernels/quantize/cuda/cuda_decode.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_scaler.hpp"
#include "kernels/quantize/kernels.hpp"

namespace lpt {
namespace {

// Returns whether all codes of an 8-bit float are finite: the addition sets bit 7 of codes above max_code.
template <Element kSource>
__device__ __forceinline__ bool are_finite(const CodeFragment<8> &codes) {
  constexpr uint32_t kRest = (0x7Fu - kSource.max_code) * 0x01010101u;
  uint32_t sums = 0;
  for (const uint32_t word : codes.word) sums |= (word & 0x7F7F7F7Fu) + kRest;
  return (sums & 0x80808080u) == 0;
}

template <Element kSource>
__device__ __forceinline__ FloatFragment decode_codes(const CodeFragment<kSource.bits> &codes, float scale) {
  FloatFragment fragment;
  if constexpr (kIsByteFloat<kSource>) {
    if (are_finite<kSource>(codes) && magnitude_of(scale) <= kLargestFloat) {
#pragma unroll
      for (int32_t i = 0; i < kFragment; i += 4) small_four<kSource>(codes.word[i / 4], fragment.number + i);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] *= scale;
      return fragment;
    }
  }
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    fragment.number[i] = unscaled(small_number<kSource>(code_at(codes, i)), scale);
  }
  return fragment;
}

// The rows of the grid process rows of the matrix in a grid-stride loop.
template <lpt_format kFormat, Dtype kTarget>
__global__ void __launch_bounds__(kBlockThreads) dequantize_fragments(DecodeJob job) {
  constexpr Element kSource = small_element(kFormat);
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const float scale = scale_at(job, row, column);
    const CodeFragment<kSource.bits> codes = load_codes<kSource.bits>(
        job.source, row * job.source_stride + column * kSource.bits / 8, count, count == kFragment && job.loads_whole);
    store_fragment<kTarget>(job.target, row * job.target_stride + column, count, count == kFragment && job.stores_whole,
                            decode_codes<kSource>(codes, scale));
  }
}

template <lpt_format kSource>
void launch_to(const DequantizeRequest &request, void *stream) {
  const DecodeJob job = decode_job(request);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid shape = fragment_grid(job.rows, job.columns, kBlockThreads);
  const dim3 grid = blocks_of_grid(shape), block = threads_of_grid(shape);
  switch (request.target.format.element) {
    case LPT_FORMAT_F32:
      LPT_LAUNCH((dequantize_fragments<kSource, Dtype::kF32>), grid, block, 0, stream, job);
      return;
    case LPT_FORMAT_BF16:
      LPT_LAUNCH((dequantize_fragments<kSource, Dtype::kBf16>), grid, block, 0, stream, job);
      return;
    default:
      LPT_LAUNCH((dequantize_fragments<kSource, Dtype::kF16>), grid, block, 0, stream, job);
  }
}

// Amax.

struct AmaxJob {
  const void *source;
  int64_t rows, columns, stride;
  float *amax;
  bool *has_nan;
  bool loads_whole;
  const float *unless;  // if not NULL: the source is read only if *unless is 0
};

__global__ void clear_facts(AmaxJob job) {
  *job.amax = 0.0f;
  *job.has_nan = false;
}

template <Dtype kSource>
__global__ void __launch_bounds__(kBlockThreads) raise_facts(AmaxJob job) {
  if (job.unless != nullptr && *job.unless != 0.0f) return;
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  FragmentStats facts;
  for (int64_t row = first_row_of_grid(); row < job.rows && count > 0; row += rows_of_grid()) {
    const FragmentStats own = stats_of(
        load_fragment<kSource>(job.source, row * job.stride + column, count, count == kFragment && job.loads_whole));
    facts.amax = larger(facts.amax, own.amax);
    facts.has_nan |= own.has_nan;
  }
  report_stats(job.amax, job.has_nan, facts);
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
                       are_rows_aligned(source.data, source.row_stride * bytes),
                       unless};
  LPT_LAUNCH(clear_facts, 1, 1, 0, stream, job);
  if (source.rows == 0 || source.columns == 0) return;
  const FragmentGrid shape = fragment_grid(source.rows, source.columns, kBlockThreads);
  const dim3 grid = blocks_of_grid(shape), block = threads_of_grid(shape);
  switch (source.format.element) {
    case LPT_FORMAT_F32:
      LPT_LAUNCH(raise_facts<Dtype::kF32>, grid, block, 0, stream, job);
      return;
    case LPT_FORMAT_BF16:
      LPT_LAUNCH(raise_facts<Dtype::kBf16>, grid, block, 0, stream, job);
      return;
    default:
      LPT_LAUNCH(raise_facts<Dtype::kF16>, grid, block, 0, stream, job);
  }
}

}  // namespace

void dequantize_fragments_cuda(const DequantizeRequest &request, void *stream) {
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

void conditional_amax_cuda(const ConditionalAmaxRequest &request, void *stream) {
  launch_amax(request.amax, request.unless, stream);
}

}  // namespace lpt
