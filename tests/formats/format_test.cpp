// Formats: presets, described formats, names, and rejected ids.
#include "src/formats/format.hpp"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace lpt {
namespace {

struct NamedPreset {
  lpt_format id;
  const char *name;
  const char *spelled;  // the same by its parts; nullptr for a format without scales
};

constexpr NamedPreset kPresets[] = {
    {LPT_FORMAT_F64, "f64", nullptr},
    {LPT_FORMAT_F32, "f32", nullptr},
    {LPT_FORMAT_F16, "f16", nullptr},
    {LPT_FORMAT_BF16, "bf16", nullptr},
    {LPT_FORMAT_E4M3FN, "e4m3fn", nullptr},
    {LPT_FORMAT_E4M3, "e4m3", nullptr},
    {LPT_FORMAT_E5M2, "e5m2", nullptr},
    {LPT_FORMAT_E2M1FN, "e2m1fn", nullptr},
    {LPT_FORMAT_E8M0FNU, "e8m0fnu", nullptr},
    {LPT_FORMAT_INT8, "int8", nullptr},
    {LPT_FORMAT_UINT8, "uint8", nullptr},
    {LPT_FORMAT_E4M3FNUZ, "e4m3fnuz", nullptr},
    {LPT_FORMAT_E5M2FNUZ, "e5m2fnuz", nullptr},
    {LPT_FORMAT_E4M3B11FNUZ, "e4m3b11fnuz", nullptr},
    {LPT_FORMAT_E3M4, "e3m4", nullptr},
    {LPT_FORMAT_E3M2FN, "e3m2fn", nullptr},
    {LPT_FORMAT_E2M3FN, "e2m3fn", nullptr},
    {LPT_FORMAT_E3M0, "e3m0", nullptr},
    {LPT_FORMAT_INT4, "int4", nullptr},
    {LPT_FORMAT_UINT4, "uint4", nullptr},
    {LPT_FORMAT_INT2, "int2", nullptr},
    {LPT_FORMAT_TERNARY, "ternary", nullptr},
    {LPT_FORMAT_INT16, "int16", nullptr},
    {LPT_FORMAT_Q1_6, "q1_6", nullptr},
    {LPT_FORMAT_NF4, "nf4", nullptr},
    {LPT_FORMAT_BNB_FP4, "bnb_fp4", nullptr},
    {LPT_FORMAT_INT32, "int32", nullptr},
    {LPT_FORMAT_INT64, "int64", nullptr},
    {LPT_FORMAT_INT3, "int3", nullptr},
    {LPT_FORMAT_E4M3FN_TENSOR, "e4m3fn_tensor", "e4m3fn/tensor/f32"},
    {LPT_FORMAT_E4M3FN_ROW, "e4m3fn_row", "e4m3fn/row/f32"},
    {LPT_FORMAT_E4M3FN_1X128, "e4m3fn_1x128", "e4m3fn/1x128/f32"},
    {LPT_FORMAT_E4M3FN_128X128, "e4m3fn_128x128", "e4m3fn/128x128/f32"},
    {LPT_FORMAT_E4M3_TENSOR, "e4m3_tensor", "e4m3/tensor/f32"},
    {LPT_FORMAT_E4M3_ROW, "e4m3_row", "e4m3/row/f32"},
    {LPT_FORMAT_E5M2_TENSOR, "e5m2_tensor", "e5m2/tensor/f32"},
    {LPT_FORMAT_E5M2_ROW, "e5m2_row", "e5m2/row/f32"},
    {LPT_FORMAT_E5M2_1X128, "e5m2_1x128", "e5m2/1x128/f32"},
    {LPT_FORMAT_E5M2_128X128, "e5m2_128x128", "e5m2/128x128/f32"},
    {LPT_FORMAT_MXFP8_E4M3, "mxfp8_e4m3", "e4m3fn/1x32/e8m0fnu"},
    {LPT_FORMAT_MXFP8_E5M2, "mxfp8_e5m2", "e5m2/1x32/e8m0fnu"},
    {LPT_FORMAT_MXFP4, "mxfp4", "e2m1fn/1x32/e8m0fnu"},
    {LPT_FORMAT_NVFP4, "nvfp4", "e2m1fn/1x16/e4m3fn/f32"},
    {LPT_FORMAT_INT8_TENSOR, "int8_tensor", "int8/tensor/f32"},
    {LPT_FORMAT_INT8_ROW, "int8_row", "int8/row/f32"},
    {LPT_FORMAT_F16_TENSOR, "f16_tensor", "f16/tensor/f32"},
    {LPT_FORMAT_MXFP6_E3M2, "mxfp6_e3m2", "e3m2fn/1x32/e8m0fnu"},
    {LPT_FORMAT_MXFP6_E2M3, "mxfp6_e2m3", "e2m3fn/1x32/e8m0fnu"},
    {LPT_FORMAT_MXINT8, "mxint8", "q1_6/1x32/e8m0fnu"},
    {LPT_FORMAT_NVFP4_16X16, "nvfp4_16x16", "e2m1fn/16x16/e4m3fn/f32"},
    {LPT_FORMAT_INT4_1X32, "int4_1x32", "int4/1x32/f32"},
    {LPT_FORMAT_INT4_1X64, "int4_1x64", "int4/1x64/f32"},
    {LPT_FORMAT_INT4_1X128, "int4_1x128", "int4/1x128/f32"},
    {LPT_FORMAT_UINT4_1X32, "uint4_1x32", "uint4/1x32/f32/uint8"},
    {LPT_FORMAT_UINT4_1X64, "uint4_1x64", "uint4/1x64/f32/uint8"},
    {LPT_FORMAT_UINT4_1X128, "uint4_1x128", "uint4/1x128/f32/uint8"},
    {LPT_FORMAT_INT8_1X32, "int8_1x32", "int8/1x32/f32"},
    {LPT_FORMAT_INT16_TENSOR, "int16_tensor", "int16/tensor/f32"},
    {LPT_FORMAT_E3M0_TENSOR, "e3m0_tensor", "e3m0/tensor/f32"},
    {LPT_FORMAT_TERNARY_TENSOR, "ternary_tensor", "ternary/tensor/f32"},
    {LPT_FORMAT_E4M3FNUZ_TENSOR, "e4m3fnuz_tensor", "e4m3fnuz/tensor/f32"},
    {LPT_FORMAT_E5M2FNUZ_TENSOR, "e5m2fnuz_tensor", "e5m2fnuz/tensor/f32"},
    {LPT_FORMAT_NF4_1X64, "nf4_1x64", "nf4/1x64/f32"},
    {LPT_FORMAT_BNB_FP4_1X64, "bnb_fp4_1x64", "bnb_fp4/1x64/f32"},
};

constexpr const char *kDescribedNames[] = {
    "bf16/tensor/f32",
    "bf16/row/f32",
    "e4m3fn/column/f32",
    "e4m3fn/column/e8m0fnu/f32",
    "int8/1x64/f32",
    "e2m1fn/16x16/e4m3fn",
    "e2m1fn/8x8/e4m3fn/f32",
    "f16/1x1/f32",
    "e5m2/wholex128/f32",
    "e5m2/2xwhole/e8m0fnu",
    "e4m3/1048576x1048576/f32",
    "e4m3fn/1x1048576/e4m3fn",
    "e4m3fn/32x1/e8m0fnu",
    "e4m3fn/128x128/e8m0fnu",
    "e4m3fn/row/f32/f32",
    "uint4/1x256/f32/uint8",
    "uint8/row/f32/uint8",
    "uint8/16x16/f32/uint8",
    "e4m2b9-finite",
    "ue4m3b7-nan",
    "e2m1b5-finite/1x32/e8m0fnu",
    "e5m2b-1-ieee/row/f32",
    "ue5m3b15-nan/16x16/e4m3fn/f32",
    "e7m0b63-fnuz/tensor/f32",
};

constexpr int kSparseBit = 60;

lpt_format format_of(const std::string &name) {
  lpt_format id = LPT_FORMAT_NONE;
  const Status status = format_from_name(name.c_str(), id);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return id;
}

TEST(Format, NamesEveryPresetAndReadsItBack) {
  for (const NamedPreset &preset : kPresets) {
    EXPECT_EQ(preset.name, format_name(preset.id));
    EXPECT_EQ(preset.id, format_of(preset.name));
  }
}

TEST(Format, FindsThePresetOfItsParts) {
  for (const NamedPreset &preset : kPresets) {
    const std::string spelled = preset.spelled == nullptr ? preset.name : preset.spelled;
    EXPECT_EQ(preset.id, format_of(spelled)) << spelled;
    Format format;
    ASSERT_TRUE(find_format(preset.id, format));
    EXPECT_EQ(preset.id, format.id);
    lpt_format made = LPT_FORMAT_NONE;
    ASSERT_TRUE(make_format(format, made).is_ok());
    EXPECT_EQ(preset.id, made);
  }
}

TEST(Format, NamesADescribedFormatAndReadsItBack) {
  std::set<lpt_format> ids;
  for (const char *name : kDescribedNames) {
    const lpt_format id = format_of(name);
    EXPECT_NE(0, id & (lpt_format{1} << 62)) << name;
    EXPECT_EQ(name, format_name(id));
    ids.insert(id);
  }
  EXPECT_EQ(std::size(kDescribedNames), ids.size());
}

TEST(Format, ReadsRowAndColumnByTheirExtentsToo) {
  EXPECT_EQ(format_of("bf16/row/f32"), format_of("bf16/1xwhole/f32"));
  EXPECT_EQ(format_of("bf16/column/f32"), format_of("bf16/wholex1/f32"));
}

TEST(Format, SpellsItsPartsInItsBits) {
  // Saved files contain these ids: they must never change.
  EXPECT_EQ(0x4000000000020004, format_of("bf16/tensor/f32"));
  EXPECT_EQ((lpt_format{1} << 62) | 5 | 9 << 8 | 2 << 16 | lpt_format{31} << 24,
            format_of("e4m3fn/column/e8m0fnu/f32"));
  EXPECT_EQ((lpt_format{1} << 62) | 10 | 2 << 8 | lpt_format{6} << 29, format_of("int8/1x64/f32"));
  EXPECT_EQ((lpt_format{1} << 62) | 6 | 2 << 8 | lpt_format{20} << 24 | lpt_format{20} << 29,
            format_of("e4m3/1048576x1048576/f32"));
}

TEST(Format, TakesADescribedFormatApart) {
  Format format;
  ASSERT_TRUE(find_format(format_of("e5m2/wholex128/e8m0fnu/f32"), format));
  EXPECT_EQ(LPT_FORMAT_E5M2, format.element);
  EXPECT_EQ(LPT_FORMAT_E8M0FNU, format.block_scale);
  EXPECT_EQ(LPT_FORMAT_F32, format.tensor_scale);
  EXPECT_EQ(LPT_BLOCK_EXTENT_FULL, format.block_rows);
  EXPECT_EQ(128, format.block_columns);
}

TEST(Format, RejectsNumbersThatAreNone) {
  std::vector<lpt_format> numbers = {LPT_FORMAT_NONE, -1, 30, 63, 99, 12345, INT64_MIN, INT64_MAX, lpt_format{1} << 62};
  for (const NamedPreset &preset : kPresets) numbers.push_back(preset.id | lpt_format{1} << 62);
  for (lpt_format number : numbers) {
    Format format;
    EXPECT_FALSE(find_format(number, format)) << number;
    EXPECT_EQ("format " + std::to_string(number), format_name(number));
    lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
    EXPECT_EQ(LPT_INVALID_ARGUMENT, describe_format(number, description).code());
  }
}

// A release that adds a preset still reads ids that an earlier release saved for the same format.
TEST(Format, MakesAPresetOfItsParts) {
  const lpt_format mxfp4 = (lpt_format{1} << 62) | LPT_FORMAT_E2M1FN | LPT_FORMAT_E8M0FNU << 8 | lpt_format{5} << 29;
  Format format;
  ASSERT_TRUE(find_format(mxfp4, format));
  EXPECT_EQ(LPT_FORMAT_MXFP4, format.id);
  EXPECT_TRUE(find_format(mxfp4 ^ (lpt_format{5} << 29) ^ (lpt_format{6} << 29), format));
}

// Bit 60 makes a format 2:4. It is invalid for presets, single elements, and elements without a zero.
TEST(Format, TakesTheBitOfSparsity) {
  constexpr lpt_format kBit = lpt_format{1} << kSparseBit;
  Format format;
  ASSERT_TRUE(find_format(format_of("bf16/tensor/f32") | kBit, format));
  EXPECT_TRUE(format.is_sparse);
  EXPECT_EQ(format_of("bf16/tensor/f32/2:4"), format.id);
  EXPECT_FALSE(find_format(LPT_FORMAT_NVFP4 | kBit, format));
  EXPECT_FALSE(find_format(LPT_FORMAT_BF16 | kBit, format));
  ASSERT_TRUE(find_format(format_of("bf16/2:4"), format));
  EXPECT_EQ(LPT_FORMAT_BF16, dense_format(format.id));
  EXPECT_EQ(format.id, sparse_format(LPT_FORMAT_BF16));
  EXPECT_EQ(LPT_FORMAT_NVFP4, dense_format(sparse_format(LPT_FORMAT_NVFP4)));
  EXPECT_EQ(LPT_FORMAT_NONE, sparse_format(LPT_FORMAT_NF4));
  EXPECT_EQ(LPT_FORMAT_NONE, sparse_format(LPT_FORMAT_E8M0FNU));
}

TEST(Format, RejectsStrayBits) {
  for (const char *name : {"bf16/tensor/f32", "int8/1x64/f32", "e4m3fn/column/e8m0fnu/f32"}) {
    const lpt_format id = format_of(name);
    for (int bit = 34; bit < 64; ++bit) {
      if (bit == kSparseBit) continue;
      Format format;
      EXPECT_FALSE(find_format(static_cast<lpt_format>(static_cast<uint64_t>(id) ^ uint64_t{1} << bit), format)) << bit;
    }
  }
  // Extents without a block scale are invalid too.
  for (int bit = 24; bit < 34; ++bit) {
    Format format;
    EXPECT_FALSE(find_format(format_of("bf16/tensor/f32") | lpt_format{1} << bit, format)) << bit;
  }
}

TEST(Format, RejectsExtentsBeyondTheLargest) {
  const lpt_format rows_2_20 = format_of("e4m3/1048576x1048576/f32");
  Format format;
  for (int log2 = 21; log2 < 31; ++log2) {
    const lpt_format id = (rows_2_20 & ~(lpt_format{31} << 24)) | lpt_format{log2} << 24;
    EXPECT_FALSE(find_format(id, format)) << log2;
  }
}

TEST(Format, RejectsWrongNamesAndNamesTheWrongPart) {
  constexpr const char *kNamesAndReasons[][2] = {
      {"", "expected a preset"},
      {"fp8", "expected a preset"},
      {"E4M3FN", "expected a preset"},
      {"none", "expected a preset"},
      {"e4m3fn ", "expected a preset"},
      {"e4m3fn/f32", "expected a preset"},
      {"e4m3fn/1x32/e8m0fnu/f32/f32", "one f32 and one uint8"},
      {"uint4/1x32/f32/uint8/uint8", "one f32 and one uint8"},
      {"uint4/1x32/f32/uint8/f32/f32", "expected a preset"},
      {"uint4/1x32/f32", "element is uint4"},
      {"int4/1x32/f32/uint8", "element is int4: expected uint4 or uint8"},
      {"uint4/1x32/e8m0fnu/uint8", "expected an f32 block scale"},
      {"uint4/1x32/f32/f32/uint8", "no tensor scale beside it"},
      {"uint4/tensor/f32/uint8", "block is \"tensor\""},
      {"e8m3b1-finite", "expected a preset"},
      {"e4m3b7", "expected a preset"},
      {"e4m3b+7-nan", "expected a preset"},
      {"e4m3b07-nan", "expected a preset"},
      {"e4m3b99999999999-nan", "expected a preset"},
      {"e4m3b7-nan ", "expected a preset"},
      {" e4m3b7-nan", "expected a preset"},
      {"e04m3b7-nan", "expected a preset"},
      {"e4m4b7-nan", "expected a preset"},
      {"ue4m3b7-fnuz", "expected a preset"},
      {"e4m0b7-ieee", "expected a preset"},
      {"e4m3b200-nan", "expected a preset"},
      {"e4m3b7-list", "expected a preset"},
      {"fp8/tensor/f32", "element is \"fp8\""},
      {"nvfp4/tensor/f32", "element is \"nvfp4\""},
      {"/tensor/f32", "element is \"\""},
      {"f32/tensor/f32", "element is f32"},
      {"e8m0fnu/tensor/f32", "element is e8m0fnu"},
      {"uint8/row/f32", "element is uint8"},
      {"e4m3fn//f32", "block is \"\""},
      {"e4m3fn/rows/f32", "block is \"rows\""},
      {"e4m3fn/32/f32", "block is \"32\""},
      {"e4m3fn/1x/f32", "block is \"1x\""},
      {"e4m3fn/1x+2/f32", "block is \"1x+2\""},
      {"e4m3fn/1x032/f32", "block is \"1x032\""},
      {"e4m3fn/0x32/f32", "block is \"0x32\""},
      {"e4m3fn/-1x32/f32", "block is \"-1x32\""},
      {"e4m3fn/1x32x1/f32", "block is \"1x32x1\""},
      {"e4m3fn/1x99999999/f32", "block is \"1x99999999\""},
      {"e4m3fn/3x32/f32", "block_rows is 3"},
      {"e4m3fn/1x48/f32", "block_columns is 48"},
      {"e4m3fn/1x2097152/f32", "block_columns is 2097152"},
      {"e4m3fn/wholexwhole/f32", "tensor_scale"},
      {"e4m3fn/1x32/f8", "scale is \"f8\""},
      {"e4m3fn/1x32/bf16", "block_scale is bf16"},
      {"e4m3fn/tensor/e8m0fnu", "tensor_scale is e8m0fnu"},
      {"e4m3fn/tensor/f32/f32", "block is \"tensor\""},
      {"e4m3fn/1x32/f32/e8m0fnu", "tensor_scale is e8m0fnu"},
      {"e4m3fn/1x32/f32/", "tensor scale is \"\""},
  };
  for (const auto &[name, reason] : kNamesAndReasons) {
    lpt_format id = 7;
    const Status status = format_from_name(name, id);
    EXPECT_EQ(LPT_INVALID_ARGUMENT, status.code()) << name;
    EXPECT_NE(std::string::npos, status.message().find(reason)) << name << ": " << status.message();
    EXPECT_NE(std::string::npos, status.message().find('"' + std::string(name) + '"')) << status.message();
    EXPECT_EQ(7, id) << name << " wrote an output";
  }
}

TEST(FormatDescription, AgreesWithTheElement) {
  for (const NamedPreset &preset : kPresets) {
    lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
    ASSERT_TRUE(describe_format(preset.id, description).is_ok());
    EXPECT_EQ(sizeof description, description.struct_size);
    EXPECT_EQ(element_bits(description.element), description.element_bits);
    if (!has_element(description.element)) continue;
    const Element element = element_of(description.element);
    EXPECT_EQ(element.bits, description.element_bits) << preset.name;
    EXPECT_EQ(static_cast<float>(description.largest), largest_of(description.element)) << preset.name;
    EXPECT_EQ(element.is_integer, description.special == LPT_ELEMENT_SPECIAL_INTEGER) << preset.name;
    EXPECT_EQ(element.levels != nullptr, description.special == LPT_ELEMENT_SPECIAL_LIST) << preset.name;
    if (description.special == LPT_ELEMENT_SPECIAL_LIST) continue;
    EXPECT_EQ(element.bits, element.is_signed + description.exponent_bits + description.mantissa_bits) << preset.name;
    EXPECT_EQ(decode(element, element.max_code), description.largest) << preset.name;
    EXPECT_EQ(std::isinf(decode(element, element.infinity_code)), description.special == LPT_ELEMENT_SPECIAL_IEEE);
    EXPECT_EQ(element.is_fnuz, description.special == LPT_ELEMENT_SPECIAL_FNUZ) << preset.name;
    if (element.is_integer) continue;
    EXPECT_EQ(element.mantissa_bits, description.mantissa_bits) << preset.name;
    EXPECT_EQ(1 - element.min_exponent, description.exponent_bias) << preset.name;
    EXPECT_EQ(element.nan_code == 0, description.special == LPT_ELEMENT_SPECIAL_NONE) << preset.name;
  }
}

TEST(FormatDescription, TellsNvfp4Whole) {
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  ASSERT_TRUE(describe_format(LPT_FORMAT_NVFP4, description).is_ok());
  EXPECT_EQ(LPT_FORMAT_E2M1FN, description.element);
  EXPECT_EQ(LPT_FORMAT_E4M3FN, description.block_scale);
  EXPECT_EQ(LPT_FORMAT_F32, description.tensor_scale);
  EXPECT_EQ(1, description.block_rows);
  EXPECT_EQ(16, description.block_columns);
  EXPECT_EQ(4, description.element_bits);
  EXPECT_EQ(2, description.exponent_bits);
  EXPECT_EQ(1, description.mantissa_bits);
  EXPECT_EQ(1, description.exponent_bias);
  EXPECT_EQ(LPT_ELEMENT_SPECIAL_NONE, description.special);
  EXPECT_EQ(6.0, description.largest);
}

TEST(FormatDescription, TellsTheWideFloats) {
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  ASSERT_TRUE(describe_format(LPT_FORMAT_F64, description).is_ok());
  EXPECT_EQ(64, description.element_bits);
  EXPECT_EQ(1023, description.exponent_bias);
  EXPECT_EQ(DBL_MAX, description.largest);
  ASSERT_TRUE(describe_format(LPT_FORMAT_F32, description).is_ok());
  EXPECT_EQ(32, description.element_bits);
  EXPECT_EQ(8, description.exponent_bits);
  EXPECT_EQ(23, description.mantissa_bits);
  EXPECT_EQ(FLT_MAX, description.largest);
  EXPECT_EQ(FLT_MAX, largest_of(LPT_FORMAT_F32));
}

TEST(FormatDescription, MakesTheFormatAgain) {
  std::vector<lpt_format> ids;
  for (const NamedPreset &preset : kPresets) ids.push_back(preset.id);
  for (const char *name : kDescribedNames) ids.push_back(format_of(name));
  for (lpt_format id : ids) {
    lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
    ASSERT_TRUE(describe_format(id, description).is_ok());
    lpt_format made = LPT_FORMAT_NONE;
    EXPECT_TRUE(format_from_description(description, made).is_ok());
    EXPECT_EQ(id, made);
    lpt_format_description short_one = LPT_FORMAT_DESCRIPTION_INIT;  // without members that are only reported
    short_one.element = description.element;
    short_one.zero_point = description.zero_point;
    short_one.block_scale = description.block_scale;
    short_one.tensor_scale = description.tensor_scale;
    short_one.block_rows = description.block_rows;
    short_one.block_columns = description.block_columns;
    EXPECT_TRUE(format_from_description(short_one, made).is_ok());
    EXPECT_EQ(id, made);
  }
}

// Changes one member of a valid description. The text names it with its value.
struct WrongMember {
  const char *text;
  void (*corrupt)(lpt_format_description &);
};

constexpr WrongMember kWrongMembers[] = {
    {"element is none", [](auto &d) { d.element = LPT_FORMAT_NONE, d.exponent_bits = 0; }},
    {"element is mxfp4", [](auto &d) { d.element = LPT_FORMAT_MXFP4; }},
    {"element is format 4711", [](auto &d) { d.element = 4711; }},
    {"element is f64", [](auto &d) { d.element = LPT_FORMAT_F64; }},
    {"element is uint8", [](auto &d) { d.element = LPT_FORMAT_UINT8; }},
    {"element is e8m0fnu", [](auto &d) { d.element = LPT_FORMAT_E8M0FNU; }},
    {"block_scale is bf16", [](auto &d) { d.block_scale = LPT_FORMAT_BF16; }},
    {"block_scale is format -5", [](auto &d) { d.block_scale = -5; }},
    {"block_rows is 2 and block_columns is 64", [](auto &d) { d.block_scale = LPT_FORMAT_NONE; }},
    {"tensor_scale is e8m0fnu", [](auto &d) { d.tensor_scale = LPT_FORMAT_E8M0FNU; }},
    {"block_rows is 0", [](auto &d) { d.block_rows = 0; }},
    {"block_rows is -2", [](auto &d) { d.block_rows = -2; }},
    {"block_rows is 2097152", [](auto &d) { d.block_rows = 1 << 21; }},
    {"block_columns is 0", [](auto &d) { d.block_columns = 0; }},
    {"block_columns is 48", [](auto &d) { d.block_columns = 48; }},
    {"block_columns is -2147483648", [](auto &d) { d.block_columns = INT32_MIN; }},
    {"both LPT_BLOCK_EXTENT_FULL", [](auto &d) { d.block_rows = d.block_columns = LPT_BLOCK_EXTENT_FULL; }},
    {"element_bits is 4, expected 0 or 8", [](auto &d) { d.element_bits = 4; }},
    {"exponent_bits is 5, expected 0 or 4", [](auto &d) { d.exponent_bits = 5; }},
    {"mantissa_bits is 2, expected 0 or 3", [](auto &d) { d.mantissa_bits = 2; }},
    {"exponent_bias is 8, expected 0 or 7", [](auto &d) { d.exponent_bias = 8; }},
    {"special is 1, expected 0 or 2", [](auto &d) { d.special = LPT_ELEMENT_SPECIAL_IEEE; }},
    {"largest is 240, expected 0 or 448", [](auto &d) { d.largest = 240; }},
    {"reserved is 1, expected 0", [](auto &d) { d.reserved = 1; }},
    {"zero_point is int8", [](auto &d) { d.zero_point = LPT_FORMAT_INT8; }},
    {"zero_point is uint8", [](auto &d) { d.zero_point = LPT_FORMAT_UINT8; }},
};

TEST(FormatDescription, RejectsEachWrongMemberByName) {
  for (const WrongMember &wrong : kWrongMembers) {
    lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
    ASSERT_TRUE(describe_format(format_of("e4m3fn/2x64/f32/f32"), description).is_ok());
    wrong.corrupt(description);
    lpt_format id = 7;
    const Status status = format_from_description(description, id);
    EXPECT_EQ(LPT_INVALID_ARGUMENT, status.code()) << wrong.text;
    EXPECT_NE(std::string::npos, status.message().find(wrong.text)) << wrong.text << ": " << status.message();
    EXPECT_NE(std::string::npos, status.message().find("expected")) << status.message();
    EXPECT_EQ(7, id) << wrong.text << ": wrote an output";
  }
}

TEST(FormatDescription, MakesEveryCombinationThatIsAllowed) {
  std::set<lpt_format> ids;
  int count = 0;
  for (lpt_format element = 1; element <= plain_count(); ++element) {
    for (lpt_format block_scale : {LPT_FORMAT_NONE, LPT_FORMAT_F32, LPT_FORMAT_E8M0FNU, LPT_FORMAT_E4M3FN}) {
      for (lpt_format tensor_scale : {LPT_FORMAT_NONE, LPT_FORMAT_F32}) {
        for (int32_t rows : {0, 1, 32, int32_t{LPT_BLOCK_EXTENT_FULL}}) {
          for (int32_t columns : {0, 1, 128, int32_t{LPT_BLOCK_EXTENT_FULL}}) {
            lpt_format id = LPT_FORMAT_NONE;
            const Format parts = {.element = element,
                                  .block_scale = block_scale,
                                  .tensor_scale = tensor_scale,
                                  .block_rows = rows,
                                  .block_columns = columns};
            if (!make_format(parts, id).is_ok()) continue;
            ++count;
            ids.insert(id);
            Format found;
            EXPECT_TRUE(find_format(id, found));
            EXPECT_EQ(id, format_of(format_name(id)));
          }
        }
      }
    }
  }
  // 29 elements. All but f64, f32, int32, int64, e8m0fnu, uint8 and uint4 have: a tensor scale alone, or 3 block scales × 2
  // tensor scales × 8 blocks.
  EXPECT_EQ(29 + 22 * (1 + 3 * 2 * 8), count);
  EXPECT_EQ(static_cast<size_t>(count), ids.size());
}

TEST(Element, OfAPlainFormatHasItsBits) {
  for (lpt_format plain : {LPT_FORMAT_F64, LPT_FORMAT_F32}) EXPECT_FALSE(has_element(plain));
  for (lpt_format other : {LPT_FORMAT_NONE, LPT_FORMAT_NVFP4, LPT_FORMAT_E4M3FN_ROW}) EXPECT_FALSE(has_element(other));
  EXPECT_EQ(64, element_bits(LPT_FORMAT_F64));
  EXPECT_EQ(4, element_bits(LPT_FORMAT_E2M1FN));
  EXPECT_EQ(448.0f, largest_of(LPT_FORMAT_E4M3FN));
  EXPECT_EQ(0x1.FEp127f, largest_of(LPT_FORMAT_BF16));
  EXPECT_EQ(127.0f, largest_of(LPT_FORMAT_INT8));
}

}  // namespace
}  // namespace lpt
