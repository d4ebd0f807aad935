// Creation of layers, and the checks that all calls of a layer share.
#include "src/linear/linear.hpp"

#include "src/cast/scaler.hpp"

namespace lpt {

Status create_linear(const Context &context, const Recipe &recipe, const lpt_linear_shape &shape, Linear **out_linear) {
  const auto check = [](const char *name, int64_t value) -> Status {
    if (value >= 1 && value <= (int64_t{1} << 28)) return {};
    return invalid("%s is %lld: expected 1 to 2^28", name, static_cast<long long>(value));
  };
  LPT_TRY(check("input_columns", shape.input_columns));
  LPT_TRY(check("output_columns", shape.output_columns));
  auto linear = std::make_unique<Linear>();
  linear->recipe = recipe;
  linear->input_columns = shape.input_columns;
  linear->output_columns = shape.output_columns;
  linear->device = context.queue.device();
  linear->recipe.is_for_device = !linear->device.is_cpu();
  for (int i = 0; i < kOperandCount; ++i) {
    linear->scalers[i] = make_scaler(recipe.scalers[i]);
    if (!linear->device.is_cpu()) LPT_TRY(send_scaler(context, linear->scalers[i]));
  }
  *out_linear = linear.release();
  return {};
}

void set_next_recipe(Linear &linear, const Recipe &recipe) {
  linear.next_recipe = std::make_unique<Recipe>(recipe);
  linear.next_recipe->is_for_device = !linear.device.is_cpu();
}

Status watch_linear(Linear &linear, bool is_watched) {
  if (is_watched && !linear.device.is_cpu()) {
    return unsupported("linear works on %s: expected one of the CPU, where casts are counted",
                       device_text(linear.device).c_str());
  }
  linear.is_watched = is_watched;
  for (CastStatistics &sums : linear.sums) sums = {};
  return {};
}

Status check_place(const Context &context, const Linear &linear) {
  const Device &here = context.queue.device();
  if (linear.device == here) return {};
  return invalid("linear works on %s: expected one of a context on %s", device_text(linear.device).c_str(),
                 device_text(here).c_str());
}

Status update_linears(Context &context, Linear *const *linears, int64_t count) {
  for (int64_t i = 0; i < count; ++i) LPT_TRY(check_place(context, *linears[i]));
  for (int64_t i = 0; i < count; ++i) {
    for (Scaler &scaler : linears[i]->scalers) LPT_TRY(update_scaler(context, scaler));
  }
  return {};
}

Status check_call(const Context &context, const Linear &linear, const lpt_linear_options &options,
                  bool needs_prepared) {
  LPT_TRY(check_place(context, linear));
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("is_accumulated", options.is_accumulated, 1));
  if (options.random.offset != 0 || options.random.row_stride != 0) {
    return invalid(
        "random.%s is %lld: expected 0, the layer places its rows by first_row",
        options.random.offset != 0 ? "offset" : "row_stride",
        static_cast<long long>(options.random.offset != 0 ? options.random.offset : options.random.row_stride));
  }
  RandomSource unused;
  LPT_TRY(make_random(options.random, RandomDomain::kLinear, 0, 0, 16, 7, unused));
  if (options.first_row < 0 || options.first_row > (int64_t{1} << 32)) {
    return invalid("first_row is %lld: expected 0 to 2^32", static_cast<long long>(options.first_row));
  }
  LPT_TRY(check_ranks(linear, options));
  if (needs_prepared && !linear.weight.is_ready) {
    return invalid("linear has no weight yet: expected a call of lpt_linear_prepare() before");
  }
  return {};
}

}  // namespace lpt
