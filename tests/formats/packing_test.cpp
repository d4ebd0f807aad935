// The memory layout of codes: load_code() and store_code() against the bits and digits that the header documents.
#include <gtest/gtest.h>

#include <vector>

#include "src/formats/format.hpp"
#include "tests/formats/golden.hpp"

namespace lpt {
namespace {

struct Packed {
  lpt_format plain;
  int32_t elements, bytes;
};

constexpr Packed kPackings[] = {
    {LPT_FORMAT_F64, 1, 8},    {LPT_FORMAT_F32, 1, 4},   {LPT_FORMAT_F16, 1, 2},     {LPT_FORMAT_INT16, 1, 2},
    {LPT_FORMAT_E4M3FN, 1, 1}, {LPT_FORMAT_UINT8, 1, 1}, {LPT_FORMAT_E3M2FN, 4, 3},  {LPT_FORMAT_E2M3FN, 4, 3},
    {LPT_FORMAT_E2M1FN, 2, 1}, {LPT_FORMAT_INT4, 2, 1},  {LPT_FORMAT_UINT4, 2, 1},   {LPT_FORMAT_E3M0, 2, 1},
    {LPT_FORMAT_NF4, 2, 1},    {LPT_FORMAT_INT2, 4, 1},  {LPT_FORMAT_TERNARY, 5, 1}, {LPT_FORMAT_BNB_FP4, 2, 1},
};

lpt_format named(const char *name) {
  lpt_format format = LPT_FORMAT_NONE;
  EXPECT_TRUE(format_from_name(name, format).is_ok()) << name;
  return format;
}

TEST(Packing, OfEveryPlainFormatIsAsTheHeaderSays) {
  for (const Packed &packed : kPackings) {
    EXPECT_EQ(packed.elements, packing_of(packed.plain).elements) << format_name(packed.plain);
    EXPECT_EQ(packed.bytes, packing_of(packed.plain).bytes) << format_name(packed.plain);
  }
}

TEST(Packing, CountsTheBytesOfARow) {
  for (int64_t columns = 0; columns < 50; ++columns) {
    EXPECT_EQ(8 * columns, row_bytes(LPT_FORMAT_F64, columns));
    EXPECT_EQ(columns, row_bytes(LPT_FORMAT_E5M2, columns));
    EXPECT_EQ((6 * columns + 7) / 8, row_bytes(LPT_FORMAT_E3M2FN, columns));
    EXPECT_EQ((4 * columns + 7) / 8, row_bytes(LPT_FORMAT_INT4, columns));
    EXPECT_EQ((2 * columns + 7) / 8, row_bytes(LPT_FORMAT_INT2, columns));
    EXPECT_EQ((columns + 4) / 5, row_bytes(LPT_FORMAT_TERNARY, columns));
    EXPECT_EQ((5 * columns + 7) / 8, row_bytes(named("e2m2b1-finite"), columns));
    EXPECT_EQ((3 * columns + 7) / 8, row_bytes(named("e1m1b1-finite"), columns));
  }
}

// Element i is stored at bits i · width, lowest first, in the row. The bits after the last element are zero.
void expect_bits(const Element &element, int64_t columns) {
  SCOPED_TRACE(std::to_string(element.bits) + " bits, " + std::to_string(columns) + " columns");
  golden::SplitMix64 random(static_cast<uint64_t>(1000 * element.bits + columns));
  const auto bytes = static_cast<size_t>(packed_bytes(packing_of(element), columns));
  std::vector<uint8_t> expected(bytes, 0), found(bytes + 1, 0xC7);
  std::vector<uint32_t> codes;
  for (int64_t i = 0; i < columns; ++i) {
    codes.push_back(random.below(1u << element.bits));
    store_code(element, found.data(), i, codes.back());
    for (int64_t bit = 0; bit < element.bits; ++bit) {
      const int64_t place = i * element.bits + bit;
      const auto value = static_cast<uint8_t>((codes.back() >> bit & 1) << (place % 8));
      expected[static_cast<size_t>(place / 8)] = static_cast<uint8_t>(expected[static_cast<size_t>(place / 8)] | value);
    }
  }
  EXPECT_EQ(0xC7, found.back()) << "wrote past the row";
  found.pop_back();
  EXPECT_EQ(expected, found);
  for (int64_t i = 0; i < columns; ++i)
    ASSERT_EQ(codes[static_cast<size_t>(i)], load_code(element, found.data(), i)) << i;
}

TEST(Packing, PutsElementIAtBitsITimesItsWidth) {
  // Every width from 2 bits: presets and custom elements.
  for (const char *name :
       {"int2", "int3", "ue1m1b1-finite", "e1m1b1-finite", "ue2m1b1-nan", "e2m1fn", "uint4", "e2m2b1-ieee", "e3m2fn",
        "e2m3fn", "e4m2b7-finite", "e4m3fn", "uint8", "q1_6", "f16", "int16"}) {
    for (int64_t columns = 0; columns < 20; ++columns) expect_bits(element_of(named(name)), columns);
  }
}

TEST(Packing, OfTernaryHasFiveDigitsToTheByte) {
  constexpr uint32_t kCodes[] = {0, 1, 3};  // of the digits 0, 1, 2
  for (int number = 0; number < 243; ++number) {
    for (int64_t columns = 1; columns <= 5; ++columns) {
      int expected = 0, rest = number, place = 1;
      uint8_t found[3] = {0xC7, 0xC7, 0xC7};
      for (int64_t i = 0; i < columns; ++i, rest /= 3, place *= 3) {
        store_code(kElementTernary, found + 1, i, kCodes[rest % 3]);
        expected += rest % 3 * place;
      }
      ASSERT_EQ(expected, found[1]) << number << " of " << columns;
      ASSERT_EQ(0xC7, found[2]);
      rest = number;
      for (int64_t i = 0; i < columns; ++i, rest /= 3) {
        ASSERT_EQ(kCodes[rest % 3], load_code(kElementTernary, found + 1, i));
      }
    }
  }
}

TEST(Packing, OfTernaryGoesOnInTheNextByte) {
  std::vector<uint8_t> row(4, 0xC7);
  for (int64_t i = 0; i < 17; ++i) store_code(kElementTernary, row.data(), i, i % 5 == i / 5 ? 3 : 1);
  // All digits are 1, except a 2 at digit 0, 1, 2 of one byte each. The last byte has two digits.
  EXPECT_EQ((std::vector<uint8_t>{121 + 1, 121 + 3, 121 + 9, 1 + 3}), row);
}

// Bytes from 243 are not five digits; reading them is still defined.
TEST(Packing, OfTernaryReadsAnyByte) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto memory = static_cast<uint8_t>(byte);
    for (int64_t i = 0; i < 5; ++i) {
      const uint32_t code = load_code(kElementTernary, &memory, i);
      ASSERT_TRUE(code == 0 || code == 1 || code == 3) << byte;
    }
  }
}

}  // namespace
}  // namespace lpt
