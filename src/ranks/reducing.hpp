// One reduction over ranks, from checked views to bytes on the way and sums.
#pragma once

#include <vector>

#include "kernels/reduce/reduce.hpp"
#include "src/ranks/comm.hpp"
#include "src/tensor/flat_view.hpp"

namespace lpt {

struct ReductionPlan {
  const char *operation;
  MatrixView input, output;  // all_reduce: of one shape; reduce_scatter: output is this rank's part of the input
  Reduction reduction;
  double factor;
  const KernelEntry<ReduceRequest> *kernel;  // of `device`
  std::vector<Range> shares;                 // of each rank, in elements of the input
  int64_t site;                              // what else must agree: ranks in different passes are reported apart
  Device device;
  bool has_native_sum;  // of all ranks, by the engine
};

Signature signature_of(const ReductionPlan &reducing);

// A number that ranks compare: 0 for a factor of 1.
int64_t agreed_factor(double factor);

// The element ranges that ranks reduce, of `elements`: equal, and cut at multiples of `unit`, here those of a cache line.
std::vector<Range> equal_shares(int64_t elements, int32_t ranks, int64_t unit = 32);

// A kernel for sums, of the CPU or of the context's device, which has to be that of the ranks.
Status choose_sum(Context &context, const Device &device, const ReduceRequest &request,
                  const KernelEntry<ReduceRequest> **out_kernel);

// Every rank gets the whole.
Status reduce_to_all(Context &worker, Engine &engine, const ReductionPlan &reducing);

// Every rank gets its share.
Status reduce_to_parts(Context &worker, Engine &engine, const ReductionPlan &reducing);

// By the sums of the engine.
Status reduce_natively(Context &worker, Engine &engine, const ReductionPlan &reducing, bool is_to_all);

}  // namespace lpt
