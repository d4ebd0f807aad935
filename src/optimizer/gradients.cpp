#include "src/optimizer/gradients.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/optimizer/clip.hpp"
#include "kernels/optimizer/cuda_found.hpp"
#include "src/call/launch.hpp"

namespace lpt {
namespace {

int64_t blocks_of(int64_t elements) { return (elements + kNormBlock - 1) / kNormBlock; }

// A gradient or a shard of one. `first` is the index of its first block sum among those of all gradients.
struct MeasuredGradient {
  MatrixView gradient;
  int64_t first;
};

// All gradients of a norm. Blocks of shards are numbered as those of the full parameters.
struct NormOf {
  std::vector<MeasuredGradient> gradients = {};
  int64_t block_count = 0;

  void add(const MatrixView &gradient, int64_t whole_elements, int64_t begin) {
    gradients.push_back({gradient, block_count + begin / kNormBlock});
    block_count += blocks_of(whole_elements);
  }
};

NormOf norm_of(const std::vector<StepWork> &works, bool are_shards) {
  NormOf norm;
  for (const StepWork &work : works) {
    const OptimizerParameter &parameter = *work.parameter;
    norm.add(work.gradient, are_shards ? parameter.whole_elements : parameter.elements,
             are_shards ? parameter.begin : 0);
  }
  return norm;
}

// Norms on the CPU.

struct Measured {
  double *sums;         // one per block
  int64_t *nonfinites;  // one per part
  int64_t part_count;
};

Status prepare(Context &context, const std::vector<MatrixView> &gradients, Measured &out) {
  int64_t blocks = 0;
  for (const MatrixView &gradient : gradients) {
    blocks = std::max(blocks, blocks_of(gradient.columns));
    out.part_count = std::max(out.part_count, split(context, blocks_of(gradient.columns), kNormBlock).count);
  }
  std::byte *memory = nullptr;
  LPT_TRY(context.host_scratch->take(static_cast<size_t>(blocks) * sizeof(double), &memory));
  out.sums = reinterpret_cast<double *>(memory);
  LPT_TRY(context.host_scratch->take(static_cast<size_t>(out.part_count) * sizeof(int64_t), &memory));
  out.nonfinites = reinterpret_cast<int64_t *>(memory);
  return {};
}

// Computes the sums of squares of the blocks of a gradient, and counts its elements that are not finite.
Status measure_one(Context &context, const MatrixView &gradient, const Measured &measured, int64_t &nonfinite_count) {
  if (gradient.columns == 0) return {};
  const NormRequest whole = {gradient.data, gradient.format.element, 0, gradient.columns, measured.sums, nullptr};
  const KernelEntry<NormRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "gradient_norm", norm_kernels(), whole, {gradient.format.id}, &kernel));
  const ProfileScope measure(context, "gradient_norm", kernel->name, view_bytes(gradient));
  const Parts parts = split(context, blocks_of(gradient.columns), kNormBlock);
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

// Computes one sum for each block of a gradient and increases the count of elements that are not finite.
Status measure_blocks(Context &context, const MatrixView &gradient, double *out_sums, int64_t &nonfinite_count) {
  Measured measured = {};
  LPT_TRY(prepare(context, {gradient}, measured));
  LPT_TRY(measure_one(context, gradient, measured, nonfinite_count));
  std::copy_n(measured.sums, blocks_of(gradient.columns), out_sums);
  return {};
}

Status measure_shards(Context &context, const std::vector<StepWork> &works, StepRanks &ranks, GradientSums &out_sums) {
  const NormOf norm = norm_of(works, true);
  std::vector<double> sums(static_cast<size_t>(norm.block_count));
  std::vector<int64_t> nonfinite_counts(static_cast<size_t>(ranks.ranks()));
  int64_t &own = nonfinite_counts[static_cast<size_t>(ranks.rank())];
  for (const auto &[gradient, first] : norm.gradients) {
    LPT_TRY(measure_blocks(context, gradient, sums.data() + first, own));
  }
  LPT_TRY(ranks.all_gather_sums(works, sums.data(), nonfinite_counts.data()));
  out_sums.sum_of_squares = std::accumulate(sums.begin(), sums.end(), 0.0);
  out_sums.nonfinite_count = std::accumulate(nonfinite_counts.begin(), nonfinite_counts.end(), int64_t{0});
  return {};
}

// Norms on a device.

struct NormPlan {
  std::vector<const KernelEntry<NormRequest> *> norms;  // one for each gradient
  const KernelEntry<ClipRequest> *clip = nullptr;
  double *sums = nullptr;               // of all blocks
  int64_t *nonfinite_counts = nullptr;  // one per rank, after the sums
};

// Selects the kernels and takes the scratch, so that no later step can be rejected. `rank_count` is 0 without other ranks.
Status choose_norm(Context &context, const NormOf &norm, int32_t rank_count, NormPlan &plan) {
  for (const auto &[gradient, first] : norm.gradients) {
    const NormRequest request{gradient.data, gradient.format.element, 0, gradient.columns, nullptr, nullptr};
    const KernelEntry<NormRequest> *kernel = nullptr;
    LPT_TRY(select_kernel(context, "gradient_norm", request, {gradient.format.id}, &kernel));
    plan.norms.push_back(kernel);
  }
  LPT_TRY(select_kernel(context, "clip", ClipRequest{}, {LPT_FORMAT_F64}, &plan.clip));
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(norm.block_count + rank_count) * sizeof(double), &memory));
  plan.sums = reinterpret_cast<double *>(memory);
  if (rank_count > 0) plan.nonfinite_counts = reinterpret_cast<int64_t *>(plan.sums + norm.block_count);
  return {};
}

