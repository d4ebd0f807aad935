// Attention in f32, for each instruction set.
#include "kernels/attention/backward.hpp"
#include "kernels/attention/forward.hpp"

namespace lpt {

void LPT_KERNEL(attention_forward)(const AttentionForwardRequest &request) {
  attention_forward<ForwardPanels<FloatWords>>(request);
}

size_t LPT_KERNEL(attention_forward_scratch)(const AttentionForwardRequest &request) {
  return attention_forward_bytes<ForwardPanels<FloatWords>>(request);
}

void LPT_KERNEL(attention_backward)(const AttentionBackwardRequest &request) {
  attention_backward<BackwardPanels<FloatWords>>(request);
}

size_t LPT_KERNEL(attention_backward_scratch)(const AttentionBackwardRequest &request) {
  return attention_backward_bytes<BackwardPanels<FloatWords>>(request);
}

}  // namespace lpt
