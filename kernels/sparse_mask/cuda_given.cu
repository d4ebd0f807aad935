// Masks that are there already, applied and as decay: a thread takes sixteen adjacent numbers.
#include "kernels/common/cuda_strip.hpp"
#include "kernels/sparse_mask/cuda_rows.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 256;

struct GivenJob {
  const void *source;
  const uint8_t *mask;
  void *target;  // of decay: the gradient
  int64_t rows, columns;
  int64_t source_stride, mask_stride, target_stride;  // in elements
  float rate;
  bool is_wide;  // the target holds f32, the source does not
  bool loads_whole, loads_mask_whole, stores_whole;
};

template <Numeral kSource>
__device__ __forceinline__ NumberStrip wide_strip(const CodeStrip<8 * kNumeralBytes<kSource>> &codes) {
  NumberStrip strip;
#pragma unroll
  for (int32_t i = 0; i < kStrip; ++i) strip.number[i] = plain_number<kSource>(code_at(codes, i));
  return strip;
}

template <Numeral kSource>
__global__ void __launch_bounds__(kThreads, 4) apply_strips(GivenJob job) {
  constexpr int32_t kBytes = kNumeralBytes<kSource>;
  const int64_t column = first_column_of_grid();
  const int32_t count = strip_count(job.columns, column);
  if (count == 0) return;
  const bool is_full = count == kStrip;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const CodeStrip<8 *kBytes> codes = load_codes<8 * kBytes>(job.source, (row * job.source_stride + column) * kBytes,
                                                              count, is_full && job.loads_whole);
    const CodeStrip<8> mask =
        load_codes<8>(job.mask, row * job.mask_stride + column, count, is_full && job.loads_mask_whole);
    CodeStrip<8 *kBytes> kept = {};
#pragma unroll
    for (int32_t i = 0; i < kStrip; ++i) put_code(kept, i, code_at(mask, i) != 0 ? code_at(codes, i) : 0);
    const int64_t index = row * job.target_stride + column;
    if (kSource != Numeral::kF32 && job.is_wide) {
      store_strip<Numeral::kF32>(job.target, index, count, is_full && job.stores_whole, wide_strip<kSource>(kept));
    } else {
      store_codes(job.target, index * kBytes, count, is_full && job.stores_whole, kept);
    }
  }
}

template <Numeral kWeight>
__global__ void __launch_bounds__(kThreads) decay_strips(GivenJob job) {
  constexpr int32_t kBytes = kNumeralBytes<kWeight>;
  const int64_t column = first_column_of_grid();
  const int32_t count = strip_count(job.columns, column);
  if (count == 0) return;
  const bool is_full = count == kStrip;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const NumberStrip weight = wide_strip<kWeight>(load_codes<8 * kBytes>(
        job.source, (row * job.source_stride + column) * kBytes, count, is_full && job.loads_whole));
    const CodeStrip<8> mask =
        load_codes<8>(job.mask, row * job.mask_stride + column, count, is_full && job.loads_mask_whole);
    const int64_t index = row * job.target_stride + column;
    NumberStrip gradient = load_strip<Numeral::kF32>(job.target, index, count, is_full && job.stores_whole);
#pragma unroll
    for (int32_t i = 0; i < kStrip; ++i) {
      const float change = job.rate * weight.number[i];
      if (code_at(mask, i) == 0) gradient.number[i] += change;
    }
    store_strip<Numeral::kF32>(job.target, index, count, is_full && job.stores_whole, gradient);
  }
}

int64_t bytes_of(lpt_format element) { return element == LPT_FORMAT_F32 ? 4 : element == LPT_FORMAT_UINT8 ? 1 : 2; }

bool is_on_boundaries(const MatrixView &view) {
  const int64_t bytes = bytes_of(view.format.element);
  return reinterpret_cast<uintptr_t>(view.data) % 16 == 0 && view.row_stride * bytes % 16 == 0;
}

GivenJob given_job(const MatrixView &source, const MatrixView &mask, const MatrixView &target) {
  GivenJob job = {};
  job.source = source.data;
  job.mask = static_cast<const uint8_t *>(mask.data);
  job.target = target.data;
  job.rows = source.rows;
  job.columns = source.columns;
  job.source_stride = source.row_stride;
  job.mask_stride = mask.row_stride;
  job.target_stride = target.row_stride;
  job.is_wide = target.format.element != source.format.element;
  job.loads_whole = is_on_boundaries(source);
  job.loads_mask_whole = is_on_boundaries(mask);
  job.stores_whole = is_on_boundaries(target);
  return job;
}

}  // namespace

void mask_apply_cuda(const MaskApplyRequest &request, void *stream) {
  const GivenJob job = given_job(request.source, request.mask, request.target);
  if (job.rows == 0 || job.columns == 0) return;
  const StripGrid grid = strip_grid(job.rows, job.columns, kThreads);
  for_numeral(request.source.format.element, [&]<Numeral kSource>(NumeralTag<kSource>) {
    LPT_LAUNCH(apply_strips<kSource>, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  });
}

void mask_decay_cuda(const MaskDecayRequest &request, void *stream) {
  GivenJob job = given_job(request.weight, request.mask, request.gradient);
  job.rate = request.rate;
  if (job.rows == 0 || job.columns == 0) return;
  const StripGrid grid = strip_grid(job.rows, job.columns, kThreads);
  for_numeral(request.weight.format.element, [&]<Numeral kWeight>(NumeralTag<kWeight>) {
    LPT_LAUNCH(decay_strips<kWeight>, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  });
}

}  // namespace lpt
