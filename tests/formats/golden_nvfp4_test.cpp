// NVFP4 blocks of the library, with and without a tensor scale, against nvfp4_quantize of torchao: digests without the
// documented differences, which have separate tests. tools/make_block_golden.py documents the files.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/formats/block_cast.hpp"

namespace lpt::test {
namespace {

constexpr float kSmallestTensorScale = 0x1p-126f;
constexpr uint8_t kNanScale = 0x7F;
constexpr uint8_t kLargestScale = 126;       // 448
constexpr uint8_t kSmallestNormalScale = 8;  // 2^-6

struct Levels {
  const char *name;
  const char *format;
  bool has_tensor_scale;
};
constexpr Levels kLevels[] = {{"two_level", "nvfp4", true}, {"single_level", "e2m1fn/1x16/e4m3fn", false}};

// The rules of docs/reference/numerics.md: every operation is in f32, the values are those of the golden files.

struct Nvfp4Rules {
  NearestCode scale{"e4m3fn", 8};
  NearestCode element{"e2m1fn", 4};

  static float tensor_scale(float amax) { return amax == 0.0f ? 1.0f : std::max(amax / 2688.0f, kSmallestTensorScale); }
  uint8_t block_scale(const Contents &block, float tensor_scale) const {
    if (block.has_nan) return kNanScale;
    const float units = (block.amax / 6.0f) * (1.0f / tensor_scale);
    return std::max<uint8_t>(scale.of(static_cast<double>(units)), 1);
  }
  float inverse(uint8_t block_scale, float tensor_scale) const {
    return std::min(1.0f / (static_cast<float>(scale.value(block_scale)) * tensor_scale), 0x1.fffffep+127f);
  }
  uint8_t code(float value, float inverse) const { return element.of(static_cast<double>(value * inverse)); }
};

// A class of tensors, and its cast by the library.

enum class Difference { kNone, kNan, kInfinity, kTinyTensor, kTiny, kRounded };

struct Tensors {
  explicit Tensors(const golden::Nvfp4Class &tensors) : name(tensors.name), values(golden::nvfp4_tensors(tensors)) {
    for (size_t i = 0; i < values.size(); i += golden::kNvfp4Block) {
      contents.push_back(contents_of(&values[i], golden::kNvfp4Block));
    }
    for (size_t i = 0; i < values.size(); i += golden::kTensorValues) {
      amax.push_back(contents_of(&values[i], golden::kTensorValues).amax);
    }
  }

  std::string name;
  std::vector<float> values;
  std::vector<Contents> contents;
  std::vector<float> amax;  // of tensors
};

// All tensors of a class, and the difference of each block.
struct CastTensors {
  std::vector<uint8_t> scales, codes;
  std::vector<float> tensor_scales;
  std::vector<Difference> differences;

