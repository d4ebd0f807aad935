// Sequence parallelism: ranks split the rows of activations outside of attention and MLP.
#pragma once

#include "src/collective/collective.hpp"
#include "src/parallel/partial.hpp"

namespace lpt {

// `plan` may be NULL in both functions.
Status sequence_gather(Context &context, Comm &comm, const PartialPlan *plan, const Tensor *input,
                       const int64_t *row_counts, Tensor *output, Future **out_future);
Status sequence_scatter(Context &context, Comm &comm, const PartialPlan *plan, lpt_partial_pass pass,
                        const Tensor *input, const int64_t *row_counts, Tensor *output, Future **out_future);

}  // namespace lpt
