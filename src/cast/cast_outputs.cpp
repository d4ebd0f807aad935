// Dispatch of casts to the device of the context. The CPU runs a pipeline over tiles; other devices run one kernel per step.
#include "src/cast/casting.hpp"
#include "src/cast/device_cast.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

// Stores 1 / factor of each column as f32 in scratch. The inverses of powers of two are exact, except at the limits of the
// range of f32.
Status inverse_factors(Context &context, const uint8_t *factors, int64_t columns, const float **out_inverse) {
  std::byte *memory = nullptr;
  LPT_TRY(context.host_scratch->take(static_cast<size_t>(columns) * sizeof(float), &memory));
  float *inverse = reinterpret_cast<float *>(memory);
  for (int64_t c = 0; c < columns && factors != nullptr; ++c) inverse[c] = 1.0f / decode(kElementE8m0fnu, factors[c]);
  *out_inverse = inverse;
  return {};
}

// Casts with e8m0fnu smoothing: divides the source by the factors and casts it without column scales. The factors become the
// column scales.
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

Status cast_matrix(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                   bool is_check_only) {
  if (!is_on_cpu(context)) return cast_on_device(context, source, target, cast, is_check_only);
  if (cast.smoothing != nullptr) return cast_smoothed(context, source, target, cast, is_check_only);
  CastPipeline casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add(target, cast.is_transposed));
  return casting.run();
}

Status cast_outputs(Context &context, const MatrixView &source, const MatrixView (&outputs)[2], const Cast &cast,
                    bool is_check_only) {
  if (!is_on_cpu(context)) return cast_outputs_on_device(context, source, outputs, cast, is_check_only);
  if (cast.smoothing != nullptr) return cast_smoothed(context, source, outputs[0], cast, is_check_only);
  CastPipeline casting(context, source, cast, is_check_only);
  for (const int i : {0, 1}) {
    if (outputs[i].format.id != LPT_FORMAT_NONE) LPT_TRY(casting.add(outputs[i], i == 1));
  }
  return casting.run();
}

Status cast_and_back(Context &context, const MatrixView &source, const Format &format, const MatrixView &target,
                     const Cast &cast, bool is_check_only) {
  if (!is_on_cpu(context)) return cast_and_back_on_device(context, source, format, target, cast, is_check_only);
  CastPipeline casting(context, source, cast, is_check_only);
  LPT_TRY(casting.add_and_back(format, &target, false));
  return casting.run();
}

}  // namespace lpt
