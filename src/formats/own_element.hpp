// Elements of the caller's own: floats of at most 8 bits, which spell themselves in the bits of a format.
#pragma once

#include <string>
#include <string_view>

#include "src/base/status.hpp"
#include "src/formats/plain.hpp"

namespace lpt {

// Set in a format that is no preset.
constexpr lpt_format kDescribedBit = lpt_format{1} << 62;
// Where such an element spells itself: exponent bits (42-44, never 0), mantissa bits (45-47), bias in two's complement
// (48-55), lpt_element_special (56-58), 1 without a sign (59).
constexpr lpt_format kOwnMask = ((lpt_format{1} << 18) - 1) << 42;

struct OwnElement {
  int32_t exponent_bits = 0, mantissa_bits = 0, bias = 0;
  lpt_element_special special = LPT_ELEMENT_SPECIAL_NONE;
  bool is_signed = true;

  int32_t bits() const { return exponent_bits + mantissa_bits + (is_signed ? 1 : 0); }
};

// An error names the member of lpt_format_description that is wrong.
Status check_own(const OwnElement &own);

Element element_of_own(const OwnElement &own);
Plain plain_of_own(const OwnElement &own);

// False for a number that spells no such element, or one that a preset stands for.
bool read_own(lpt_format id, OwnElement &out_own);

// The preset that it equals, or the number that spells it.
lpt_format format_of_own(const OwnElement &own);

// "e4m2b9-finite", with a u in front where there is no sign.
std::string own_name(const OwnElement &own);
bool own_from_name(std::string_view name, OwnElement &out_own);

}  // namespace lpt
