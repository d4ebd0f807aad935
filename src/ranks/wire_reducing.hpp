// One reduction over ranks whose numbers are cast for the transfer.
#pragma once

#include "src/ranks/wire.hpp"

namespace lpt {

struct WireReductionPlan {
  const char *operation;
  Wire wire;
  MatrixView input, output;  // as in ReductionPlan
  Reduction reduction;
  double factor;
  const KernelEntry<ReduceRequest> *kernel;         // sums of f32 in the tensor's format
  const KernelEntry<ReduceRequest> *kernel_to_f32;  // on the CPU: sums of f32
  std::vector<Range> shares;                        // of each rank, in elements of the input
  int64_t site;                                     // as in ReductionPlan
  Device device;                                    // as in ReductionPlan
};

Signature signature_of(const WireReductionPlan &reducing);

// Bytes that a tensor takes on the wire.
int64_t wire_bytes(const WireReductionPlan &reducing);

// Every rank gets the whole: all inputs go to all, or shares go to their ranks and what became of them to all.
Status reduce_in_one_shot(Context &worker, Engine &engine, const WireReductionPlan &reducing);
Status reduce_in_two_shots(Context &worker, Engine &engine, const WireReductionPlan &reducing);

// Every rank gets its share.
Status reduce_wire_to_parts(Context &worker, Engine &engine, const WireReductionPlan &reducing);

}  // namespace lpt
