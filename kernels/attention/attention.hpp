// Fused attention: output = softmax(scale · query · key^T + mask) · value, and its gradients. Accuracy class: bounded
// (docs/reference/numerics.md). Sums are in f32, in an order that depends only on the shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// A matrix of batch × heads × positions × width with adjacent columns. Strides are in elements.
struct AttentionMatrix {
  void *data;  // NULL: no matrix
  lpt_format format;
  int64_t batch_stride, head_stride, row_stride;
};

// If is_causal, query q of Q attends to the keys from max(0, p + 1 - window) to p = q + K - Q. Otherwise it attends to all
// keys.
struct AttentionShape {
  int64_t batch, key_heads, group;  // group: query heads per key head
  int64_t queries, keys;
  int64_t width, value_width;
  double scale;  // above 0
  bool is_causal;
  int64_t window;  // keys + queries or more: no limit
};

// The work is split into units, numbered along batch, key heads, and blocks of lanes. A lane is one query of one of the heads
// that share a key head: lane = query · group + head.
struct AttentionForwardRequest {
  AttentionShape shape;
  AttentionMatrix query, key, value, output;
  AttentionMatrix mask;      // queries × keys per head, added to scale · query · key
  AttentionMatrix log_sums;  // queries × 1 per head, f32: log of the sum of exp(scale · query · key + mask)
  bool has_slow_dots;        // see KernelOptions
  int64_t first_unit, units;
  std::byte *scratch;  // aligned to 64 bytes
};

// The gradients of query, key and value. With p = exp(scale · query · key + mask - log_sums):
//   value_gradient = p^T · output_gradient
//   s = p · (output_gradient · value^T - row sums of output · output_gradient)
//   query_gradient = scale · s · key,  key_gradient = scale · s^T · query
// The work is split into key heads, numbered along batch and key heads.
struct AttentionBackwardRequest {
  AttentionForwardRequest forward;  // all of its units; output and log_sums are read
  AttentionMatrix output_gradient;
  AttentionMatrix query_gradient, key_gradient, value_gradient;
  int64_t first_head, heads;
  std::byte *scratch;  // aligned to 64 bytes
};

std::span<const KernelEntry<AttentionForwardRequest>> attention_forward_kernels();
std::span<const KernelEntry<AttentionBackwardRequest>> attention_backward_kernels();

constexpr int64_t kAttentionLanes = 32;

static inline int64_t attention_blocks(const AttentionShape &shape) {
  return (shape.queries * shape.group + kAttentionLanes - 1) / kAttentionLanes;
}

static inline int64_t attention_units(const AttentionShape &shape) {
  return shape.batch * shape.key_heads * attention_blocks(shape);
}

}  // namespace lpt
