#include "src/nn/cross_entropy.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

namespace {

Status read_call(const lpt_cross_entropy_options *options, lpt_cross_entropy_options &known) {
  LPT_TRY(read_options(options, "options", known));
  return known.comm == nullptr ? Status() : check_handle(known.comm, HandleKind::kComm, "options->comm");
}

}  // namespace

lpt_status lpt_cross_entropy_forward(lpt_context *context, const lpt_tensor *logits, const lpt_tensor *targets,
                                     const lpt_cross_entropy_options *options, lpt_tensor *loss, lpt_tensor *log_sums) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(loss, "loss"));
    LPT_TRY(check_writable(log_sums, "log_sums"));
    lpt_cross_entropy_options known = LPT_CROSS_ENTROPY_OPTIONS_INIT;
    LPT_TRY(read_call(options, known));
    return cross_entropy_forward(self, logits, targets, known, loss, log_sums);
  });
}

lpt_status lpt_cross_entropy_backward(lpt_context *context, const lpt_tensor *logits, const lpt_tensor *targets,
                                      const lpt_tensor *log_sums, const lpt_tensor *loss_gradient,
                                      const lpt_cross_entropy_options *options, lpt_tensor *logits_gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(logits_gradient, "logits_gradient"));
    lpt_cross_entropy_options known = LPT_CROSS_ENTROPY_OPTIONS_INIT;
    LPT_TRY(read_call(options, known));
    return cross_entropy_backward(self, logits, targets, log_sums, loss_gradient, known, logits_gradient);
  });
}
