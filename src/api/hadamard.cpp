#include "src/api/guard.hpp"
#include "src/cast/quantize.hpp"

using namespace lpt;

lpt_status lpt_hadamard(lpt_context *context, const lpt_tensor *source, const lpt_hadamard_options *options,
                        lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_hadamard_options known = LPT_HADAMARD_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return hadamard(self, source, known, output);
  });
}

lpt_status lpt_hadamard_draw_signs(lpt_context *context, const lpt_random *random, lpt_tensor *signs) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(signs, "signs"));
    if (random == nullptr) return invalid("random is NULL: expected where the bits come from");
    return random_signs(self, *random, signs);
  });
}
