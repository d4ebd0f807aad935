// The reference kernels of casts against the definitions: code tables in double, nearest by search, scales by their formulas.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/quantize_model.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

using namespace model;

uint32_t nan_scale(lpt_format block_scale) {
  if (block_scale == LPT_FORMAT_E8M0FNU) return 0xFF;
  return block_scale == LPT_FORMAT_E4M3FN ? 0x7F : 0x7FC00000;
}

double scale_value(lpt_format block_scale, uint32_t code) {
  if (block_scale == LPT_FORMAT_E8M0FNU) return std::ldexp(1.0, static_cast<int>(code) - 127);
  if (block_scale == LPT_FORMAT_E4M3FN) return model_of(LPT_FORMAT_E4M3FN).magnitudes[code];
  return static_cast<double>(bits_float(code));
}

// Checks a cast block by block.
class Judge {
 public:
  Judge(const QuantizeCase &c, const Matrix &source, const QuantizeRun &run)
      : c_(c),
        source_(source),
        run_(run),
        request_(run.request),
        format_(run.target.format()),
        element_(model_of(format_.element)) {}

  void judge() {
    const BlockGrid grid = run_.target.grid();
    for (int64_t block_row = 0; block_row < grid.rows; ++block_row) {
      for (int64_t block_column = 0; block_column < grid.columns; ++block_column) {
        row_ = block_row * grid.block_rows, column_ = block_column * grid.block_columns;
        row_end_ = std::min(row_ + grid.block_rows, c_.rows);
        column_end_ = std::min(column_ + grid.block_columns, c_.columns);
        judge_block(block_row, block_column);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

 private:
  BlockModel block() const {
    BlockModel block;
    for (int64_t row = row_; row < row_end_; ++row) {
      for (int64_t column = column_; column < column_end_; ++column) block.add(source_.get(row, column));
    }
    return block;
  }
  double tensor_scale() const {
    return format_.has_tensor_scale() ? static_cast<double>(run_.target.tensor_scale) : 1.0;
  }

  void judge_block(int64_t block_row, int64_t block_column) {
    const BlockModel block = this->block();
    const bool is_poisoned = block.has_nan || (block.has_infinity && c_.overflow == LPT_OVERFLOW_INFINITE);
    ZeroPoint grid = {1.0f, inverse_of(tensor_scale()), 0};
    if (format_.has_zero_point()) {
      grid = expected_zero_point(element_, block);
      const float found = bits_float(run_.target.scale_code(block_row, block_column));
      ASSERT_EQ(grid.zero, run_.target.zero_point(block_row, block_column)) << text_of(c_);
      if (is_poisoned) {
        ASSERT_TRUE(std::isnan(found)) << text_of(c_);
      } else {
        ASSERT_EQ(grid.scale, found) << text_of(c_);
      }
    } else if (format_.has_block_scale()) {
      uint32_t code = run_.target.scale_code(block_row, block_column);
      const bool is_hidden = is_poisoned && !(format_.block_scale == LPT_FORMAT_F32 && element_.nan != 0);
      if (is_hidden) {
        ASSERT_EQ(nan_scale(format_.block_scale), code) << text_of(c_);
        // The codes use the scale without the NaN, which is known if it follows from the amax.
        if (!is_rule_of_amax(request_.rule)) return;
        code = expected_scale(format_, request_.rule, block.amax, request_.tensor_inverse).code;
      } else {
        judge_scale(block, code);
        if (testing::Test::HasFatalFailure()) return;
      }
      grid.inverse = inverse_of(scale_value(format_.block_scale, code) * tensor_scale());
    }
    judge_elements(grid);
  }

  void judge_scale(const BlockModel &block, uint32_t code) {
    const lpt_scale_rule rule = request_.rule;
    const float inverse = request_.tensor_inverse;
    if (is_rule_of_amax(rule)) {
      ASSERT_EQ(expected_scale(format_, rule, block.amax, inverse).code, code) << text_of(c_) << " amax " << block.amax;
    } else if (rule == LPT_SCALE_RULE_MEAN) {
      ASSERT_TRUE(is_mean(block, inverse, code)) << text_of(c_) << " scale " << bits_float(code);
    } else if (rule == LPT_SCALE_RULE_MSE || rule == LPT_SCALE_RULE_FOUR_OVER_SIX) {
      ASSERT_TRUE(is_best_candidate(format_, rule, block, inverse, tensor_scale(), code)) << text_of(c_) << " " << code;
    } else if (rule != LPT_SCALE_RULE_FIXED) {
      ASSERT_TRUE(is_quest_power(rule, block, inverse, code)) << text_of(c_) << " scale " << code;
    }
  }

  uint32_t random_at(int64_t row, int64_t column) const {
    const auto index = static_cast<uint64_t>(c_.random.offset + row * request_.random.row_stride +
                                             column * request_.random_column_stride);
    const uint64_t per_block = c_.random.bits == 16 ? 8 : 16;
    const PhiloxBlock block =
        philox({{static_cast<uint32_t>(index / per_block), static_cast<uint32_t>((index / per_block) >> 32),
                 c_.random.stream, c_.random.step}},
               c_.random.seed, c_.random.rounds);
    uint8_t bytes[16];
    std::memcpy(bytes, block.word, sizeof bytes);
    const uint64_t at = index % per_block;
    return c_.random.bits == 16 ? bytes[2 * at] | static_cast<uint32_t>(bytes[2 * at + 1]) << 8 : bytes[at];
  }

  void judge_elements(const ZeroPoint &grid) {
    for (int64_t row = row_; row < row_end_; ++row) {
      for (int64_t column = column_; column < column_end_; ++column) {
        const float value = source_.get(row, column);
        const uint32_t code = run_.target.code(row, column);
        if (is_expected(row, column, value, code, grid)) continue;
        FAIL() << text_of(c_) << " at " << row << "," << column << " value " << value << " inverse " << grid.inverse
               << " code " << code;
      }
    }
  }

  bool is_expected(int64_t row, int64_t column, float value, uint32_t code, const ZeroPoint &grid) const {
    if (element_.is_list) {
      const bool is_hidden = std::isinf(value) && c_.overflow == LPT_OVERFLOW_INFINITE;
      return is_nearest_level(element_, code, is_hidden ? 0.0f : gemm_of(value, grid.inverse));
    }
    const uint32_t random = is_drawn() ? random_at(row, column) : 0;
    if (format_.has_zero_point()) return code == expected_moved_code(element_, value, grid, request_, random);
    return code == expected_code(element_, value, grid.inverse, request_, random);
  }
  bool is_drawn() const {
    return request_.rounding == LPT_ROUNDING_STOCHASTIC || request_.rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW;
  }

  const QuantizeCase &c_;
  const Matrix &source_;
  const QuantizeRun &run_;
  const QuantizeRequest &request_;
  const Format &format_;
  const ElementModel &element_;
  int64_t row_ = 0, column_ = 0, row_end_ = 0, column_end_ = 0;
};

void expect_reference_is_defined(const QuantizeCase &c, Values values, uint64_t place) {
  Matrix source(c.source, c.rows, c.columns, c.source_padding, c.source_shift, c.is_transposed);
  Random random(place);
  source.fill(random, values);
  QuantizeRun run(c, source);
  run_reference(run.request);
  SCOPED_TRACE(name_of(values));
  Judge(c, source, run).judge();
  EXPECT_TRUE(run.target.is_intact());
}

lpt_format made(lpt_format element, lpt_format block_scale, int32_t rows, int32_t columns, lpt_format tensor_scale,
                lpt_format zero_point = LPT_FORMAT_NONE) {
  lpt_format id = LPT_FORMAT_NONE;
  Format parts;
  parts.element = element;
  parts.block_scale = block_scale;
  parts.tensor_scale = tensor_scale;
  parts.block_rows = rows;
  parts.block_columns = columns;
  parts.zero_point = zero_point;
  const Status status = make_format(parts, id);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return id;
}

constexpr lpt_format kElements[] = {
    LPT_FORMAT_F16,     LPT_FORMAT_BF16,     LPT_FORMAT_E4M3FN,   LPT_FORMAT_E4M3,        LPT_FORMAT_E5M2,
    LPT_FORMAT_E2M1FN,  LPT_FORMAT_E4M3FNUZ, LPT_FORMAT_E5M2FNUZ, LPT_FORMAT_E4M3B11FNUZ, LPT_FORMAT_E3M4,
    LPT_FORMAT_E3M2FN,  LPT_FORMAT_E2M3FN,   LPT_FORMAT_E3M0,     LPT_FORMAT_INT8,        LPT_FORMAT_INT16,
    LPT_FORMAT_INT4,    LPT_FORMAT_INT2,     LPT_FORMAT_TERNARY,  LPT_FORMAT_Q1_6,        LPT_FORMAT_NF4,
    LPT_FORMAT_BNB_FP4, LPT_FORMAT_UINT4,    LPT_FORMAT_INT3};

std::vector<lpt_format> all_targets() {
  std::vector<lpt_format> targets(std::begin(kElements), std::end(kElements));
  for (int64_t i = plain_count(); i < format_count(); ++i) targets.push_back(format_at(i));
  targets.push_back(made(LPT_FORMAT_INT8, LPT_FORMAT_F32, 1, 64, LPT_FORMAT_NONE));
  targets.push_back(made(LPT_FORMAT_E4M3FN, LPT_FORMAT_E8M0FNU, LPT_BLOCK_EXTENT_FULL, 1, LPT_FORMAT_F32));
  targets.push_back(made(LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU, LPT_BLOCK_EXTENT_FULL, 1, LPT_FORMAT_NONE));
  targets.push_back(made(LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU, 1, 32, LPT_FORMAT_F32));
  targets.push_back(made(LPT_FORMAT_E5M2, LPT_FORMAT_F32, 4, 8, LPT_FORMAT_F32));
  targets.push_back(made(LPT_FORMAT_F16, LPT_FORMAT_E4M3FN, 1, 32, LPT_FORMAT_F32));
  targets.push_back(made(LPT_FORMAT_INT2, LPT_FORMAT_F32, 1, 32, LPT_FORMAT_NONE));
  targets.push_back(made(LPT_FORMAT_E3M0, LPT_FORMAT_E4M3FN, 2, 16, LPT_FORMAT_NONE));
  targets.push_back(
      made(LPT_FORMAT_UINT4, LPT_FORMAT_F32, 4, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_NONE, LPT_FORMAT_UINT8));
  targets.push_back(made(LPT_FORMAT_UINT8, LPT_FORMAT_F32, 1, 32, LPT_FORMAT_NONE, LPT_FORMAT_UINT8));
  return targets;
}

// Returns all rules that lpt.h permits for a format, except FIXED.
std::vector<lpt_scale_rule> rules_of(const Format &format) {
  std::vector<lpt_scale_rule> rules = {LPT_SCALE_RULE_AMAX};
  const bool is_e2m1fn = format.element == LPT_FORMAT_E2M1FN;
  if (format.is_plain() || format.has_zero_point()) return rules;
  if (format.block_scale == LPT_FORMAT_E8M0FNU) {
    rules = {LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_FLOOR, LPT_SCALE_RULE_CEIL, LPT_SCALE_RULE_EVEN,
             LPT_SCALE_RULE_MSE};
    if (format.has_tensor_scale()) rules.push_back(LPT_SCALE_RULE_THREE_QUARTERS);
    if (!is_e2m1fn) return rules;
    rules.insert(rules.end(), {LPT_SCALE_RULE_QUEST_FLOOR, LPT_SCALE_RULE_QUEST_NEAREST, LPT_SCALE_RULE_QUEST_CEIL});
  } else if (format.block_scale == LPT_FORMAT_E4M3FN) {
    rules = {LPT_SCALE_RULE_NEAREST, LPT_SCALE_RULE_HEADROOM, LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_MSE};
    if (is_e2m1fn && format.has_tensor_scale()) rules.push_back(LPT_SCALE_RULE_FOUR_OVER_SIX);
  } else {
    rules.insert(rules.end(), {LPT_SCALE_RULE_POWER_OF_TWO, LPT_SCALE_RULE_POWER_OF_TWO_DOWN,
                               LPT_SCALE_RULE_POWER_OF_TWO_NEAREST, LPT_SCALE_RULE_LIST});
    // If only a tensor scale exists, the operation resolves these rules before it calls a kernel.
    if (format.has_block_scale()) rules.insert(rules.end(), {LPT_SCALE_RULE_MSE, LPT_SCALE_RULE_MEAN});
  }
  return rules;
}

TEST(Random, MatchesThePublishedVectorsOfPhilox) {
  const auto words = [](PhiloxBlock counter, uint64_t key, int rounds) {
    const PhiloxBlock block = philox(counter, key, rounds);
    return std::vector<uint32_t>(block.word, block.word + 4);
  };
  const uint32_t ones = 0xFFFFFFFF;
  using Words = std::vector<uint32_t>;
  EXPECT_EQ(words({{0, 0, 0, 0}}, 0, 7), (Words{0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48}));
  EXPECT_EQ(words({{0, 0, 0, 0}}, 0, 10), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(words({{ones, ones, ones, ones}}, ~uint64_t{0}, 10),
            (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(words({{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}}, 0x299F31D0A4093822, 10),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(QuantizeReference, FollowsTheDefinitionForEveryFormatRoundingAndRule) {
  uint64_t place = 1;
  for (const lpt_format target : all_targets()) {
    Format format;
    ASSERT_TRUE(find_format(target, format));
    for (const lpt_scale_rule rule : rules_of(format)) {
      for (const lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_TOWARD_ZERO,
                                          LPT_ROUNDING_NEAREST_AWAY, LPT_ROUNDING_STOCHASTIC_UNDERFLOW}) {
        for (const Values values : kAllValues) {
          QuantizeCase c;
          c.target = target;
          c.rows = 5;
          c.columns = 131;
          c.rounding = rounding;
          c.overflow = place % 5 < 3 ? LPT_OVERFLOW_SATURATE : LPT_OVERFLOW_INFINITE;
          c.rule = rule;
          c.random.bits = place % 2 == 0 ? 16 : 8;
          c.random.rounds = place % 3 == 0 ? 10 : 7;
          c.random.offset = static_cast<int64_t>(place % 11);
          c.random.row_stride = 150;
          expect_reference_is_defined(c, values, ++place);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(QuantizeReference, FollowsTheDefinitionAtTheEdgesOfShapes) {
  uint64_t place = 10000;
  for (const lpt_format target : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP4, LPT_FORMAT_INT8_ROW,
                                  LPT_FORMAT_E5M2_128X128, LPT_FORMAT_BF16}) {
    for (const int64_t columns : kSimdEdges) {
      for (const int64_t rows : {0, 1, 3, 130}) {
        QuantizeCase c;
        c.target = target;
        c.rows = rows;
        c.columns = columns;
        c.source_padding = 3;
        c.target_padding = 5;
        expect_reference_is_defined(c, Values::kNormal, ++place);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(QuantizeReference, TakesEverySourceFormatAndStride) {
  uint64_t place = 20000;
  for (const lpt_format source : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_F16, LPT_FORMAT_BF16}) {
    for (const bool is_transposed : {false, true}) {
      for (const lpt_format target : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_NVFP4, LPT_FORMAT_INT8_ROW}) {
        QuantizeCase c;
        c.source = source;
        c.target = target;
        c.rows = 21;
        c.columns = 75;
        c.is_transposed = is_transposed;
        c.source_padding = 2;
        expect_reference_is_defined(c, Values::kSpecials, ++place);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Every bf16 value, and every midpoint of two codes with its neighbors.
TEST(QuantizeReference, RoundsEveryMidpointAsDefined) {
  for (const lpt_format target : kElements) {
    if (model_of(target).is_list) continue;
    std::vector<float> numbers;
    for (uint32_t high = 0; high < 65536; ++high) numbers.push_back(bits_float(high << 16));
    const std::vector<double> &magnitudes = model_of(target).magnitudes;
    for (std::size_t i = 0; i + 1 < magnitudes.size(); ++i) {
      const auto middle = static_cast<float>((magnitudes[i] + magnitudes[i + 1]) / 2);
      for (const float sign : {1.0f, -1.0f}) {
        for (const float toward : {0.0f, middle, 2 * middle}) numbers.push_back(sign * std::nextafter(middle, toward));
      }
    }
    for (const lpt_rounding rounding :
         {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_TOWARD_ZERO, LPT_ROUNDING_NEAREST_AWAY}) {
      QuantizeCase c;
      c.target = target;
      c.columns = static_cast<int64_t>(numbers.size());
      c.rounding = rounding;
      Matrix source(LPT_FORMAT_F32, 1, c.columns);
      for (int64_t column = 0; column < c.columns; ++column)
        source.set(0, column, numbers[static_cast<std::size_t>(column)]);
      QuantizeRun run(c, source);
      run_reference(run.request);
      Judge(c, source, run).judge();
      if (HasFatalFailure()) return;
    }
  }
}

TEST(QuantizeReference, LeavesPaddingAloneAndEndsOddRowsInZeros) {
  QuantizeCase c;
  c.target = LPT_FORMAT_NVFP4;
  c.rows = 3;
  c.columns = 17;
  c.target_padding = 5;
  Matrix source(c.source, c.rows, c.columns);
  Random random(7);
  source.fill(random, Values::kNormal);
  QuantizeRun run(c, source);
  run_reference(run.request);
  for (int64_t row = 0; row < c.rows; ++row) {
    EXPECT_EQ(run.target.code(row, 17), 0u);
    for (int64_t column = 18; column < 22; ++column)
      EXPECT_EQ(run.target.code(row, column), column % 2 == 0 ? 0xAu : 0x5u);
  }
}

TEST(QuantizeReference, RaisesAmaxToTheLargestFiniteSource) {
  QuantizeCase c;
  c.columns = 4;
  c.wants_amax = true;
  Matrix source(c.source, c.rows, c.columns);
  const float numbers[] = {1.0f, -3.0f, std::numeric_limits<float>::infinity(), std::nanf("")};
  for (int64_t column = 0; column < 4; ++column) source.set(0, column, numbers[column]);
  QuantizeRun run(c, source);
  run_reference(run.request);
  EXPECT_EQ(run.amax, 3.0f);
  run.amax = 5.0f;
  run_reference(run.request);
  EXPECT_EQ(run.amax, 5.0f);
}

TEST(QuantizeReference, DrawsTheSameBitsForATransposedCast) {
  QuantizeCase c;
  c.rows = 40;
  c.columns = 23;
  c.rounding = LPT_ROUNDING_STOCHASTIC;
  Matrix source(c.source, c.rows, c.columns);
  Random random(8);
  source.fill(random, Values::kNormal);
  QuantizeRun straight(c, source);
  run_reference(straight.request);

  Matrix target(c.target, c.columns, c.rows);
  QuantizeRequest transposed = straight.request;
  transposed.target = target.view();
  transposed.source.rows = c.columns;
  transposed.source.columns = c.rows;
  transposed.source.row_stride = straight.request.source.column_stride;
  transposed.source.column_stride = straight.request.source.row_stride;
  transposed.random.row_stride = 1;
  transposed.random_column_stride = straight.request.random.row_stride;
  run_reference(transposed);
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t column = 0; column < c.columns; ++column) {
      ASSERT_EQ(target.code(column, row), straight.target.code(row, column));
    }
  }
}

// Returns the value of a code. For codes beyond the finite ones, returns infinity if the element has one, else NaN.
double element_value(lpt_format plain, uint32_t code) {
  const ElementModel &element = model_of(plain);
  if (element.is_list) return element.magnitudes[code];
  if (element.is_fnuz && code == element.nan) return std::nan("");
  const double unit = plain == LPT_FORMAT_Q1_6 ? 0x1p-6 : 1;
  const uint32_t sign = 1u << (element.bits - 1);
  if (element.is_integer) {
    const double wrap = element.is_signed && (code & sign) != 0 ? std::ldexp(1.0, element.bits) : 0.0;
    return (code - wrap) * unit;
  }
  const uint32_t magnitude = code & (sign - 1);
  double value = std::nan("");
  if (magnitude <= element.largest()) value = element.magnitudes[magnitude];
  if (magnitude == element.infinity && element.infinity != element.nan && magnitude > element.largest()) {
    value = std::numeric_limits<double>::infinity();
  }
  return std::copysign(value, (code & sign) != 0 ? -1.0 : 1.0);
}

// Returns (element - zero point) · (block scale · tensor scale) in f32; NaN keeps the sign of the element.
float expected_number(const Matrix &source, int64_t row, int64_t column) {
  const Format &format = source.format();
  const BlockGrid grid = source.grid();
  double scale = format.has_tensor_scale() ? static_cast<double>(source.tensor_scale) : 1.0;
  int zero = 0;
  if (format.has_block_scale()) {
    const int64_t block_row = row / grid.block_rows, block_column = column / grid.block_columns;
    const uint32_t code = source.scale_code(block_row, block_column);
    const bool is_nan = code == nan_scale(format.block_scale);
    const double block = is_nan ? std::nan("") : scale_value(format.block_scale, code);
    scale = static_cast<float>(block * scale);
    zero = source.zero_point(block_row, block_column);
  }
  const double element = element_value(format.element, source.code(row, column));
  const auto number = static_cast<float>((element - zero) * scale);
  if (!std::isnan(number)) return number;
  const bool is_negative = std::signbit(element) || element < zero;
  return std::copysign(std::nanf(""), is_negative ? -1.0f : 1.0f);
}

TEST(DequantizeReference, FollowsTheDefinitionForEveryCode) {
  for (const lpt_format id : all_targets()) {
    Format format;
    ASSERT_TRUE(find_format(id, format));
    if (id == LPT_FORMAT_BF16) continue;
    Matrix source(id, 5, 519);
    Random random(30000 + static_cast<uint64_t>(id % 1000));
    for (std::size_t i = 0; i < source.data.bytes(); ++i) source.data.data()[i] = static_cast<uint8_t>(random.bits());
    for (std::size_t i = 0; i < source.scales.bytes(); ++i)
      source.scales.data()[i] = static_cast<uint8_t>(random.below(0x80));
    for (std::size_t i = 0; i < source.zero_points.bytes(); ++i)
      source.zero_points.data()[i] = static_cast<uint8_t>(random.below(256));
    source.tensor_scale = 0.37f;
    Matrix target(LPT_FORMAT_F32, 5, 519);
    reference_of(dequantize_kernels()).run({source.view(), target.view()});
    for (int64_t row = 0; row < 5; ++row) {
      for (int64_t column = 0; column < 519; ++column) {
        const float expected = expected_number(source, row, column);
        ASSERT_EQ(target.code(row, column), float_bits(expected))
            << format_name(id) << " code " << source.code(row, column) << " expected " << expected;
      }
    }
  }
}

TEST(DequantizeReference, RoundsToEveryOutputFormat) {
  Matrix source(LPT_FORMAT_INT8_TENSOR, 1, 3);
  source.set_code(0, 0, 100);
  source.set_code(0, 1, static_cast<uint8_t>(-128));
  source.set_code(0, 2, 3);
  source.tensor_scale = 1000.1f;
  Matrix f64(LPT_FORMAT_F64, 1, 3), bf16(LPT_FORMAT_BF16, 1, 3), f16(LPT_FORMAT_F16, 1, 3);
  for (Matrix *target : {&f64, &bf16, &f16}) reference_of(dequantize_kernels()).run({source.view(), target->view()});
  EXPECT_EQ(f64.get(0, 0), 100 * 1000.1f);
  EXPECT_EQ(f64.get(0, 1), -128 * 1000.1f);
  EXPECT_EQ(bf16.code(0, 0), 0x47C3u);  // 99840, the value nearest to 100010
  EXPECT_EQ(f16.code(0, 0), 0x7C00u);   // beyond 65504
  EXPECT_EQ(f16.get(0, 2), 3000.0f);
}

TEST(AmaxReference, FindsTheLargestFiniteMagnitudeAndNan) {
  Random random(9);
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_F16, LPT_FORMAT_BF16}) {
    for (const Values values : kAllValues) {
      Matrix source(format, 7, 61, 3, 0, values == Values::kNormal);
      source.fill(random, values);
      bool expected_nan = false;
      for (int64_t i = 0; i < 7 * 61; ++i) expected_nan |= std::isnan(source.get(i / 61, i % 61));
      float amax = -1;
      bool has_nan = !expected_nan;
      reference_of(amax_kernels()).run({source.view(), &amax, &has_nan});
      EXPECT_EQ(amax, finite_amax(source)) << format_name(format) << " " << name_of(values);
      EXPECT_EQ(has_nan, expected_nan);
    }
  }
}

}  // namespace
}  // namespace lpt::test
