// Block scales that a kernel computes before the cast.
#pragma once

#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// Returns whether the rule reads more of a block than its amax.
inline bool is_searched(const QuantizeRequest &request) {
  return request.rule != LPT_SCALE_RULE_FIXED && !is_rule_of_amax(request.rule) &&
         request.target.format.block_scale != LPT_FORMAT_NONE;
}

// Computes and stores block scales of such rules, for blocks along rows. It ignores NaNs and infinities; the cast sets the
// scale of a block with a NaN to NaN.
void search_scales_cuda(const QuantizeRequest &request, void *stream);

}  // namespace lpt
