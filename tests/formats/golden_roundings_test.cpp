// All roundings except the default, saturating, of every element, against gfloat: tools/make_gfloat_golden.py.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/formats/golden_elements.hpp"

namespace lpt::golden {
namespace {

struct NamedRounding {
  const char *name;
  lpt_rounding rounding;
};
constexpr NamedRounding kRoundings[] = {{"nearest_even", LPT_ROUNDING_NEAREST_EVEN},
                                        {"nearest_away", LPT_ROUNDING_NEAREST_AWAY},
                                        {"toward_zero", LPT_ROUNDING_TOWARD_ZERO}};

class Roundings : public testing::TestWithParam<NamedRounding> {
 protected:
  // Tests every element that the file has for <set>_<rounding>.
  template <typename Values>
  void expect_golden(const std::string &set, size_t elements, const Values &values_of) {
    size_t count = 0;
    for (const Row &row : read("roundings")) {
      if (row[0] != set + "_" + GetParam().name) continue;
      const Element element = element_named(row[1]);
      EXPECT_EQ(row[2], digest_of(element, values_of(element), GetParam().rounding, LPT_OVERFLOW_SATURATE)) << row[1];
      ++count;
    }
    EXPECT_EQ(elements, count);
  }

  // 21 presets and 8 described elements. gfloat rounds e8m0fnu to nearest differently, so the file excludes it.
  size_t element_count() const { return GetParam().rounding == LPT_ROUNDING_TOWARD_ZERO ? 29 : 28; }
};

INSTANTIATE_TEST_SUITE_P(Of, Roundings, testing::ValuesIn(kRoundings),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(Roundings, OfAllBf16EqualGfloat) {
  const std::vector<float> values = bf16_set();
  expect_golden("bf16", element_count(), [&](const Element &) { return values; });
}

TEST_P(Roundings, AroundMidpointsEqualGfloat) { expect_golden("midpoints", element_count(), midpoints_set); }

}  // namespace
}  // namespace lpt::golden
