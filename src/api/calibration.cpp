#include "src/api/guard.hpp"
#include "src/calibration/fit.hpp"
#include "src/call/operation.hpp"

using namespace lpt;

lpt_status lpt_sparse_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                          const lpt_tensor *inputs, const lpt_sparse_fit_options *options, lpt_tensor *output,
                          lpt_tensor *bias_change, lpt_sparse_fit_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(bias_change, "bias_change"));
    lpt_sparse_fit_options known = LPT_SPARSE_FIT_OPTIONS_INIT;
    lpt_sparse_fit_info values = LPT_SPARSE_FIT_INFO_INIT;
    LPT_TRY(read_options(options, "options", known));
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(fit_sparse(self, weight, mask, inputs, known, output, bias_change, values));
    return out_info == nullptr ? Status() : write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_weights_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *gram,
                           const lpt_weights_fit_options *options, lpt_tensor *output, lpt_tensor *input_factors,
                           lpt_weights_fit_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(input_factors, "input_factors"));
    lpt_weights_fit_options known = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    lpt_weights_fit_info values = LPT_WEIGHTS_FIT_INFO_INIT;
    LPT_TRY(read_options(options, "options", known));
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(fit_weights(self, weight, gram, known, output, input_factors, values));
    if (out_info == nullptr || is_check_only(known.flags)) return {};
    return write_values(values, "out_info", out_info);
  });
}
