// The element types that a safetensors file names.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lpt.h"

namespace tool {

struct Dtype {
  std::string_view name;
  int32_t bits;
  std::string_view format;  // LPT's name of the same bytes, "" where LPT has none
  bool is_float;            // a tensor of it is a matrix of numbers that can be cast
};

std::span<const Dtype> dtypes();
const Dtype *find_dtype(std::string_view name);         // NULL: unknown
const Dtype *dtype_of_format(std::string_view format);  // NULL: no type of a safetensors file has these bytes
lpt_format format_of(const Dtype &dtype);               // LPT_FORMAT_NONE where this library has none

}  // namespace tool
