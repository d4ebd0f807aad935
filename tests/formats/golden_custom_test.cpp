// Elements that ml_dtypes does not have, described by name, against gfloat: tools/make_gfloat_golden.py.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/formats/golden_elements.hpp"

namespace lpt::golden {
namespace {

constexpr size_t kCustomElements = 8;

TEST(CustomElements, DecodeEveryCodeAsGfloat) {
  std::map<std::string, size_t> codes;
  for (const Row &row : read("custom_elements")) {
    const auto code = static_cast<uint32_t>(std::stoul(row[1]));
    EXPECT_EQ(code, codes[row[0]]++) << row[0];
    EXPECT_EQ(std::stoul(row[2], nullptr, 16), float_bits(decode(element_named(row[0]), code)))
        << row[0] << " code " << code;
  }
  EXPECT_EQ(kCustomElements, codes.size());
  for (const auto &[name, count] : codes) EXPECT_EQ(size_t{1} << element_named(name).bits, count) << name;
}

// roundings.csv has the sets of digests.csv for the elements above and for e3m0, which element_test.cpp tests.
template <typename Values>
void expect_golden(const std::string &set, const Values &values_of) {
  size_t count = 0;
  for (const Row &row : read("roundings")) {
    if (row[0] != set || row[1] == "e3m0") continue;
    const Element element = element_named(row[1]);
    const std::vector<float> &values = values_of(element);
    EXPECT_EQ(row[2], digest_of(element, values, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE)) << row[1];
    ++count;
  }
  EXPECT_EQ(kCustomElements, count);
}

TEST(CustomElements, EncodeAllBf16AsGfloat) {
  const std::vector<float> values = bf16_set();
  expect_golden("bf16", [&](const Element &) -> const std::vector<float> & { return values; });
}

TEST(CustomElements, EncodeAllF16AsGfloat) {
  const std::vector<float> values = f16_set();
  expect_golden("f16", [&](const Element &) -> const std::vector<float> & { return values; });
}

TEST(CustomElements, EncodeMidpointsAsGfloat) { expect_golden("midpoints", midpoints_set); }

TEST(CustomElements, EncodeTenMillionRandomFloatsAsGfloat) {
  const std::vector<float> values = random_set();
  expect_golden("random", [&](const Element &) -> const std::vector<float> & { return values; });
}

}  // namespace
}  // namespace lpt::golden
