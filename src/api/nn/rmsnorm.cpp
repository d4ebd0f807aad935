#include "src/nn/rmsnorm.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_rmsnorm_forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                               const lpt_rmsnorm_options *options, lpt_tensor *output, lpt_tensor *inverse_rms) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(inverse_rms, "inverse_rms"));
    lpt_rmsnorm_options known = LPT_RMSNORM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return rmsnorm_forward(self, input, weight, known, output, inverse_rms);
  });
}

lpt_status lpt_rmsnorm_forward_sum(lpt_context *context, const lpt_tensor *residual, const lpt_tensor *branch,
                                   const lpt_tensor *weight, const lpt_rmsnorm_options *options, lpt_tensor *sum,
                                   lpt_tensor *output, lpt_tensor *inverse_rms) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(sum, "sum"));
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(inverse_rms, "inverse_rms"));
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
    LPT_TRY(check_writable(input_gradient, "input_gradient"));
    LPT_TRY(check_writable(weight_gradient, "weight_gradient"));
    lpt_rmsnorm_options known = LPT_RMSNORM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return rmsnorm_backward(self, input, weight, inverse_rms, output_gradient, known, input_gradient, weight_gradient);
  });
}

lpt_status lpt_layernorm_forward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                 const lpt_tensor *bias, const lpt_layernorm_options *options, lpt_tensor *output,
                                 lpt_tensor *mean, lpt_tensor *inverse_deviation) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(mean, "mean"));
    LPT_TRY(check_writable(inverse_deviation, "inverse_deviation"));
    lpt_layernorm_options known = LPT_LAYERNORM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return layernorm_forward(self, input, weight, bias, known, output, mean, inverse_deviation);
  });
}

lpt_status lpt_layernorm_backward(lpt_context *context, const lpt_tensor *input, const lpt_tensor *weight,
                                  const lpt_tensor *mean, const lpt_tensor *inverse_deviation,
                                  const lpt_tensor *output_gradient, const lpt_layernorm_options *options,
                                  lpt_tensor *input_gradient, lpt_tensor *weight_gradient, lpt_tensor *bias_gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(input_gradient, "input_gradient"));
    LPT_TRY(check_writable(weight_gradient, "weight_gradient"));
    LPT_TRY(check_writable(bias_gradient, "bias_gradient"));
    lpt_layernorm_options known = LPT_LAYERNORM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return layernorm_backward(self, input, weight, mean, inverse_deviation, output_gradient, known, input_gradient,
                              weight_gradient, bias_gradient);
  });
}