  float tensor_scale(size_t block) const { return tensor_scales[block / golden::kBlocksOfTensor]; }
};

Difference difference_of(const Contents &block, bool is_tiny_tensor, uint8_t scale) {
  if (block.has_nan) return Difference::kNan;
  if (block.has_infinity) return Difference::kInfinity;
  if (is_tiny_tensor) return Difference::kTinyTensor;
  return scale < kSmallestNormalScale ? Difference::kTiny : Difference::kNone;
}

CastTensors cast(const Tensors &tensors, const Levels &levels) {
  const Context context = make_context();
  const lpt_format format = format_named(levels.format);
  CastTensors all;
  for (size_t start = 0; start < tensors.values.size(); start += golden::kTensorValues) {
    const CastBlocks one =
        cast_blocks(context.get(), &tensors.values[start], golden::kTensorValues, format, LPT_SCALE_RULE_DEFAULT);
    all.scales.insert(all.scales.end(), one.scales.begin(), one.scales.end());
    all.codes.insert(all.codes.end(), one.codes.begin(), one.codes.end());
    all.tensor_scales.push_back(one.tensor_scale);
  }
  for (size_t block = 0; block < tensors.contents.size(); ++block) {
    const float amax = tensors.amax[block / golden::kBlocksOfTensor];
    const bool is_tiny = levels.has_tensor_scale && amax / 2688.0f < kSmallestTensorScale;
    all.differences.push_back(difference_of(tensors.contents[block], is_tiny, all.scales[block]));
  }
  return all;
}

void erase(std::vector<uint8_t> &codes, size_t block) {
  std::fill_n(codes.begin() + static_cast<ptrdiff_t>(block * golden::kNvfp4Block), golden::kNvfp4Block, uint8_t{0});
}

std::vector<golden::Row> rows_of(const char *file, const Levels &levels, const Tensors &tensors) {
  std::vector<golden::Row> rows;
  for (const golden::Row &row : golden::read(file)) {
    if (row[0] == levels.name && row[1] == tensors.name) rows.push_back(row);
  }
  return rows;
}

uint8_t byte_of(const std::string &word) { return static_cast<uint8_t>(std::stoul(word)); }

// Replaces codes by those of torchao where a reciprocal rounds differently. The lists also contain the code of LPT.
void take_reciprocals(const Levels &levels, const Tensors &tensors, CastTensors &got) {
  for (const golden::Row &row : rows_of("nvfp4_scale_list", levels, tensors)) {
    const size_t block = std::stoul(row[2]);
    EXPECT_EQ(byte_of(row[3]), got.scales[block]) << "scale of block " << block;
    got.scales[block] = byte_of(row[4]);
    got.differences[block] = Difference::kRounded;
  }
  for (const golden::Row &row : rows_of("nvfp4_code_list", levels, tensors)) {
    const size_t place = std::stoul(row[2]);
    EXPECT_EQ(byte_of(row[3]), got.codes[place]) << "element " << place;
    got.codes[place] = byte_of(row[4]);
  }
}

void expect_golden(const Levels &levels, const Tensors &tensors, CastTensors got) {
  take_reciprocals(levels, tensors, got);
  size_t without_scale = 0, without_codes = 0;
  for (size_t block = 0; block < got.scales.size(); ++block) {
    const Difference difference = got.differences[block];
    if (difference == Difference::kNone) continue;
    ++without_codes;
    erase(got.codes, block);
    if (difference == Difference::kNan || difference == Difference::kRounded) continue;
    ++without_scale;
    got.scales[block] = 0;
  }
  const golden::Row row = golden::find_row("nvfp4_blocks", {levels.name, "e2m1fn", tensors.name});
  ASSERT_EQ(8u, row.size());
  EXPECT_EQ(row[3], std::to_string(got.scales.size()));
  EXPECT_EQ(row[4], std::to_string(without_scale));
  EXPECT_EQ(row[5], std::to_string(without_codes));
  EXPECT_EQ(row[6], golden::digest_of_bytes(got.scales)) << "scales";
  EXPECT_EQ(row[7], golden::digest_of_bytes(got.codes)) << "codes";
}

class Nvfp4Tensors : public testing::TestWithParam<golden::Nvfp4Class> {
 protected:
  Tensors tensors_{GetParam()};
};

std::string name_of_class(const testing::TestParamInfo<golden::Nvfp4Class> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Classes, Nvfp4Tensors, testing::ValuesIn(golden::kNvfp4Classes), name_of_class);

TEST_P(Nvfp4Tensors, AreMadeOfTheInputsOfTheScript) {
  const golden::Row row = golden::find_row("block_inputs", {"nvfp4", GetParam().name});
  ASSERT_EQ(4u, row.size());
  EXPECT_EQ(row[2], std::to_string(tensors_.values.size()));
  EXPECT_EQ(row[3], golden::digest_of_floats(tensors_.values));
}

TEST_P(Nvfp4Tensors, EqualTorchaoOutsideTheNamedDifferences) {
  for (const Levels &levels : kLevels) {
    SCOPED_TRACE(levels.name);
    expect_golden(levels, tensors_, cast(tensors_, levels));
  }
}

TEST_P(Nvfp4Tensors, AreTheSameByEveryRow) {
  const Context context = make_context();
  for (const Levels &levels : kLevels) {
    SCOPED_TRACE(levels.name);
    const lpt_format format = format_named(levels.format);
    for (size_t tensor = 0; tensor < std::min<size_t>(tensors_.amax.size(), 4); ++tensor) {
      const float *values = &tensors_.values[tensor * golden::kTensorValues];
      const CastBlocks oracle =
          cast_blocks(context.get(), values, golden::kTensorValues, format, LPT_SCALE_RULE_NEAREST);
      const std::vector<float> source(values, values + golden::kTensorValues);
      EXPECT_LE(2, expect_rows_give(oracle, source, format, LPT_SCALE_RULE_NEAREST));
    }
  }
}

// The documented differences: the result of LPT against the rules above, and the bytes of torchao against the documentation.

// Counts the bytes in the blocks of a difference that do not follow the rules.
size_t wrong_bytes(Difference difference, const Tensors &tensors, const CastTensors &got, size_t &count) {
  const Nvfp4Rules rules;
  size_t wrong = 0;
  count = 0;
  for (size_t block = 0; block < got.scales.size(); ++block) {
    if (got.differences[block] != difference) continue;
    ++count;
    const uint8_t scale = rules.block_scale(tensors.contents[block], got.tensor_scale(block));
    wrong += got.scales[block] != scale ? 1 : 0;
    const float inverse = rules.inverse(scale, got.tensor_scale(block));
    for (size_t i = block * golden::kNvfp4Block; i < (block + 1) * golden::kNvfp4Block; ++i) {
      wrong += got.codes[i] != rules.code(tensors.values[i], inverse) ? 1 : 0;
    }
  }
  return wrong;
}

// Checks torchao in the blocks of a difference: one scale for all of them, and x · ((1 / t) / scale).
void expect_theirs(Difference difference, uint8_t scale, const Tensors &tensors, const CastTensors &got,
                   const golden::Row &row) {
  const Nvfp4Rules rules;
  std::vector<uint8_t> scales(got.scales.size()), codes(got.codes.size());
  for (size_t block = 0; block < got.scales.size(); ++block) {
    if (got.differences[block] != difference) continue;
    scales[block] = scale;
    const float inverse = (1.0f / got.tensor_scale(block)) / static_cast<float>(rules.scale.value(scale));
    for (size_t i = block * golden::kNvfp4Block; i < (block + 1) * golden::kNvfp4Block; ++i) {
      codes[i] = rules.code(tensors.values[i], inverse);
    }
  }
  EXPECT_EQ(row[6], golden::digest_of_bytes(scales)) << "torchao's scales";
  EXPECT_EQ(row[7], golden::digest_of_bytes(codes)) << "torchao's codes";
}

// Checks every class that has the difference.
void expect_difference(Difference difference, const char *name, uint8_t their_scale) {
  for (const golden::Nvfp4Class &description : golden::kNvfp4Classes) {
    const Tensors tensors(description);
    for (const Levels &levels : kLevels) {
      SCOPED_TRACE(std::string(description.name) + " " + levels.name);
      const golden::Row row = golden::find_row("block_differences", {name, levels.name, "e2m1fn", description.name});
      const CastTensors got = cast(tensors, levels);
      size_t count = 0;
      EXPECT_EQ(0u, wrong_bytes(difference, tensors, got, count));
      EXPECT_EQ(row.empty() ? "0" : row[4], std::to_string(count));
      if (!row.empty() && row[6] != "-") expect_theirs(difference, their_scale, tensors, got, row);
    }
  }
}

TEST(Nvfp4Differences, AnInfinityTakesTheLargestCodeAndLeavesTheScaleToTheFiniteRest) {
  expect_difference(Difference::kInfinity, "infinity", kLargestScale);
}

TEST(Nvfp4Differences, ATinyBlockTakesASubnormalScale) {
  expect_difference(Difference::kTiny, "tiny", kSmallestNormalScale);
}

TEST(Nvfp4Differences, ATinyTensorTakesTheSmallestNormalAsItsScale) {
  expect_difference(Difference::kTinyTensor, "tiny_tensor", 0);
  const Tensors tensors(golden::class_named(golden::kNvfp4Classes, "tiny"));
  const CastTensors got = cast(tensors, kLevels[0]);
  for (size_t tensor = 0; tensor < tensors.amax.size(); ++tensor) {
    EXPECT_EQ(Nvfp4Rules::tensor_scale(tensors.amax[tensor]), got.tensor_scales[tensor]);
    EXPECT_LE(kSmallestTensorScale, got.tensor_scales[tensor]);
  }
}

TEST(Nvfp4Differences, ABlockWithNanDecodesToNan) {
  const Tensors tensors(golden::class_named(golden::kNvfp4Classes, "nan"));
  const Context context = make_context();
  std::vector<float> decoded(golden::kTensorValues);
  const int64_t rows = golden::kTensorValues / kCastColumns;
  const Tensor output = wrap(context.get(), decoded, rows, kCastColumns);
  for (const Levels &levels : kLevels) {
    size_t count = 0, numbers = 0;
    for (size_t start = 0; start < tensors.values.size(); start += golden::kTensorValues) {
      const Tensor source = wrap(context.get(), LPT_FORMAT_F32, &tensors.values[start], rows, kCastColumns);
      const Tensor target = make_tensor(context.get(), format_named(levels.format), rows, kCastColumns);
      ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, target.get(), nullptr)));
      ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), target.get(), nullptr, output.get())));
      for (size_t i = 0; i < decoded.size(); ++i) {
        if (!tensors.contents[(start + i) / golden::kNvfp4Block].has_nan) continue;
        count += i % golden::kNvfp4Block == 0 ? 1 : 0;
        numbers += std::isnan(decoded[i]) ? 0 : 1;
      }
    }
    EXPECT_EQ(0u, numbers) << levels.name;
    const golden::Row row = golden::find_row("block_differences", {"nan", levels.name, "e2m1fn", "nan"});
    EXPECT_EQ(row.at(4), std::to_string(count)) << levels.name;
  }
}

