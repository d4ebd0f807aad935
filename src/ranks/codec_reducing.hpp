// Collectives whose payloads are encoded and decoded by functions of the caller.
#pragma once

#include <string>
#include <vector>

#include "lpt/research/codec.h"
#include "src/ranks/reducing.hpp"

namespace lpt {

struct CodecPlan {
  std::string operation;  // contains the codec's name, so that ranks with different codecs disagree
  std::string name;
  lpt_comm_codec codec;                                 // copy of the caller's codec
  MatrixView input, output;                             // as in ReductionPlan; gathers: output is the full tensor
  std::vector<Range> shares;                            // slice of each rank, in elements of the full tensor
  std::vector<int64_t> bytes;                           // encoded bytes of each slice
  const KernelEntry<ReduceRequest> *to_f32, *from_f32;  // between f32 and the tensors' format
  bool is_average;
  double factor;
  int64_t rows, columns, choice;  // other values that must agree
};

// Checks the codec, computes the encoded bytes of slices with its bytes_for(), and selects kernels. The other members are set.
Status prepare_codec(Context &context, const lpt_comm_codec &codec, const char *operation, CodecPlan &moving);

// The same for a reduction. `reducing` has been checked; its slices are those of a reduce-scatter.
Status prepare_codec_reducing(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing,
                              int32_t ranks, bool is_to_all, CodecPlan &out_moving);

// `between` gets f32.
Status reduce_to_all_by_codec(Context &worker, Engine &engine, const CodecPlan &moving, const PartWork &between);
Status reduce_to_parts_by_codec(Context &worker, Engine &engine, const CodecPlan &moving);
Status gather_by_codec(Context &worker, Engine &engine, const CodecPlan &moving);

}  // namespace lpt
