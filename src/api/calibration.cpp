#include "src/calibration/calibration.hpp"

#include "src/api/guard.hpp"
#include "src/calibration/fit.hpp"
#include "src/call/operation.hpp"

using namespace lpt;

lpt_status lpt_sparse_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask,
                          const lpt_tensor *inputs, const lpt_sparse_fit_options *options, lpt_tensor *output,
                          lpt_tensor *bias_change, lpt_sparse_fit_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(bias_change, "bias_change"));
    lpt_sparse_fit_options known = LPT_SPARSE_FIT_OPTIONS_INIT;
    lpt_sparse_fit_info values = LPT_SPARSE_FIT_INFO_INIT;
    LPT_TRY(read_options(options, "options", known));
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(fit_sparse(self, weight, mask, inputs, known, output, bias_change, values));
    return out_info == nullptr ? Status() : write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_weights_fit(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *gram,
                           const lpt_weights_fit_options *options, lpt_tensor *output, lpt_tensor *input_factors,
                           lpt_tensor *bias_change, lpt_weights_fit_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_writable(input_factors, "input_factors"));
    LPT_TRY(check_writable(bias_change, "bias_change"));
    lpt_weights_fit_options known = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    lpt_weights_fit_info values = LPT_WEIGHTS_FIT_INFO_INIT;
    LPT_TRY(read_options(options, "options", known));
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(fit_weights(self, weight, gram, known, output, input_factors, bias_change, values));
    if (out_info == nullptr || is_check_only(known.flags)) return {};
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_format_choose(lpt_context *context, const double *errors, const int64_t *bytes, int64_t tensor_count,
                             int64_t candidate_count, int64_t budget_bytes, int64_t *out_choices,
                             lpt_format_choose_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    lpt_format_choose_info values = LPT_FORMAT_CHOOSE_INFO_INIT;
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(choose_formats({errors, bytes, tensor_count, candidate_count}, budget_bytes, out_choices, values));
    return out_info == nullptr ? Status() : write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_calibration_create(lpt_context *context, int64_t columns, const lpt_calibration_options *options,
                                  lpt_calibration **out_calibration) {
  return guard(context, [&](Context &) -> Status {
    lpt_calibration_options known = LPT_CALIBRATION_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_calibration, "out_calibration"));
    return create_calibration(columns, known, out_calibration);
  });
}

void lpt_calibration_destroy(lpt_calibration *calibration) { destroy(calibration, HandleKind::kCalibration); }

lpt_status lpt_calibration_add(lpt_context *context, lpt_calibration *calibration, const lpt_tensor *inputs,
                               const lpt_tensor *reference) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(calibration, HandleKind::kCalibration, "calibration"));
    return add_inputs(self, *calibration, inputs, reference);
  });
}

lpt_status lpt_calibration_all_reduce(lpt_context *context, lpt_comm *comm, lpt_calibration *calibration) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_handle(calibration, HandleKind::kCalibration, "calibration"));
    return all_reduce_calibration(self, *comm, *calibration);
  });
}

lpt_status lpt_calibration_read(lpt_context *context, const lpt_calibration *calibration, lpt_calibration_value value,
                                lpt_tensor *output) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_handle(calibration, HandleKind::kCalibration, "calibration"));
    return read_calibration(*calibration, value, output);
  });
}

lpt_status lpt_calibration_describe(lpt_context *context, const lpt_calibration *calibration,
                                    lpt_calibration_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(calibration, HandleKind::kCalibration, "calibration"));
    return write_values(describe_calibration(*calibration), "out_info", out_info);
  });
}

lpt_status lpt_calibration_percentile(lpt_context *context, const lpt_calibration *calibration, double share,
                                      double *out_magnitude) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(calibration, HandleKind::kCalibration, "calibration"));
    LPT_TRY(check_out(out_magnitude, "out_magnitude"));
    return find_percentile(*calibration, share, *out_magnitude);
  });
}
