// Rotates the states of a model, so that inputs of linear layers have smaller outliers.
#pragma once

#include "weights.hpp"

namespace run_lm {

// Returns f32 weights with the same logits. The embedding, and the rows of the output layer of attention and of down, are rotated by
// a Hadamard matrix, and the columns of the matrices that read them as well. So are the values of each head. Gains of norms become
// 1: the columns after them are multiplied by them, so that the head is no longer the embedding (QuaRot, arXiv 2404.00456).
ModelWeights rotate_weights(lpt_context *context, const ModelConfig &config, ModelWeights weights);

}  // namespace run_lm
