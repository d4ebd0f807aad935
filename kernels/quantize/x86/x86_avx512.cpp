// Casts with AVX-512.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx512_amax.hpp"
#include "kernels/quantize/x86/avx512_blocks.hpp"
#include "kernels/quantize/x86/avx512_decode.hpp"
#include "kernels/quantize/x86/avx512_rows.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
void amax_x86_avx512(const AmaxRequest &request) {
  const Magnitudes found = magnitudes_of(request.source);
  *request.amax = found.amax;
  *request.has_nan = found.has_nan;
}

// Casts with one inverse or none.
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

void dequantize_x86_avx512(const DequantizeRequest &request) { decode_matrix(request); }

}  // namespace lpt
