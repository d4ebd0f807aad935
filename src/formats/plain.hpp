// The table of plain formats: each is one element without scales.
#pragma once

#include <string_view>

#include "lpt.h"
#include "src/formats/element.hpp"

namespace lpt {

// The properties of a plain format.
struct Plain {
  int32_t bits = 0;
  int32_t exponent_bits = 0;
  int32_t mantissa_bits = 0;
  int32_t exponent_bias = 0;
  lpt_element_special special = LPT_ELEMENT_SPECIAL_NONE;
  double largest = 0;
  const Element *element = nullptr;  // nullptr: not encoded
};

// An entry of the table.
struct PlainPreset {
  const char *name;
  lpt_format id;
  Plain plain;
};

// The plain presets have the numbers 1 to plain_count().
int64_t plain_count();

// Return nullptr if no preset matches.
const PlainPreset *find_plain_preset(lpt_format id);
const PlainPreset *find_plain_preset(std::string_view name);

// Returns the preset with the same bits, bias and special values, or nullptr.
const PlainPreset *find_equal_preset(const Plain &plain);
}  // namespace lpt