// Returns the distance of a quotient from the midpoint of two adjacent values, relative to the midpoint.
double distance_from_middle(const NearestCode &numbers, uint8_t code, uint8_t other, double quotient) {
  const double middle = (numbers.value(code) + numbers.value(other)) / 2;
  return middle == 0.0 ? 1.0 : std::fabs(quotient / middle - 1.0);
}

// LPT multiplies by 1 / t and by 1 / (S · t); torchao divides by t and multiplies by (1 / t) / S. Each differs from the
// quotient by at most three roundings of 2^-24. If the codes differ, the quotient is within three roundings of a midpoint.
TEST(Nvfp4Differences, AReciprocalDecidesOnlyWhatLiesThreeRoundingsFromATie) {
  constexpr double kThreeRoundings = 3.01 * 0x1p-24;
  const Nvfp4Rules rules;
  const Levels &levels = kLevels[0];
  size_t scale_count = 0, code_count = 0;
  for (const golden::Nvfp4Class &description : golden::kNvfp4Classes) {
    const Tensors tensors(description);
    const std::vector<golden::Row> scales = rows_of("nvfp4_scale_list", levels, tensors);
    const std::vector<golden::Row> codes = rows_of("nvfp4_code_list", levels, tensors);
    scale_count += scales.size();
    code_count += codes.size();
    if (scales.empty() && codes.empty()) continue;
    const CastTensors got = cast(tensors, levels);
    for (const golden::Row &row : scales) {
      const size_t block = std::stoul(row[2]);
      const double units =
          static_cast<double>(tensors.contents[block].amax) / 6 / static_cast<double>(got.tensor_scale(block));
      const uint8_t ours = byte_of(row[3]), theirs = byte_of(row[4]);
      EXPECT_EQ(1, std::abs(ours - theirs));
      EXPECT_EQ(ours, got.scales[block]);
      EXPECT_LE(distance_from_middle(rules.scale, ours, theirs, units), kThreeRoundings) << "block " << block;
    }
    for (const golden::Row &row : codes) {
      const size_t place = std::stoul(row[2]), block = place / golden::kNvfp4Block;
      const double quotient = static_cast<double>(tensors.values[place]) / rules.scale.value(got.scales[block]) /
                              static_cast<double>(got.tensor_scale(block));
      const uint8_t ours = byte_of(row[3]), theirs = byte_of(row[4]);
      EXPECT_EQ(1, std::abs(ours - theirs));
      EXPECT_EQ(ours, got.codes[place]);
      EXPECT_LE(distance_from_middle(rules.element, ours, theirs, quotient), kThreeRoundings) << "element " << place;
    }
  }
  EXPECT_EQ(golden::read("nvfp4_scale_list").size(), scale_count);
  EXPECT_EQ(golden::read("nvfp4_code_list").size(), code_count);
}

}  // namespace
}  // namespace lpt::test
