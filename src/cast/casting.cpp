// The sequence of a cast: amax sources, kernel selection, and final checks.
#include "src/cast/casting.hpp"

#include <cmath>
#include <limits>

#include "src/formats/element.hpp"

namespace lpt {

namespace {

MatrixView transpose(const MatrixView &view) {
  MatrixView result = view;
  result.rows = view.columns;
  result.columns = view.rows;
  result.row_stride = view.column_stride;
  result.column_stride = view.row_stride;
  return result;
}

bool has_nan_code(lpt_format element) {
  return element == LPT_FORMAT_F32 || element == LPT_FORMAT_F64 || element_of(element).nan_code != 0;
}

}  // namespace

Status find_hidden_nan(const Format &target, lpt_overflow overflow, bool &out_hides_nan) {
  out_hides_nan = !target.has_block_scale() && !has_nan_code(target.element);
  if (!out_hides_nan || overflow != LPT_OVERFLOW_INFINITE) return {};
  return unsupported("overflow is LPT_OVERFLOW_INFINITE: %s has no code for an infinity or a NaN",
                     format_name(target.id).c_str());
}

Status unrepresentable_nan(const Format &target) {
  return invalid("source has a NaN: %s has no code for it, and no scale to carry it", format_name(target.id).c_str());
}

Status CastPipeline::add(const MatrixView &target, bool is_transposed) {
  CastOutput job;
  job.is_transposed = is_transposed;
  QuantizeRequest &request = job.request;
  request.source = is_transposed ? transpose(source_) : source_;
  request.target = target;
  request.rounding = cast_.rounding;
  request.overflow = cast_.overflow;
  LPT_TRY(resolve_rule(target.format, cast_.rounding, cast_.rule, request.rule));
  request.scale_list = cast_.scale_list != nullptr ? cast_.scale_list : kGaudi2Scales;
  request.scale_list_count = cast_.scale_list != nullptr ? cast_.scale_list_count : 4;
  request.random = cast_.random;
  request.random_column_stride = 1;
  if (is_transposed) std::swap(request.random.row_stride, request.random_column_stride);
  request.tensor_inverse = 1.0f;
  LPT_TRY(resolve_sources(job));
  jobs_.push_back(job);
  return {};
}

Status CastPipeline::add_and_back(const Format &format, const MatrixView *decoded, bool is_transposed) {
  const int64_t rows = is_transposed ? source_.columns : source_.rows;
  const int64_t columns = is_transposed ? source_.rows : source_.columns;
  LPT_TRY(add(dense_view(format.id, nullptr, rows, columns), is_transposed));
  is_and_back_ = true;
  jobs_.back().is_in_scratch = true;
  if (decoded != nullptr) jobs_.back().decoded = *decoded;
  return {};
}

Status CastPipeline::run() {
  LPT_TRY(add_source_of_transpose());
  LPT_TRY(compute_amax());
  for (CastOutput &job : jobs_) LPT_TRY(select_kernels(job));
  if (is_check_only_) return {};
  if (cast_.share_amax != nullptr && jobs_[0].looks) LPT_TRY((*cast_.share_amax)(found_[0]));
  for (CastOutput &job : jobs_) LPT_TRY(resolve_tensor_scale(job));
  LPT_TRY(needs_tiles() ? run_tiles() : run_lines(jobs_[0]));
  return finish();
}

Status CastPipeline::resolve_sources(CastOutput &job) {
  const Format &format = job.request.target.format;
  LPT_TRY(find_hidden_nan(format, cast_.overflow, job.hides_nan));
  const lpt_scale_rule rule = job.request.rule;
  const bool is_given = cast_.keeps_tensor_scale || rule == LPT_SCALE_RULE_FIXED;
  const bool is_delayed = cast_.scaler != nullptr && has_delayed_amax(*cast_.scaler, job.delayed_amax);
  job.looks = format.has_tensor_scale() && !is_given && !is_delayed && rule != LPT_SCALE_RULE_THREE_QUARTERS;
  job.has_amax = cast_.scaler != nullptr && !job.looks;
  return {};
}

MatrixView CastPipeline::kernel_source(const CastOutput &job) const {
  if (!cast_.preparation.is_needed()) return job.request.source;
  const MatrixView &source = job.request.source;
  return dense_view(LPT_FORMAT_F32, source.data, source.rows, source.columns);
}

HadamardRequest CastPipeline::rotation_of(const CastOutput &job) const {
  HadamardRequest rotation{};
  rotation.source = job.request.source;
  rotation.target = kernel_source(job);
  rotation.size = cast_.preparation.hadamard_size;
  return rotation;
}

Status CastPipeline::choose_rotation(CastOutput &job) {
  return select_kernel(context_, "hadamard", hadamard_kernels(), rotation_of(job), {source_.format.id},
                       &rotations_[job.is_transposed ? 1 : 0]);
}

Status CastPipeline::select_kernels(CastOutput &job) {
  QuantizeRequest request = job.request;
  request.source = kernel_source(job);
  // Kernels that do not compute an amax or report a NaN reject requests with these pointers.
  AmaxResult requested;
  if (job.has_amax) request.amax = &requested.amax;
  if (job.hides_nan && !job.looks) request.has_nan = &requested.has_nan;
  if (cast_.preparation.is_needed()) LPT_TRY(choose_rotation(job));
  LPT_TRY(select_kernel(context_, "quantize", quantize_kernels(), request,
                        {source_.format.id, request.target.format.id}, &job.kernel));
  if (is_transpose(job)) {
    const TransposeRequest transpose{jobs_[0].request.target, request.target, false};
    LPT_TRY(select_kernel(context_, "transpose", transpose_kernels(), transpose, {request.target.format.id},
                          &job.transpose_kernel));
  }
  if (job.decoded.rows > 0) {
    const DequantizeRequest decode{request.target, job.decoded};
    LPT_TRY(select_kernel(context_, "dequantize", dequantize_kernels(), decode,
                          {request.target.format.id, job.decoded.format.id}, &job.decode_kernel));
  }
  if (cast_.sums != nullptr && &job == &jobs_[0]) {
    CastStatisticsRequest sums{request.source, request.target, nullptr};
    if (is_copied_for_sums()) {
      sums.source = dense_view(LPT_FORMAT_F32, request.source.data, request.source.rows, request.source.columns);
      LPT_TRY(select_kernel(context_, "hadamard", hadamard_kernels(), HadamardRequest{request.source, sums.source},
                            {source_.format.id}, &rotations_[1]));
    }
    LPT_TRY(select_kernel(context_, "cast_statistics", cast_statistics_kernels(), sums,
                          {source_.format.id, request.target.format.id}, &sums_kernel_));
  }
  return {};
}

bool CastPipeline::can_transpose(const CastOutput &job) const {
  const Format &format = job.request.target.format;
  if (format.has_zero_point() || cast_.preparation.hadamard_size != 0) return false;
  if (!format.has_block_scale()) return true;
  return format.block_rows == format.block_columns && is_rule_of_amax(job.request.rule);
}

bool CastPipeline::is_transpose(const CastOutput &job) const {
  if (jobs_.size() < 2 || &job == &jobs_[0]) return false;
  return job.request.target.format.id == jobs_[0].request.target.format.id && can_transpose(job);
}

Status CastPipeline::add_source_of_transpose() {
  if (jobs_.size() != 1 || !jobs_[0].is_transposed || is_and_back_ || !can_transpose(jobs_[0])) return {};
  const CastOutput job = jobs_[0];
  const MatrixView &target = job.request.target;
  const TransposeRequest request{transpose(target), target, false};
  if (find_fast_kernel(transpose_kernels(), request, context_.machine) == nullptr) return {};
  jobs_.clear();
  MatrixView codes = dense_view(target.format.id, nullptr, source_.rows, source_.columns);
  codes.tensor_scale = target.tensor_scale;
  LPT_TRY(add(codes, false));
  jobs_[0].is_in_scratch = true;
  jobs_.push_back(job);
  return {};
}

Status CastPipeline::finish() {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const CastOutput &job = jobs_[i];
    const bool has_hidden_nan = job.hides_nan && found_[i].has_nan;
    if (has_hidden_nan && job.request.target.format.has_tensor_scale() && !is_and_back_) {
      *job.request.target.tensor_scale = std::numeric_limits<float>::quiet_NaN();
    }
  }
  if (cast_.scaler != nullptr) record_amax(*cast_.scaler, found_[0].amax);
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const Format &format = jobs_[i].request.target.format;
    if (!jobs_[i].hides_nan || !found_[i].has_nan || (format.has_tensor_scale() && !is_and_back_)) continue;
    return unrepresentable_nan(format);
  }
  return {};
}

}  // namespace lpt
