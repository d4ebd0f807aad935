#include "src/formats/format.hpp"

#include <algorithm>
#include <cstring>

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_format_from_description(lpt_context *context, const lpt_format_description *description,
                                       lpt_format *out_format) {
  return guard_optional(context, [&]() -> Status {
    lpt_format_description known = LPT_FORMAT_DESCRIPTION_INIT;
    if (description == nullptr) return invalid("description is NULL: expected a description");
    LPT_TRY(read_options(description, "description", known));
    LPT_TRY(check_out(out_format, "out_format"));
    return format_from_description(known, *out_format);
  });
}

lpt_status lpt_format_from_name(lpt_context *context, const char *name, lpt_format *out_format) {
  return guard_optional(context, [&]() -> Status {
    if (name == nullptr) return invalid("name is NULL: expected the name of a format");
    LPT_TRY(check_out(out_format, "out_format"));
    return format_from_name(name, *out_format);
  });
}

namespace {

// Copies a text of a format to the buffer, truncated to its size.
template <typename Text>
lpt_status write_text(lpt_context *context, lpt_format format, char *buffer, size_t buffer_bytes,
                      size_t *out_needed_bytes, Text &&text_of) {
  return guard_optional(context, [&]() -> Status {
    Format known;
    LPT_TRY(check_format(format, known));
    if (buffer == nullptr && buffer_bytes != 0) {
      return invalid("buffer is NULL: expected %zu bytes, or buffer_bytes 0", buffer_bytes);
    }
    const std::string text = text_of(known);
    if (buffer_bytes > 0) {
      const size_t length = std::min(text.size(), buffer_bytes - 1);
      std::memcpy(buffer, text.data(), length);
      buffer[length] = '\0';
    }
    if (out_needed_bytes != nullptr) *out_needed_bytes = text.size() + 1;
    return {};
  });
}

}  // namespace

lpt_status lpt_format_write_name(lpt_context *context, lpt_format format, char *buffer, size_t buffer_bytes,
                                 size_t *out_needed_bytes) {
  return write_text(context, format, buffer, buffer_bytes, out_needed_bytes,
                    [](const Format &known) { return format_name(known.id); });
}

lpt_status lpt_format_write_text(lpt_context *context, lpt_format format, char *buffer, size_t buffer_bytes,
                                 size_t *out_needed_bytes) {
  return write_text(context, format, buffer, buffer_bytes, out_needed_bytes, format_text);
}

lpt_status lpt_format_describe(lpt_context *context, lpt_format format, lpt_format_description *out_description) {
  return guard_optional(context, [&]() -> Status {
    lpt_format_description values = LPT_FORMAT_DESCRIPTION_INIT;
    LPT_TRY(describe_format(format, values));
    return write_values(values, "out_description", out_description);
  });
}

int64_t lpt_format_count(void) { return format_count(); }

lpt_format lpt_format_at(int64_t index) { return format_at(index); }

const char *lpt_format_name(lpt_format format) { return preset_name(format); }