// Queues the sums of the gradients of this rank.
Status queue_sums(Context &context, const NormOf &norm, const NormPlan &plan, int64_t *nonfinite_count) {
  for (size_t i = 0; i < norm.gradients.size(); ++i) {
    const auto &[gradient, first] = norm.gradients[i];
    LPT_TRY(queue_kernel(
        context, *plan.norms[i],
        {gradient.data, gradient.format.element, 0, gradient.columns, plan.sums + first, nonfinite_count}));
  }
  return {};
}

// Queues a norm. The function sets the sums of `clip`; the caller sets its other members.
Status run_norm(Context &context, const NormOf &norm, ClipRequest clip) {
  NormPlan plan;
  LPT_TRY(choose_norm(context, norm, 0, plan));
  clip.sums = plan.sums;
  clip.count = norm.block_count;
  LPT_TRY(context.queue.fill(clip.facts, 0, sizeof *clip.facts));
  LPT_TRY(queue_sums(context, norm, plan, &clip.facts->nonfinite_count));
  return queue_kernel(context, *plan.clip, clip);
}

Status run_norm_of_shards(Context &context, const std::vector<StepWork> &works, StepRanks &ranks, ClipRequest clip) {
  const NormOf norm = norm_of(works, true);
  NormPlan plan;
  LPT_TRY(choose_norm(context, norm, ranks.ranks(), plan));
  int64_t *const own = plan.nonfinite_counts + ranks.rank();
  LPT_TRY(context.queue.fill(own, 0, sizeof *own));
  LPT_TRY(queue_sums(context, norm, plan, own));
  LPT_TRY(ranks.all_gather_sums(works, plan.sums, plan.nonfinite_counts));
  clip.sums = plan.sums;
  clip.count = norm.block_count;
  clip.nonfinite_counts = plan.nonfinite_counts;
  clip.rank_count = ranks.ranks();
  return queue_kernel(context, *plan.clip, clip);
}

Status fetch_facts(Context &context, const void *facts, GradientStats &out_facts) {
  constexpr int64_t kBytes = sizeof out_facts;
  LPT_TRY(context.queue.copy({&out_facts, kBytes, facts, kBytes, kBytes, 1}));
  return context.queue.synchronize();
}

// Runs `run_norm(clip)` and waits for the norm.
template <typename RunNorm>
Status fetch_sums(Context &context, const RunNorm &run, GradientSums &out_sums) {
  std::byte *facts = nullptr;
  LPT_TRY(take_scratch(context, sizeof(GradientStats), &facts));
  LPT_TRY(run(ClipRequest{nullptr, 0, 1.0, 0.0, reinterpret_cast<GradientStats *>(facts), nullptr, 0}));
  GradientStats found;
  LPT_TRY(fetch_facts(context, facts, found));
  out_sums = {found.sum_of_squares, found.nonfinite_count};
  return {};
}

}  // namespace

Status measure_gradients(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums) {
  if (!is_on_cpu(context)) {
    NormOf norm;
    for (const MatrixView &gradient : gradients) norm.add(gradient, gradient.columns, 0);
    return fetch_sums(
        context, [&](const ClipRequest &clip) { return run_norm(context, norm, clip); }, out_sums);
  }
  out_sums = {};
  Measured measured = {};
  LPT_TRY(prepare(context, gradients, measured));
  for (const MatrixView &gradient : gradients) {
    LPT_TRY(measure_one(context, gradient, measured, out_sums.nonfinite_count));
    for (int64_t i = 0; i < blocks_of(gradient.columns); ++i) out_sums.sum_of_squares += measured.sums[i];
  }
  return {};
}

Status measure_works(Context &context, const std::vector<StepWork> &works, StepRanks *ranks, GradientSums &out_sums) {
  if (ranks == nullptr) {
    std::vector<MatrixView> gradients;
    gradients.reserve(works.size());
    for (const StepWork &work : works) gradients.push_back(work.gradient);
    return measure_gradients(context, gradients, out_sums);
  }
  if (is_on_cpu(context)) return measure_shards(context, works, *ranks, out_sums);
  return fetch_sums(
      context, [&](const ClipRequest &clip) { return run_norm_of_shards(context, works, *ranks, clip); }, out_sums);
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

Status queue_norm(Context &context, const Optimizer &optimizer, const lpt_optimizer_step_options &options,
                  std::vector<StepWork> &works, StepRanks *ranks) {
  auto *const facts = reinterpret_cast<GradientStats *>(optimizer.facts.get());
  for (StepWork &work : works) work.request.gradients = facts;
  const ClipRequest clip{nullptr, 0, options.gradient_scale, options.largest_norm, facts, nullptr, 0};
  return ranks == nullptr ? run_norm(context, norm_of(works, false), clip)
                          : run_norm_of_shards(context, works, *ranks, clip);
}

Status read_optimizer(Context &context, const Optimizer &optimizer, lpt_optimizer_info &out_info) {
  out_info = optimizer.values;
  if (!optimizer.is_norm_on_device) return {};
  LPT_TRY(check_place(context, optimizer));
  GradientStats found;
  LPT_TRY(fetch_facts(context, optimizer.facts.get(), found));
  out_info.gradient_norm = found.norm;
  out_info.clip_factor = found.clip_factor;
  return {};
}

}  // namespace lpt
