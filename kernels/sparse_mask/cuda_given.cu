// Applies existing masks, or uses them for decay: one thread processes sixteen adjacent elements.
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/sparse_mask/cuda_kernels.hpp"

namespace lpt {
namespace {

struct GivenJob {
  const void *source;
  const uint8_t *mask;
  void *target;  // for decay: the gradient
  int64_t rows, columns;
  int64_t source_stride, mask_stride, target_stride;  // in elements
  float rate;
  bool is_wide;  // the target is f32 and the source is not
  bool loads_whole, loads_mask_whole, stores_whole;
};

template <Dtype kSource>
__device__ __forceinline__ FloatFragment wide_fragment(const CodeFragment<8 * kDtypeBytes<kSource>> &codes) {
  FloatFragment fragment;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] = plain_number<kSource>(code_at(codes, i));
  return fragment;
}

template <Dtype kSource>
__global__ void __launch_bounds__(kBlockThreads, 4) apply_fragments(GivenJob job) {
  constexpr int32_t kBytes = kDtypeBytes<kSource>;
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  const bool is_full = count == kFragment;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const CodeFragment<8 *kBytes> codes = load_codes<8 * kBytes>(
        job.source, (row * job.source_stride + column) * kBytes, count, is_full && job.loads_whole);
    const CodeFragment<8> mask =
        load_codes<8>(job.mask, row * job.mask_stride + column, count, is_full && job.loads_mask_whole);
    CodeFragment<8 *kBytes> kept = {};
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) put_code(kept, i, code_at(mask, i) != 0 ? code_at(codes, i) : 0);
    const int64_t index = row * job.target_stride + column;
    if (kSource != Dtype::kF32 && job.is_wide) {
      store_fragment<Dtype::kF32>(job.target, index, count, is_full && job.stores_whole, wide_fragment<kSource>(kept));
    } else {
      store_codes(job.target, index * kBytes, count, is_full && job.stores_whole, kept);
    }
  }
}

template <Dtype kWeight>
__global__ void __launch_bounds__(kBlockThreads) decay_fragments(GivenJob job) {
  constexpr int32_t kBytes = kDtypeBytes<kWeight>;
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  const bool is_full = count == kFragment;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const FloatFragment weight = wide_fragment<kWeight>(load_codes<8 * kBytes>(
        job.source, (row * job.source_stride + column) * kBytes, count, is_full && job.loads_whole));
    const CodeFragment<8> mask =
        load_codes<8>(job.mask, row * job.mask_stride + column, count, is_full && job.loads_mask_whole);
    const int64_t index = row * job.target_stride + column;
    FloatFragment gradient = load_fragment<Dtype::kF32>(job.target, index, count, is_full && job.stores_whole);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float change = job.rate * weight.number[i];
      if (code_at(mask, i) == 0) gradient.number[i] += change;
    }
    store_fragment<Dtype::kF32>(job.target, index, count, is_full && job.stores_whole, gradient);
  }
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
  job.loads_whole = are_rows_aligned(source.data, source.row_stride * number_bytes(source.format.element));
  job.loads_mask_whole = are_rows_aligned(mask.data, mask.row_stride);
  job.stores_whole = are_rows_aligned(target.data, target.row_stride * number_bytes(target.format.element));
  return job;
}

}  // namespace

void mask_apply_cuda(const MaskApplyRequest &request, void *stream) {
  const GivenJob job = given_job(request.source, request.mask, request.target);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid grid = fragment_grid(job.rows, job.columns, kBlockThreads);
  for_float_dtype(request.source.format.element, [&]<Dtype kSource>(DtypeTag<kSource>) {
    LPT_LAUNCH(apply_fragments<kSource>, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  });
}

void mask_decay_cuda(const MaskDecayRequest &request, void *stream) {
  GivenJob job = given_job(request.weight, request.mask, request.gradient);
  job.rate = request.rate;
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid grid = fragment_grid(job.rows, job.columns, kBlockThreads);
  for_float_dtype(request.weight.format.element, [&]<Dtype kWeight>(DtypeTag<kWeight>) {
    LPT_LAUNCH(decay_fragments<kWeight>, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  });
}

}  // namespace lpt
