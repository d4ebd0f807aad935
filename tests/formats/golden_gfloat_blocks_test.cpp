// MX blocks of the library with the rule of OCP against gfloat. MXINT8 and very small blocks are included, for which torchao
// has nothing or another rule. tools/make_gfloat_golden.py makes the digests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/formats/block_cast.hpp"

namespace lpt::test {
namespace {

struct MxFormat {
  const char *element;
  lpt_format format;
};
constexpr MxFormat kFormats[] = {{"e4m3fn", LPT_FORMAT_MXFP8_E4M3}, {"e5m2", LPT_FORMAT_MXFP8_E5M2},
                                 {"e3m2fn", LPT_FORMAT_MXFP6_E3M2}, {"e2m3fn", LPT_FORMAT_MXFP6_E2M3},
                                 {"e2m1fn", LPT_FORMAT_MXFP4},      {"q1_6", LPT_FORMAT_MXINT8}};

class GfloatBlocks : public testing::TestWithParam<golden::MxClass> {};

// Excludes infinities and NaN, which the rule of gfloat does not support.
INSTANTIATE_TEST_SUITE_P(Classes, GfloatBlocks,
                         testing::ValuesIn(golden::kMxClasses, golden::kMxClasses + std::size(golden::kMxClasses) - 2),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(GfloatBlocks, EqualGfloatByTheRuleOfTheText) {
  const std::vector<float> values = golden::mx_blocks(GetParam());
  const Context context = make_context();
  for (const MxFormat &mx : kFormats) {
    SCOPED_TRACE(mx.element);
    const golden::Row row = golden::find_row("gfloat_blocks", {mx.element, GetParam().name});
    ASSERT_EQ(5u, row.size());
    const CastBlocks got = cast_blocks(context.get(), values.data(), values.size(), mx.format, LPT_SCALE_RULE_FLOOR);
    EXPECT_EQ(row[2], std::to_string(got.scales.size()));
    EXPECT_EQ(row[3], golden::digest_of_bytes(got.scales)) << "scales";
    EXPECT_EQ(row[4], golden::digest_of_bytes(got.codes)) << "codes";
  }
}

}  // namespace
}  // namespace lpt::test
