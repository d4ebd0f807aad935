#include "dtype.hpp"

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

struct GgmlElement {
  uint32_t number;
  std::string_view dtype;
};
constexpr GgmlElement kGgmlElements[] = {{0, "F32"},  {1, "F16"},  {24, "I8"},  {25, "I16"},
                                         {26, "I32"}, {27, "I64"}, {28, "F64"}, {30, "BF16"}};

struct GgmlBlock {
  uint32_t number;
  Dtype dtype;
};
constexpr Dtype block_of(std::string_view name, int32_t elements, int32_t bytes, std::string_view format = "",
                         lpt_foreign_layout layout = 0) {
  return {name, bytes * 8, format, layout != 0, elements, layout};
}
constexpr Dtype coded_block(std::string_view name, int32_t elements, int32_t bytes, const BlockCoding &coding) {
  return {name, bytes * 8, "f32", true, elements, 0, &coding};
}
// Blocks of gguf.constants.GGML_QUANT_SIZES, gguf 0.19.0. The missing numbers belong to removed types.
constexpr GgmlBlock kGgmlBlocks[] = {
    {2, block_of("Q4_0", 32, 18, "int4_1x32", LPT_FOREIGN_LAYOUT_GGML)},
    {3, coded_block("Q4_1", 32, 20, kQ4_1)},
    {6, coded_block("Q5_0", 32, 22, kQ5_0)},
    {7, coded_block("Q5_1", 32, 24, kQ5_1)},
    {8, block_of("Q8_0", 32, 34, "int8_1x32", LPT_FOREIGN_LAYOUT_GGML)},
    {9, block_of("Q8_1", 32, 40)},
    {10, coded_block("Q2_K", 256, 84, kQ2_K)},
    {11, coded_block("Q3_K", 256, 110, kQ3_K)},
    {12, coded_block("Q4_K", 256, 144, kQ4_K)},
    {13, coded_block("Q5_K", 256, 176, kQ5_K)},
    {14, coded_block("Q6_K", 256, 210, kQ6_K)},
    {15, block_of("Q8_K", 256, 292)},
    {16, block_of("IQ2_XXS", 256, 66)},
    {17, block_of("IQ2_XS", 256, 74)},
    {18, block_of("IQ3_XXS", 256, 98)},
    {19, block_of("IQ1_S", 256, 50)},
    {20, coded_block("IQ4_NL", 32, 18, kIq4Nl)},
    {21, block_of("IQ3_S", 256, 110)},
    {22, block_of("IQ2_S", 256, 82)},
    {23, coded_block("IQ4_XS", 256, 136, kIq4Xs)},
    {29, block_of("IQ1_M", 256, 56)},
    {34, block_of("TQ1_0", 256, 54)},
    {35, block_of("TQ2_0", 256, 66)},
    {39, block_of("MXFP4", 32, 17, "mxfp4", LPT_FOREIGN_LAYOUT_GGML)},
    {40, block_of("NVFP4", 64, 36)},
    {41, block_of("Q1_0", 128, 18)},
};

}  // namespace

std::span<const Dtype> dtypes() { return kDtypes; }

const Dtype *find_dtype(std::string_view name) {
  for (const Dtype &dtype : kDtypes) {
    if (dtype.name == name) return &dtype;
  }
  return nullptr;
}

const Dtype *find_ggml_dtype(uint32_t number) {
  for (const GgmlElement &element : kGgmlElements) {
    if (element.number == number) return find_dtype(element.dtype);
  }
  for (const GgmlBlock &block : kGgmlBlocks) {
    if (block.number == number) return &block.dtype;
  }
  return nullptr;
}

std::string decoded_block_names() {
  std::string names;
  for (const GgmlBlock &block : kGgmlBlocks) {
    if (block.dtype.is_float) names += (names.empty() ? "" : ", ") + std::string(block.dtype.name);
  }
  return names;
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
