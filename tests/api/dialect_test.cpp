// Other libraries' layouts of bytes, worked out by hand from what they publish. golden_dialects_test.cpp asks the libraries.
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

using Bytes = std::vector<uint8_t>;

// What stands where nothing may be written.
constexpr uint8_t kGarbage = 0xA5;

size_t size_of(lpt_context *context, const lpt_tensor *tensor, lpt_dialect dialect) {
  size_t size = 0;
  EXPECT_TRUE(ok(context, lpt_dialect_size(context, tensor, dialect, &size)));
  return size;
}

// The bytes of a tensor in a dialect; a byte behind them stays as it was.
Bytes exported(lpt_context *context, const lpt_tensor *tensor, lpt_dialect dialect) {
  Bytes bytes(size_of(context, tensor, dialect) + 1, kGarbage);
  EXPECT_TRUE(ok(context, lpt_dialect_export(context, tensor, dialect, bytes.data(), bytes.size() - 1)));
  EXPECT_EQ(kGarbage, bytes.back());
  bytes.pop_back();
  return bytes;
}

testing::AssertionResult import(lpt_context *context, const Bytes &bytes, lpt_dialect dialect, lpt_tensor *tensor) {
  return ok(context, lpt_dialect_import(context, bytes.data(), bytes.size(), dialect, tensor));
}

// Memory of one part of a tensor; rows of a new tensor have no gaps but for packs.
template <typename Number>
Number *part_data(lpt_context *context, const lpt_tensor *tensor, lpt_part part) {
  return static_cast<Number *>(describe(context, part_of(context, tensor, part).get()).data);
}

Bytes part_bytes(lpt_context *context, const lpt_tensor *tensor, lpt_part part) {
  return plain_bytes(context, part_of(context, tensor, part).get());
}

bool has_zero_points(lpt_format format) { return describe(format).zero_point != LPT_FORMAT_NONE; }

