#include "src/nn/rmsnorm.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

void lpt_rmsnorm_options_init(lpt_rmsnorm_options *options, size_t struct_size) {
  write_defaults(options, struct_size, LPT_RMSNORM_OPTIONS_INIT);
}

lpt_status lpt_rmsnorm_forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                               const lpt_rmsnorm_options *options, lpt_tensor *output, lpt_tensor *inverse_rms) {
  return guard(context, [&](Context &self) -> Status {
    lpt_rmsnorm_options known = LPT_RMSNORM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return rmsnorm_forward(self, input, weight, known, output, inverse_rms);
  });
}

lpt_status lpt_rmsnorm_forward_sum(lpt_context *context, const lpt_tensor *residual, const lpt_tensor *branch,
                                   const lpt_tensor *weight, const lpt_rmsnorm_options *options, lpt_tensor *sum,
                                   lpt_tensor *output, lpt_tensor *inverse_rms) {
  return guard(context, [&](Context &self) -> Status {
    lpt_rmsnorm_options known = LPT_RMSNORM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return rmsnorm_forward_sum(self, residual, branch, weight, known, sum, output, inverse_rms);
  });
}

lpt_status lpt_rmsnorm_backward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                const lpt_tensor *inverse_rms, const lpt_tensor *output_gradient,
                                const lpt_rmsnorm_options *options, lpt_tensor *input_gradient,
                                lpt_tensor *weight_gradient) {
  return guard(context, [&](Context &self) -> Status {
    lpt_rmsnorm_options known = LPT_RMSNORM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return rmsnorm_backward(self, input, weight, inverse_rms, output_gradient, known, input_gradient, weight_gradient);
  });
}
