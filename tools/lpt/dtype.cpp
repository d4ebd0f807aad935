#include "dtype.hpp"

#include <string>

namespace tool {

namespace {

// Elements below 8 bits are packed. These and complex elements are copied as bytes.
constexpr Dtype kDtypes[] = {
    {"BOOL", 8, "", false},
    {"F4", 4, "", false},
    {"F6_E2M3", 6, "", false},
    {"F6_E3M2", 6, "", false},
    {"U8", 8, "uint8", false},
    {"I8", 8, "int8", false},
    {"F8_E5M2", 8, "e5m2", true},
    {"F8_E4M3", 8, "e4m3fn", true},
    {"F8_E8M0", 8, "e8m0fnu", false},
    {"F8_E4M3FNUZ", 8, "e4m3fnuz", true},
    {"F8_E5M2FNUZ", 8, "e5m2fnuz", true},
    {"I16", 16, "int16", false},
    {"U16", 16, "", false},
    {"F16", 16, "f16", true},
    {"BF16", 16, "bf16", true},
    {"I32", 32, "", false},
    {"U32", 32, "", false},
    {"F32", 32, "f32", true},
    {"C64", 64, "", false},
    {"F64", 64, "f64", true},
    {"I64", 64, "", false},
    {"U64", 64, "", false},
};

}  // namespace

std::span<const Dtype> dtypes() { return kDtypes; }

const Dtype *find_dtype(std::string_view name) {
  for (const Dtype &dtype : kDtypes) {
    if (dtype.name == name) return &dtype;
  }
  return nullptr;
}

const Dtype *dtype_of_format(std::string_view format) {
  for (const Dtype &dtype : kDtypes) {
    if (!format.empty() && dtype.format == format) return &dtype;
  }
  return nullptr;
}

lpt_format format_of(const Dtype &dtype) {
  lpt_format format = LPT_FORMAT_NONE;
  if (!dtype.format.empty()) lpt_format_from_name(nullptr, std::string(dtype.format).c_str(), &format);
  return format;
}

}  // namespace tool