// Payload, scales and zero points.
Bytes all_bytes(lpt_context *context, const lpt_tensor *tensor) {
  Bytes bytes = bytes_of(context, tensor);
  if (!has_zero_points(describe(context, tensor).format)) return bytes;
  const Bytes more = part_bytes(context, tensor, LPT_PART_ZERO_POINTS);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

Bytes random_bytes(uint64_t place, size_t count) {
  Random random(place);
  Bytes bytes(count);
  for (uint8_t &byte : bytes) byte = static_cast<uint8_t>(random.bits());
  return bytes;
}

void fill(lpt_context *context, lpt_tensor *tensor, lpt_part part, const Bytes &bytes) {
  const Bytes old = part_bytes(context, tensor, part);
  ASSERT_EQ(old.size(), bytes.size());
  std::memcpy(part_data<uint8_t>(context, tensor, part), bytes.data(), bytes.size());
}

// A number of f16 by its definition.
double half_number(uint32_t code) {
  const int exponent = static_cast<int>(code >> 10 & 31);
  const double fraction = static_cast<double>(code & 1023) / 1024;
  double value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  if (exponent == 31) value = fraction == 0 ? INFINITY : std::nan("");
  return (code >> 15) != 0 ? -value : value;
}

// ---- ggml: one block by hand

struct GgmlCase {
  lpt_format format;
  lpt_dialect dialect;
  size_t block_bytes;
};
constexpr GgmlCase kGgmlCases[] = {{LPT_FORMAT_INT8_1X32, LPT_DIALECT_GGML, 34},
                                   {LPT_FORMAT_INT4_1X32, LPT_DIALECT_GGML, 18},
                                   {LPT_FORMAT_UINT4_1X32, LPT_DIALECT_GGML_Q4_1, 20},
                                   {LPT_FORMAT_MXFP4, LPT_DIALECT_GGML, 17}};

// Codes 0 to 15 in the first half of a block, 15 to 0 in the second: in split halves byte i is i | (15 - i) << 4.
uint8_t block_code(int i) { return static_cast<uint8_t>(i < 16 ? i : 31 - i); }

Bytes split_halves() {
  Bytes bytes;
  for (int i = 0; i < 16; ++i) bytes.push_back(static_cast<uint8_t>(i | (15 - i) << 4));
  return bytes;
}

// LPT's order: the first of a pair in the low half.
Bytes pairs(uint8_t flip) {
  Bytes bytes;
  for (int i = 0; i < 32; i += 2) {
    bytes.push_back(static_cast<uint8_t>((block_code(i) | block_code(i + 1) << 4) ^ flip));
  }
  return bytes;
}

Bytes operator+(Bytes a, const Bytes &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A block of each type, and how it lies there.
struct HandBlock {
  GgmlCase of;
  Tensor tensor;
  Bytes bytes;
};

std::vector<HandBlock> hand_blocks(lpt_context *context) {
  std::vector<HandBlock> blocks;
  for (const GgmlCase &of : kGgmlCases) blocks.push_back({of, make_tensor(context, of.format, 1, 32), {}});

  Bytes codes;  // -16 to 15
  for (int i = 0; i < 32; ++i) codes.push_back(static_cast<uint8_t>(i - 16));
  fill(context, blocks[0].tensor.get(), LPT_PART_PAYLOAD, codes);
  *part_data<float>(context, blocks[0].tensor.get(), LPT_PART_BLOCK_SCALES) = 0.5f;
  blocks[0].bytes = Bytes{0x00, 0x38} + codes;

  // int4 of code c is c - 8 in ggml's eyes: the top bit of each code flips.
  fill(context, blocks[1].tensor.get(), LPT_PART_PAYLOAD, pairs(0x88));
  *part_data<float>(context, blocks[1].tensor.get(), LPT_PART_BLOCK_SCALES) = -0.3125f;
  blocks[1].bytes = Bytes{0x00, 0xB5} + split_halves();

  // (q - 3) · 0.5 = 0.5 · q - 1.5
  fill(context, blocks[2].tensor.get(), LPT_PART_PAYLOAD, pairs(0));
  *part_data<float>(context, blocks[2].tensor.get(), LPT_PART_BLOCK_SCALES) = 0.5f;
  *part_data<uint8_t>(context, blocks[2].tensor.get(), LPT_PART_ZERO_POINTS) = 3;
  blocks[2].bytes = Bytes{0x00, 0x38, 0x00, 0xBE} + split_halves();

  fill(context, blocks[3].tensor.get(), LPT_PART_PAYLOAD, pairs(0));
  *part_data<uint8_t>(context, blocks[3].tensor.get(), LPT_PART_BLOCK_SCALES) = 130;
  blocks[3].bytes = Bytes{130} + split_halves();
  return blocks;
}

TEST(DialectGgml, ExportsTheBytesOfABlockThatIsWorkedOutByHand) {
  const Context context = make_context();
  for (const HandBlock &block : hand_blocks(context.get())) {
    EXPECT_EQ(block.of.block_bytes, size_of(context.get(), block.tensor.get(), block.of.dialect));
    EXPECT_EQ(block.bytes, exported(context.get(), block.tensor.get(), block.of.dialect)) << name_of(block.of.format);
  }
}

TEST(DialectGgml, ImportsTheBytesOfABlockThatIsWorkedOutByHand) {
  const Context context = make_context();
  for (const HandBlock &block : hand_blocks(context.get())) {
    const Tensor read = make_tensor(context.get(), block.of.format, 1, 32);
    ASSERT_TRUE(import(context.get(), block.bytes, block.of.dialect, read.get()));
    EXPECT_EQ(all_bytes(context.get(), block.tensor.get()), all_bytes(context.get(), read.get()))
        << name_of(block.of.format);
  }
}

// ---- ggml: numbers by its formulas, in double

constexpr double kDoubledE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, -0.0, -1, -2, -3, -4, -6, -8, -12};

std::vector<double> ggml_numbers(const GgmlCase &of, const Bytes &bytes) {
  std::vector<double> numbers;
  for (size_t begin = 0; begin < bytes.size(); begin += of.block_bytes) {
    const uint8_t *block = &bytes[begin];
    const double d = half_number(static_cast<uint32_t>(block[0] | block[1] << 8));
    const double m = half_number(static_cast<uint32_t>(block[2] | block[3] << 8));
    const uint8_t *codes = block + of.block_bytes - (of.format == LPT_FORMAT_INT8_1X32 ? 32 : 16);
    for (int i = 0; i < 32; ++i) {
      const int half = i < 16 ? codes[i] & 15 : codes[i - 16] >> 4;
      if (of.format == LPT_FORMAT_INT8_1X32) numbers.push_back(d * static_cast<int8_t>(codes[i]));
      if (of.format == LPT_FORMAT_INT4_1X32) numbers.push_back(d * (half - 8));
      if (of.format == LPT_FORMAT_UINT4_1X32) numbers.push_back(d * half + m);
      if (of.format == LPT_FORMAT_MXFP4) numbers.push_back(std::ldexp(kDoubledE2m1[half], block[0] - 128));
    }
  }
  // To f32: Q4_1 rounds, MXFP4 may overflow, all else is exact.
  for (double &number : numbers) number = static_cast<double>(static_cast<float>(number));
  return numbers;
}

// An exponent field of 31 loses its top bit, a scale of 255 its lowest: every block is finite.
void make_finite(const GgmlCase &of, Bytes &bytes) {
  const size_t halves = of.format == LPT_FORMAT_MXFP4 ? 0 : of.format == LPT_FORMAT_UINT4_1X32 ? 2 : 1;
  for (size_t begin = 0; begin < bytes.size(); begin += of.block_bytes) {
    if (halves == 0 && bytes[begin] == 255) bytes[begin] = 254;
    for (size_t high = begin + 1; high < begin + 2 * halves; high += 2) {
      if ((bytes[high] & 0x7C) == 0x7C) bytes[high] &= 0xBF;
    }
  }
}

Bytes finite_blocks(const GgmlCase &of, uint64_t place, size_t count) {
  Bytes bytes = random_bytes(place, of.block_bytes * count);
  make_finite(of, bytes);
  return bytes;
}

// Q4_1 of any minimum goes to f32; the others keep their codes.
lpt_format import_format(const GgmlCase &of) {
  return of.dialect == LPT_DIALECT_GGML_Q4_1 ? lpt_format{LPT_FORMAT_F32} : of.format;
}

TEST(DialectGgml, GivesTheNumbersOfGgmlsFormulasAndTheSameBytesBack) {
  const Context context = make_context(3);
  for (const GgmlCase &of : kGgmlCases) {
    for (const Shape shape : {Shape{1, 32}, Shape{3, 96}, Shape{33, 2048}}) {
      const Bytes bytes = finite_blocks(of, 301, static_cast<size_t>(shape.rows * shape.columns / 32));
      const Tensor tensor = make_tensor(context.get(), import_format(of), shape.rows, shape.columns);
      ASSERT_TRUE(import(context.get(), bytes, of.dialect, tensor.get()));
      EXPECT_EQ(ggml_numbers(of, bytes), numbers_of(context.get(), tensor.get())) << name_of(of.format);
      if (of.dialect != LPT_DIALECT_GGML) continue;
      EXPECT_EQ(bytes, exported(context.get(), tensor.get(), of.dialect));
    }
  }
}

TEST(DialectGgml, KeepsEveryScaleThatF16Holds) {
  const Context context = make_context();
  const GgmlCase of = kGgmlCases[0];
  const Tensor tensor = make_tensor(context.get(), of.format, 1, 32 * 65536);
  Bytes bytes(34 * 65536, 1);
  for (size_t code = 0; code < 65536; ++code) {
    bytes[34 * code] = static_cast<uint8_t>(code);
    bytes[34 * code + 1] = static_cast<uint8_t>(code >> 8);
  }
  ASSERT_TRUE(import(context.get(), bytes, of.dialect, tensor.get()));
  const auto *scales = part_data<float>(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES);
  const Bytes back = exported(context.get(), tensor.get(), of.dialect);
  for (uint32_t code = 0; code < 65536; ++code) {
    const double expected = half_number(code);
    const auto given = static_cast<double>(scales[code]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(given)) << code;
      ASSERT_EQ(0x7E, back[34 * code + 1] & 0x7F) << code;  // a NaN of one pattern
      continue;
    }
    ASSERT_EQ(expected, given) << code;
    ASSERT_EQ(code, static_cast<uint32_t>(back[34 * code] | back[34 * code + 1] << 8));
  }
}

