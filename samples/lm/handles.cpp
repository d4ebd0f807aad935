#include "handles.hpp"

namespace lm {

void check(const lpt_context *context, lpt_status status) {
  if (status != LPT_OK) {
    throw Error(std::string(lpt_status_string(status)) + ": " + lpt_context_error(context));
  }
}

Context make_context(int32_t thread_count) {
  char reason[256] = "";
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = thread_count;
  options.error_text = reason;
  options.error_text_bytes = sizeof reason;
  lpt_context *context = nullptr;
  if (lpt_context_create(&options, &context) != LPT_OK) {
    throw Error(std::string("no context: ") + reason);
  }
  return Context(context);
}

Recipe make_recipe(lpt_context *context, const char *name) {
  lpt_recipe *recipe = nullptr;
  check(context, lpt_recipe_create(context, name, &recipe));
  return Recipe(recipe);
}

Monitor make_monitor(lpt_context *context) {
  lpt_monitor *monitor = nullptr;
  check(context, lpt_monitor_create(context, &monitor));
  return Monitor(monitor);
}

Tensor make_tensor(lpt_context *context, lpt_format format, int64_t rows, int64_t columns) {
  const int64_t extents[] = {rows, columns};
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_create(context, format, 2, extents, &tensor));
  return Tensor(tensor);
}

Tensor make_bytes(lpt_context *context, size_t bytes) {
  const int64_t extent = static_cast<int64_t>(bytes);
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_create(context, LPT_FORMAT_UINT8, 1, &extent, &tensor));
  return Tensor(tensor);
}

Tensor matrix_view(lpt_context *context, const lpt_tensor *matrix, int64_t row, int64_t column, int64_t rows,
                   int64_t columns) {
  const int64_t begins[] = {row, column};
  const int64_t extents[] = {rows, columns};
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_view(context, matrix, begins, extents, &tensor));
  return Tensor(tensor);
}

Tensor tensor_part(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part) {
  lpt_tensor *made = nullptr;
  check(context, lpt_tensor_view_part(context, tensor, part, &made));
  return Tensor(made);
}

void *tensor_data(lpt_context *context, const lpt_tensor *tensor) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, tensor, &description));
  return description.data;
}

size_t tensor_bytes(lpt_context *context, const lpt_tensor *tensor) {
  size_t bytes = 0;
  check(context, lpt_tensor_size(context, tensor, &bytes));
  return bytes;
}

}  // namespace lm
