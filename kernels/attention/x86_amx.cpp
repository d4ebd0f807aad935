// Attention in bf16 by AMX.
#include "kernels/attention/forward.hpp"
#include "kernels/attention/tiles.hpp"

namespace lpt {

void attention_forward_x86_amx(const AttentionForwardRequest &request) {
  const AmxTileConfig tiles;
  attention_forward<ForwardTiles>(request);
}

size_t attention_forward_scratch_x86_amx(const AttentionForwardRequest &request) {
  return attention_forward_bytes<ForwardTiles>(request);
}

void attention_backward_x86_amx(const AttentionBackwardRequest &request) {
  const AmxTileConfig tiles;
  attention_backward<BackwardTiles>(request);
}

size_t attention_backward_scratch_x86_amx(const AttentionBackwardRequest &request) {
  return attention_backward_bytes<BackwardTiles>(request);
}

}  // namespace lpt
