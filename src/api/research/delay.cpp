#include "src/optimizer/delay.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_delay_compensate(lpt_context *context, const lpt_tensor *const *own, const lpt_tensor *const *mean,
                                int64_t count, const lpt_delay_options *options, lpt_tensor *const *gradients) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(gradients, count, "gradients"));
    lpt_delay_options known = LPT_DELAY_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return compensate_delay(self, own, mean, count, known, gradients);
  });
}
