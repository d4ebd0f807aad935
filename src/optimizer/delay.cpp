#include "src/optimizer/delay.hpp"

#include <cmath>
#include <vector>

#include "kernels/delay/delay.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr double kMostStrength = 1e9;

// Rows are processed in runs of this many elements, whose sums are added in order. Sums do not depend on the number of threads.
constexpr int64_t kDelayRun = 4096;

struct DelayWork {
  MatrixView own, mean, gradient;

  int64_t runs() const { return (gradient.columns + kDelayRun - 1) / kDelayRun; }  // of a row
  int64_t total_runs() const { return gradient.rows * runs(); }

  static void *run_of(const MatrixView &view, int64_t row, int64_t column) {
    return static_cast<std::byte *>(view.data) + row_bytes(view.format.element, row * view.row_stride + column);
  }
  DelayRequest request(int64_t run, double factor, DelaySums *sums) const {
    const int64_t row = run / runs(), column = run % runs() * kDelayRun;
    return {std::min(kDelayRun, gradient.columns - column),
            run_of(own, row, column),
            run_of(mean, row, column),
            run_of(gradient, row, column),
            own.format.element,
            mean.format.element,
            gradient.format.element,
            factor,
            sums};
  }
};

Status check_delay_options(const lpt_delay_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("strength", options.strength, 0.0, kMostStrength));
  LPT_TRY(check_choice("norm", options.norm, LPT_DELAY_NORM_GLOBAL));
  return options.reserved == 0 ? Status() : unsupported("reserved is %d: expected 0", options.reserved);
}

Status check_work(const Tensor *own, const Tensor *mean, const Tensor *gradient, int64_t i, bool needs_data,
                  DelayWork &out) {
  const std::string own_name = item("own", i), mean_name = item("mean", i), name = item("gradients", i);
  LPT_TRY(check_wide_matrix(own, own_name.c_str(), needs_data, out.own));
  LPT_TRY(check_wide_matrix(mean, mean_name.c_str(), needs_data, out.mean));
  LPT_TRY(check_wide_matrix(gradient, name.c_str(), needs_data, out.gradient));
  LPT_TRY(check_shape(out.mean, mean_name.c_str(), out.own.rows, out.own.columns, own_name.c_str()));
  LPT_TRY(check_shape(out.gradient, name.c_str(), out.own.rows, out.own.columns, own_name.c_str()));
  LPT_TRY(check_no_overlap(out.gradient, name.c_str(), out.own, own_name.c_str()));
  return check_no_overlap(out.gradient, name.c_str(), out.mean, mean_name.c_str());
}

// Runs a kernel on every run of a tensor. `sums` has one entry per run, or is NULL.
Status run_delay(Context &context, const char *name, std::span<const KernelEntry<DelayRequest>> kernels,
                 const DelayWork &work, double factor, DelaySums *sums) {
  const KernelEntry<DelayRequest> *kernel = nullptr;
  const lpt_format format = work.gradient.format.id;
  LPT_TRY(select_kernel(context, name, kernels, work.request(0, factor, sums), {format}, &kernel));
  const ProfileScope measure(context, name, kernel->name, 3.0 * view_bytes(work.gradient));
  parallel_parts(context, work.total_runs(), std::min(work.gradient.columns, kDelayRun),
                 [&](int64_t begin, int64_t count) {
                   for (int64_t i = begin; i < begin + count; ++i) {
                     kernel->run(work.request(i, factor, sums == nullptr ? nullptr : sums + i));
                   }
                 });
  return {};
}

Status sum_delay(Context &context, const DelayWork &work, DelaySums &sums) {
  std::vector<DelaySums> partial(static_cast<size_t>(work.total_runs()));
  LPT_TRY(run_delay(context, "delay_sums", delay_sums_kernels(), work, 0.0, partial.data()));
  for (const DelaySums &one : partial) {
    sums.gradient_squares += one.gradient_squares;
    sums.correction_squares += one.correction_squares;
  }
  return {};
}

Status apply_delay(Context &context, const std::vector<DelayWork> &works, const DelaySums &sums, double strength) {
  if (sums.correction_squares == 0.0 || strength == 0.0) return {};
  const double factor = strength * std::sqrt(sums.gradient_squares) / std::sqrt(sums.correction_squares);
  for (const DelayWork &work : works) {
    LPT_TRY(run_delay(context, "delay_apply", delay_apply_kernels(), work, factor, nullptr));
  }
  return {};
}

}  // namespace

Status compensate_delay(Context &context, const Tensor *const *own, const Tensor *const *mean, int64_t count,
                        const lpt_delay_options &options, Tensor *const *gradients) {
  LPT_TRY(check_delay_options(options));
  if (count < 0) return invalid("count is %lld: expected at least 0", number(count));
  if (count > 0 && own == nullptr) return invalid("own is NULL: expected %lld tensors", number(count));
  if (count > 0 && mean == nullptr) return invalid("mean is NULL: expected %lld tensors", number(count));
  if (count > 0 && gradients == nullptr) return invalid("gradients is NULL: expected %lld tensors", number(count));
  const bool is_check = is_check_only(options.flags);
  std::vector<DelayWork> works(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(check_work(own[i], mean[i], gradients[i], i, !is_check, works[static_cast<size_t>(i)]));
  }
  if (is_check) return {};
  std::erase_if(works, [](const DelayWork &work) { return work.gradient.rows == 0 || work.gradient.columns == 0; });
  DelaySums all;
  for (const DelayWork &work : works) {
    DelaySums sums;
    LPT_TRY(sum_delay(context, work, options.norm == LPT_DELAY_NORM_GLOBAL ? all : sums));
    if (options.norm == LPT_DELAY_NORM_TENSOR) LPT_TRY(apply_delay(context, {work}, sums, options.strength));
  }
  return options.norm == LPT_DELAY_NORM_GLOBAL ? apply_delay(context, works, all, options.strength) : Status();
}

}  // namespace lpt
