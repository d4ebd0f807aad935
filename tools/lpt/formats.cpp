#include "formats.hpp"

#include <fmt/format.h>

#include "handles.hpp"
#include "plan.hpp"
#include "text.hpp"

namespace tool {

namespace {

std::string special_text(lpt_element_special special) {
  switch (special) {
    case LPT_ELEMENT_SPECIAL_NONE:
      return "none";
    case LPT_ELEMENT_SPECIAL_IEEE:
      return "infinity, NaN";
    case LPT_ELEMENT_SPECIAL_NAN_ONES:
      return "NaN";
    case LPT_ELEMENT_SPECIAL_INTEGER:
      return "integer";
    case LPT_ELEMENT_SPECIAL_FNUZ:
      return "NaN for -0";
    case LPT_ELEMENT_SPECIAL_LIST:
      return "list of levels";
    default:
      return fmt::format("kind {}", special);
  }
}

std::string extent_text(int32_t extent) {
  return extent == LPT_BLOCK_EXTENT_FULL ? "whole" : fmt::format("{}", extent);
}

std::string block_text(const lpt_format_description &description) {
  if (description.block_scale == LPT_FORMAT_NONE) return "";
  if (description.block_rows == 1 && description.block_columns == LPT_BLOCK_EXTENT_FULL) return "row";
  return fmt::format("{} x {}", extent_text(description.block_rows), extent_text(description.block_columns));
}

std::string scale_text(lpt_format scale) { return scale == LPT_FORMAT_NONE ? "" : format_name(scale); }

std::string bits_text(const lpt_format_description &description) {
  return description.exponent_bits == 0 && description.mantissa_bits == 0
             ? fmt::format("{}", description.element_bits)
             : fmt::format("{} (e{} m{})", description.element_bits, description.exponent_bits,
                           description.mantissa_bits);
}

// Returns the bits per element of a large matrix, including all scales.
double stored_bits(lpt_context *context, lpt_format format) {
  constexpr int64_t kExtent = 1024;
  const Tensor tensor = make_matrix(context, format, kExtent, kExtent);
  size_t bytes = 0;
  check(context, lpt_tensor_size(context, tensor.get(), &bytes));
  return static_cast<double>(bytes) * 8.0 / (kExtent * kExtent);
}

}  // namespace

std::string formats_table() {
  const Context context = make_context(1);
  Table elements({"element", "id", "bits", "bias", "largest", "special codes"});
  Table composites({"format", "id", "element", "block", "block scale", "tensor scale", "bits per number"}, 1);
  for (int64_t i = 0; i < lpt_format_count(); ++i) {
    const lpt_format format = lpt_format_at(i);
    const auto description = try_describe(format);
    const bool is_plain = description->block_scale == LPT_FORMAT_NONE && description->tensor_scale == LPT_FORMAT_NONE;
    if (is_plain) {
      elements.add({format_name(format), fmt::format("{}", format), bits_text(*description),
                    description->exponent_bits == 0 ? "" : fmt::format("{}", description->exponent_bias),
                    fmt::format("{:.6g}", description->largest), special_text(description->special)});
    } else {
      composites.add({format_name(format), fmt::format("{}", format), format_name(description->element),
                      block_text(*description), scale_text(description->block_scale),
                      scale_text(description->tensor_scale),
                      fmt::format("{:.2f}", stored_bits(context.get(), format))});
    }
  }
  return elements.text() + "\n" + composites.text() +
         "\nAny other combination is spelled element/block/scale with an optional /tensor scale: "
         "e2m1fn/1x16/e8m0fnu.\n";
}

std::string format_page(const std::string &name) {
  const lpt_format format = target_format(name);
  size_t bytes = 0;
  if (lpt_format_write_text(nullptr, format, nullptr, 0, &bytes) != LPT_OK)
    throw Error(fmt::format("{} has no description", name));
  std::string page(bytes, '\0');
  lpt_format_write_text(nullptr, format, page.data(), page.size(), nullptr);
  page.pop_back();  // the terminating zero
  if (!page.ends_with('\n')) page += '\n';
  const Layout layout = layout_of(format);
  page += fmt::format("in safetensors: payload {}", layout.payload->name);
  return page + (layout.convention.empty() ? "\n" : fmt::format(", as compressed-tensors' {}\n", layout.convention));
}

}  // namespace tool