// ---- ggml: what is refused

// Both calls say where, and leave everything as it was.
void expect_refused_export(lpt_context *context, const lpt_tensor *tensor, lpt_dialect dialect,
                           const std::vector<const char *> &words) {
  Bytes bytes(size_of(context, tensor, dialect), kGarbage);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_dialect_export(context, tensor, dialect, bytes.data(), bytes.size()));
  const std::string text = lpt_context_error(context);
  for (const char *word : words) EXPECT_NE(std::string::npos, text.find(word)) << text;
  EXPECT_EQ(Bytes(bytes.size(), kGarbage), bytes);
}

void expect_refused_import(lpt_context *context, const Bytes &bytes, lpt_dialect dialect, lpt_tensor *tensor,
                           const std::vector<const char *> &words) {
  const Bytes before = all_bytes(context, tensor);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_dialect_import(context, bytes.data(), bytes.size(), dialect, tensor));
  const std::string text = lpt_context_error(context);
  for (const char *word : words) EXPECT_NE(std::string::npos, text.find(word)) << text;
  EXPECT_EQ(before, all_bytes(context, tensor));
}

TEST(DialectGgml, RefusesScalesThatF16LacksAndSaysWhere) {
  const Context context = make_context(2);
  for (const lpt_format format : {LPT_FORMAT_INT8_1X32, LPT_FORMAT_INT4_1X32}) {
    for (const float scale : {0.1f, 65536.0f, 0x1p-25f, 1.0f + 0x1p-11f, -65520.0f}) {
      const Tensor tensor = make_tensor(context.get(), format, 40, 96);
      part_data<float>(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES)[37 * 3 + 1] = scale;
      char digits[32];
      std::snprintf(digits, sizeof digits, "scale %.9g", static_cast<double>(scale));
      expect_refused_export(context.get(), tensor.get(), LPT_DIALECT_GGML,
                            {"tensor has in row 37, columns 32 to 63", digits, "f16"});
    }
  }
}

