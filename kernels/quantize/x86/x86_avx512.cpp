// Casts with AVX-512.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx512_blocks.hpp"
#include "kernels/quantize/x86/avx512_decode.hpp"
#include "kernels/quantize/x86/avx512_halves.hpp"
#include "kernels/quantize/x86/avx512_rows.hpp"
#include "kernels/quantize/x86/avx512_sums.hpp"
#include "kernels/quantize/x86/avx512_transpose.hpp"
#include "kernels/quantize/x86/avx512_transpose_codes.hpp"
#include "kernels/quantize/x86/avx512_zero_points.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

// Rows and columns, with a matrix that has no gaps taken as one row.
struct Extent {
  int64_t rows, columns;
};

Extent folded(const MatrixView &source, const MatrixView &target, bool may_fold) {
  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns;
  if (may_fold && is_dense) return {1, source.rows * source.columns};
  return {source.rows, source.columns};
}

// The whole of a matrix with adjacent columns.
struct Magnitudes {
  float amax;
  bool has_nan;
};

template <Source kSource>
Magnitudes magnitudes_of(const MatrixView &source) {
  const Extent extent = folded(source, source, true);
  const RowSlab slab = {static_cast<const char *>(source.data),
                        source.row_stride * bytes_of(kSource),
                        prefetcher_over(source.data, extent.rows == 1 ? extent.columns * bytes_of(kSource) : 0),
                        extent.rows,
                        extent.columns,
                        extent.columns,
                        nullptr};
  uint32_t largest = block_magnitude<kSource>(slab, 0, false);
  const bool has_nan = largest > kFloatInfinityBits;
  if (largest >= kFloatInfinityBits) largest = block_magnitude<kSource>(slab, 0, true);
  return {bits_float(largest), has_nan};
}

Magnitudes magnitudes_of(const MatrixView &view) {
  const MatrixView source = with_adjacent_columns(view);
  switch (source_of(source.format.element)) {
    case Source::kF32:
      return magnitudes_of<Source::kF32>(source);
    case Source::kBf16:
      return magnitudes_of<Source::kBf16>(source);
    default:
      return magnitudes_of<Source::kF16>(source);
  }
}

}  // namespace

void amax_x86_avx512(const AmaxRequest &request) {
  const Magnitudes found = magnitudes_of(request.source);
  *request.amax = found.amax;
  *request.has_nan = found.has_nan;
}

namespace {

void raise_amax(const QuantizeRequest &request, float amax) {
  if (request.amax != nullptr && amax > *request.amax) *request.amax = amax;
}

void raise_amax(const QuantizeRequest &request, __m512i bits) {
  raise_amax(request, bits_float(_mm512_reduce_max_epu32(bits)));
}

// What one pass without block scales has found. Infinities and NaN hide the amax: then it is looked for again.
void finish(const QuantizeRequest &request, __m512 magnitudes, bool has_nan) {
  if (has_nan && request.has_nan != nullptr) *request.has_nan = true;
  if (request.amax == nullptr) return;
  const float amax = _mm512_reduce_max_ps(magnitudes);
  raise_amax(request, has_nan || !(amax <= kLargestFloat) ? magnitudes_of(request.source).amax : amax);
}

void finish(const QuantizeRequest &request, const BlockCast &cast) {
  if (cast.rows.has_nan && request.has_nan != nullptr) *request.has_nan = true;
  raise_amax(request, cast.amax);
}

}  // namespace

// One inverse for all, or none.
void quantize_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Element element = element_of(target.format.element);
  const bool is_random = request.rounding == LPT_ROUNDING_STOCHASTIC;
  const bool is_index_dense = request.random.row_stride == source.columns;
  const Extent extent = folded(source, target, !is_random || is_index_dense);
  const Source from = source_of(source.format.element);
  RowCast cast = row_cast(request, element);
  cast.is_streamed = request.is_streamed;
  const Inverses inverses = request.amax != nullptr ? Inverses::kOneAndAmax : Inverses::kOne;
  const float inverse = __builtin_fabsf(request.tensor_inverse);
  rows_of(from, kind_of(request, element), inverses)(
      cast,
      {static_cast<const char *>(source.data), source.row_stride * bytes_of(from),
       prefetcher_of(request, extent.columns * bytes_of(from)), static_cast<uint8_t *>(target.data),
       target.row_stride * element.bits / 8, extent.rows, extent.columns, static_cast<uint64_t>(request.random.offset),
       static_cast<uint64_t>(request.random.row_stride), &inverse, nullptr});
  if (cast.is_streamed) _mm_sfence();
  finish(request, cast.amax, cast.has_nan);
}

