#include "src/formats/custom_element.hpp"

#include <cstdio>

namespace lpt {
namespace {

lpt_format own_bits(const CustomElement &own) {
  return kDescribedBit | static_cast<lpt_format>(own.exponent_bits) << 42 |
         static_cast<lpt_format>(own.mantissa_bits) << 45 | static_cast<lpt_format>(own.bias & 0xFF) << 48 |
         static_cast<lpt_format>(own.special) << 56 | static_cast<lpt_format>(own.is_signed ? 0 : 1) << 59;
}

CustomElement own_from_bits(lpt_format id) {
  return {static_cast<int32_t>(id >> 42 & 7), static_cast<int32_t>(id >> 45 & 7),
          static_cast<int8_t>(static_cast<uint8_t>(id >> 48 & 0xFF)), static_cast<lpt_element_special>(id >> 56 & 7),
          (id >> 59 & 1) == 0};
}

const char *special_suffix(lpt_element_special special) {
  switch (special) {
    case LPT_ELEMENT_SPECIAL_IEEE:
      return "ieee";
    case LPT_ELEMENT_SPECIAL_NAN_ONES:
      return "nan";
    case LPT_ELEMENT_SPECIAL_FNUZ:
      return "fnuz";
    default:
      return "finite";
  }
}

}  // namespace

Element element_of_own(const CustomElement &own) {
  const int32_t width = own.exponent_bits + own.mantissa_bits;
  const uint32_t top = (1u << width) - 1;
  const uint32_t top_exponent = ((1u << own.exponent_bits) - 1) << own.mantissa_bits;
  Element element = {own.bits(), own.mantissa_bits, 1 - own.bias, top, top, 0, own.is_signed, false};
  if (own.special == LPT_ELEMENT_SPECIAL_IEEE) {
    element.max_code = top_exponent - 1;
    element.infinity_code = top_exponent;
    element.nan_code = top_exponent | 1u << (own.mantissa_bits - 1);
  } else if (own.special == LPT_ELEMENT_SPECIAL_NAN_ONES) {
    element.max_code = top - 1;
    element.infinity_code = element.nan_code = top;
  } else if (own.special == LPT_ELEMENT_SPECIAL_FNUZ) {
    element.infinity_code = element.nan_code = 1u << (own.bits() - 1);
    element.is_fnuz = true;
  }
  return element;
}

Status check_own(const CustomElement &own) {
  if (own.exponent_bits < 1 || own.exponent_bits > 7) {
    return invalid("exponent_bits is %d, expected 1 to 7", own.exponent_bits);
  }
  if (own.mantissa_bits < 0 || own.mantissa_bits > 7 || own.bits() > 8) {
    return invalid("mantissa_bits is %d, expected 0 to %d: an element has 8 bits at most", own.mantissa_bits,
                   8 - (own.is_signed ? 1 : 0) - own.exponent_bits);
  }
  if (own.special != LPT_ELEMENT_SPECIAL_IEEE && own.special != LPT_ELEMENT_SPECIAL_NAN_ONES &&
      own.special != LPT_ELEMENT_SPECIAL_FNUZ && own.special != LPT_ELEMENT_SPECIAL_NONE) {
    return invalid("special is %d, expected LPT_ELEMENT_SPECIAL_IEEE, _NAN_ONES, _FNUZ or _NONE for a float",
                   own.special);
  }
  if (own.special == LPT_ELEMENT_SPECIAL_IEEE && own.mantissa_bits == 0) {
    return invalid(
        "special is LPT_ELEMENT_SPECIAL_IEEE and mantissa_bits is 0: expected 1 at least, NaN needs a mantissa");
  }
  if (own.special == LPT_ELEMENT_SPECIAL_FNUZ && !own.is_signed) {
    return invalid("special is LPT_ELEMENT_SPECIAL_FNUZ without a sign: its NaN stands where -0 would");
  }
  if (own.bias < -128 || own.bias > 127) return invalid("exponent_bias is %d, expected -128 to 127", own.bias);
  const Element element = element_of_own(own);
  const int32_t least = element.min_exponent - own.mantissa_bits;
  const int32_t most = static_cast<int32_t>(element.max_code >> own.mantissa_bits) - own.bias;
  if (element.max_code == 0) return invalid("mantissa_bits is 0: no finite value but zero is left");
  if (least < -126 || most > 126) {
    return invalid("exponent_bias is %d: values run from 2^%d to 2^%d, expected within 2^-126 and 2^127", own.bias,
                   least, most);
  }
  return {};
}

Plain plain_of_own(const CustomElement &own) {
  const Element element = element_of_own(own);
  return {own.bits(), own.exponent_bits, own.mantissa_bits,
          own.bias,   own.special,       static_cast<double>(decode(element, element.max_code))};
}

bool read_custom(lpt_format id, CustomElement &out_own) {
  if (id < kDescribedBit || (id & ~(kDescribedBit | kOwnMask)) != 0) return false;
  out_own = own_from_bits(id);
  return check_own(out_own).is_ok() && format_of_own(out_own) == id;
}

lpt_format format_of_own(const CustomElement &own) {
  const PlainPreset *preset = find_equal_preset(plain_of_own(own));
  return preset != nullptr ? preset->id : own_bits(own);
}

std::string own_name(const CustomElement &own) {
  return text("%se%dm%db%d-%s", own.is_signed ? "" : "u", own.exponent_bits, own.mantissa_bits, own.bias,
              special_suffix(own.special));
}

bool own_from_name(std::string_view name, CustomElement &out_own) {
  CustomElement own;
  const std::string word(name);
  char suffix[8] = {};
  int length = 0;
  const char *rest = word.c_str();
  own.is_signed = *rest != 'u';
  if (!own.is_signed) ++rest;
  if (std::sscanf(rest, "e%1dm%1db%4d-%7[a-z]%n", &own.exponent_bits, &own.mantissa_bits, &own.bias, suffix, &length) !=
      4) {
    return false;
  }
  own.special = LPT_ELEMENT_SPECIAL_LIST;
  for (const lpt_element_special special :
       {LPT_ELEMENT_SPECIAL_IEEE, LPT_ELEMENT_SPECIAL_NAN_ONES, LPT_ELEMENT_SPECIAL_FNUZ, LPT_ELEMENT_SPECIAL_NONE}) {
    if (std::string_view(suffix) == special_suffix(special)) own.special = special;
  }
  // Accept only the canonical spelling: no plus sign, no leading zeros, no suffix.
  if (rest[length] != 0 || !check_own(own).is_ok() || own_name(own) != word) return false;
  out_own = own;
  return true;
}

}  // namespace lpt