TEST(DialectGgml, TakesNanAndInfinityAsScalesOfIntegers) {
  const Context context = make_context();
  for (const float scale : {NAN, INFINITY, -INFINITY, 0.0f, 0x1p-24f, 65504.0f}) {
    const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_INT4_1X32, 1, 32);
    *part_data<float>(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES) = scale;
    const Bytes bytes = exported(context.get(), tensor.get(), LPT_DIALECT_GGML);
    const double read = half_number(static_cast<uint32_t>(bytes[0] | bytes[1] << 8));
    EXPECT_TRUE(std::isnan(scale) ? std::isnan(read) : read == static_cast<double>(scale)) << scale;
  }
}

TEST(DialectGgml, RefusesTheNanScaleOfMxfp4BothWays) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_MXFP4, 2, 64);
  part_data<uint8_t>(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES)[3] = 0xFF;
  expect_refused_export(context.get(), tensor.get(), LPT_DIALECT_GGML, {"row 1, columns 32 to 63", "NaN"});
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_MXFP4, 2, 64);
  Bytes bytes(4 * 17, 0x12);
  bytes[2 * 17] = 0xFF;
  expect_refused_import(context.get(), bytes, LPT_DIALECT_GGML, target.get(), {"row 1, columns 0 to 31", "0xFF"});
}

// ---- Q4_1

// The number halfway between d and m by 32 codes 0.
Bytes q4_1_block(uint32_t d, uint32_t m, uint8_t codes) {
  return Bytes{static_cast<uint8_t>(d), static_cast<uint8_t>(d >> 8), static_cast<uint8_t>(m),
               static_cast<uint8_t>(m >> 8)} +
         Bytes(16, codes);
}

TEST(DialectQ4_1, RoundsOnceToF32) {
  const Context context = make_context();
  // 1024 + 15 · 2^-24 lies between two f32, 2^-13 apart: 1024. 15 · (1 + 2^-10) + 2^-24 as well, 2^-20 apart.
  const Bytes bytes = q4_1_block(0x0001, 0x6400, 0xFF) + q4_1_block(0x3C01, 0x0001, 0xFF);
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_F32, 1, 64);
  ASSERT_TRUE(import(context.get(), bytes, LPT_DIALECT_GGML_Q4_1, tensor.get()));
  const std::vector<double> numbers = numbers_of(context.get(), tensor.get());
  EXPECT_EQ(1024.0, numbers[0]);
  EXPECT_EQ(15.0 * (1 + 0x1p-10), numbers[32]);
}

TEST(DialectQ4_1, GoesToTheOtherWideFormatsByWayOfF32) {
  const Context context = make_context();
  const GgmlCase of = kGgmlCases[2];
  // The last two leave f16's range.
  const Bytes bytes = finite_blocks(of, 302, 6) + q4_1_block(0x7BFF, 0x7BFF, 0xFF) + q4_1_block(0xFBFF, 0xFBFF, 0xFF);
  const std::vector<double> numbers = ggml_numbers(of, bytes);
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    const Tensor tensor = make_tensor(context.get(), format, 4, 64);
    ASSERT_TRUE(import(context.get(), bytes, of.dialect, tensor.get()));
    const std::vector<double> given = numbers_of(context.get(), tensor.get());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double magnitude = std::abs(numbers[i]);
      if (format == LPT_FORMAT_F16 && magnitude >= 65520) {
        ASSERT_EQ(std::copysign(INFINITY, numbers[i]), given[i]);
        continue;
      }
      // Half a step of the target.
      const double bound = format == LPT_FORMAT_F64    ? 0
                           : format == LPT_FORMAT_BF16 ? magnitude * 0x1p-8
                                                       : std::max(magnitude * 0x1p-11, 0x1p-25);
      ASSERT_LE(std::abs(given[i] - numbers[i]), bound) << name_of(format);
    }
  }
}

TEST(DialectQ4_1, GoesToUint4WhereTheLeastIsAZeroPoint) {
  const Context context = make_context(2);
  const GgmlCase of = kGgmlCases[2];
  Bytes bytes;
  std::vector<uint8_t> zero_points;
  Random random(303);
  // A d of three bits: with the eight of the zero point the least fits f16's eleven.
  for (int block = 0; block < 6 * 32; ++block) {
    const auto zero = static_cast<uint8_t>(block < 8 ? 0 : random.below(256));  // m is 0 then, not -0
    const auto steps = static_cast<double>(4 + random.below(4));
    const double d = std::ldexp(random.chance(0.5) ? steps : -steps, static_cast<int>(random.below(16)) - 20);
    const Tensor heads = tensor_of(context.get(), LPT_FORMAT_F16, 1, 2, {d, -d * zero + 0.0});
    bytes = bytes + plain_bytes(context.get(), heads.get()) + random_bytes(static_cast<uint64_t>(304 + block), 16);
    zero_points.push_back(zero);
  }
  const Tensor tensor = make_tensor(context.get(), of.format, 6, 1024);
  ASSERT_TRUE(import(context.get(), bytes, of.dialect, tensor.get()));
  EXPECT_EQ(zero_points, part_bytes(context.get(), tensor.get(), LPT_PART_ZERO_POINTS));
  EXPECT_EQ(ggml_numbers(of, bytes), numbers_of(context.get(), tensor.get()));
  EXPECT_EQ(bytes, exported(context.get(), tensor.get(), of.dialect));
}

