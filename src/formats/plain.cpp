#include "src/formats/plain.hpp"

#include <bit>
#include <cfloat>

namespace lpt {
namespace {

// Levels of NormalFloat 4 of QLoRA (arXiv 2305.14314): quantiles of a normal distribution. Code i is level i. A threshold is
// the midpoint of two levels.
constexpr LevelList normal_levels() {
  LevelList list = {{-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
                     -0.18477343022823334f, -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f,
                     0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,
                     0.7229568362236023f, 1.0f},
                    {},
                    {},
                    {}};
  for (uint8_t i = 0; i < 16; ++i) {
    list.code[i] = i;
    list.value[i] = list.level[i];
  }
  for (int i = 0; i < 15; ++i) {
    list.threshold[i] =
        static_cast<float>((static_cast<double>(list.level[i]) + static_cast<double>(list.level[i + 1])) / 2);
  }
  return list;
}

// Levels of FP4 of bitsandbytes. The three low bits of a code select one of {0, 1/16, 8, 12, 4, 6, 2, 3} / 12; the bit above
// is the sign. A tie rounds to the smaller magnitude. Small negative values get the code of -0.
constexpr LevelList bnb_levels() {
  constexpr double kTwelfths[8] = {0, 0.0625, 2, 3, 4, 6, 8, 12};
  constexpr uint8_t kCodes[8] = {0, 1, 6, 7, 4, 5, 2, 3};
  constexpr float kMiddles[7] = {0.00260417f, 0.0859375f, 0.20833333f, 0.29166667f, 0.4166667f, 0.583333f, 0.8333333f};
  LevelList list = {};
  for (int i = 0; i < 8; ++i) {
    const auto level = static_cast<float>(kTwelfths[i] / 12);
    list.level[8 + i] = level;
    list.level[7 - i] = -level;
    list.code[8 + i] = kCodes[i];
    list.code[7 - i] = kCodes[i] | 8;
    list.value[kCodes[i]] = level;
    list.value[kCodes[i] | 8] = -level;
  }
  for (int i = 0; i < 7; ++i) {
    list.threshold[8 + i] = kMiddles[i];
    // The threshold is one ULP farther from zero, so that a tie is above it.
    list.threshold[6 - i] = -std::bit_cast<float>(std::bit_cast<uint32_t>(kMiddles[i]) + 1);
  }
  list.threshold[7] = -std::bit_cast<float>(uint32_t{1});
  return list;
}

constexpr LevelList kNormalLevels = normal_levels();
constexpr LevelList kBnbLevels = bnb_levels();
constexpr Element kElementNf4 = {4, 0, 0, 15, 15, 0, false, false, false, false, false, &kNormalLevels};
constexpr Element kElementBnbFp4 = {4, 0, 0, 15, 15, 0, false, false, false, false, false, &kBnbLevels};

// clang-format off
constexpr PlainPreset kPlains[] = {
    //                             bits  e   m  bias  special                largest    element
    {"f64",     LPT_FORMAT_F64,     {64, 11, 52, 1023, LPT_ELEMENT_SPECIAL_IEEE,     DBL_MAX,   nullptr}},
    {"f32",     LPT_FORMAT_F32,     {32,  8, 23,  127, LPT_ELEMENT_SPECIAL_IEEE,     FLT_MAX,   nullptr}},
    {"f16",     LPT_FORMAT_F16,     {16,  5, 10,   15, LPT_ELEMENT_SPECIAL_IEEE,     65504,     &kElementF16}},
    {"bf16",    LPT_FORMAT_BF16,    {16,  8,  7,  127, LPT_ELEMENT_SPECIAL_IEEE,     0x1.FEp127, &kElementBf16}},
    {"e4m3fn",  LPT_FORMAT_E4M3FN,  { 8,  4,  3,    7, LPT_ELEMENT_SPECIAL_NAN_ONES, 448,       &kElementE4m3fn}},
    {"e4m3",    LPT_FORMAT_E4M3,    { 8,  4,  3,    7, LPT_ELEMENT_SPECIAL_IEEE,     240,       &kElementE4m3}},
    {"e5m2",    LPT_FORMAT_E5M2,    { 8,  5,  2,   15, LPT_ELEMENT_SPECIAL_IEEE,     57344,     &kElementE5m2}},
    {"e2m1fn",  LPT_FORMAT_E2M1FN,  { 4,  2,  1,    1, LPT_ELEMENT_SPECIAL_NONE,     6,         &kElementE2m1fn}},
    {"e8m0fnu", LPT_FORMAT_E8M0FNU, { 8,  8,  0,  127, LPT_ELEMENT_SPECIAL_NAN_ONES, 0x1p127,   &kElementE8m0fnu}},
    {"int8",    LPT_FORMAT_INT8,    { 8,  0,  7,    0, LPT_ELEMENT_SPECIAL_INTEGER,  127,       &kElementInt8}},
    {"uint8",   LPT_FORMAT_UINT8,   { 8,  0,  8,    0, LPT_ELEMENT_SPECIAL_INTEGER,  255,       &kElementUint8}},
    {"e4m3fnuz",    LPT_FORMAT_E4M3FNUZ,    { 8, 4, 3,  8, LPT_ELEMENT_SPECIAL_FNUZ,    240,   &kElementE4m3fnuz}},
    {"e5m2fnuz",    LPT_FORMAT_E5M2FNUZ,    { 8, 5, 2, 16, LPT_ELEMENT_SPECIAL_FNUZ,    57344, &kElementE5m2fnuz}},
    {"e4m3b11fnuz", LPT_FORMAT_E4M3B11FNUZ, { 8, 4, 3, 11, LPT_ELEMENT_SPECIAL_FNUZ,    30,    &kElementE4m3b11fnuz}},
    {"e3m4",        LPT_FORMAT_E3M4,        { 8, 3, 4,  3, LPT_ELEMENT_SPECIAL_IEEE,    15.5,  &kElementE3m4}},
    {"e3m2fn",      LPT_FORMAT_E3M2FN,      { 6, 3, 2,  3, LPT_ELEMENT_SPECIAL_NONE,    28,    &kElementE3m2fn}},
    {"e2m3fn",      LPT_FORMAT_E2M3FN,      { 6, 2, 3,  1, LPT_ELEMENT_SPECIAL_NONE,    7.5,   &kElementE2m3fn}},
    {"e3m0",        LPT_FORMAT_E3M0,        { 4, 3, 0,  3, LPT_ELEMENT_SPECIAL_NONE,    16,    &kElementE3m0}},
    {"int4",        LPT_FORMAT_INT4,        { 4, 0, 3,  0, LPT_ELEMENT_SPECIAL_INTEGER, 7,     &kElementInt4}},
    {"uint4",       LPT_FORMAT_UINT4,       { 4, 0, 4,  0, LPT_ELEMENT_SPECIAL_INTEGER, 15,    &kElementUint4}},
    {"int2",        LPT_FORMAT_INT2,        { 2, 0, 1,  0, LPT_ELEMENT_SPECIAL_INTEGER, 1,     &kElementInt2}},
    {"ternary",     LPT_FORMAT_TERNARY,     { 2, 0, 1,  0, LPT_ELEMENT_SPECIAL_INTEGER, 1,     &kElementTernary}},
    {"int16",       LPT_FORMAT_INT16,       {16, 0, 15, 0, LPT_ELEMENT_SPECIAL_INTEGER, 32767, &kElementInt16}},
    {"q1_6",        LPT_FORMAT_Q1_6,        { 8, 0, 7,  6, LPT_ELEMENT_SPECIAL_INTEGER, 127.0 / 64, &kElementQ16}},
    {"nf4",         LPT_FORMAT_NF4,         { 4, 0, 0,  0, LPT_ELEMENT_SPECIAL_LIST,    1,     &kElementNf4}},
    {"bnb_fp4",     LPT_FORMAT_BNB_FP4,     { 4, 0, 0,  0, LPT_ELEMENT_SPECIAL_LIST,    1,     &kElementBnbFp4}},
    {"int32",       LPT_FORMAT_INT32,       {32, 0, 31, 0, LPT_ELEMENT_SPECIAL_INTEGER, INT32_MAX, nullptr}},
    {"int64",       LPT_FORMAT_INT64,       {64, 0, 63, 0, LPT_ELEMENT_SPECIAL_INTEGER, 0x1p63, nullptr}},
    {"int3",        LPT_FORMAT_INT3,        { 3, 0, 2,  0, LPT_ELEMENT_SPECIAL_INTEGER, 3,     &kElementInt3}},
};
// clang-format on

constexpr bool is_in_order() {
  lpt_format expected = 1;
  for (const PlainPreset &preset : kPlains) {
    if (preset.id != expected++) return false;
  }
  return true;
}

}  // namespace

int64_t plain_count() {
  static_assert(is_in_order(), "kPlains is sorted by number, from 1 on");
  return std::ssize(kPlains);
}

const PlainPreset *find_plain_preset(lpt_format id) {
  // Lookups are frequent, so the index in the table is the number minus 1.
  return id >= 1 && id <= plain_count() ? &kPlains[id - 1] : nullptr;
}

const PlainPreset *find_plain_preset(std::string_view name) {
  for (const PlainPreset &preset : kPlains) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

const PlainPreset *find_equal_preset(const Plain &plain) {
  for (const PlainPreset &preset : kPlains) {
    const Plain &other = preset.plain;
    const bool is_same = other.exponent_bits == plain.exponent_bits && other.mantissa_bits == plain.mantissa_bits &&
                         other.exponent_bias == plain.exponent_bias && other.special == plain.special &&
                         other.bits == plain.bits;
    if (is_same) return &preset;
  }
  return nullptr;
}

}  // namespace lpt
