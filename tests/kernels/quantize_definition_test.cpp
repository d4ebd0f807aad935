// The reference rows against the definitions: code tables in double, nearest by search, scales by their formulas.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/quantize_case.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

enum class Special { kNone, kNanOnly, kIeee };

// An element as its standard describes it.
struct Definition {
  lpt_format id;
  int exponent_bits, mantissa_bits, bias;
  Special special;
};

constexpr Definition kDefinitions[] = {
    {LPT_FORMAT_F16, 5, 10, 15, Special::kIeee},     {LPT_FORMAT_BF16, 8, 7, 127, Special::kIeee},
    {LPT_FORMAT_E4M3FN, 4, 3, 7, Special::kNanOnly}, {LPT_FORMAT_E4M3, 4, 3, 7, Special::kIeee},
    {LPT_FORMAT_E5M2, 5, 2, 15, Special::kIeee},     {LPT_FORMAT_E2M1FN, 2, 1, 1, Special::kNone},
};

std::vector<double> make_magnitudes(lpt_format id) {
  std::vector<double> values;
  if (id == LPT_FORMAT_INT8) {
    for (int i = 0; i <= 127; ++i) values.push_back(i);
    return values;
  }
  const Definition d = *std::find_if(std::begin(kDefinitions), std::end(kDefinitions),
                                     [&](const Definition &definition) { return definition.id == id; });
  const int exponents = (1 << d.exponent_bits) - (d.special == Special::kIeee ? 1 : 0);
  for (int exponent = 0; exponent < exponents; ++exponent) {
    for (int mantissa = 0; mantissa < 1 << d.mantissa_bits; ++mantissa) {
      const double fraction = std::ldexp(mantissa, -d.mantissa_bits);
      values.push_back(exponent == 0 ? std::ldexp(fraction, 1 - d.bias) : std::ldexp(1 + fraction, exponent - d.bias));
    }
  }
  if (d.special == Special::kNanOnly) values.pop_back();
  return values;
}

// The finite magnitudes of an element: entry i is the value of magnitude code i.
const std::vector<double> &magnitudes_of(lpt_format id) {
  static std::vector<double> tables[LPT_FORMAT_UINT8];
  std::vector<double> &table = tables[id];
  if (table.empty()) table = make_magnitudes(id);
  return table;
}

// Rounds a finite magnitude by search; a code beyond the table stands for overflow.
uint32_t rounded(const std::vector<double> &magnitudes, double magnitude, lpt_rounding rounding, uint32_t random,
                 int random_bits) {
  const double step = magnitudes.back() - magnitudes[magnitudes.size() - 2];
  std::vector<double>::const_iterator above = std::upper_bound(magnitudes.begin(), magnitudes.end(), magnitude);
  const auto lower = static_cast<uint32_t>(above - magnitudes.begin()) - 1;
  const double high = above == magnitudes.end() ? magnitudes.back() + step : *above;
  const double fraction = (magnitude - magnitudes[lower]) / (high - magnitudes[lower]);
  if (fraction >= 1) return lower + 1;
  switch (rounding) {
    case LPT_ROUNDING_NEAREST_EVEN: return lower + (fraction > 0.5 || (fraction == 0.5 && lower % 2 == 1));
    case LPT_ROUNDING_STOCHASTIC: {
      const double cut = std::floor(std::ldexp(fraction, random_bits + 1));
      return lower + (cut + 2.0 * random + 1 >= std::ldexp(1.0, random_bits + 1));
    }
    default: return lower;
  }
}

struct Specials {
  uint32_t infinity, nan;  // magnitude codes; infinity is what overflow gives when it does not saturate
};

