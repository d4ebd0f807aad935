// MX blocks of the library against to_mx of torchao: digests without the documented differences, which have separate tests.
// tools/make_block_golden.py documents the files; docs/reference/compatibility.md documents the differences.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/formats/block_cast.hpp"

namespace lpt::test {
namespace {

constexpr uint32_t kNanScale = 0xFF;

struct MxElement {
  const char *name;
  lpt_format format;
  float largest;
  int mantissa_bits;
  int bits;

  int exponent() const { return std::ilogb(largest); }
};
constexpr MxElement kElements[] = {{"e4m3fn", LPT_FORMAT_MXFP8_E4M3, 448.0f, 3, 8},
                                   {"e5m2", LPT_FORMAT_MXFP8_E5M2, 57344.0f, 2, 8},
                                   {"e3m2fn", LPT_FORMAT_MXFP6_E3M2, 28.0f, 2, 6},
                                   {"e2m3fn", LPT_FORMAT_MXFP6_E2M3, 7.5f, 3, 6},
                                   {"e2m1fn", LPT_FORMAT_MXFP4, 6.0f, 1, 4}};

struct MxRule {
  const char *name;
  lpt_scale_rule rule;
};
constexpr MxRule kRoundUp = {"round_up", LPT_SCALE_RULE_ROUND_UP};
constexpr MxRule kRules[] = {
    {"floor", LPT_SCALE_RULE_FLOOR}, {"ceil", LPT_SCALE_RULE_CEIL}, kRoundUp, {"even", LPT_SCALE_RULE_EVEN}};

// The rules from their text, in double.

int power_of_rule(const MxRule &rule, double amax, const MxElement &element) {
  const double whole = std::ldexp(1.0, std::ilogb(amax));
  const int floor = std::ilogb(amax) - element.exponent();
  switch (rule.rule) {
    case LPT_SCALE_RULE_FLOOR:
      return floor;
    case LPT_SCALE_RULE_CEIL:
      return floor + (amax > whole ? 1 : 0);
    case LPT_SCALE_RULE_EVEN:
      return floor + (amax + std::ldexp(whole, -element.mantissa_bits - 1) >= 2 * whole ? 1 : 0);
    default:
      return floor + (amax > std::ldexp(static_cast<double>(element.largest), floor) ? 1 : 0);
  }
}

uint32_t scale_of_rule(const MxRule &rule, const Contents &block, const MxElement &element) {
  if (block.has_nan) return kNanScale;
  if (block.amax == 0.0f) return 0;
  const int power = power_of_rule(rule, static_cast<double>(block.amax), element);
  return static_cast<uint32_t>(std::min(std::max(power, -127), 127) + 127);
}

// Differences of torchao.

enum class Difference { kNone, kNan, kInfinity, kTiny, kAbovePower };

int significand(float value) {
  int exponent = 0;
  return static_cast<int>(std::ldexp(std::frexp(static_cast<double>(value), &exponent), 24));
}

Difference difference_of(const MxRule &rule, const Contents &block, const MxElement &element) {
  if (block.has_nan) return Difference::kNan;
  if (block.has_infinity) return Difference::kInfinity;
  if (block.amax == 0.0f) return Difference::kNone;
  if (scale_of_rule(rule, block, element) == 0) return Difference::kTiny;
  const int above = significand(block.amax) - significand(element.largest);
  const bool is_above = rule.rule == LPT_SCALE_RULE_ROUND_UP && above > 0 && above <= 64;
  return is_above ? Difference::kAbovePower : Difference::kNone;
}

// A class of blocks, and its cast by the library.

struct Blocks {
  explicit Blocks(const golden::MxClass &blocks) : name(blocks.name), values(golden::mx_blocks(blocks)) {
    for (size_t i = 0; i < values.size(); i += golden::kMxBlock) {
      contents.push_back(contents_of(&values[i], golden::kMxBlock));
    }
  }

