// The tensor scale of a cast: given, from an amax history, from the amax of the source, or searched.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/cast/casting.hpp"

namespace lpt {

Status CastPipeline::compute_amax() {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    CastOutput &job = jobs_[i];
    if (!job.looks) continue;
    const bool is_known = i > 0 && jobs_[0].looks && cast_.preparation.hadamard_size == 0;
    if (is_known) {
      found_[i] = found_[0];
      continue;
    }
    const AmaxRequest request{kernel_source(job), nullptr, nullptr};
    const KernelEntry<AmaxRequest> *kernel = nullptr;
    LPT_TRY(select_kernel(context_, "amax", amax_kernels(), request, {source_.format.id}, &kernel));
    if (cast_.preparation.is_needed()) LPT_TRY(choose_rotation(job));
    if (is_check_only_) continue;
    const ProfileScope measure(context_, "amax", kernel->name, view_bytes(source_));
    LPT_TRY(cast_.preparation.is_needed() ? compute_amax_of_tiles(job, *kernel, found_[i])
                                          : compute_amax_of_lines(*kernel, found_[i]));
  }
  return {};
}

Status CastPipeline::compute_amax_of_lines(const KernelEntry<AmaxRequest> &kernel, AmaxResult &found) {
  constexpr int64_t kPiece = 4096;  // elements of a segment of a single row
  const bool is_one_row = source_.rows == 1;
  const int64_t extent = is_one_row ? source_.columns : source_.rows, unit = is_one_row ? kPiece : 1;
  const Parts parts = split(context_, (extent + unit - 1) / unit, is_one_row ? unit : source_.columns);
  std::vector<AmaxResult> partial(static_cast<size_t>(parts.count));
  parallel_for(context_, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    const int64_t count = std::min(parts.length * unit, extent - begin);
    AmaxResult &part = partial[static_cast<size_t>(i)];
    kernel.run(
        {is_one_row ? cut_columns(source_, begin, count) : cut_rows(source_, begin, count), &part.amax, &part.has_nan});
  });
  gather(partial, found);
  return {};
}

Status CastPipeline::compute_amax_of_tiles(CastOutput &job, const KernelEntry<AmaxRequest> &kernel, AmaxResult &found) {
  const Tiles tiles = cut_in_tiles();
  const Parts parts = split(context_, tiles.count(), tiles.tile_rows * tiles.tile_columns);
  std::vector<std::byte *> scratch;
  LPT_TRY(take_scratch(parts.count, tile_bytes(tiles), scratch));
  std::vector<AmaxResult> partial(static_cast<size_t>(parts.count));
  parallel_for(context_, parts.count, [&](int64_t i) {
    AmaxResult &part = partial[static_cast<size_t>(i)];
    for (int64_t t = i * parts.length; t < std::min((i + 1) * parts.length, tiles.count()); ++t) {
      AmaxResult here;
      kernel.run({prepared(job, tiles.at(t), scratch[static_cast<size_t>(i)]), &here.amax, &here.has_nan});
      part.amax = std::max(part.amax, here.amax);
      part.has_nan = part.has_nan || here.has_nan;
    }
  });
  gather(partial, found);
  return {};
}

void CastPipeline::gather(const std::vector<AmaxResult> &partial, AmaxResult &found) {
  for (const AmaxResult &part : partial) {
    found.amax = std::max(found.amax, part.amax);
    found.has_nan = found.has_nan || part.has_nan;
  }
}

Status CastPipeline::resolve_tensor_scale(CastOutput &job) {
  MatrixView &target = job.request.target;
  if (!target.format.has_tensor_scale()) return {};
  if (is_and_back_) target.tensor_scale = &own_tensor_scale_;
  const bool is_given = cast_.keeps_tensor_scale || job.request.rule == LPT_SCALE_RULE_FIXED;
  if (!is_given && is_transpose(job)) {
    *target.tensor_scale = *jobs_[0].request.target.tensor_scale;
  } else if (!is_given) {
    float amax = job.delayed_amax;
    if (job.looks) amax = found_[&job - jobs_.data()].amax;
    if (job.looks && cast_.scaler != nullptr) amax = with_margin(*cast_.scaler, amax);
    LPT_TRY(find_tensor_scale(job, amax, *target.tensor_scale));
  }
  const float scale = *target.tensor_scale;
  if (!(scale >= kSmallestNormal && scale <= kLargestFloat)) {
    return invalid("the tensor scale that %s holds is %g: expected a positive number",
                   format_name(target.format.id).c_str(), static_cast<double>(scale));
  }
  job.request.tensor_inverse = 1.0f / scale;
  return {};
}

Status CastPipeline::find_tensor_scale(const CastOutput &job, float amax, float &out_scale) {
  const Format &format = job.request.target.format;
  const ScaleSpec spec =
      scale_spec(format, job.request.rule, 1.0f, job.request.scale_list, job.request.scale_list_count);
  out_scale = tensor_scale_value(spec, amax);
  if (!format.has_block_scale() && amax > 0.0f) {
    if (spec.rule == LPT_SCALE_RULE_MEAN) return mean_scale(out_scale);
    if (spec.rule == LPT_SCALE_RULE_SAWB) return sawb_scale(spec, amax, out_scale);
    if (spec.rule == LPT_SCALE_RULE_MSE) return searched_scale(job, spec, amax, out_scale);
  }
  return {};
}

