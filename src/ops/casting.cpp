// What a cast does around its outputs: sources, choices of kernels, the end.
#include "src/ops/casting.hpp"

#include <cmath>
#include <limits>

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

Status untold_nan(const Format &target) {
  return invalid("source has a NaN: %s has no code for it, and no scale to carry it", format_name(target.id).c_str());
}

Status Casting::add(const MatrixView &target, bool is_transposed) {
  Job job;
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
  LPT_TRY(settle_sources(job));
  jobs_.push_back(job);
  return {};
}

Status Casting::add_and_back(const Format &format, const MatrixView *decoded, bool is_transposed) {
  const int64_t rows = is_transposed ? source_.columns : source_.rows;
  const int64_t columns = is_transposed ? source_.rows : source_.columns;
  LPT_TRY(add(dense_view(format.id, nullptr, rows, columns), is_transposed));
  is_and_back_ = true;
  jobs_.back().is_in_scratch = true;
  if (decoded != nullptr) jobs_.back().decoded = *decoded;
  return {};
}

Status Casting::run() {
  LPT_TRY(add_source_of_turn());
  LPT_TRY(look());
  for (Job &job : jobs_) LPT_TRY(choose_rows(job));
  if (is_check_only_) return {};
  for (Job &job : jobs_) LPT_TRY(settle_tensor_scale(job));
  LPT_TRY(needs_tiles() ? run_tiles() : run_lines(jobs_[0]));
  return finish();
}

Status Casting::settle_sources(Job &job) {
  const Format &format = job.request.target.format;
  LPT_TRY(find_hidden_nan(format, cast_.overflow, job.hides_nan));
  const lpt_scale_rule rule = job.request.rule;
  const bool is_given = cast_.keeps_tensor_scale || rule == LPT_SCALE_RULE_FIXED;
  const bool is_delayed = cast_.scaler != nullptr && has_delayed_amax(*cast_.scaler, job.delayed_amax);
  job.looks = format.has_tensor_scale() && !is_given && !is_delayed && rule != LPT_SCALE_RULE_THREE_QUARTERS;
  job.has_amax = cast_.scaler != nullptr && !job.looks;
  return {};
}

MatrixView Casting::kernel_source(const Job &job) const {
  if (!cast_.preparation.is_needed()) return job.request.source;
  const MatrixView &source = job.request.source;
  return dense_view(LPT_FORMAT_F32, source.data, source.rows, source.columns);
}

HadamardRequest Casting::rotation_of(const Job &job) const {
  HadamardRequest rotation{};
  rotation.source = job.request.source;
  rotation.target = kernel_source(job);
  rotation.size = cast_.preparation.hadamard_size;
  return rotation;
}

Status Casting::choose_rotation(Job &job) {
  return choose(context_, "hadamard", hadamard_kernels(), rotation_of(job), {source_.format.id},
                &rotations_[job.is_transposed ? 1 : 0]);
}

Status Casting::choose_rows(Job &job) {
  QuantizeRequest request = job.request;
  request.source = kernel_source(job);
  // A row that does not look for a NaN refuses by these.
  Found wanted;
  if (job.has_amax) request.amax = &wanted.amax;
  if (job.hides_nan && !job.looks) request.has_nan = &wanted.has_nan;
  if (cast_.preparation.is_needed()) LPT_TRY(choose_rotation(job));
  LPT_TRY(choose(context_, "quantize", quantize_kernels(), request, {source_.format.id, request.target.format.id},
                 &job.row));
  if (is_turn(job)) {
    const TurnRequest turn{jobs_[0].request.target, request.target, false};
    LPT_TRY(choose(context_, "turn", turn_kernels(), turn, {request.target.format.id}, &job.turn_row));
  }
  if (job.decoded.rows > 0) {
    const DequantizeRequest decode{request.target, job.decoded};
    LPT_TRY(choose(context_, "dequantize", dequantize_kernels(), decode,
                   {request.target.format.id, job.decoded.format.id}, &job.decode_row));
  }
  if (cast_.sums != nullptr && &job == &jobs_[0]) {
    const CastSumsRequest sums{request.source, request.target, nullptr};
    LPT_TRY(choose(context_, "cast_sums", cast_sums_kernels(), sums, {source_.format.id, request.target.format.id},
                   &sums_row_));
  }
  return {};
}

bool Casting::can_turn(const Job &job) const {
  const Format &format = job.request.target.format;
  if (format.has_zero_point() || cast_.preparation.hadamard_size != 0) return false;
  if (!format.has_block_scale()) return true;
  return format.block_rows == format.block_columns && is_rule_of_amax(job.request.rule);
}

bool Casting::is_turn(const Job &job) const {
  if (jobs_.size() < 2 || &job == &jobs_[0]) return false;
  return job.request.target.format.id == jobs_[0].request.target.format.id && can_turn(job);
}

Status Casting::add_source_of_turn() {
  if (jobs_.size() != 1 || !jobs_[0].is_transposed || is_and_back_ || !can_turn(jobs_[0])) return {};
  const Job job = jobs_[0];
  const MatrixView &target = job.request.target;
  const TurnRequest turn{transpose(target), target, false};
  for (const Row<TurnRequest> &row : turn_kernels()) {
    const bool is_fast = row.needs != 0 && (row.needs & ~context_.features) == 0;
    if (!is_fast || row.refuses(turn) != nullptr) continue;
    jobs_.clear();
    MatrixView codes = dense_view(target.format.id, nullptr, source_.rows, source_.columns);
    codes.tensor_scale = target.tensor_scale;
    LPT_TRY(add(codes, false));
    jobs_[0].is_in_scratch = true;
    jobs_.push_back(job);
    return {};
  }
  return {};
}

Status Casting::finish() {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const Job &job = jobs_[i];
    const bool has_hidden_nan = job.hides_nan && found_[i].has_nan;
    if (has_hidden_nan && job.request.target.format.has_tensor_scale() && !is_and_back_) {
      *job.request.target.tensor_scale = std::numeric_limits<float>::quiet_NaN();
    }
  }
  if (cast_.scaler != nullptr) record_amax(*cast_.scaler, found_[0].amax);
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const Format &format = jobs_[i].request.target.format;
    if (!jobs_[i].hides_nan || !found_[i].has_nan || (format.has_tensor_scale() && !is_and_back_)) continue;
    return untold_nan(format);
  }
  return {};
}

}  // namespace lpt
