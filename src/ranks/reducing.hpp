// One reduction over ranks: checked views, exchanges of bytes, and sums.
#pragma once

#include <functional>
#include <vector>

#include "kernels/reduce/reduce.hpp"
#include "src/ranks/comm.hpp"
#include "src/tensor/flat_view.hpp"

namespace lpt {

struct ReductionPlan {
  const char *operation;
  MatrixView input, output;  // all_reduce: same shape; reduce_scatter: output is this rank's slice of the input
  Reduction reduction;
  double factor;
  const KernelEntry<ReduceRequest> *kernel;  // of `device`
  std::vector<Range> shares;                 // slice of each rank, in elements of the input
  int64_t site;                              // must agree, so that ranks in different passes are detected
  Device device;
  bool has_native_sum;  // the engine computes the sum of all ranks
};

// Work on this rank's part of a result, one row of adjacent elements, before ranks gather the parts. May be empty.
using PartWork = std::function<Status(Context &worker, const MatrixView &part)>;

Signature signature_of(const ReductionPlan &reducing);

// Returns the value that ranks compare for a factor: its bits, 0 for a factor of 1.
int64_t agreed_factor(double factor);

// Returns a range of `elements` elements for each rank: of equal size, with bounds at multiples of `unit`. The default is one
// cache line of 16-bit elements.
std::vector<Range> equal_shares(int64_t elements, int32_t ranks, int64_t unit = 32);

// Selects a sum kernel of the CPU or of the context's device, which must be `device`, that of the ranks.
Status choose_sum(Context &context, const Device &device, const ReduceRequest &request,
                  const KernelEntry<ReduceRequest> **out_kernel);

// All-reduce: every rank receives the full result. `between` is for ranks on CPUs.
Status reduce_to_all(Context &worker, Engine &engine, const ReductionPlan &reducing, const PartWork &between);

// Reduce-scatter: every rank receives its slice.
Status reduce_to_parts(Context &worker, Engine &engine, const ReductionPlan &reducing);

// Reductions by Engine::sum().
Status reduce_natively(Context &worker, Engine &engine, const ReductionPlan &reducing, bool is_to_all);

}  // namespace lpt
