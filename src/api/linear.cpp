#include "src/linear/linear.hpp"

#include "src/api/guard.hpp"
#include "src/cast/scaler.hpp"
#include "src/parallel/partial.hpp"

using namespace lpt;

namespace {

Status check_linear(const Linear *linear) { return check_handle(linear, HandleKind::kLinear, "linear"); }

Status check_linears(lpt_linear *const *linears, int64_t count) {
  if (count < 0) return invalid("linear_count is %lld: expected at least 0", static_cast<long long>(count));
  if (linears == nullptr && count > 0) return invalid("linears is NULL: expected an array of handles");
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(check_handle(linears[i], HandleKind::kLinear, text("linears[%lld]", static_cast<long long>(i)).c_str()));
  }
  return {};
}

Status read_call(const lpt_linear_options *options, lpt_linear_options &known) {
  LPT_TRY(read_options(options, "options", known));
  if (known.comm != nullptr) LPT_TRY(check_handle(known.comm, HandleKind::kComm, "options->comm"));
  return known.plan == nullptr ? Status() : check_handle(known.plan, HandleKind::kPartialPlan, "options->plan");
}

}  // namespace

lpt_status lpt_recipe_create(lpt_context *context, const char *name, lpt_recipe **out_recipe) {
  return guard(context, [&](Context &) -> Status {
    if (name == nullptr) return invalid("name is NULL: expected the name of a recipe");
    LPT_TRY(check_out(out_recipe, "out_recipe"));
    auto recipe = std::make_unique<Recipe>();
    LPT_TRY(make_recipe(name, *recipe));
    *out_recipe = recipe.release();
    return {};
  });
}

int64_t lpt_recipe_count(void) { return recipe_count(); }

const char *lpt_recipe_name(int64_t index) { return recipe_name(index); }

void lpt_recipe_destroy(lpt_recipe *recipe) { destroy(recipe, HandleKind::kRecipe); }

lpt_status lpt_recipe_set_cast(lpt_context *context, lpt_recipe *recipe, lpt_linear_cast cast, lpt_format format,
                               const lpt_quantize_options *options) {
  return guard(context, [&](Context &) -> Status {
    lpt_quantize_options known = LPT_QUANTIZE_OPTIONS_INIT;
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    LPT_TRY(read_options(options, "options", known));
    return set_recipe_cast(*recipe, cast, format, known);
  });
}

lpt_status lpt_recipe_set_scaler(lpt_context *context, lpt_recipe *recipe, lpt_linear_operand operand,
                                 const lpt_scaler_options *options) {
  return guard(context, [&](Context &) -> Status {
    lpt_scaler_options known = LPT_SCALER_OPTIONS_INIT;
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    LPT_TRY(check_choice("operand", operand, kOperandCount - 1));
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_scaler_options(known));
    recipe->scalers[operand] = known;
    return {};
  });
}

lpt_status lpt_recipe_cast_format(lpt_context *context, const lpt_recipe *recipe, lpt_linear_cast cast,
                                  lpt_format *out_format) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    LPT_TRY(check_choice("cast", cast, kCastCount - 1));
    LPT_TRY(check_out(out_format, "out_format"));
    *out_format = recipe->casts[cast].format;
    return {};
  });
}

lpt_status lpt_recipe_set_gemm(lpt_context *context, lpt_recipe *recipe, lpt_linear_gemm gemm,
                               const lpt_linear_gemm_options *options) {
  return guard(context, [&](Context &) -> Status {
    lpt_linear_gemm_options known = LPT_LINEAR_GEMM_OPTIONS_INIT;
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    LPT_TRY(read_options(options, "options", known));
    return set_recipe_gemm(*recipe, gemm, known);
  });
}

lpt_status lpt_recipe_set_sparsity(lpt_context *context, lpt_recipe *recipe, lpt_linear_operand operand,
                                   int32_t interval, const lpt_sparse_options *options) {
  return guard(context, [&](Context &) -> Status {
    lpt_sparse_options known = LPT_SPARSE_OPTIONS_INIT;
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    LPT_TRY(read_options(options, "options", known));
    return set_recipe_sparsity(*recipe, operand, options == nullptr ? nullptr : &known, interval);
  });
}

lpt_status lpt_recipe_set_high_precision(lpt_context *context, lpt_recipe *recipe, lpt_linear_gemm gemm,
                                         lpt_format format) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    return raise_recipe(*recipe, gemm, format);
  });
}

lpt_status lpt_linear_create(lpt_context *context, const lpt_recipe *recipe, const lpt_linear_shape *shape,
                             lpt_linear **out_linear) {
  return guard(context, [&](Context &self) -> Status {
    lpt_linear_shape known = LPT_LINEAR_SHAPE_INIT;
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    if (shape == nullptr) return invalid("shape is NULL: expected the layer's columns");
    LPT_TRY(read_options(shape, "shape", known));
    LPT_TRY(check_out(out_linear, "out_linear"));
    return create_linear(self, *recipe, known, out_linear);
  });
}

void lpt_linear_destroy(lpt_linear *linear) { destroy(linear, HandleKind::kLinear); }