  std::string name;
  std::vector<float> values;
  std::vector<Contents> contents;
};

CastBlocks cast(const Blocks &blocks, const MxRule &rule, const MxElement &element) {
  const Context context = make_context();
  return cast_blocks(context.get(), blocks.values.data(), blocks.values.size(), element.format, rule.rule);
}

template <typename Body>
void for_rules_and_elements(const Body &body) {
  for (const MxRule &rule : kRules) {
    for (const MxElement &element : kElements) {
      SCOPED_TRACE(std::string(rule.name) + " " + element.name);
      body(rule, element);
    }
  }
}

void erase(std::vector<uint8_t> &codes, size_t block) {
  std::fill_n(codes.begin() + static_cast<ptrdiff_t>(block * golden::kMxBlock), golden::kMxBlock, uint8_t{0});
}

// Checks that the bytes of the library, without the blocks of a difference, equal those of torchao.
void expect_golden(const Blocks &blocks, const MxRule &rule, const MxElement &element, CastBlocks got) {
  size_t without_scale = 0, without_codes = 0;
  for (size_t block = 0; block < blocks.contents.size(); ++block) {
    const Difference difference = difference_of(rule, blocks.contents[block], element);
    if (difference == Difference::kNone) continue;
    ++without_codes;
    erase(got.codes, block);
    if (difference != Difference::kInfinity && difference != Difference::kAbovePower) continue;
    ++without_scale;
    got.scales[block] = 0;
  }
  const golden::Row row = golden::find_row("mx_blocks", {rule.name, element.name, blocks.name});
  ASSERT_EQ(8u, row.size());
  EXPECT_EQ(row[3], std::to_string(blocks.contents.size()));
  EXPECT_EQ(row[4], std::to_string(without_scale));
  EXPECT_EQ(row[5], std::to_string(without_codes));
  EXPECT_EQ(row[6], golden::digest_of_bytes(got.scales)) << "scales";
  EXPECT_EQ(row[7], golden::digest_of_bytes(got.codes)) << "codes";
}

class MxBlocks : public testing::TestWithParam<golden::MxClass> {
 protected:
  Blocks blocks_{GetParam()};
};

std::string name_of_class(const testing::TestParamInfo<golden::MxClass> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Classes, MxBlocks, testing::ValuesIn(golden::kMxClasses), name_of_class);

TEST_P(MxBlocks, AreMadeOfTheInputsOfTheScript) {
  const golden::Row row = golden::find_row("block_inputs", {"mx", GetParam().name});
  ASSERT_EQ(4u, row.size());
  EXPECT_EQ(row[2], std::to_string(blocks_.values.size()));
  EXPECT_EQ(row[3], golden::digest_of_floats(blocks_.values));
}

TEST_P(MxBlocks, EqualTorchaoOutsideTheNamedDifferences) {
  for_rules_and_elements([&](const MxRule &rule, const MxElement &element) {
    expect_golden(blocks_, rule, element, cast(blocks_, rule, element));
  });
}

TEST_P(MxBlocks, HaveTheScaleOfTheRuleInDouble) {
  // At least an eighth of the blocks; the digests cover all of them.
  blocks_.values.resize(8192 * golden::kMxBlock);
  for_rules_and_elements([&](const MxRule &rule, const MxElement &element) {
    const CastBlocks got = cast(blocks_, rule, element);
    size_t wrong = 0;
    for (size_t block = 0; block < got.scales.size(); ++block) {
      wrong += got.scales[block] != scale_of_rule(rule, blocks_.contents[block], element) ? 1 : 0;
    }
    EXPECT_EQ(0u, wrong);
  });
}

TEST_P(MxBlocks, AreTheSameByEveryRow) {
  blocks_.values.resize(2048 * golden::kMxBlock);
  for_rules_and_elements([&](const MxRule &rule, const MxElement &element) {
    const CastBlocks oracle = cast(blocks_, rule, element);
    // The reference kernel supports both layouts of the source.
    EXPECT_LE(2, expect_rows_give(oracle, blocks_.values, element.format, rule.rule));
  });
}

// The documented differences: the result of LPT against double, and the bytes of torchao against the documentation.

// Runs body(block) for the blocks of a difference and counts them.
template <typename Body>
size_t for_blocks_of(Difference difference, const Blocks &blocks, const MxRule &rule, const MxElement &element,
                     const Body &body) {
  size_t count = 0;
  for (size_t block = 0; block < blocks.contents.size(); ++block) {
    if (difference_of(rule, blocks.contents[block], element) != difference) continue;
    ++count;
    body(block);
  }
  return count;
}

golden::Row difference_row(const char *difference, const MxRule &rule, const MxElement &element, const Blocks &blocks) {
  return golden::find_row("block_differences", {difference, rule.name, element.name, blocks.name});
}

// Returns the number of codes of a block that are not the nearest to value · 2^-power.
size_t wrong_codes(const Blocks &blocks, size_t block, const std::vector<uint8_t> &codes, const NearestCode &nearest,
                   int power) {
  size_t wrong = 0;
  for (size_t i = block * golden::kMxBlock; i < (block + 1) * golden::kMxBlock; ++i) {
    wrong += codes[i] != nearest.of(std::ldexp(static_cast<double>(blocks.values[i]), -power)) ? 1 : 0;
  }
  return wrong;
}

// The bytes of torchao in the blocks of a difference, with its scale and divisor; zeros elsewhere.
class Theirs {
 public:
  explicit Theirs(const Blocks &blocks)
      : blocks_(blocks), scales_(blocks.contents.size()), codes_(blocks.values.size()) {}

