#include "src/linear/monitor.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_noise_measure(lpt_context *context, const lpt_tensor *const *gradients, const lpt_tensor *const *noisy,
                             int64_t count, const lpt_noise_options *options, lpt_noise_info *out_info) {
  return guard(context, [&](Context &worker) -> Status {
    lpt_noise_options known = LPT_NOISE_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_info, "out_info"));
    lpt_noise_info values = LPT_NOISE_INFO_INIT;
    LPT_TRY(measure_noise(worker, gradients, noisy, count, known, values));
    return is_check_only(known.flags) ? Status() : write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_swiglu_alignment(lpt_context *context, const lpt_tensor *gate_weight, const lpt_tensor *up_weight,
                                lpt_tensor *cosines, lpt_swiglu_alignment_info *out_info) {
  return guard(context, [&](Context &worker) -> Status {
    LPT_TRY(check_writable(cosines, "cosines"));
    LPT_TRY(check_out(out_info, "out_info"));
    lpt_swiglu_alignment_info values = LPT_SWIGLU_ALIGNMENT_INFO_INIT;
    LPT_TRY(measure_alignment(worker, gate_weight, up_weight, cosines, values));
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_monitor_create(lpt_context *context, lpt_monitor **out_monitor) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_out(out_monitor, "out_monitor"));
    *out_monitor = new Monitor();
    return {};
  });
}

void lpt_monitor_destroy(lpt_monitor *monitor) { destroy(monitor, HandleKind::kMonitor); }

lpt_status lpt_monitor_record(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                              double value) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(monitor, HandleKind::kMonitor, "monitor"));
    return record_number(*monitor, step, name, value);
  });
}

lpt_status lpt_monitor_record_linear(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                     const lpt_linear *linear) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(monitor, HandleKind::kMonitor, "monitor"));
    LPT_TRY(check_handle(linear, HandleKind::kLinear, "linear"));
    return record_linear(self, *monitor, step, name, *linear);
  });
}

lpt_status lpt_monitor_record_statistics(lpt_context *context, lpt_monitor *monitor, int64_t step, const char *name,
                                         const lpt_statistics *statistics) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(monitor, HandleKind::kMonitor, "monitor"));
    LPT_TRY(check_handle(statistics, HandleKind::kStatistics, "statistics"));
    return record_statistics(self, *monitor, step, name, *statistics);
  });
}

lpt_status lpt_monitor_count(lpt_context *context, const lpt_monitor *monitor, int64_t *out_count) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(monitor, HandleKind::kMonitor, "monitor"));
    LPT_TRY(check_out(out_count, "out_count"));
    *out_count = static_cast<int64_t>(monitor->entries.size());
    return {};
  });
}

lpt_status lpt_monitor_save(lpt_context *context, const lpt_monitor *monitor, const char *path) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(monitor, HandleKind::kMonitor, "monitor"));
    return save_monitor(*monitor, path);
  });
}
