// Ranks that share the state of an optimizer: how parameters are cut, and a step over all of them.
#pragma once

#include "src/collective/collective.hpp"
#include "src/optimizer/optimizer.hpp"
#include "src/tensor/flat_view.hpp"

namespace lpt {

Status add_shards(Context &context, const Comm &comm, Optimizer &optimizer, const char *const *names,
                  const std::vector<lpt_optimizer_parameter> &wholes, int64_t *out_indices);

// With reduce NULL gradients hold the same bits on all ranks.
Status step_shards(Context &context, Comm &comm, Optimizer &optimizer, const int64_t *indices, int64_t count,
                   const Tensor *const *gradients, const lpt_optimizer_step_options &options,
                   const lpt_reduce_options *reduce, Tensor *const *parameters);

// ---- shards_move.cpp

// Memory that is in one run.
using Runs = std::vector<Bytes>;

// Whether gradients of a format can be reduced so.
Status check_shard_reduction(Context &context, Comm &comm, lpt_format format, const lpt_reduce_options &options);

// Reduces to each rank what is in its runs; `out` takes this rank's, side by side. All are of one format.
Status reduce_shards(Context &context, Comm &comm, lpt_format format, const std::vector<Runs> &runs_of_ranks,
                     const lpt_reduce_options &options, std::byte *out);

// Gives all ranks what is in the runs of each.
Status gather_shards(Context &context, Comm &comm, const std::vector<Runs> &runs_of_ranks);

// Reduces numbers of all ranks in place.
Status reduce_numbers(Context &context, Comm &comm, lpt_format format, void *numbers, int64_t count,
                      lpt_reduction reduction);

}  // namespace lpt