TEST(DialectQ4_1, IsRefusedByUint4WhereTheLeastIsNoZeroPoint) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 2, 64);
  const Bytes good = q4_1_block(0x3C00, 0xC000, 0x10);  // 1 and -2
  const struct {
    uint32_t d, m;
    const char *words;
  } cases[] = {{0x3C00, 0x3C00, "d 1 and m 1"},    {0x3C00, 0xB800, "d 1 and m -0.5"},
               {0x3C00, 0xDC00, "d 1 and m -256"}, {0x0000, 0x3C00, "d 0 and m 1"},
               {0x4200, 0xC001, "d 3 and m -2"},   {0x7C00, 0xC000, "d inf and m -2"},
               {0x3C00, 0xFC00, "d 1 and m -inf"}, {0x7C00, 0x0000, "d inf and m 0"}};
  for (const auto &[d, m, words] : cases) {
    const Bytes bytes = good + good + good + q4_1_block(d, m, 0x10);
    expect_refused_import(context.get(), bytes, LPT_DIALECT_GGML_Q4_1, tensor.get(),
                          {"buffer has in row 1, columns 32 to 63", words, "0 to 255", "f32"});
  }
}

TEST(DialectQ4_1, KeepsNanInUint4) {
  const Context context = make_context();
  const Bytes bytes = q4_1_block(0x7E00, 0x3C00, 0x10) + q4_1_block(0x3C00, 0x7E00, 0x10);
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 1, 64);
  ASSERT_TRUE(import(context.get(), bytes, LPT_DIALECT_GGML_Q4_1, tensor.get()));
  for (const double number : numbers_of(context.get(), tensor.get())) EXPECT_TRUE(std::isnan(number));
  const Bytes back = exported(context.get(), tensor.get(), LPT_DIALECT_GGML_Q4_1);
  for (const double number : ggml_numbers(kGgmlCases[2], back)) EXPECT_TRUE(std::isnan(number));
}

TEST(DialectQ4_1, RefusesScaleAndZeroPointThatF16Lacks) {
  const Context context = make_context();
  const struct {
    float scale;
    uint8_t zero;
  } cases[] = {{0.1f, 0}, {1.0f + 0x1p-10f, 3}, {65504.0f, 2}, {INFINITY, 0}, {INFINITY, 1}};
  for (const auto &[scale, zero] : cases) {
    const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 2, 96);
    part_data<float>(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES)[4] = scale;
    part_data<uint8_t>(context.get(), tensor.get(), LPT_PART_ZERO_POINTS)[4] = zero;
    char words[64];
    std::snprintf(words, sizeof words, "scale %.9g and zero point %d", static_cast<double>(scale), zero);
    expect_refused_export(context.get(), tensor.get(), LPT_DIALECT_GGML_Q4_1,
                          {"row 1, columns 32 to 63", words, "f16"});
  }
}

// ---- how a model's weights become blocks: docs/dialects.md tells it

TEST(DialectGgml, TakesWeightsThatAreQuantizedWithScalesOfF16) {
  const Context context = make_context();
  const std::vector<double> weights = draw_normal(305, 8 * 96);
  const Tensor source = wrap(context.get(), weights, 8, 96);
  for (const lpt_format format : {LPT_FORMAT_INT8_1X32, LPT_FORMAT_INT4_1X32}) {
    const Tensor tensor = make_tensor(context.get(), format, 8, 96);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, tensor.get(), nullptr)));
    const Tensor scales = part_of(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES);
    const Tensor halves = make_tensor(context.get(), LPT_FORMAT_F16, 8, 3);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), scales.get(), nullptr, halves.get(), nullptr)));
    ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), halves.get(), nullptr, scales.get())));
    lpt_quantize_options fixed = LPT_QUANTIZE_OPTIONS_INIT;
    fixed.scale_rule = LPT_SCALE_RULE_FIXED;
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &fixed, tensor.get(), nullptr)));
    const Bytes bytes = exported(context.get(), tensor.get(), LPT_DIALECT_GGML);
    const GgmlCase &of = kGgmlCases[format == LPT_FORMAT_INT8_1X32 ? 0 : 1];
    EXPECT_EQ(numbers_of(context.get(), tensor.get()), ggml_numbers(of, bytes));
    EXPECT_LT(relative_error(ggml_numbers(of, bytes), weights), format == LPT_FORMAT_INT8_1X32 ? 0.01 : 0.12);
  }
}

