#include "src/nn/cross_entropy.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

namespace {

Status read_call(const lpt_cross_entropy_options *options, lpt_cross_entropy_options &known) {
  LPT_TRY(read_options(options, "options", known));
  return known.comm == nullptr ? Status() : check_handle(known.comm, HandleKind::kComm, "options->comm");
}

}  // namespace

void lpt_cross_entropy_options_init(lpt_cross_entropy_options *options, size_t struct_size) {
  write_defaults(options, struct_size, LPT_CROSS_ENTROPY_OPTIONS_INIT);
}

lpt_status lpt_cross_entropy_forward(lpt_context *context, const lpt_tensor *logits, const int64_t *targets,
                                     const lpt_cross_entropy_options *options, lpt_tensor *loss, lpt_tensor *log_sums) {
  return guard(context, [&](Context &self) -> Status {
    lpt_cross_entropy_options known = LPT_CROSS_ENTROPY_OPTIONS_INIT;
    LPT_TRY(read_call(options, known));
    return cross_entropy_forward(self, logits, targets, known, loss, log_sums);
  });
}

lpt_status lpt_cross_entropy_backward(lpt_context *context, const lpt_tensor *logits, const int64_t *targets,
                                      const lpt_tensor *log_sums, const lpt_tensor *loss_gradient,
                                      const lpt_cross_entropy_options *options, lpt_tensor *logits_gradient) {
  return guard(context, [&](Context &self) -> Status {
    lpt_cross_entropy_options known = LPT_CROSS_ENTROPY_OPTIONS_INIT;
    LPT_TRY(read_call(options, known));
    return cross_entropy_backward(self, logits, targets, log_sums, loss_gradient, known, logits_gradient);
  });
}