  void add(size_t block, uint8_t scale, int divisor_power, const NearestCode &nearest) {
    scales_[block] = scale;
    for (size_t i = block * golden::kMxBlock; i < (block + 1) * golden::kMxBlock; ++i) {
      codes_[i] = nearest.of(std::ldexp(static_cast<double>(blocks_.values[i]), -divisor_power));
    }
  }

  void expect_golden(const golden::Row &row, size_t count) const {
    ASSERT_EQ(8u, row.size());
    EXPECT_EQ(row[4], std::to_string(count));
    EXPECT_EQ(row[6], golden::digest_of_bytes(scales_)) << "torchao's scales";
    EXPECT_EQ(row[7], golden::digest_of_bytes(codes_)) << "torchao's codes";
  }

 private:
  const Blocks &blocks_;
  std::vector<uint8_t> scales_, codes_;
};

TEST(MxDifferences, ABlockWithNanDecodesToNan) {
  const Blocks blocks(golden::class_named(golden::kMxClasses, "nan"));
  const Context context = make_context();
  const auto rows = static_cast<int64_t>(blocks.values.size()) / kCastColumns;
  std::vector<float> decoded(blocks.values.size());
  const Tensor source = wrap(context.get(), blocks.values, rows, kCastColumns);
  const Tensor output = wrap(context.get(), decoded, rows, kCastColumns);
  for_rules_and_elements([&](const MxRule &rule, const MxElement &element) {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scale_rule = rule.rule;
    const Tensor target = make_tensor(context.get(), element.format, rows, kCastColumns);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
    ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), target.get(), nullptr, output.get())));
    size_t numbers = 0;
    const size_t count = for_blocks_of(Difference::kNan, blocks, rule, element, [&](size_t block) {
      for (size_t i = block * golden::kMxBlock; i < (block + 1) * golden::kMxBlock; ++i) {
        numbers += std::isnan(decoded[i]) ? 0 : 1;
      }
    });
    EXPECT_EQ(0u, numbers);
    EXPECT_EQ(difference_row("nan", rule, element, blocks).at(4), std::to_string(count));
  });
}