// ---- views, strides, axes

TEST(DialectGgml, SeesPartsOfATensor) {
  const Context context = make_context();
  for (const GgmlCase &of : kGgmlCases) {
    const Tensor whole = make_tensor(context.get(), of.format, 5, 160);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), wrap(context.get(), draw_normal(306, 800), 5, 160).get(),
                                               nullptr, whole.get(), nullptr)));
    const Tensor part = view(context.get(), whole.get(), {1, 32}, {3, 96});
    const Bytes bytes =
        of.format == LPT_FORMAT_UINT4_1X32
            ? q4_1_block(0x3C00, 0xC000, 0x21) + q4_1_block(0x3800, 0xBC00, 0x43) + q4_1_block(0x4000, 0xCE00, 0x65)
            : Bytes{};
    const Bytes given = bytes.empty() ? finite_blocks(of, 307, 9) : bytes + bytes + bytes;
    const Tensor before = make_tensor(context.get(), of.format, 5, 160);
    for (lpt_part p = LPT_PART_PAYLOAD; p <= LPT_PART_ZERO_POINTS; ++p) {
      if (p == LPT_PART_TENSOR_SCALE || (p == LPT_PART_ZERO_POINTS && !has_zero_points(of.format))) continue;
      fill(context.get(), before.get(), p, part_bytes(context.get(), whole.get(), p));
    }
    ASSERT_TRUE(import(context.get(), given, of.dialect, part.get()));
    EXPECT_EQ(ggml_numbers(of, given), numbers_of(context.get(), part.get())) << name_of(of.format);
    EXPECT_EQ(given, exported(context.get(), part.get(), of.dialect));
    // What lies around the view is as before.
    for (const auto &[begins, extents] : {std::pair{std::vector<int64_t>{0, 0}, std::vector<int64_t>{1, 160}},
                                          std::pair{std::vector<int64_t>{4, 0}, std::vector<int64_t>{1, 160}},
                                          std::pair{std::vector<int64_t>{0, 0}, std::vector<int64_t>{5, 32}},
                                          std::pair{std::vector<int64_t>{0, 128}, std::vector<int64_t>{5, 32}}}) {
      EXPECT_EQ(all_bytes(context.get(), view(context.get(), before.get(), begins, extents).get()),
                all_bytes(context.get(), view(context.get(), whole.get(), begins, extents).get()));
    }
  }
}

TEST(DialectGgml, ReadsRowsWithGapsAndMoreAxes) {
  const Context context = make_context();
  const Bytes bytes = finite_blocks(kGgmlCases[2], 308, 2 * 3 * 2);
  const Tensor cube = make_tensor(context.get(), LPT_FORMAT_F32, {2, 3, 64});
  ASSERT_TRUE(import(context.get(), bytes, LPT_DIALECT_GGML_Q4_1, cube.get()));
  EXPECT_EQ(ggml_numbers(kGgmlCases[2], bytes), numbers_of(context.get(), cube.get()));
  std::vector<float> memory(6 * 70, 77.0f);
  const Tensor strided = wrap(context.get(), LPT_FORMAT_F32, memory.data(), 6, 64, 70);
  ASSERT_TRUE(import(context.get(), bytes, LPT_DIALECT_GGML_Q4_1, strided.get()));
  EXPECT_EQ(ggml_numbers(kGgmlCases[2], bytes), numbers_of(context.get(), strided.get()));
  for (size_t row = 0; row < 6; ++row) {
    for (size_t gap = 64; gap < 70; ++gap) EXPECT_EQ(77.0f, memory[row * 70 + gap]);
  }
}

// ---- bitsandbytes

TEST(DialectBitsandbytes, PutsTheFirstOfAByteInItsHighHalf) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NF4, 2, 4);
  fill(context.get(), tensor.get(), LPT_PART_PAYLOAD, {0x21, 0x43, 0x65, 0x87});
  EXPECT_EQ((Bytes{0x12, 0x34, 0x56, 0x78}), exported(context.get(), tensor.get(), LPT_DIALECT_BITSANDBYTES));
}

TEST(DialectBitsandbytes, LetsRowsFollowInsideAByte) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_BNB_FP4, 3, 3);
  fill(context.get(), tensor.get(), LPT_PART_PAYLOAD, {0x21, 0x03, 0x54, 0x06, 0x87, 0x09});
  EXPECT_EQ((Bytes{0x12, 0x34, 0x56, 0x78, 0x90}), exported(context.get(), tensor.get(), LPT_DIALECT_BITSANDBYTES));
  // The spare half may hold anything; here ends in zeros.
  const Tensor read = make_tensor(context.get(), LPT_FORMAT_BNB_FP4, 3, 3);
  std::memset(describe(context.get(), read.get()).data, 0xFF, 6);
  ASSERT_TRUE(import(context.get(), {0x12, 0x34, 0x56, 0x78, 0x9E}, LPT_DIALECT_BITSANDBYTES, read.get()));
  const auto *data = static_cast<const uint8_t *>(describe(context.get(), read.get()).data);
  EXPECT_EQ((Bytes{0x21, 0x03, 0x54, 0x06, 0x87, 0x09}), Bytes(data, data + 6));
}

