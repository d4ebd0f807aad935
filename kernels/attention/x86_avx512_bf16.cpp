// Attention by instructions that multiply pairs of bf16.
#include "kernels/attention/backward.hpp"
#include "kernels/attention/forward.hpp"
#include "kernels/attention/pair_words.hpp"

namespace lpt {

void attention_forward_x86_avx512_bf16(const AttentionForwardRequest &request) {
  attention_forward<ForwardPanels<PairWords>>(request);
}

size_t attention_forward_scratch_x86_avx512_bf16(const AttentionForwardRequest &request) {
  return attention_forward_bytes<ForwardPanels<PairWords>>(request);
}

void attention_backward_x86_avx512_bf16(const AttentionBackwardRequest &request) {
  attention_backward<BackwardPanels<PairWords>>(request);
}

size_t attention_backward_scratch_x86_avx512_bf16(const AttentionBackwardRequest &request) {
  return attention_backward_bytes<BackwardPanels<PairWords>>(request);
}

}  // namespace lpt