void magnitude_sum_x86_avx512(const MagnitudeSumRequest &request) {
  switch (source_of(request.source.format.element)) {
    case Source::kF32:
      return sum_rows<Source::kF32>(request);
    case Source::kBf16:
      return sum_rows<Source::kBf16>(request);
    default:
      return sum_rows<Source::kF16>(request);
  }
}

void quantize_blocks_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const Element element = element_of(target.format.element);
  const Source from = source_of(request.source.format.element);
  BlockCast cast = block_cast(request, element);
  cast.rows.is_streamed = request.is_streamed;
  const BlockGrid grid = block_grid(target.format, target.rows, target.columns);
  cast.rows.block_shift = block_shift_of(grid);
  const CastRows cast_rows = rows_of(from, kind_of(request, element), Inverses::kBlocks);
  switch (from) {
    case Source::kF32:
      cast_slabs<Source::kF32>(request, cast, cast_rows);
      break;
    case Source::kBf16:
      cast_slabs<Source::kBf16>(request, cast, cast_rows);
      break;
    default:
      cast_slabs<Source::kF16>(request, cast, cast_rows);
      break;
  }
  if (cast.rows.is_streamed) _mm_sfence();
  finish(request, cast);
}

// The source's columns are lines of memory; with block scales or without.
void quantize_transposed_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &target = request.target;
  const Element element = element_of(target.format.element);
  const bool has_blocks = target.format.block_scale != LPT_FORMAT_NONE;
  const Source from = source_of(request.source.format.element);
  BlockCast cast = {};
  if (has_blocks) {
    cast = block_cast(request, element);
  } else {
    cast.rows = row_cast(request, element);
  }
  const Inverses inverses = has_blocks                ? Inverses::kColumns
                            : request.amax != nullptr ? Inverses::kOneAndAmax
                                                      : Inverses::kOne;
  NearLines near;
  const bool is_near =
      has_blocks && cast.needs_amax && target.format.block_columns > 0 && target.format.block_columns <= kNearLines;
  const CastRows cast_rows = rows_of(is_near ? Source::kF32 : from, kind_of(request, element), inverses);
  const LineCast line_cast = {cast_rows, request.is_streamed, is_near ? &near : nullptr};
  switch (from) {
    case Source::kF32:
      cast_transposed<Source::kF32>(request, cast, line_cast);
      break;
    case Source::kBf16:
      cast_transposed<Source::kBf16>(request, cast, line_cast);
      break;
    default:
      cast_transposed<Source::kF16>(request, cast, line_cast);
      break;
  }
  if (request.is_streamed) _mm_sfence();
  if (has_blocks) {
    finish(request, cast);
  } else {
    finish(request, cast.rows.amax, cast.rows.has_nan);
  }
}

// f16 and bf16, with one inverse or none.
void quantize_halves_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const WordRounding rounding = word_rounding(request);
  const Extent extent = folded(source, target, !is_drawn(rounding) || request.random.row_stride == source.columns);
  const Source from = source_of(source.format.element);
  const HalfSpan span = target.format.element == LPT_FORMAT_F16 ? half_span_of<true>(from, rounding)
                                                                : half_span_of<false>(from, rounding);
  HalfCast cast = half_cast(request);
  for (int64_t row = 0; row < extent.rows; ++row) {
    span(cast, static_cast<const char *>(source.data) + row * source.row_stride * bytes_of(from),
         static_cast<uint16_t *>(target.data) + row * target.row_stride, extent.columns,
         random_index(request.random, row, 0));
  }
  if (cast.is_streamed) _mm_sfence();
  finish(request, cast.amax, cast.has_nan);
}

void quantize_zero_points_x86_avx512(const QuantizeRequest &request) {
  switch (source_of(request.source.format.element)) {
    case Source::kF32:
      cast_zeros<Source::kF32>(request);
      break;
    case Source::kBf16:
      cast_zeros<Source::kBf16>(request);
      break;
    default:
      cast_zeros<Source::kF16>(request);
      break;
  }
}

void dequantize_x86_avx512(const DequantizeRequest &request) { decode_matrix(request); }

void transpose_x86_avx512(const TransposeRequest &request) {
  transpose_matrix<TransposeAvx512>(request);
  if (request.is_streamed) _mm_sfence();
}

}  // namespace lpt
