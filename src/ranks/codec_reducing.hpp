// Collectives whose numbers are sent by functions of the caller.
#pragma once

#include <string>
#include <vector>

#include "lpt/research/codec.h"
#include "src/ranks/reducing.hpp"

namespace lpt {

struct CodecMoving {
  std::string operation;  // with the codec's name, by which ranks find that they differ
  std::string name;
  lpt_comm_codec codec;                                 // the caller's, copied
  MatrixView input, output;                             // as in ReductionPlan; gathers: output is the whole
  std::vector<Range> shares;                            // of each rank, in elements of the whole
  std::vector<int64_t> bytes;                           // of each share
  const KernelEntry<ReduceRequest> *to_f32, *from_f32;  // the tensors' own format
  bool is_average;
  double factor;
  int64_t rows, columns, choice;  // what else must agree
};

// Checks the codec, whose own functions tell the sizes of shares, and chooses kernels. The other members are set.
Status prepare_codec(Context &context, const lpt_comm_codec &codec, const char *operation, CodecMoving &moving);

// The same for a reduction; `reducing` has been checked, and has the shares of its parts.
Status prepare_codec_reducing(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing,
                              int32_t ranks, bool is_to_all, CodecMoving &out_moving);

Status reduce_to_all_by_codec(Context &worker, Engine &engine, const CodecMoving &moving);
Status reduce_to_parts_by_codec(Context &worker, Engine &engine, const CodecMoving &moving);
Status gather_by_codec(Context &worker, Engine &engine, const CodecMoving &moving);

}  // namespace lpt
