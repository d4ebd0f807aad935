#include "src/nn/swiglu.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_swiglu_forward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                              const lpt_swiglu_options *options, lpt_tensor *output, lpt_tensor *smoothing) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(smoothing, "smoothing"));
    lpt_swiglu_options known = LPT_SWIGLU_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return swiglu_forward(self, gate, up, known, output, smoothing);
  });
}

lpt_status lpt_swiglu_backward(lpt_context *context, const lpt_tensor *gate, const lpt_tensor *up,
                               const lpt_tensor *output_gradient, const lpt_swiglu_options *options,
                               lpt_tensor *gate_gradient, lpt_tensor *up_gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(gate_gradient, "gate_gradient"));
    LPT_TRY(check_writable(up_gradient, "up_gradient"));
    lpt_swiglu_options known = LPT_SWIGLU_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return swiglu_backward(self, gate, up, output_gradient, known, gate_gradient, up_gradient);
  });
}
