// Merges the results of attention over two sets of keys. Scalar loops suffice: they are linear in the width, attention is
// linear in the width times the keys.
#pragma once

#include <cstdint>

#include "lpt.h"

namespace lpt {

// Rows of `width` adjacent elements of `format`, f32 or f64, with the log of the sum of each row.
struct AttentionMerge {
  lpt_format format;
  int64_t rows, width;
  const void *part, *part_log_sums;
  void *output, *log_sums;
};

// output = (exp(log_sum) · output + exp(part_log_sum) · part) / (exp(log_sum) + exp(part_log_sum)), and the log of that sum. Both
// terms are divided by the larger exp. A row without a key in either set keeps zeros.
void merge_attention(const AttentionMerge &merge);

// Multiplies rows of dense probabilities over some keys by exp(log_sum - whole_log_sum), which makes them probabilities over all
// keys.
struct AttentionRescale {
  lpt_format format;
  int64_t rows, keys;
  const void *log_sums, *whole_log_sums;
  void *probabilities;
};
void rescale_probabilities(const AttentionRescale &rescale);

// gradient = scale · probability · (gradient - Σ output · output_gradient), where the sum is over the width of a row.
struct AttentionScoreGradient {
  lpt_format format;
  int64_t rows, keys, width;
  double scale;
  const void *probabilities, *output, *output_gradient;
  void *gradient;
};
void apply_score_gradient(const AttentionScoreGradient &request);

// Adds `more` to `sum`, elements of f32 or f64.
void add_gradients(lpt_format format, int64_t elements, const void *more, void *sum);

}  // namespace lpt
