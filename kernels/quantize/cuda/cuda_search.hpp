// Block scales that a cast takes as they are, because a kernel before it has found them.
#pragma once

#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {

// Whether the rule reads more of a block than its amax.
inline bool is_searched(const QuantizeRequest &request) {
  return request.rule != LPT_SCALE_RULE_FIXED && !is_rule_of_amax(request.rule) &&
         request.target.format.block_scale != LPT_FORMAT_NONE;
}

// Of such rules, along rows. A NaN counts for nothing here: the cast tells of it.
void search_scales_cuda(const QuantizeRequest &request, void *stream);

}  // namespace lpt
