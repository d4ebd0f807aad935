// Describes the meaning of the bytes of a format in readable lines.
#include <cmath>

#include "src/formats/format.hpp"

namespace lpt {
namespace {

std::string bit_range(const char *name, int32_t low, int32_t count) {
  if (count == 0) return "";
  if (count == 1) return text("bit %d %s, ", low, name);
  return text("bits %d-%d %s, ", low + count - 1, low, name);
}

std::string float_bits_text(const lpt_format_description &is) {
  const int32_t width = is.exponent_bits + is.mantissa_bits;
  std::string line = "  code: " + bit_range("sign", width, is.element_bits - width) +
                     bit_range("exponent", is.mantissa_bits, is.exponent_bits) +
                     bit_range("mantissa", 0, is.mantissa_bits);
  line.resize(line.size() - 2);
  line += text("; value %s(1 + mantissa / %lld) 2^(exponent - %d)", is.element_bits > width ? "(-1)^sign " : "",
               1ll << is.mantissa_bits, is.exponent_bias);
  return line + text(", exponent 0: mantissa 2^%d\n", 1 - is.exponent_bias - is.mantissa_bits);
}

std::string specials_text(const lpt_format_description &is) {
  const int32_t width = is.exponent_bits + is.mantissa_bits;
  const long long infinity = ((1ll << is.exponent_bits) - 1) << is.mantissa_bits;
  switch (is.special) {
    case LPT_ELEMENT_SPECIAL_IEEE:
      return text("  specials: infinity 0x%llX, NaN above it, each with either sign\n", infinity);
    case LPT_ELEMENT_SPECIAL_NAN_ONES:
      return text("  specials: NaN 0x%X%s, no infinity\n", (1u << width) - 1,
                  is.element_bits > width ? " with either sign" : "");
    case LPT_ELEMENT_SPECIAL_FNUZ:
      return text("  specials: NaN 0x%X, where -0 would be; no infinity\n", 1u << width);
    default:
      return "  specials: none, every code is a finite number\n";
  }
}

std::string element_text(lpt_format id) {
  lpt_format_description is = LPT_FORMAT_DESCRIPTION_INIT;
  if (!describe_format(id, is).is_ok()) return "";
  std::string result =
      text("  element %s, %d bits, largest %.9g\n", format_name(id).c_str(), is.element_bits, is.largest);
  if (id == LPT_FORMAT_E8M0FNU) return result + "  code: value 2^(code - 127); 0xFF is NaN; no zero, no sign\n";
  if (id == LPT_FORMAT_TERNARY) return result + "  values: -1, 0, 1\n";
  if (is.special == LPT_ELEMENT_SPECIAL_INTEGER) {
    const bool is_signed = is.mantissa_bits < is.element_bits;
    result += text("  code: %s%s\n", is_signed ? "two's complement integer" : "integer without a sign",
                   is.exponent_bias != 0 ? text(", times 2^-%d", is.exponent_bias).c_str() : "");
    if (is_index_format(id)) return result + "  holds indices: casts and arithmetic reject it\n";
    if (is_signed)
      result += text("  the least code, %g, is read but never written\n",
                     -std::ldexp(1.0, is.element_bits - 1 - is.exponent_bias));
    return result;
  }
  if (is.special == LPT_ELEMENT_SPECIAL_LIST) {
    const Element element = element_of(id);
    result += "  code: a place in a list:";
    for (uint32_t code = 0; code < 16; ++code) result += text(" %.9g", static_cast<double>(decode(element, code)));
    return result + "\n";
  }
  return result + float_bits_text(is) + specials_text(is);
}

std::string packing_text(lpt_format id) {
  const Packing packing = packing_of(id);
  if (has_element(id) && element_of(id).is_ternary) {
    return "  packing: five to a byte, digits of base 3 with the first lowest; 0, 1, 2 stand for 0, 1, -1\n";
  }
  if (packing.elements == 1)
    return text("  packing: %d byte%s each, lowest first\n", packing.bytes, packing.bytes > 1 ? "s" : "");
  return text(
      "  packing: %d in %d byte%s, element i at bits i * %d and up, the first one lowest; rows begin on a byte\n",
      packing.elements, packing.bytes, packing.bytes > 1 ? "s" : "", element_bits(id));
}

std::string extent_text(int32_t extent) { return extent == LPT_BLOCK_EXTENT_FULL ? "all" : std::to_string(extent); }

std::string scales_text(const Format &format) {
  std::string result;
  if (format.has_block_scale()) {
    result += text("  scale: one %s for %s row%s x %s columns\n", format_name(format.block_scale).c_str(),
                   extent_text(format.block_rows).c_str(), format.block_rows == 1 ? "" : "s",
                   extent_text(format.block_columns).c_str());
  }
  if (format.has_zero_point()) result += "  zero point: one uint8 for each scale\n";
  if (format.has_tensor_scale()) result += "  scale: one f32 for the tensor\n";
  if (format.is_plain()) return result;
  result += format.has_zero_point() ? "  value: (element - zero point)" : "  value: element";
  if (format.has_block_scale()) result += " * block scale";
  return result + (format.has_tensor_scale() ? " * tensor scale\n" : "\n");
}

std::string sparse_text(const Format &format) {
  if (!format.is_sparse) return "";
  return "  2:4: of every four columns two are stored, one after the other; beside them four bits for each four "
         "columns:\n"
         "  the place of the first, 0 to 2, in the low two, that of the second, up to 3, in the high two\n";
}

}  // namespace

std::string format_text(const Format &format) {
  return format_name(format.id) + "\n" + element_text(format.element) + packing_text(format.element) +
         scales_text(format) + sparse_text(format);
}

}  // namespace lpt
