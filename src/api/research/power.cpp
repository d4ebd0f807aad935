#include "src/calibration/power.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_power_estimate(lpt_context *context, const lpt_power_options *options, double *out_flips) {
  return guard(context, [&](Context &) -> Status {
    lpt_power_options known = LPT_POWER_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_flips, "out_flips"));
    return estimate_power(known, *out_flips);
  });
}

lpt_status lpt_power_quantize(lpt_context *context, const lpt_tensor *weight, double additions, lpt_tensor *output,
                              lpt_power_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_power_info values = LPT_POWER_INFO_INIT;
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(quantize_for_power(self, weight, additions, output, values));
    return out_info == nullptr ? Status() : write_values(values, "out_info", out_info);
  });
}