Specials specials_of(lpt_format id) {
  switch (id) {
    case LPT_FORMAT_F16: return {0x7C00, 0x7E00};
    case LPT_FORMAT_BF16: return {0x7F80, 0x7FC0};
    case LPT_FORMAT_E4M3FN: return {0x7F, 0x7F};
    case LPT_FORMAT_E4M3: return {0x78, 0x7C};
    case LPT_FORMAT_E5M2: return {0x7C, 0x7E};
    case LPT_FORMAT_E2M1FN: return {0x7, 0x0};
    default: return {127, 0};
  }
}

uint32_t signed_code(lpt_format id, uint32_t magnitude, bool is_negative) {
  if (!is_negative) return magnitude;
  return id == LPT_FORMAT_INT8 ? (256 - magnitude) % 256 : magnitude | 1u << (element_bits(id) - 1);
}

// What an element should be, from the source number and the inverse scale.
uint32_t expected_code(lpt_format id, float source, float inverse, const QuantizeRequest &request, uint32_t random) {
  const std::vector<double> &magnitudes = magnitudes_of(id);
  const bool is_negative = std::signbit(source);
  const Specials specials = specials_of(id);
  const auto product = static_cast<float>(static_cast<double>(source) * static_cast<double>(inverse));
  const auto largest = static_cast<uint32_t>(magnitudes.size() - 1);
  if (std::isnan(product)) return signed_code(id, specials.nan, is_negative);
  if (std::isinf(product)) {
    const bool saturates = request.overflow == LPT_OVERFLOW_SATURATE;
    return signed_code(id, saturates ? largest : specials.nan == 0 ? 0 : specials.infinity, is_negative);
  }
  const double magnitude = std::fabs(static_cast<double>(product));
  const uint32_t code = rounded(magnitudes, magnitude, request.rounding, random, request.random.bits);
  const uint32_t beyond = request.overflow == LPT_OVERFLOW_SATURATE ? largest : specials.infinity;
  return signed_code(id, code > largest ? beyond : code, is_negative);
}

struct ExpectedScale {
  uint32_t code;
  double value;
  bool is_poisoned;
};

// The smallest k with 2^k · largest >= units.
int smallest_power(double units, double largest) {
  int power = -400;
  while (std::ldexp(largest, power) < units) ++power;
  return power;
}

// The scale of a block by the published formulas; all steps that are exact in f32 are exact in double.
ExpectedScale expected_scale(lpt_format kind, lpt_scale_rule rule, float amax, double largest, float tensor_inverse) {
  const double smallest_normal = std::numeric_limits<float>::min();
  const auto units = static_cast<float>(static_cast<double>(amax) * static_cast<double>(tensor_inverse));
  const auto ratio = static_cast<float>(static_cast<double>(amax) / largest);
  if (kind == LPT_FORMAT_E8M0FNU) {
    if (units == 0) return {0, std::ldexp(1.0, -127), false};
    const int power = rule == LPT_SCALE_RULE_FLOOR ? std::ilogb(static_cast<double>(units)) - std::ilogb(largest)
                                                   : smallest_power(static_cast<double>(units), largest);
    const int kept = std::clamp(power, -127, 127);
    return {static_cast<uint32_t>(kept + 127), std::ldexp(1.0, kept), false};
  }
  if (kind == LPT_FORMAT_E4M3FN) {
    const std::vector<double> &table = magnitudes_of(LPT_FORMAT_E4M3FN);
    auto wanted = static_cast<float>(static_cast<double>(ratio) * static_cast<double>(tensor_inverse));
    if (rule == LPT_SCALE_RULE_HEADROOM) wanted = static_cast<float>(static_cast<double>(wanted) * 1.0625);
    const double held = std::clamp(static_cast<double>(wanted), table[1], table.back());
    const uint32_t code = rounded(table, held, LPT_ROUNDING_NEAREST_EVEN, 0, 0);
    return {code, table[code], false};
  }
  double scale = 1.0;
  if (amax != 0 && rule == LPT_SCALE_RULE_POWER_OF_TWO) {
    scale = std::ldexp(1.0, std::max(-126, smallest_power(static_cast<double>(units), largest)));
  } else if (amax != 0) {
    scale = static_cast<float>(static_cast<double>(ratio) * static_cast<double>(tensor_inverse));
    scale = std::clamp(scale, smallest_normal, static_cast<double>(std::numeric_limits<float>::max()));
  }
  return {float_bits(static_cast<float>(scale)), scale, false};
}