TEST(MxDifferences, AnInfinityTakesTheLargestCodeAndLeavesTheScaleToTheFiniteRest) {
  for (const char *name : {"infinity", "nan"}) {
    SCOPED_TRACE(name);
    const Blocks blocks(golden::class_named(golden::kMxClasses, name));
    for_rules_and_elements([&](const MxRule &rule, const MxElement &element) {
      const NearestCode nearest(element.name, element.bits);
      const CastBlocks got = cast(blocks, rule, element);
      // torchao uses an infinite amax as 2^128 in its rules; RCEIL is limited to the largest scale.
      const int their_power = rule.rule == LPT_SCALE_RULE_ROUND_UP ? 127 : 128 - element.exponent();
      Theirs theirs(blocks);
      size_t wrong_scales = 0, wrong = 0;
      const size_t count = for_blocks_of(Difference::kInfinity, blocks, rule, element, [&](size_t block) {
        const uint32_t scale = scale_of_rule(rule, blocks.contents[block], element);
        wrong_scales += got.scales[block] != scale ? 1 : 0;
        wrong += wrong_codes(blocks, block, got.codes, nearest, static_cast<int>(scale) - 127);
        theirs.add(block, static_cast<uint8_t>(127 + their_power), their_power, nearest);
      });
      EXPECT_EQ(0u, wrong_scales);
      EXPECT_EQ(0u, wrong);
      theirs.expect_golden(difference_row("infinity", rule, element, blocks), count);
    });
  }
}

TEST(MxDifferences, ATinyBlockIsDividedByTheScaleThatIsWritten) {
  const Blocks blocks(golden::class_named(golden::kMxClasses, "tiny"));
  for_rules_and_elements([&](const MxRule &rule, const MxElement &element) {
    const NearestCode nearest(element.name, element.bits);
    const CastBlocks got = cast(blocks, rule, element);
    Theirs theirs(blocks);
    size_t wrong_scales = 0, wrong = 0;
    const size_t count = for_blocks_of(Difference::kTiny, blocks, rule, element, [&](size_t block) {
      wrong_scales += got.scales[block] != 0 ? 1 : 0;
      wrong += wrong_codes(blocks, block, got.codes, nearest, -127);
      theirs.add(block, 0, rule.rule == LPT_SCALE_RULE_ROUND_UP ? 0 : -126, nearest);
    });
    EXPECT_EQ(0u, wrong_scales);
    EXPECT_EQ(0u, wrong);
    theirs.expect_golden(difference_row("tiny", rule, element, blocks), count);
  });
}

TEST(MxDifferences, AnAmaxALittleAboveAPowerTakesTheScaleThatDoesNotClip) {
  for (const char *name : {"ordinary", "wide", "near", "bits", "edges"}) {
    const Blocks blocks(golden::class_named(golden::kMxClasses, name));
    for (const MxElement &element : kElements) {
      SCOPED_TRACE(std::string(name) + " " + element.name);
      const golden::Row row = difference_row("above_power", kRoundUp, element, blocks);
      if (row.empty()) continue;
      const NearestCode nearest(element.name, element.bits);
      const CastBlocks got = cast(blocks, kRoundUp, element);
      const auto largest = static_cast<double>(element.largest);
      size_t clipping = 0, too_wide = 0, wrong = 0;
      const size_t count = for_blocks_of(Difference::kAbovePower, blocks, kRoundUp, element, [&](size_t block) {
        const int power = got.scales[block] - 127;
        const auto amax = static_cast<double>(blocks.contents[block].amax);
        clipping += std::ldexp(largest, power) < amax ? 1 : 0;
        too_wide += std::ldexp(largest, power - 1) >= amax ? 1 : 0;
        wrong += wrong_codes(blocks, block, got.codes, nearest, power);
      });
      EXPECT_EQ(0u, clipping);
      EXPECT_EQ(0u, too_wide);
      EXPECT_EQ(0u, wrong);
      EXPECT_EQ(row[4], std::to_string(count));
    }
  }
}

}  // namespace
}  // namespace lpt::test