TEST(DialectBitsandbytes, MovesEveryElementOfFourBitsInEveryShape) {
  const Context context = make_context(4);
  for (const char *name : {"nf4", "bnb_fp4", "int4", "uint4", "e2m1fn", "e3m0", "e1m2b1-finite", "nf4_1x64", "nvfp4",
                           "uint4_1x32", "int4_1x128", "e3m0_tensor"}) {
    for (const Shape shape : {Shape{1, 1}, Shape{7, 1}, Shape{5, 33}, Shape{4, 64}, Shape{301, 257}}) {
      const Tensor tensor = make_tensor(context.get(), format_named(name), shape.rows, shape.columns);
      const Tensor codes = part_of(context.get(), tensor.get(), LPT_PART_PAYLOAD);
      auto *data = static_cast<uint8_t *>(describe(context.get(), codes.get()).data);
      const auto stride = static_cast<size_t>((shape.columns + 1) / 2);
      const Bytes noise = random_bytes(309, stride * static_cast<size_t>(shape.rows));
      std::memcpy(data, noise.data(), noise.size());
      Bytes expected(static_cast<size_t>((shape.rows * shape.columns + 1) / 2));
      for (size_t i = 0; i < static_cast<size_t>(shape.rows * shape.columns); ++i) {
        const size_t row = i / static_cast<size_t>(shape.columns);
        const size_t column = i % static_cast<size_t>(shape.columns);
        const int code = noise[row * stride + column / 2] >> (column % 2 == 1 ? 4 : 0) & 15;
        expected[i / 2] = static_cast<uint8_t>(expected[i / 2] | code << (i % 2 == 0 ? 4 : 0));
      }
      EXPECT_EQ(expected, exported(context.get(), tensor.get(), LPT_DIALECT_BITSANDBYTES)) << name;
      const Tensor read = make_tensor(context.get(), format_named(name), shape.rows, shape.columns);
      ASSERT_TRUE(import(context.get(), expected, LPT_DIALECT_BITSANDBYTES, read.get()));
      EXPECT_EQ(all_bytes(context.get(), tensor.get()), all_bytes(context.get(), read.get())) << name;
    }
  }
}

TEST(DialectBitsandbytes, LeavesTheScales) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NF4_1X64, 2, 128);
  auto *scales = part_data<float>(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES);
  scales[2] = 5.0f;
  EXPECT_EQ(128u, size_of(context.get(), tensor.get(), LPT_DIALECT_BITSANDBYTES));
  ASSERT_TRUE(import(context.get(), Bytes(128, 0xF0), LPT_DIALECT_BITSANDBYTES, tensor.get()));
  const std::vector<double> numbers = numbers_of(context.get(), tensor.get());
  EXPECT_EQ(1.0, numbers[0]);
  EXPECT_EQ(-1.0, numbers[1]);
  EXPECT_EQ(5.0, numbers[128]);
  EXPECT_EQ(-5.0, numbers[129]);
}

// ---- scale tiles of cuBLAS

TEST(DialectCublas, PutsEachScaleWhereTheTilesHaveIt) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, 129, 5 * 32 - 7);
  const struct {
    int64_t row, column;
    size_t place;
  } cases[] = {{0, 0, 0},   {0, 1, 1},     {1, 0, 16},  {31, 3, 499}, {32, 0, 4},     {33, 1, 21},    {64, 2, 10},
               {96, 0, 12}, {127, 3, 511}, {0, 4, 512}, {5, 4, 592},  {128, 0, 1024}, {128, 3, 1027}, {128, 4, 1536}};
  ASSERT_EQ(2048u, size_of(context.get(), tensor.get(), LPT_DIALECT_CUBLAS_SCALES));
  auto *scales = part_data<uint8_t>(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES);
  std::memset(scales, 0, 129 * 5);
  for (const auto &[row, column, place] : cases) {
    uint8_t &scale = scales[row * 5 + column];
    scale = 0x5A;
    Bytes expected(2048, 0);
    expected[place] = 0x5A;
    EXPECT_EQ(expected, exported(context.get(), tensor.get(), LPT_DIALECT_CUBLAS_SCALES)) << row << ", " << column;
    scale = 0;
  }
}

