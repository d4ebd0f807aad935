// Optimizers whose state is divided over ranks: the partition of parameters, and a step of all ranks.
#pragma once

#include "src/collective/collective.hpp"
#include "src/optimizer/optimizer.hpp"
#include "src/tensor/flat_view.hpp"

namespace lpt {

Status add_shards(Context &context, const Comm &comm, Optimizer &optimizer, const char *const *names,
                  const std::vector<lpt_optimizer_parameter> &wholes, int64_t *out_indices);

// Runs a step. If `reduce` is NULL, the gradients must have the same bits on all ranks.
Status step_shards(Context &context, Comm &comm, Optimizer &optimizer, const int64_t *indices, int64_t count,
                   const Tensor *const *gradients, const lpt_optimizer_step_options &options,
                   const lpt_reduce_options *reduce, Tensor *const *parameters);

// shards_move.cpp: communication of shards.

// Spans of adjacent memory.
using Runs = std::vector<Bytes>;

// Rejects formats and options that the reduction of shards does not support.
Status check_shard_reduction(Context &context, Comm &comm, lpt_format format, const lpt_reduce_options &options);

// Reduces the bytes of the runs of each rank to that rank. `out` receives those of this rank as adjacent elements. All runs
// have one format.
Status reduce_shards(Context &context, Comm &comm, lpt_format format, const std::vector<Runs> &runs_of_ranks,
                     const lpt_reduce_options &options, std::byte *out);

// Sends the bytes of the runs of each rank to all ranks.
Status gather_shards(Context &context, Comm &comm, const std::vector<Runs> &runs_of_ranks);

// All-reduces numbers in place.
Status reduce_numbers(Context &context, Comm &comm, lpt_format format, void *numbers, int64_t count,
                      lpt_reduction reduction);

}  // namespace lpt
