// The element types of safetensors files.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lpt.h"

namespace tool {

struct Dtype {
  std::string_view name;
  int32_t bits;
  std::string_view format;  // name of the LPT format with equal bytes, "" if none
  bool is_float;            // a tensor of this type is a matrix of values that can be cast
};

std::span<const Dtype> dtypes();
const Dtype *find_dtype(std::string_view name);         // NULL: unknown
const Dtype *dtype_of_format(std::string_view format);  // NULL: no type of safetensors files has these bytes
lpt_format format_of(const Dtype &dtype);               // LPT_FORMAT_NONE if this library has none

}  // namespace tool