TEST(DialectCublas, MovesTheScalesAloneInEveryShape) {
  const Context context = make_context(3);
  for (const lpt_format format : {LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP6_E2M3}) {
    const int32_t block = describe(format).block_columns;
    for (const Shape grid : {Shape{1, 1}, Shape{128, 4}, Shape{129, 5}, Shape{33, 17}, Shape{385, 130}}) {
      const int64_t columns = grid.columns * block - block / 2;
      const Tensor tensor = make_tensor(context.get(), format, grid.rows, columns);
      const Bytes scales = random_bytes(310, static_cast<size_t>(grid.rows * grid.columns));
      fill(context.get(), tensor.get(), LPT_PART_BLOCK_SCALES, scales);
      const int64_t across = (grid.columns + 3) / 4;
      Bytes expected(static_cast<size_t>((grid.rows + 127) / 128 * across * 512));
      for (int64_t r = 0; r < grid.rows; ++r) {
        for (int64_t c = 0; c < grid.columns; ++c) {
          const int64_t place = (r / 128 * across + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
          expected[static_cast<size_t>(place)] = scales[static_cast<size_t>(r * grid.columns + c)];
        }
      }
      EXPECT_EQ(expected, exported(context.get(), tensor.get(), LPT_DIALECT_CUBLAS_SCALES)) << name_of(format);

      const Tensor read = tensor_of(context.get(), format, grid.rows, columns, draw_normal(311, grid.rows * columns));
      const Bytes payload = part_bytes(context.get(), read.get(), LPT_PART_PAYLOAD);
      ASSERT_TRUE(import(context.get(), expected, LPT_DIALECT_CUBLAS_SCALES, read.get()));
      EXPECT_EQ(scales, part_bytes(context.get(), read.get(), LPT_PART_BLOCK_SCALES));
      EXPECT_EQ(payload, part_bytes(context.get(), read.get(), LPT_PART_PAYLOAD));
    }
  }
}

TEST(DialectCublas, SeesTheScalesOfAView) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), LPT_FORMAT_MXFP8_E5M2, 40, 320);
  const Bytes noise = random_bytes(311, 400);
  fill(context.get(), whole.get(), LPT_PART_BLOCK_SCALES, noise);
  const Tensor part = view(context.get(), whole.get(), {3, 64}, {33, 160});
  const Bytes tiles = exported(context.get(), part.get(), LPT_DIALECT_CUBLAS_SCALES);
  ASSERT_EQ(1024u, tiles.size());
  EXPECT_EQ(noise[3 * 10 + 2], tiles[0]);
  EXPECT_EQ(noise[35 * 10 + 2 + 3], tiles[7]);
  EXPECT_EQ(noise[4 * 10 + 2 + 4], tiles[512 + 16]);
  std::memset(part_data<uint8_t>(context.get(), whole.get(), LPT_PART_BLOCK_SCALES), 0, 400);
  ASSERT_TRUE(import(context.get(), tiles, LPT_DIALECT_CUBLAS_SCALES, part.get()));
  const Bytes read = part_bytes(context.get(), whole.get(), LPT_PART_BLOCK_SCALES);
  for (size_t i = 0; i < 400; ++i) {
    const bool is_inside = i / 10 >= 3 && i / 10 < 36 && i % 10 >= 2 && i % 10 < 7;
    EXPECT_EQ(is_inside ? noise[i] : 0, read[i]) << i;
  }
}

// ---- sizes

TEST(DialectSize, NeedsNoData) {
  const Context context = make_context();
  const Tensor codes = wrap(context.get(), LPT_FORMAT_NF4, nullptr, 3, 5);
  EXPECT_EQ(8u, size_of(context.get(), codes.get(), LPT_DIALECT_BITSANDBYTES));
  const Tensor wide = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 3, 64);
  EXPECT_EQ(120u, size_of(context.get(), wide.get(), LPT_DIALECT_GGML_Q4_1));
}

TEST(DialectEmpty, TakesNoBuffer) {
  const Context context = make_context();
  const struct {
    lpt_format format;
    lpt_dialect dialect;
  } cases[] = {{LPT_FORMAT_INT8_1X32, LPT_DIALECT_GGML},
               {LPT_FORMAT_UINT4_1X32, LPT_DIALECT_GGML_Q4_1},
               {LPT_FORMAT_NF4, LPT_DIALECT_BITSANDBYTES},
               {LPT_FORMAT_NVFP4, LPT_DIALECT_CUBLAS_SCALES}};
  for (const auto &[format, dialect] : cases) {
    for (const Shape shape : {Shape{0, 64}, Shape{7, 0}}) {
      const Tensor tensor = make_tensor(context.get(), format, shape.rows, shape.columns);
      EXPECT_EQ(0u, size_of(context.get(), tensor.get(), dialect));
      EXPECT_TRUE(ok(context.get(), lpt_dialect_export(context.get(), tensor.get(), dialect, nullptr, 0)));
      EXPECT_TRUE(ok(context.get(), lpt_dialect_import(context.get(), nullptr, 0, dialect, tensor.get())));
    }
  }
}

}  // namespace
}  // namespace lpt::test
