// Largest magnitude of a matrix, and the amax and NaN flag of a cast, with AVX-512. Included by ISA files: all names have
// internal linkage.
#pragma once

#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx512_blocks.hpp"

namespace lpt {
namespace {

// Rows and columns; a matrix without gaps counts as one row.
struct Extent {
  int64_t rows, columns;
};

inline Extent folded(const MatrixView &source, const MatrixView &target, bool may_fold) {
  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns;
  if (may_fold && is_dense) return {1, source.rows * source.columns};
  return {source.rows, source.columns};
}

// Amax and NaN flag of a matrix with adjacent columns.
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

inline Magnitudes magnitudes_of(const MatrixView &view) {
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

inline void raise_amax(const QuantizeRequest &request, float amax) {
  if (request.amax != nullptr && amax > *request.amax) *request.amax = amax;
}

inline void raise_amax(const QuantizeRequest &request, __m512i bits) {
  raise_amax(request, bits_float(_mm512_reduce_max_epu32(bits)));
}

// Reports the result of one pass without block scales. If an infinity or NaN hides the amax, it is recomputed.
inline void finish(const QuantizeRequest &request, __m512 magnitudes, bool has_nan) {
  if (has_nan && request.has_nan != nullptr) *request.has_nan = true;
  if (request.amax == nullptr) return;
  const float amax = _mm512_reduce_max_ps(magnitudes);
  raise_amax(request, has_nan || !(amax <= kLargestFloat) ? magnitudes_of(request.source).amax : amax);
}

inline void finish(const QuantizeRequest &request, const BlockCast &cast) {
  if (cast.rows.has_nan && request.has_nan != nullptr) *request.has_nan = true;
  raise_amax(request, cast.amax);
}

}  // namespace
}  // namespace lpt