// Computes one sum for each row in the order of striped_sum(), and adds the row sums in f64.
Status CastPipeline::sum_magnitudes(double &out_sum, double &out_squares) {
  if (cast_.preparation.is_needed()) {
    return unsupported("scale_rule is %s with smoothing or a rotation: it takes the source as it is",
                       cast_.rule == LPT_SCALE_RULE_SAWB ? "LPT_SCALE_RULE_SAWB" : "LPT_SCALE_RULE_MEAN");
  }
  std::vector<float> sums(static_cast<size_t>(2 * source_.rows));
  float *const squares = sums.data() + source_.rows;
  const KernelEntry<MagnitudeSumRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context_, "magnitude_sum", magnitude_sum_kernels(), MagnitudeSumRequest{source_, nullptr},
                        {source_.format.id}, &kernel));
  const ProfileScope measure(context_, "magnitude_sum", kernel->name, view_bytes(source_));
  const Parts parts = split(context_, source_.rows, source_.columns);
  parallel_for(context_, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length;
    kernel->run({cut_rows(source_, begin, std::min(parts.length, source_.rows - begin)), sums.data() + begin,
                 cast_.rule == LPT_SCALE_RULE_SAWB ? squares + begin : nullptr});
  });
  out_sum = out_squares = 0.0;
  for (int64_t i = 0; i < source_.rows; ++i) {
    out_sum += static_cast<double>(sums[static_cast<size_t>(i)]);
    out_squares += static_cast<double>(squares[i]);
  }
  return {};
}

Status CastPipeline::mean_scale(float &out_scale) {
  double sum = 0.0, squares = 0.0;
  LPT_TRY(sum_magnitudes(sum, squares));
  out_scale = clamp_scale(static_cast<float>(sum / static_cast<double>(source_.rows * source_.columns)));
  return {};
}

// Computes the optimal clip for 4 bits as LUQ fits it (arXiv 2112.10769). The scale remains that of the amax if the clip is
// not in (0, amax). An example is a matrix whose elements have equal magnitudes.
Status CastPipeline::sawb_scale(const ScaleSpec &spec, float amax, float &out_scale) {
  double sum = 0.0, squares = 0.0;
  LPT_TRY(sum_magnitudes(sum, squares));
  const auto count = static_cast<double>(source_.rows * source_.columns);
  const double clip = 12.1 * std::sqrt(squares / count) - 12.2 * (sum / count);
  if (!(clip > 0.0 && clip < static_cast<double>(amax))) return {};
  out_scale = clamp_scale(static_cast<float>(clip / static_cast<double>(spec.largest)));
  return {};
}

// Selects the first candidate with the smallest squared error.
Status CastPipeline::searched_scale(const CastOutput &job, const ScaleSpec &spec, float amax, float &out_scale) {
  float scales[kMaxCastScales];
  const int32_t count = candidate_count(spec);
  for (int32_t i = 0; i < count; ++i) scales[i] = bits_float(candidate_code(spec, amax, i));
  const Format &format = job.request.target.format;
  CastErrorsRequest request{kernel_source(job), format.element, cast_.overflow, scales, count, nullptr};
  const KernelEntry<CastErrorsRequest> *kernel = nullptr;
  LPT_TRY(
      select_kernel(context_, "cast_errors", cast_errors_kernels(), request, {source_.format.id, format.id}, &kernel));
  const ProfileScope measure(context_, "cast_errors", kernel->name, view_bytes(source_));
  const Tiles tiles = lpt::cut_in_tiles(source_, {{format, job.is_transposed}}, cast_.preparation);
  const Parts parts = split_reported(context_, tiles.count(), tiles.tile_rows * tiles.tile_columns);
  std::vector<std::byte *> scratch;
  if (cast_.preparation.is_needed()) LPT_TRY(take_scratch(parts.count, tile_bytes(tiles), scratch));
  std::vector<double> errors(static_cast<size_t>(tiles.count() * count));
  LPT_TRY(run_reported(context_, parts.count, source_.rows * source_.columns, [&](int64_t i) {
    for (int64_t t = i * parts.length; t < std::min((i + 1) * parts.length, tiles.count()); ++t) {
      CastErrorsRequest part = request;
      part.source = tile_source(job, tiles.at(t), scratch.empty() ? nullptr : scratch[static_cast<size_t>(i)]);
      part.errors = errors.data() + t * count;
      kernel->run(part);
    }
  }));
  double least = std::numeric_limits<double>::infinity();
  for (int32_t i = 0; i < count; ++i) {
    double sum = 0.0;
    for (int64_t t = 0; t < tiles.count(); ++t) sum += errors[static_cast<size_t>(t * count + i)];
    if (!(sum < least)) continue;
    least = sum;
    out_scale = scales[i];
  }
  return {};
}

}  // namespace lpt
