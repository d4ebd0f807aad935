#include "src/formats/preset.hpp"

namespace lpt {
namespace {

constexpr Format per_tensor(lpt_format id, lpt_format element) {
  return {.id = id, .element = element, .tensor_scale = LPT_FORMAT_F32};
}

constexpr Format per_block(lpt_format id, lpt_format element, int32_t rows, int32_t columns, lpt_format block_scale,
                           lpt_format tensor_scale = LPT_FORMAT_NONE, lpt_format zero_point = LPT_FORMAT_NONE) {
  return {.id = id,
          .element = element,
          .block_scale = block_scale,
          .tensor_scale = tensor_scale,
          .block_rows = rows,
          .block_columns = columns,
          .zero_point = zero_point};
}

constexpr Format with_zero(lpt_format id, lpt_format element, int32_t columns) {
  return per_block(id, element, 1, columns, LPT_FORMAT_F32, LPT_FORMAT_NONE, LPT_FORMAT_UINT8);
}

// clang-format off
constexpr Preset kPresets[] = {
    {"e4m3fn_tensor",  per_tensor(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN)},
    {"e4m3fn_row",     per_block(LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"e4m3fn_1x128",   per_block(LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN, 1, 128, LPT_FORMAT_F32)},
    {"e4m3fn_128x128", per_block(LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E4M3FN, 128, 128, LPT_FORMAT_F32)},
    {"e4m3_tensor",    per_tensor(LPT_FORMAT_E4M3_TENSOR, LPT_FORMAT_E4M3)},
    {"e4m3_row",       per_block(LPT_FORMAT_E4M3_ROW, LPT_FORMAT_E4M3, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"e5m2_tensor",    per_tensor(LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E5M2)},
    {"e5m2_row",       per_block(LPT_FORMAT_E5M2_ROW, LPT_FORMAT_E5M2, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"e5m2_1x128",     per_block(LPT_FORMAT_E5M2_1X128, LPT_FORMAT_E5M2, 1, 128, LPT_FORMAT_F32)},
    {"e5m2_128x128",   per_block(LPT_FORMAT_E5M2_128X128, LPT_FORMAT_E5M2, 128, 128, LPT_FORMAT_F32)},
    {"mxfp8_e4m3",     per_block(LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_E4M3FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp8_e5m2",     per_block(LPT_FORMAT_MXFP8_E5M2, LPT_FORMAT_E5M2, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp4",          per_block(LPT_FORMAT_MXFP4, LPT_FORMAT_E2M1FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"nvfp4",          per_block(LPT_FORMAT_NVFP4, LPT_FORMAT_E2M1FN, 1, 16, LPT_FORMAT_E4M3FN, LPT_FORMAT_F32)},
    {"int8_tensor",    per_tensor(LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_INT8)},
    {"int8_row",       per_block(LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"f16_tensor",     per_tensor(LPT_FORMAT_F16_TENSOR, LPT_FORMAT_F16)},
    {"mxfp6_e3m2",     per_block(LPT_FORMAT_MXFP6_E3M2, LPT_FORMAT_E3M2FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp6_e2m3",     per_block(LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_E2M3FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxint8",         per_block(LPT_FORMAT_MXINT8, LPT_FORMAT_Q1_6, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"nvfp4_16x16",    per_block(LPT_FORMAT_NVFP4_16X16, LPT_FORMAT_E2M1FN, 16, 16, LPT_FORMAT_E4M3FN, LPT_FORMAT_F32)},
    {"int4_1x32",      per_block(LPT_FORMAT_INT4_1X32, LPT_FORMAT_INT4, 1, 32, LPT_FORMAT_F32)},
    {"int4_1x64",      per_block(LPT_FORMAT_INT4_1X64, LPT_FORMAT_INT4, 1, 64, LPT_FORMAT_F32)},
    {"int4_1x128",     per_block(LPT_FORMAT_INT4_1X128, LPT_FORMAT_INT4, 1, 128, LPT_FORMAT_F32)},
    {"uint4_1x32",     with_zero(LPT_FORMAT_UINT4_1X32, LPT_FORMAT_UINT4, 32)},
    {"uint4_1x64",     with_zero(LPT_FORMAT_UINT4_1X64, LPT_FORMAT_UINT4, 64)},
    {"uint4_1x128",    with_zero(LPT_FORMAT_UINT4_1X128, LPT_FORMAT_UINT4, 128)},
    {"int8_1x32",      per_block(LPT_FORMAT_INT8_1X32, LPT_FORMAT_INT8, 1, 32, LPT_FORMAT_F32)},
    {"int16_tensor",   per_tensor(LPT_FORMAT_INT16_TENSOR, LPT_FORMAT_INT16)},
    {"e3m0_tensor",    per_tensor(LPT_FORMAT_E3M0_TENSOR, LPT_FORMAT_E3M0)},
    {"ternary_tensor", per_tensor(LPT_FORMAT_TERNARY_TENSOR, LPT_FORMAT_TERNARY)},
    {"e4m3fnuz_tensor", per_tensor(LPT_FORMAT_E4M3FNUZ_TENSOR, LPT_FORMAT_E4M3FNUZ)},
    {"e5m2fnuz_tensor", per_tensor(LPT_FORMAT_E5M2FNUZ_TENSOR, LPT_FORMAT_E5M2FNUZ)},
    {"nf4_1x64",       per_block(LPT_FORMAT_NF4_1X64, LPT_FORMAT_NF4, 1, 64, LPT_FORMAT_F32)},
    {"bnb_fp4_1x64",   per_block(LPT_FORMAT_BNB_FP4_1X64, LPT_FORMAT_BNB_FP4, 1, 64, LPT_FORMAT_F32)},
};
// clang-format on

bool has_same_parts(const Format &a, const Format &b) {
  return a.element == b.element && a.block_scale == b.block_scale && a.tensor_scale == b.tensor_scale &&
         a.block_rows == b.block_rows && a.block_columns == b.block_columns && a.zero_point == b.zero_point;
}

}  // namespace

const Preset *find_preset(lpt_format id) {
  for (const Preset &preset : kPresets) {
    if (preset.format.id == id) return &preset;
  }
  return nullptr;
}

const Preset *find_preset(std::string_view name) {
  for (const Preset &preset : kPresets) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

const Preset *find_preset_of_parts(const Format &parts) {
  for (const Preset &preset : kPresets) {
    if (has_same_parts(preset.format, parts)) return &preset;
  }
  return nullptr;
}

}  // namespace lpt
