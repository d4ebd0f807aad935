// Tensor scales of casts on a device by the rules that read more of a matrix than its amax: MEAN, SAWB, MSE.
#pragma once

#include "src/cast/cast.hpp"

namespace lpt {

inline bool is_fitted_rule(const QuantizeRequest &request) {
  return !request.target.format.has_block_scale() &&
         (request.rule == LPT_SCALE_RULE_MEAN || request.rule == LPT_SCALE_RULE_SAWB ||
          request.rule == LPT_SCALE_RULE_MSE);
}

// Behind the scale of `amax`, which is on the device, and takes its place. `source` is the caller's, the request's what the
// kernel reads.
Status fit_tensor_scale(Context &context, const MatrixView &source, const QuantizeRequest &request, const Cast &cast,
                        const float *amax, bool is_check_only);

}  // namespace lpt
