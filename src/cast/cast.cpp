// Casts of whole matrices: what callers request, as outputs of one casting.
#include "src/cast/cast.hpp"

#include <algorithm>

#include "src/formats/element.hpp"
#include "src/cast/casting.hpp"

namespace lpt {
namespace {

// Divides the columns by powers of two, into f32 scratch: exact, save at the ends of f32's range.
Status inverse_factors(Context &context, const uint8_t *factors, int64_t columns, const float **out_inverse) {
  std::byte *memory = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(columns) * sizeof(float), &memory));
  float *inverse = reinterpret_cast<float *>(memory);
  for (int64_t c = 0; c < columns && factors != nullptr; ++c) inverse[c] = 1.0f / decode(kElementE8m0fnu, factors[c]);
  *out_inverse = inverse;
  return {};
}

// A cast with smoothing: the smoothed source, cast as if there were no column scales; the factors become these scales.
Status cast_smoothed(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                     bool is_check_only) {
  MatrixView inner;
  LPT_TRY(without_block_scales(target, inner));
  Cast plain = cast;
  plain.smoothing = nullptr;
  LPT_TRY(
      inverse_factors(context, is_check_only ? nullptr : cast.smoothing, source.columns, &plain.preparation.factors));
  LPT_TRY(cast_matrix(context, source, inner, plain, is_check_only));
  auto *scales = static_cast<uint8_t *>(target.block_scales);
  for (int64_t c = 0; c < target.columns && !is_check_only; ++c) scales[c] = cast.smoothing[c];
  return {};
}

}  // namespace

Status without_block_scales(const MatrixView &target, MatrixView &out_inner) {
  out_inner = target;
  out_inner.block_scales = nullptr;
  out_inner.format.block_scale = LPT_FORMAT_NONE;
  out_inner.format.block_rows = out_inner.format.block_columns = 0;
  out_inner.format.id = LPT_FORMAT_NONE;
  return make_format(out_inner.format, out_inner.format.id);
}

void add_sums(const CastStatistics &from, CastStatistics &to) {
  to.elements += from.elements;
  to.nans += from.nans;
  to.clipped += from.clipped;
  to.underflows += from.underflows;
  to.amax = std::max(to.amax, from.amax);
  to.squares += from.squares;
  to.squared_errors += from.squared_errors;
}

Status cast_matrix(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                   bool is_check_only) {
  if (cast.smoothing != nullptr) return cast_smoothed(context, source, target, cast, is_check_only);
  CastPipeline casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add(target, cast.is_transposed));
  return casting.run();
}

Status cast_both(Context &context, const MatrixView &source, const MatrixView &target, const MatrixView &transposed,
                 const Cast &cast, bool is_check_only) {
  CastPipeline casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add(target, false));
  LPT_TRY(casting.add(transposed, true));
  return casting.run();
}

Status cast_and_back(Context &context, const MatrixView &source, const Format &format, const MatrixView &target,
                     const Cast &cast, bool is_check_only) {
  CastPipeline casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add_and_back(format, &target, false));
  return casting.run();
}

}  // namespace lpt
