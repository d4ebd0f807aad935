// One reduction over ranks whose elements are cast to a wire format for the transfer.
#pragma once

#include "src/ranks/wire.hpp"

namespace lpt {

struct WireReductionPlan {
  const char *operation;
  Wire wire;
  MatrixView input, output;  // as in ReductionPlan
  Reduction reduction;
  double factor;
  const KernelEntry<ReduceRequest> *kernel;         // sums f32 to the tensor's format
  const KernelEntry<ReduceRequest> *kernel_to_f32;  // on the CPU: sums f32 to f32
  std::vector<Range> shares;                        // slice of each rank, in elements of the input
  int64_t site;                                     // as in ReductionPlan
  Device device;                                    // as in ReductionPlan
};

Signature signature_of(const WireReductionPlan &reducing);

// Returns the bytes of the full tensor in the wire format.
int64_t wire_bytes(const WireReductionPlan &reducing);

// All-reduce. One shot: every rank sends its full input to all. Two shots: ranks receive their slices, then send the sums to
// all. `between` gets f32 and is for ranks on CPUs.
Status reduce_in_one_shot(Context &worker, Engine &engine, const WireReductionPlan &reducing);
Status reduce_in_two_shots(Context &worker, Engine &engine, const WireReductionPlan &reducing, const PartWork &between);

// Reduce-scatter: every rank receives its slice.
Status reduce_wire_to_parts(Context &worker, Engine &engine, const WireReductionPlan &reducing);

}  // namespace lpt
