// Elements that are lists of levels, against bitsandbytes: tools/make_foreign_layout_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/formats/golden_elements.hpp"

namespace lpt::golden {
namespace {

class Lists : public testing::TestWithParam<const char *> {
 protected:
  std::string name_ = GetParam();
  Element element_ = element_named(name_);

  std::vector<Row> rising() const {
    std::vector<Row> rows;
    for (const Row &row : read("codebooks")) {
      if (row[0] == name_) rows.push_back(row);
    }
    return rows;
  }
  static float float_of(const std::string &bits) {
    return bits_float(static_cast<uint32_t>(std::stoul(bits, nullptr, 16)));
  }
  uint32_t code_of(float value) const {
    return encode(element_, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16);
  }
  void expect_golden(const char *set, const std::vector<float> &values) const {
    Digest digest(1);
    for (const float value : values) digest.add(code_of(value));
    EXPECT_EQ(golden::digest("lists", set, name_), digest.text());
  }
};

INSTANTIATE_TEST_SUITE_P(Of, Lists, testing::Values("nf4", "bnb_fp4"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Lists, DecodeEveryCodeAsBitsandbytes) {
  const std::vector<Row> rows = read(name_);
  ASSERT_EQ(16u, rows.size());
  for (const Row &row : rows) {
    const auto code = static_cast<uint32_t>(std::stoul(row[0]));
    EXPECT_EQ(std::stoul(row[1], nullptr, 16), float_bits(decode(element_, code))) << "code " << code;
  }
}

TEST_P(Lists, EncodeAllBf16AsTheCudaThresholds) { expect_golden("bf16", bf16_set()); }

TEST_P(Lists, EncodeAllF16AsTheCudaThresholds) { expect_golden("f16", f16_set()); }

TEST_P(Lists, EncodeTenMillionRandomFloatsAsTheCudaThresholds) { expect_golden("random", random_set()); }

TEST_P(Lists, EncodeAroundTheCudaThresholdsAsThese) {
  std::vector<float> magnitudes;
  for (const Row &row : rising()) {
    if (row[3] != "-" && float_of(row[3]) != 0.0f) magnitudes.push_back(std::fabs(float_of(row[3])));
  }
  expect_golden("thresholds", around(magnitudes));
}

// Tests each row of the codebook. A tie rounds to the lower value, in bnb_fp4 to the smaller magnitude.
TEST_P(Lists, ChangeTheirCodeAtEachThresholdOfTheCudaKernel) {
  const std::vector<Row> rows = rising();
  ASSERT_EQ(16u, rows.size());
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    const float threshold = float_of(rows[i][3]);
    const bool goes_up = name_ == "bnb_fp4" && threshold <= 0.0f;
    EXPECT_EQ(std::stoul(rows[i][1]), code_of(std::nextafter(threshold, -2.0f))) << "below " << threshold;
    EXPECT_EQ(std::stoul(rows[i + 1][1]), code_of(std::nextafter(threshold, 2.0f))) << "above " << threshold;
    EXPECT_EQ(std::stoul(rows[goes_up ? i + 1 : i][1]), code_of(threshold)) << "at " << threshold;
  }
}

}  // namespace
}  // namespace lpt::golden
