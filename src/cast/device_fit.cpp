#include "src/cast/device_fit.hpp"

#include "kernels/quantize/cuda/cuda_fit.hpp"
#include "kernels/quantize/cuda/cuda_sums.hpp"
#include "src/call/launch.hpp"
#include "src/cast/casting.hpp"

namespace lpt {
namespace {

ScaleSpec fitted_spec_of(const QuantizeRequest &request) {
  return scale_spec(request.target.format, request.rule, 1.0f, nullptr, 0);
}

// Sums of magnitudes.

Status fit_by_sums(Context &context, const MatrixView &source, const QuantizeRequest &request, const Cast &cast,
                   const float *amax, bool is_check_only) {
  const bool is_sawb = request.rule == LPT_SCALE_RULE_SAWB;
  if (cast.preparation.is_needed()) {
    return unsupported("scale_rule is %s with smoothing or a rotation: it takes the source as it is",
                       is_sawb ? "LPT_SCALE_RULE_SAWB" : "LPT_SCALE_RULE_MEAN");
  }
  std::byte *memory = nullptr;
  if (!is_check_only) {
    LPT_TRY(take_scratch(context, static_cast<size_t>(2 * source.rows) * sizeof(float), &memory));
  }
  auto *const sums = reinterpret_cast<float *>(memory);
  float *const squares = is_sawb && !is_check_only ? sums + source.rows : nullptr;
  LPT_TRY(run_on_device(context, "magnitude_sum", MagnitudeSumRequest{source, sums, squares}, {source.format.id},
                        is_check_only));
  const FittedScaleRequest fitted{
      fitted_spec_of(request),    source.rows, source.rows * source.columns, sums, squares, amax,
      request.target.tensor_scale};
  return run_on_device(context, "fitted_scale", fitted, {request.target.format.id}, is_check_only);
}

// Trials.

// Casts with each candidate scale, whose codes are discarded, and the sums of their errors.
struct Trials {
  QuantizeRequest cast;
  TileSumsRequest sums;
  ScaleSearch *search = nullptr;
  const KernelEntry<TrialScaleRequest> *begin = nullptr;
  const KernelEntry<QuantizeRequest> *quantize = nullptr;
  const KernelEntry<TileSumsRequest> *count = nullptr;
  const KernelEntry<KeepScaleRequest> *keep = nullptr;
};

Status select_kernels(Context &context, Trials &trials) {
  const lpt_format source = trials.cast.source.format.id, target = trials.cast.target.format.id;
  LPT_TRY(select_kernel(context, "trial_scale", TrialScaleRequest{}, {target}, &trials.begin));
  LPT_TRY(select_kernel(context, "quantize", trials.cast, {source, target}, &trials.quantize));
  LPT_TRY(select_kernel(context, "tile_sums", trials.sums, {source, target}, &trials.count));
  return select_kernel(context, "keep_scale", KeepScaleRequest{}, {target}, &trials.keep);
}

Status take_memory(Context &context, Trials &trials) {
  std::byte *search = nullptr, *scratch = nullptr;
  LPT_TRY(take_scratch(context, sizeof(ScaleSearch), &search));
  LPT_TRY(take_scratch(context, static_cast<size_t>(sums_scratch(trials.sums)) * sizeof(double), &scratch));
  trials.search = reinterpret_cast<ScaleSearch *>(search);
  trials.cast.target.tensor_scale = trials.sums.quantized.tensor_scale = &trials.search->trial;
  trials.sums.scratch = reinterpret_cast<double *>(scratch);
  trials.sums.sums = &trials.search->sums;
  return {};
}

Status run_trials(Context &context, const QuantizeRequest &request, const float *amax, const Trials &trials) {
  const ScaleSpec spec = fitted_spec_of(request);
  for (int32_t i = 0; i < candidate_count(spec); ++i) {
    LPT_TRY(queue_kernel(context, *trials.begin, {spec, i, amax, trials.search}));
    LPT_TRY(queue_kernel(context, *trials.quantize, trials.cast));
    LPT_TRY(queue_kernel(context, *trials.count, trials.sums));
    LPT_TRY(queue_kernel(context, *trials.keep, {i, trials.search, request.target.tensor_scale}));
  }
  return {};
}

Status fit_by_trials(Context &context, const MatrixView &source, const QuantizeRequest &request, const Cast &cast,
                     const float *amax, bool is_check_only) {
  // The CPU adds the errors in the order of the tiles of the source. No device kernel sums a transposed output in this order.
  if (cast.is_transposed) {
    return unsupported("scale_rule is LPT_SCALE_RULE_MSE: on %s no tensor scale of a transposed output is searched",
                       device_text(context.queue.device()).c_str());
  }
  Trials trials;
  trials.cast = request;
  trials.cast.rounding = LPT_ROUNDING_NEAREST_EVEN;
  trials.cast.rule = LPT_SCALE_RULE_FIXED;
  trials.cast.amax = nullptr;
  const MatrixView &target = request.target;
  LPT_TRY(take_matrix(context, target.format, target.rows, target.columns, is_check_only, trials.cast.target));
  const Tiles tiles = cut_in_tiles(source, {{target.format, false}}, cast.preparation);
  trials.sums = {request.source, trials.cast.target, tiles.tile_rows, tiles.tile_columns, nullptr, nullptr};
  LPT_TRY(select_kernels(context, trials));
  if (is_check_only) return {};
  LPT_TRY(take_memory(context, trials));
  return run_trials(context, request, amax, trials);
}

}  // namespace

Status fit_tensor_scale(Context &context, const MatrixView &source, const QuantizeRequest &request, const Cast &cast,
                        const float *amax, bool is_check_only) {
  const bool has_trials = request.rule == LPT_SCALE_RULE_MSE;
  return (has_trials ? fit_by_trials : fit_by_sums)(context, source, request, cast, amax, is_check_only);
}

}  // namespace lpt
