// Custom elements: floats of at most 8 bits whose parameters are encoded in the bits of a format.
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.hpp"
#include "src/formats/plain.hpp"

namespace lpt {

// Set in the identifier of a format that is not a preset.
constexpr lpt_format kDescribedBit = lpt_format{1} << 62;
// The bits of a custom element: exponent bits (42-44, never 0), mantissa bits (45-47), bias in two's complement (48-55),
// lpt_element_special (56-58), 1 without a sign (59).
constexpr lpt_format kOwnMask = ((lpt_format{1} << 18) - 1) << 42;

struct CustomElement {
  int32_t exponent_bits = 0, mantissa_bits = 0, bias = 0;
  lpt_element_special special = LPT_ELEMENT_SPECIAL_NONE;
  bool is_signed = true;

  int32_t bits() const { return exponent_bits + mantissa_bits + (is_signed ? 1 : 0); }
};

// Rejects an invalid custom element. The error names the wrong member of lpt_format_description.
Status check_own(const CustomElement &own);

Element element_of_own(const CustomElement &own);
Plain plain_of_own(const CustomElement &own);

// Returns false if the number is not a custom element, or if a preset is equal to it.
bool read_custom(lpt_format id, CustomElement &out_own);

// Returns the preset that equals the element, or the number that encodes it.
lpt_format format_of_own(const CustomElement &own);

// Returns a name such as "e4m2b9-finite", with the prefix u for an element without a sign.
std::string own_name(const CustomElement &own);
bool own_from_name(std::string_view name, CustomElement &out_own);

}  // namespace lpt
