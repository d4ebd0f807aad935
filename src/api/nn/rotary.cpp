#include "src/nn/rotary.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_rotary_frequencies(lpt_context *context, const lpt_rotary_scaling *options, lpt_tensor *frequencies) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(frequencies, "frequencies"));
    lpt_rotary_scaling known = LPT_ROTARY_SCALING_INIT;
    LPT_TRY(read_options(options, "options", known));
    return rotary_frequencies(self, known, frequencies);
  });
}

lpt_status lpt_rotary(lpt_context *context, const lpt_tensor *input, const lpt_tensor *frequencies,
                      const lpt_rotary_options *options, lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_rotary_options known = LPT_ROTARY_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return rotary(self, input, frequencies, known, output);
  });
}