// Judges one finished cast element by element.
void expect_defined(const QuantizeCase &c, const Matrix &source, const QuantizeRun &run) {
  const Format &format = run.target.format();
  const BlockGrid grid = run.target.grid();
  for (int64_t block_row = 0; block_row < grid.rows; ++block_row) {
    for (int64_t block_column = 0; block_column < grid.columns; ++block_column) {
      const int64_t row_begin = block_row * grid.block_rows, column_begin = block_column * grid.block_columns;
      const int64_t row_end = std::min(row_begin + grid.block_rows, c.rows);
      const int64_t column_end = std::min(column_begin + grid.block_columns, c.columns);
      float amax = 0;
      bool is_poisoned = false;
      for (int64_t row = row_begin; row < row_end; ++row) {
        for (int64_t column = column_begin; column < column_end; ++column) {
          const float value = source.get(row, column);
          is_poisoned |= std::isnan(value) || (std::isinf(value) && c.overflow == LPT_OVERFLOW_INFINITE);
          if (std::isfinite(value)) amax = std::max(amax, std::fabs(value));
        }
      }
      double scale = format.has_tensor_scale() ? static_cast<double>(run.target.tensor_scale) : 1.0;
      if (format.has_block_scale()) {
        const ExpectedScale expected = expected_scale(format.block_scale, run.request.rule, amax,
                                                      magnitudes_of(format.element).back(),
                                                      run.request.tensor_inverse);
        const uint32_t found = run.target.scale_code(block_row, block_column);
        const bool has_nan_element = specials_of(format.element).nan != 0;
        if (is_poisoned && !(format.block_scale == LPT_FORMAT_F32 && has_nan_element)) {
          const uint32_t nan = format.block_scale == LPT_FORMAT_E8M0FNU  ? 0xFF
                               : format.block_scale == LPT_FORMAT_E4M3FN ? 0x7F
                                                                         : 0x7FC00000;
          ASSERT_EQ(found, nan) << text_of(c);
        } else {
          ASSERT_EQ(found, expected.code) << text_of(c) << " amax " << amax;
        }
        scale = static_cast<float>(expected.value * scale);
      }
      float inverse = static_cast<float>(1.0 / scale);
      if (std::isinf(inverse)) inverse = std::numeric_limits<float>::max();
      for (int64_t row = row_begin; row < row_end; ++row) {
        for (int64_t column = column_begin; column < column_end; ++column) {
          const auto index = static_cast<uint64_t>(c.random.offset + row * run.request.random.row_stride +
                                                   column * run.request.random_column_stride);
          const uint64_t per_block = c.random.bits == 16 ? 8 : 16;
          const PhiloxBlock block = philox({{static_cast<uint32_t>(index / per_block),
                                             static_cast<uint32_t>((index / per_block) >> 32), c.random.stream,
                                             c.random.step}}, c.random.seed, c.random.rounds);
          uint8_t bytes[16];
          std::memcpy(bytes, block.word, sizeof bytes);
          const uint64_t at = index % per_block;
          const uint32_t random = c.random.bits == 16 ? bytes[2 * at] | bytes[2 * at + 1] << 8 : bytes[at];
          const float value = source.get(row, column);
          ASSERT_EQ(run.target.code(row, column), expected_code(format.element, value, inverse, run.request, random))
              << text_of(c) << " at " << row << "," << column << " value " << value << " inverse " << inverse;
        }
      }
    }
  }
}

