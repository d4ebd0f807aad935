#include "src/nn/softmax.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_softmax_forward(lpt_context *context, const lpt_tensor *input, const lpt_softmax_options *options,
                               lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_softmax_options known = LPT_SOFTMAX_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return softmax_forward(self, input, known, output);
  });
}

lpt_status lpt_exaq_softmax_forward(lpt_context *context, const lpt_tensor *input, const lpt_exaq_options *options,
                                    lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_exaq_options known = LPT_EXAQ_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return exaq_softmax_forward(self, input, known, output);
  });
}

lpt_status lpt_softmax_backward(lpt_context *context, const lpt_tensor *output, const lpt_tensor *output_gradient,
                                const lpt_softmax_options *options, lpt_tensor *input_gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(input_gradient, "input_gradient"));
    lpt_softmax_options known = LPT_SOFTMAX_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return softmax_backward(self, output, output_gradient, known, input_gradient);
  });
}
