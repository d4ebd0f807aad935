#include "src/collective/drop_compute.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_drop_compute_fit(lpt_context *context, const double *seconds, int32_t ranks, int64_t steps,
                                int32_t micro_batches, double serial_seconds, double threshold_seconds,
                                lpt_drop_compute_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_values(out_info, "out_info"));
    lpt_drop_compute_info values = LPT_DROP_COMPUTE_INFO_INIT;
    LPT_TRY(fit_threshold({seconds, ranks, steps, micro_batches}, serial_seconds, threshold_seconds, values));
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_drop_compute_estimate(lpt_context *context, int32_t ranks, int32_t micro_batches, double mean_seconds,
                                     double deviation_seconds, double serial_seconds, double threshold_seconds,
                                     lpt_drop_compute_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_values(out_info, "out_info"));
    lpt_drop_compute_info values = LPT_DROP_COMPUTE_INFO_INIT;
    LPT_TRY(estimate_threshold({ranks, micro_batches, mean_seconds, deviation_seconds}, serial_seconds,
                               threshold_seconds, values));
    return write_values(values, "out_info", out_info);
  });
}