void expect_reference_is_defined(const QuantizeCase &c, Values values, uint64_t place) {
  Matrix source(c.source, c.rows, c.columns, c.source_padding, c.source_shift, c.is_transposed);
  Random random(place);
  source.fill(random, values);
  QuantizeRun run(c, source);
  run_reference(run.request);
  SCOPED_TRACE(name_of(values));
  expect_defined(c, source, run);
  EXPECT_TRUE(run.target.is_intact());
}

lpt_format made(lpt_format element, lpt_format block_scale, int32_t rows, int32_t columns, lpt_format tensor_scale) {
  lpt_format id = LPT_FORMAT_NONE;
  Format parts;
  parts.element = element;
  parts.block_scale = block_scale;
  parts.tensor_scale = tensor_scale;
  parts.block_rows = rows;
  parts.block_columns = columns;
  const Status status = make_format(parts, id);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return id;
}

std::vector<lpt_format> all_targets() {
  std::vector<lpt_format> targets = {LPT_FORMAT_F16, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3,
                                     LPT_FORMAT_E5M2, LPT_FORMAT_E2M1FN, LPT_FORMAT_INT8};
  for (lpt_format id = LPT_FORMAT_E4M3FN_TENSOR; id <= LPT_FORMAT_F16_TENSOR; ++id) targets.push_back(id);
  targets.push_back(made(LPT_FORMAT_E2M1FN, LPT_FORMAT_E4M3FN, 16, 16, LPT_FORMAT_F32));
  targets.push_back(made(LPT_FORMAT_INT8, LPT_FORMAT_F32, 1, 64, LPT_FORMAT_NONE));
  targets.push_back(made(LPT_FORMAT_E4M3FN, LPT_FORMAT_E8M0FNU, LPT_WHOLE, 1, LPT_FORMAT_F32));
  targets.push_back(made(LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU, LPT_WHOLE, 1, LPT_FORMAT_NONE));
  targets.push_back(made(LPT_FORMAT_E5M2, LPT_FORMAT_F32, 4, 8, LPT_FORMAT_F32));
  targets.push_back(made(LPT_FORMAT_F16, LPT_FORMAT_E4M3FN, 1, 32, LPT_FORMAT_F32));
  return targets;
}