lpt_status lpt_linear_set_recipe(lpt_context *context, lpt_linear *linear, const lpt_recipe *recipe) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_linear(linear));
    LPT_TRY(check_handle(recipe, HandleKind::kRecipe, "recipe"));
    set_next_recipe(*linear, *recipe);
    return {};
  });
}

lpt_status lpt_linear_prepare(lpt_context *context, lpt_linear *linear, const lpt_tensor *weight,
                              const lpt_linear_options *options) {
  return guard(context, [&](Context &self) -> Status {
    lpt_linear_options known = LPT_LINEAR_OPTIONS_INIT;
    LPT_TRY(check_linear(linear));
    LPT_TRY(read_call(options, known));
    return prepare_linear(self, *linear, weight, known);
  });
}

lpt_status lpt_linear_saved_size(lpt_context *context, const lpt_linear *linear, int64_t rows, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_linear(linear));
    const int64_t most = (int64_t{1} << 56) / linear->input_columns;  // limit of the elements of a tensor
    if (rows < 0 || rows > most) {
      return invalid("rows is %lld: expected 0 to %lld", static_cast<long long>(rows), static_cast<long long>(most));
    }
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = linear_saved_bytes(*linear, rows);
    return {};
  });
}

lpt_status lpt_linear_cast_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_linear(linear));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = linear_cast_bytes(*linear);
    return {};
  });
}

lpt_status lpt_linear_forward(lpt_context *context, lpt_linear *linear, const lpt_tensor *input,
                              const lpt_linear_options *options, lpt_tensor *saved, lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(saved, "saved"));
    LPT_TRY(check_writable(output, "output"));
    lpt_linear_options known = LPT_LINEAR_OPTIONS_INIT;
    LPT_TRY(check_linear(linear));
    LPT_TRY(read_call(options, known));
    return forward_linear(self, *linear, input, known, saved, output);
  });
}

lpt_status lpt_linear_backward(lpt_context *context, lpt_linear *linear, const lpt_tensor *saved,
                               const lpt_tensor *output_gradient, const lpt_linear_options *options,
                               lpt_tensor *input_gradient, lpt_tensor *weight_gradient, lpt_tensor *bias_gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(input_gradient, "input_gradient"));
    LPT_TRY(check_writable(weight_gradient, "weight_gradient"));
    LPT_TRY(check_writable(bias_gradient, "bias_gradient"));
    lpt_linear_options known = LPT_LINEAR_OPTIONS_INIT;
    LPT_TRY(check_linear(linear));
    LPT_TRY(read_call(options, known));
    return backward_linear(self, *linear, saved, output_gradient, known, input_gradient, weight_gradient,
                           bias_gradient);
  });
}

lpt_status lpt_linear_share_amax(lpt_context *context, lpt_comm *comm, lpt_linear *const *linears,
                                 int64_t linear_count) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_linears(linears, linear_count));
    return share_amax(self, *comm, linears, linear_count);
  });
}

lpt_status lpt_linear_update_scalers(lpt_context *context, lpt_linear *const *linears, int64_t linear_count) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_linears(linears, linear_count));
    return update_linears(self, linears, linear_count);
  });
}

lpt_status lpt_linear_scaler_read(lpt_context *context, const lpt_linear *linear, lpt_linear_operand operand,
                                  lpt_scaler_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_linear(linear));
    LPT_TRY(check_choice("operand", operand, kOperandCount - 1));
    LPT_TRY(check_place(self, *linear));
    Scaler here;
    LPT_TRY(fetch_scaler(self, linear->scalers[operand], here));
    return write_values(scaler_values(here), "out_info", out_info);
  });
}

lpt_status lpt_linear_mask_read(lpt_context *context, const lpt_linear *linear, lpt_tensor *mask) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(mask, "mask"));
    LPT_TRY(check_handle(linear, HandleKind::kLinear, "linear"));
    return read_linear_mask(self, *linear, mask);
  });
}

lpt_status lpt_linear_watch(lpt_context *context, lpt_linear *linear, int32_t is_watched) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_linear(linear));
    LPT_TRY(check_choice("is_watched", is_watched, 1));
    return watch_linear(*linear, is_watched == 1);
  });
}

lpt_status lpt_linear_cast_read(lpt_context *context, const lpt_linear *linear, lpt_linear_cast cast,
                                lpt_statistics_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_linear(linear));
    LPT_TRY(check_choice("cast", cast, kCastCount - 1));
    return write_values(statistics_values(linear->sums[cast]), "out_info", out_info);
  });
}

lpt_status lpt_linear_state_size(lpt_context *context, const lpt_linear *linear, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_linear(linear));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = linear_state_bytes(*linear);
    return {};
  });
}

lpt_status lpt_linear_state_save(lpt_context *context, const lpt_linear *linear, void *buffer, size_t buffer_bytes) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_linear(linear));
    LPT_TRY(check_out(buffer, "buffer"));
    return save_linear(self, *linear, buffer, buffer_bytes);
  });
}

lpt_status lpt_linear_state_load(lpt_context *context, lpt_linear *linear, const void *buffer, size_t buffer_bytes) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_linear(linear));
    if (buffer == nullptr) return invalid("buffer is NULL: expected a saved state");
    return load_linear(self, *linear, buffer, buffer_bytes);
  });
}
