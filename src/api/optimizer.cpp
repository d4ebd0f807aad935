#include "src/api/guard.hpp"
#include "src/optimizer/step.hpp"

using namespace lpt;

lpt_status lpt_optimizer_create(lpt_context *context, const lpt_optimizer_options *options,
                                lpt_optimizer **out_optimizer) {
  return guard(context, [&](Context &self) -> Status {
    lpt_optimizer_options known = LPT_OPTIMIZER_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_optimizer, "out_optimizer"));
    return create_optimizer(self, known, out_optimizer);
  });
}

void lpt_optimizer_destroy(lpt_optimizer *optimizer) { destroy(optimizer, HandleKind::kOptimizer); }

lpt_status lpt_optimizer_set_directory(lpt_context *context, lpt_optimizer *optimizer, const char *directory,
                                       size_t resident_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    return set_state_directory(*optimizer, directory, resident_bytes);
  });
}

lpt_status lpt_optimizer_add(lpt_context *context, lpt_optimizer *optimizer, const char *name,
                             const lpt_optimizer_parameter *parameter, int64_t *out_index) {
  return guard(context, [&](Context &self) -> Status {
    lpt_optimizer_parameter known = LPT_OPTIMIZER_PARAMETER_INIT;
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    if (parameter == nullptr) return invalid("parameter is NULL: expected its description");
    LPT_TRY(read_options(parameter, "parameter", known));
    LPT_TRY(check_out(out_index, "out_index"));
    return add_parameter(self, *optimizer, name, known, *out_index);
  });
}

lpt_status lpt_optimizer_find(lpt_context *context, const lpt_optimizer *optimizer, const char *name,
                              int64_t *out_index) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    LPT_TRY(check_out(out_index, "out_index"));
    return find_parameter(*optimizer, name, *out_index);
  });
}

lpt_status lpt_optimizer_step(lpt_context *context, lpt_optimizer *optimizer, const int64_t *indices, int64_t count,
                              const lpt_tensor *const *gradients, const lpt_optimizer_step_options *options,
                              lpt_tensor *const *parameters) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(parameters, count, "parameters"));
    lpt_optimizer_step_options known = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    LPT_TRY(read_options(options, "options", known));
    return step_optimizer(self, *optimizer, indices, count, gradients, known, parameters);
  });
}

lpt_status lpt_optimizer_read(lpt_context *context, const lpt_optimizer *optimizer, lpt_optimizer_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
    LPT_TRY(read_optimizer(self, *optimizer, values));
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_gradients_measure(lpt_context *context, const lpt_tensor *const *gradients, int64_t count,
                                 lpt_gradients_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_info, "out_info"));
    lpt_gradients_info values = LPT_GRADIENTS_INFO_INIT;
    LPT_TRY(measure_gradient_tensors(self, gradients, count, values));
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_optimizer_size(lpt_context *context, const lpt_optimizer *optimizer, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    return optimizer_size(*optimizer, *out_size_bytes);
  });
}

lpt_status lpt_optimizer_state_size(lpt_context *context, const lpt_optimizer *optimizer, int64_t index,
                                    size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    return optimizer_state_size(*optimizer, index, *out_size_bytes);
  });
}

lpt_status lpt_optimizer_state_save(lpt_context *context, const lpt_optimizer *optimizer, int64_t index, void *buffer,
                                    size_t buffer_bytes) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    LPT_TRY(check_out(buffer, "buffer"));
    return save_optimizer_state(self, *optimizer, index, buffer, buffer_bytes);
  });
}

lpt_status lpt_optimizer_state_load(lpt_context *context, lpt_optimizer *optimizer, int64_t index, const void *buffer,
                                    size_t buffer_bytes) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    if (buffer == nullptr) return invalid("buffer is NULL: expected a saved state");
    return load_optimizer_state(self, *optimizer, index, buffer, buffer_bytes);
  });
}

lpt_status lpt_optimizer_state_load_many(lpt_context *context, lpt_optimizer *optimizer, int64_t index,
                                         const void *const *buffers, const size_t *buffer_bytes, int64_t count) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(optimizer, HandleKind::kOptimizer, "optimizer"));
    if (count < 1) return invalid("count is %lld: expected at least 1", number(count));
    if (buffers == nullptr) return invalid("buffers is NULL: expected %lld saved states", number(count));
    if (buffer_bytes == nullptr) return invalid("buffer_bytes is NULL: expected %lld lengths", number(count));
    for (int64_t i = 0; i < count; ++i) {
      if (buffers[i] == nullptr) return invalid("buffers[%lld] is NULL: expected a saved state", number(i));
    }
    return load_optimizer_states(self, *optimizer, index, buffers, buffer_bytes, count);
  });
}