std::vector<lpt_scale_rule> rules_of(const Format &format) {
  if (format.block_scale == LPT_FORMAT_E8M0FNU) return {LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_FLOOR};
  if (format.block_scale == LPT_FORMAT_E4M3FN) return {LPT_SCALE_RULE_NEAREST, LPT_SCALE_RULE_HEADROOM};
  return {LPT_SCALE_RULE_AMAX, LPT_SCALE_RULE_POWER_OF_TWO};
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
  EXPECT_EQ(words({{ones, ones, ones, ones}}, ~uint64_t{0}, 10), (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(words({{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}}, 0x299F31D0A4093822, 10),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(QuantizeReference, FollowsTheDefinitionForEveryFormatRoundingAndRule) {
  uint64_t place = 1;
  for (const lpt_format target : all_targets()) {
    Format format;
    ASSERT_TRUE(find_format(target, format));
    for (const lpt_scale_rule rule : rules_of(format)) {
      for (const lpt_rounding rounding :
           {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_TOWARD_ZERO}) {
        for (const lpt_overflow overflow : {LPT_OVERFLOW_SATURATE, LPT_OVERFLOW_INFINITE}) {
          for (const Values values : kAllValues) {
            QuantizeCase c;
            c.target = target;
            c.rows = 19;
            c.columns = 131;
            c.rounding = rounding;
            c.overflow = overflow;
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

// Every bf16 number, and every point between two codes with its neighbours.
TEST(QuantizeReference, RoundsEveryMidpointAsDefined) {
  for (const lpt_format target : {LPT_FORMAT_F16, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3, LPT_FORMAT_E5M2,
                                  LPT_FORMAT_E2M1FN, LPT_FORMAT_INT8}) {
    std::vector<float> numbers;
    for (uint32_t high = 0; high < 65536; ++high) numbers.push_back(bits_float(high << 16));
    const std::vector<double> &magnitudes = magnitudes_of(target);
    for (std::size_t i = 0; i + 1 < magnitudes.size(); ++i) {
      const auto middle = static_cast<float>((magnitudes[i] + magnitudes[i + 1]) / 2);
      for (const float sign : {1.0f, -1.0f}) {
        for (const float toward : {0.0f, middle, 2 * middle}) numbers.push_back(sign * std::nextafter(middle, toward));
      }
    }
    for (const lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_TOWARD_ZERO}) {
      QuantizeCase c;
      c.target = target;
      c.columns = static_cast<int64_t>(numbers.size());
      c.rounding = rounding;
      Matrix source(LPT_FORMAT_F32, 1, c.columns);
      for (int64_t column = 0; column < c.columns; ++column) source.set(0, column, numbers[static_cast<std::size_t>(column)]);
      QuantizeRun run(c, source);
      run_reference(run.request);
      expect_defined(c, source, run);
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
    for (int64_t column = 18; column < 22; ++column) EXPECT_EQ(run.target.code(row, column), column % 2 == 0 ? 0xAu : 0x5u);
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

// element · (block scale · tensor scale) in f32; NaN keeps the element's sign.
float expected_number(const Matrix &source, int64_t row, int64_t column) {
  const Format &format = source.format();
  const BlockGrid grid = source.grid();
  double scale = format.has_tensor_scale() ? static_cast<double>(source.tensor_scale) : 1.0;
  if (format.has_block_scale()) {
    const uint32_t code = source.scale_code(row / grid.block_rows, column / grid.block_columns);
    double block = static_cast<double>(bits_float(code));
    if (format.block_scale == LPT_FORMAT_E8M0FNU) block = code == 0xFF ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - 127);
    if (format.block_scale == LPT_FORMAT_E4M3FN) block = code == 0x7F ? std::nan("") : magnitudes_of(LPT_FORMAT_E4M3FN)[code];
    scale = static_cast<float>(block * scale);
  }
  const uint32_t code = source.code(row, column);
  if (format.element == LPT_FORMAT_INT8) return static_cast<float>(static_cast<double>(static_cast<int8_t>(code)) * scale);
  const std::vector<double> &magnitudes = magnitudes_of(format.element);
  const uint32_t sign = 1u << (element_bits(format.element) - 1);
  const uint32_t magnitude = code & (sign - 1);
  double value = std::nan("");
  if (magnitude < magnitudes.size()) value = magnitudes[magnitude];
  const bool is_ieee = format.element == LPT_FORMAT_E4M3 || format.element == LPT_FORMAT_E5M2 || format.element == LPT_FORMAT_F16;
  if (magnitude == magnitudes.size() && is_ieee) value = std::numeric_limits<double>::infinity();
  const auto number = static_cast<float>(std::copysign(value, (code & sign) != 0 ? -1.0 : 1.0) * scale);
  return std::isnan(number) ? std::copysign(std::nanf(""), (code & sign) != 0 ? -1.0f : 1.0f) : number;
}

TEST(DequantizeReference, FollowsTheDefinitionForEveryCode) {
  for (const lpt_format id : all_targets()) {
    Format format;
    ASSERT_TRUE(find_format(id, format));
    if (id == LPT_FORMAT_BF16) continue;
    Matrix source(id, 5, 519);
    Random random(30000 + static_cast<uint64_t>(id % 1000));
    for (std::size_t i = 0; i < source.data.bytes(); ++i) source.data.data()[i] = static_cast<uint8_t>(random.bits());
    for (std::size_t i = 0; i < source.scales.bytes(); ++i) source.scales.data()[i] = static_cast<uint8_t>(random.below(0x80));
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
  EXPECT_EQ(bf16.code(0, 0), 0x47C3u);  // 99840, the nearest to 100010
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
