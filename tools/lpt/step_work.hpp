// The operations of a training step, as work that `lpt bench step` times. Each works on several sets of data in turn, as in the
// layers of a model, so that caches hold no more of them than in training.
#pragma once

#include <cstdint>
#include <string>

#include "machine.hpp"
#include "rank_team.hpp"

namespace tool {

// Work on data in memory. One call covers `copies` sets of data.
struct StepWork {
  OperationTime counts;  // of one set
  int copies = 1;
  MakeWork make;
};

struct LinearShape {
  int64_t rows, inputs, outputs;
};
StepWork linear_work(const std::string &recipe, const LinearShape &shape);   // forward and backward
StepWork prepare_work(const std::string &recipe, const LinearShape &shape);  // casts of the weight

struct AttentionShape {
  int64_t batch, heads, positions, width;
};
StepWork attention_work(lpt_format format, const AttentionShape &shape);

struct ElementwiseShape {
  int64_t rows, columns;
};
// `name` is one of kElementwiseNames, `format` that of activations inside blocks.
StepWork elementwise_work(const std::string &name, lpt_format format, const ElementwiseShape &shape);
inline constexpr const char *kElementwiseNames[] = {kRmsnorm, kSwiglu, kRotary, kEmbedding, kCrossEntropy};

// AdamW with the norm of the gradient, for one parameter.
StepWork optimizer_work(lpt_format first_moment, lpt_format second_moment, int64_t elements);

}  // namespace tool
