// Kernel functions of this family, for its kernel tables.
#pragma once

#include "kernels/activation/activation.hpp"
#include "kernels/common/simd_entries.hpp"

namespace lpt {

// The visible columns of a row: all, or the last of `window` up to t + S - T.
struct VisibleColumns {
  int64_t begin, end;
};

static inline VisibleColumns visible_columns(const SoftmaxForwardRequest &request, int64_t row) {
  const int64_t columns = request.input.columns;
  if (!request.is_causal) return {0, columns};
  const auto clamp = [columns](int64_t column) { return column < 0 ? 0 : column > columns ? columns : column; };
  const int64_t end = (request.first_row + row) % request.period + columns - request.period + 1;
  return {request.window == 0 ? 0 : clamp(end - request.window), clamp(end)};
}

void swiglu_forward_any_ref(const SwigluForwardRequest &request);
void swiglu_backward_any_ref(const SwigluBackwardRequest &request);
void rmsnorm_forward_any_ref(const RmsnormForwardRequest &request);
void rmsnorm_backward_any_ref(const RmsnormBackwardRequest &request);
void rotary_table_any_ref(const RotaryTableRequest &request);
void rotary_any_ref(const RotaryRequest &request);
void softmax_forward_any_ref(const SoftmaxForwardRequest &request);
void softmax_exaq_ref(const SoftmaxExaqRequest &request);
void softmax_backward_any_ref(const SoftmaxBackwardRequest &request);
void cross_entropy_sums_any_ref(const CrossEntropySumsRequest &request);
void cross_entropy_gradient_any_ref(const CrossEntropyGradientRequest &request);
void embedding_gradient_any_ref(const EmbeddingGradientRequest &request);
void finish_any_ref(const EpilogueRequest &request);

LPT_DECLARE_SIMD(swiglu_forward, SwigluForwardRequest)
LPT_DECLARE_SIMD(swiglu_backward, SwigluBackwardRequest)
LPT_DECLARE_SIMD(rmsnorm_forward, RmsnormForwardRequest)
LPT_DECLARE_SIMD(rmsnorm_backward, RmsnormBackwardRequest)
LPT_DECLARE_SIMD(rotary_table, RotaryTableRequest)
LPT_DECLARE_SIMD(rotary, RotaryRequest)
LPT_DECLARE_SIMD(softmax_forward, SoftmaxForwardRequest)
LPT_DECLARE_SIMD(softmax_exaq, SoftmaxExaqRequest)
LPT_DECLARE_SIMD(softmax_backward, SoftmaxBackwardRequest)
LPT_DECLARE_SIMD(cross_entropy_sums, CrossEntropySumsRequest)
LPT_DECLARE_SIMD(cross_entropy_gradient, CrossEntropyGradientRequest)
LPT_DECLARE_SIMD(embedding_gradient, EmbeddingGradientRequest)
LPT_DECLARE_SIMD(finish, EpilogueRequest)

}  // namespace lpt
