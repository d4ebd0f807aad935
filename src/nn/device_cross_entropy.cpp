#include "src/call/device.hpp"
#include "src/nn/device.hpp"

namespace lpt {
namespace {

template <typename Number>
Status take_numbers(Context &context, int64_t count, Number **out) {
  std::byte *memory = nullptr;
  LPT_TRY(take_on_device(context, static_cast<size_t>(count) * sizeof(Number), &memory));
  *out = reinterpret_cast<Number *>(memory);
  return {};
}

// Copies from memory that the caller may change at once: it is not page-locked, so CUDA has read it when it returns.
Status take_places(Context &context, const std::vector<int64_t> &places, const int64_t **out) {
  const auto count = static_cast<int64_t>(places.size());
  const int64_t bytes = count * static_cast<int64_t>(sizeof(int64_t));
  int64_t *memory = nullptr;
  LPT_TRY(take_numbers(context, count, &memory));
  *out = memory;
  return context.queue.copy({memory, bytes, places.data(), bytes, bytes, 1});
}

}  // namespace

Status cross_entropy_forward_on_device(Context &context, const DeviceLoss &loss, const MatrixView &out,
                                       double *log_sums) {
  const int64_t rows = loss.logits.rows;
  CrossEntropySumsRequest sums{loss.logits, nullptr, nullptr};
  LossesRequest losses{};
  const KernelEntry<CrossEntropySumsRequest> *sums_kernel = nullptr;
  const KernelEntry<LossesRequest> *losses_kernel = nullptr;
  LPT_TRY(select_kernel(context, "cross_entropy_sums", sums, {loss.logits.format.id}, &sums_kernel));
  LPT_TRY(select_kernel(context, "losses", losses, {out.format.id}, &losses_kernel));
  if (loss.is_check_only) return {};
  LPT_TRY(take_places(context, loss.places, &sums.places));
  RowSums *all = nullptr;
  LPT_TRY(take_numbers(context, loss.ranks * rows, &all));
  sums.sums = all + loss.rank * rows;
  double *scratch = nullptr;
  LPT_TRY(take_numbers(context, rows, &scratch));
  losses = {.sums = all,
            .places = sums.places,
            .ranks = loss.ranks,
            .rows = rows,
            .classes = loss.classes,
            .label_smoothing = loss.label_smoothing,
            .log_sums = log_sums,
            .losses = scratch,
            .out = out.data,
            .is_f64 = out.format.id == LPT_FORMAT_F64,
            .is_for_rows = loss.is_for_rows,
            .divisor = loss.divisor};
  LPT_TRY(queue_kernel(context, *sums_kernel, sums));
  if (loss.share != nullptr) LPT_TRY(loss.share(all));
  return queue_kernel(context, *losses_kernel, losses);
}

Status cross_entropy_backward_on_device(Context &context, const DeviceLoss &loss, const double *log_sums,
                                        const MatrixView &loss_gradient, const MatrixView &gradient) {
  const int64_t rows = loss.logits.rows, classes = loss.classes;
  const double smoothing = loss.label_smoothing, off = classes == 0 ? 0.0 : smoothing / static_cast<double>(classes);
  CrossEntropyGradientRequest whole{loss.logits, gradient, nullptr, log_sums, nullptr, 1.0 - smoothing, off};
  LossFactorsRequest factors{loss_gradient.data,
                             loss_gradient.format.id == LPT_FORMAT_F64,
                             loss.is_for_rows,
                             loss.divisor,
                             nullptr,
                             rows,
                             nullptr};
  const KernelEntry<CrossEntropyGradientRequest> *kernel = nullptr;
  const KernelEntry<LossFactorsRequest> *factors_kernel = nullptr;
  LPT_TRY(
      select_kernel(context, "cross_entropy_gradient", whole, {loss.logits.format.id, gradient.format.id}, &kernel));
  LPT_TRY(select_kernel(context, "loss_factors", factors, {LPT_FORMAT_F64}, &factors_kernel));
  if (loss.is_check_only) return {};
  LPT_TRY(take_places(context, loss.places, &factors.places));
  LPT_TRY(take_numbers(context, rows, &factors.factors));
  whole.places = factors.places;
  whole.factors = factors.factors;
  LPT_TRY(queue_kernel(context, *factors_kernel, factors));
  return queue_kernel(context, *kernel, whole);
}

}  // namespace lpt
