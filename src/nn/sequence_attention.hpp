// Attention over a sequence whose positions are divided among ranks.
#pragma once

#include "lpt/partial.h"
#include "src/nn/attention.hpp"
#include "src/ranks/comm.hpp"

namespace lpt {

// The ranks of a call; either comm may be NULL.
struct SequenceRanks {
  Comm *ring, *heads;
};

Status sequence_attention_forward(Context &context, const SequenceRanks &ranks, const AttentionInputs &inputs,
                                  const lpt_sequence_attention_options &options, Tensor *output);
Status sequence_attention_backward(Context &context, const SequenceRanks &ranks, const AttentionInputs &inputs,
                                   const Tensor *output_gradient, const lpt_sequence_attention_options &options,
                                   const AttentionGradients &gradients);

}  // namespace lpt
