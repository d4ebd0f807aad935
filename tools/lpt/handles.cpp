#include "handles.hpp"

#include <fmt/format.h>

#include <sstream>

#include "text.hpp"

namespace tool {

void check(const lpt_context *context, lpt_status status) {
  if (status != LPT_OK) {
    throw Error(fmt::format("{}: {}", lpt_status_string(status), lpt_context_error(context)));
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
    throw Error(fmt::format("no context: {}", reason));
  }
  return Context(context);
}

std::string chosen_rows(lpt_context *context, lpt_status status) {
  if (status != LPT_OK) return fmt::format("no: {}", lpt_status_string(status));
  // Lines are "operation: kernel". Indented lines are rejected kernels.
  std::istringstream lines(lpt_context_explanation(context));
  std::string rows;
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.empty() || line.front() == ' ' || colon == std::string::npos) continue;
    rows += rows.empty() ? "" : " + ";
    rows += line.substr(colon + 2);
  }
  return rows.empty() ? "?" : rows;
}

Tensor make_matrix(lpt_context *context, lpt_format format, int64_t rows, int64_t columns) {
  const int64_t extents[] = {rows, columns};
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_create(context, format, 2, extents, &tensor));
  return Tensor(tensor);
}

Tensor wrap_matrix(lpt_context *context, lpt_format format, void *data, int64_t rows, int64_t columns) {
  lpt_tensor *tensor = nullptr;
  check(context, lpt_tensor_wrap_matrix(context, format, data, rows, columns, 0, &tensor));
  return Tensor(tensor);
}

std::string format_name(lpt_format format) {
  if (const char *const name = lpt_format_name(format)) return name;
  size_t bytes = 0;
  if (lpt_format_write_name(nullptr, format, nullptr, 0, &bytes) != LPT_OK) {
    return fmt::format("format {}", format);
  }
  std::string name(bytes, '\0');
  lpt_format_write_name(nullptr, format, name.data(), name.size(), nullptr);
  name.pop_back();  // the terminating zero
  return name;
}

lpt_format find_format(const std::string &name) {
  lpt_format format = LPT_FORMAT_NONE;
  if (lpt_format_from_name(nullptr, name.c_str(), &format) == LPT_OK) return format;
  // The error of a context has the reason, after the argument and its value.
  constexpr size_t kMostCharacters = 300;
  const Context context = make_context(1);
  lpt_format_from_name(context.get(), name.c_str(), &format);
  const std::string reason = lpt_context_error(context.get()), value = '"' + name + "\": ";
  const size_t place = reason.find(value);
  throw Error(fmt::format(
      "format is {}: {}; `lpt formats` lists the names", in_quotes(name),
      shortened(place == std::string::npos ? reason : reason.substr(place + value.size()), kMostCharacters)));
}

std::optional<lpt_format_description> try_describe(lpt_format format) {
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  if (lpt_format_describe(nullptr, format, &description) != LPT_OK) return std::nullopt;
  return description;
}

lpt_format_description describe(lpt_format format) {
  const auto description = try_describe(format);
  if (!description) throw Error(fmt::format("format is {}: expected one that the library knows", format));
  return *description;
}

std::optional<Part> part_of(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part) {
  lpt_tensor *made = nullptr;
  if (lpt_tensor_view_part(context, tensor, part, &made) != LPT_OK) return std::nullopt;
  const Tensor owner(made);
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, made, &description));
  Part result{
      .format = description.format, .rows = 1, .columns = 1, .data = static_cast<std::byte *>(description.data)};
  for (int32_t i = 0; i < description.rank; ++i) {
    (i + 1 < description.rank ? result.rows : result.columns) *= description.extents[i];
  }
  check(context, lpt_tensor_size(context, made, &result.bytes));
  return result;
}

}  // namespace tool
