// Tensor scales of casts on a device by rules that read more than the amax of a matrix: MEAN, SAWB, MSE.
#pragma once

#include "src/cast/cast.hpp"

namespace lpt {

inline bool is_fitted_rule(const QuantizeRequest &request) {
  return !request.target.format.has_block_scale() &&
         (request.rule == LPT_SCALE_RULE_MEAN || request.rule == LPT_SCALE_RULE_SAWB ||
          request.rule == LPT_SCALE_RULE_MSE);
}

// Replaces the tensor scale that was computed from `amax`. `amax` is in device memory. `source` is that of the caller,
// request.source is the matrix that the kernel reads.
Status fit_tensor_scale(Context &context, const MatrixView &source, const QuantizeRequest &request, const Cast &cast,
                        const float *amax, bool is_check_only);

}  // namespace lpt
