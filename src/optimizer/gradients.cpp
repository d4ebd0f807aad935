// Sums over gradients: what clipping and skipping look at.
#include <algorithm>

#include "src/optimizer/device.hpp"

namespace lpt {
namespace {

int64_t block_count(const MatrixView &gradient) { return (gradient.columns + kNormBlock - 1) / kNormBlock; }

struct Measured {
  double *sums;         // one per block
  int64_t *nonfinites;  // one per part
  int64_t part_count;
};

Status take_scratch(Context &context, const std::vector<MatrixView> &gradients, Measured &out) {
  int64_t blocks = 0;
  for (const MatrixView &gradient : gradients) {
    blocks = std::max(blocks, block_count(gradient));
    out.part_count = std::max(out.part_count, split(context, block_count(gradient), kNormBlock).count);
  }
  std::byte *memory = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(blocks) * sizeof(double), &memory));
  out.sums = reinterpret_cast<double *>(memory);
  LPT_TRY(context.arena->take(static_cast<size_t>(out.part_count) * sizeof(int64_t), &memory));
  out.nonfinites = reinterpret_cast<int64_t *>(memory);
  return {};
}

// Sums of the gradient's blocks, and what it has that is not finite.
Status measure_one(Context &context, const MatrixView &gradient, const Measured &measured, int64_t &nonfinite_count) {
  if (gradient.columns == 0) return {};
  const NormRequest whole = {gradient.data, gradient.format.element, 0, gradient.columns, measured.sums, nullptr};
  const KernelEntry<NormRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "gradient_norm", norm_kernels(), whole, {gradient.format.id}, &kernel));
  const ProfileScope measure(context, "gradient_norm", kernel->name, view_bytes(gradient));
  const Parts parts = split(context, block_count(gradient), kNormBlock);
  std::fill_n(measured.nonfinites, measured.part_count, 0);
  parallel_for(context, parts.count, [&](int64_t i) {
    NormRequest part = whole;
    part.begin = i * parts.length * kNormBlock;
    part.count = std::min(parts.length * kNormBlock, gradient.columns - part.begin);
    part.nonfinite_count = measured.nonfinites + i;
    kernel->run(part);
  });
  for (int64_t i = 0; i < parts.count; ++i) nonfinite_count += measured.nonfinites[i];
  return {};
}

}  // namespace

Status measure_gradients(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums) {
  if (!context.queue.device().is_cpu()) return measure_gradients_on_device(context, gradients, out_sums);
  out_sums = {};
  Measured measured = {};
  LPT_TRY(take_scratch(context, gradients, measured));
  for (const MatrixView &gradient : gradients) {
    LPT_TRY(measure_one(context, gradient, measured, out_sums.nonfinite_count));
    for (int64_t i = 0; i < block_count(gradient); ++i) out_sums.sum_of_squares += measured.sums[i];
  }
  return {};
}

Status measure_blocks(Context &context, const MatrixView &gradient, double *out_sums, int64_t &nonfinite_count) {
  Measured measured = {};
  LPT_TRY(take_scratch(context, {gradient}, measured));
  LPT_TRY(measure_one(context, gradient, measured, nonfinite_count));
  std::copy_n(measured.sums, block_count(gradient), out_sums);
  return {};
}

Status measure_gradient_tensors(Context &context, const Tensor *const *gradients, int64_t count,
                                lpt_gradients_info &out_info) {
  if (count < 0) return invalid("count is %lld: expected at least 0", static_cast<long long>(count));
  if (count > 0 && gradients == nullptr) {
    return invalid("gradients is NULL: expected %lld tensors", static_cast<long long>(count));
  }
  std::vector<MatrixView> views(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(check_gradient(gradients[i], item("gradients", i), true, views[static_cast<size_t>(i)],
                           context.queue.device()));
  }
  GradientSums sums = {};
  LPT_TRY(measure_gradients(context, views, sums));
  out_info.sum_of_squares = sums.sum_of_squares;
  out_info.nonfinite_count = sums.nonfinite_count;
  return {};
}

}  // namespace lpt
