// Q4_1, a layout whose blocks have a minimum: imported to wide formats, and to uint4 with zero points.
#include "tests/api/ggml.hpp"

namespace lpt::test {
namespace {

TEST(ForeignLayoutQ4_1, RoundsOnceToF32) {
  const Context context = make_context();
  // 1024 + 15 · 2^-24 is between two f32 values that are 2^-13 apart, and rounds to 1024. 15 · (1 + 2^-10) + 2^-24 is between
  // two values that are 2^-20 apart.
  const Bytes bytes = q4_1_block(0x0001, 0x6400, 0xFF) + q4_1_block(0x3C01, 0x0001, 0xFF);
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_F32, 1, 64);
  ASSERT_TRUE(import(context.get(), bytes, LPT_FOREIGN_LAYOUT_GGML_Q4_1, tensor.get()));
  const std::vector<double> numbers = numbers_of(context.get(), tensor.get());
  EXPECT_EQ(1024.0, numbers[0]);
  EXPECT_EQ(15.0 * (1 + 0x1p-10), numbers[32]);
}

TEST(ForeignLayoutQ4_1, GoesToTheOtherWideFormatsByWayOfF32) {
  const Context context = make_context();
  const GgmlCase of = kGgmlCases[2];
  // The last two blocks exceed the range of f16.
  const Bytes bytes = finite_blocks(of, 302, 6) + q4_1_block(0x7BFF, 0x7BFF, 0xFF) + q4_1_block(0xFBFF, 0xFBFF, 0xFF);
  const std::vector<double> numbers = ggml_numbers(of, bytes);
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    const Tensor tensor = make_tensor(context.get(), format, 4, 64);
    ASSERT_TRUE(import(context.get(), bytes, of.foreign_layout, tensor.get()));
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

TEST(ForeignLayoutQ4_1, GoesToUint4WhereTheLeastIsAZeroPoint) {
  const Context context = make_context(2);
  const GgmlCase of = kGgmlCases[2];
  Bytes bytes;
  std::vector<uint8_t> zero_points;
  Random random(303);
  // d has three significant bits: its product with a zero point of eight bits fits the eleven bits of f16.
  for (int block = 0; block < 6 * 32; ++block) {
    const auto zero = static_cast<uint8_t>(block < 8 ? 0 : random.below(256));  // m is 0 then, not -0
    const auto steps = static_cast<double>(4 + random.below(4));
    const double d = std::ldexp(random.chance(0.5) ? steps : -steps, static_cast<int>(random.below(16)) - 20);
    const Tensor heads = tensor_of(context.get(), LPT_FORMAT_F16, 1, 2, {d, -d * zero + 0.0});
    bytes = bytes + plain_bytes(context.get(), heads.get()) + random_bytes(static_cast<uint64_t>(304 + block), 16);
    zero_points.push_back(zero);
  }
  const Tensor tensor = make_tensor(context.get(), of.format, 6, 1024);
  ASSERT_TRUE(import(context.get(), bytes, of.foreign_layout, tensor.get()));
  EXPECT_EQ(zero_points, part_bytes(context.get(), tensor.get(), LPT_TENSOR_PART_ZERO_POINTS));
  EXPECT_EQ(ggml_numbers(of, bytes), numbers_of(context.get(), tensor.get()));
  EXPECT_EQ(bytes, exported(context.get(), tensor.get(), of.foreign_layout));
}

TEST(ForeignLayoutQ4_1, IsRejectedByUint4WhereTheLeastIsNoZeroPoint) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 2, 64);
  const Bytes good = q4_1_block(0x3C00, 0xC000, 0x10);  // d is 1, m is -2
  const struct {
    uint32_t d, m;
    const char *words;
  } cases[] = {{0x3C00, 0x3C00, "d 1 and m 1"},    {0x3C00, 0xB800, "d 1 and m -0.5"},
               {0x3C00, 0xDC00, "d 1 and m -256"}, {0x0000, 0x3C00, "d 0 and m 1"},
               {0x4200, 0xC001, "d 3 and m -2"},   {0x7C00, 0xC000, "d inf and m -2"},
               {0x3C00, 0xFC00, "d 1 and m -inf"}, {0x7C00, 0x0000, "d inf and m 0"}};
  for (const auto &[d, m, words] : cases) {
    const Bytes bytes = good + good + good + q4_1_block(d, m, 0x10);
    expect_rejected_import(context.get(), bytes, LPT_FOREIGN_LAYOUT_GGML_Q4_1, tensor.get(),
                           {"buffer has in row 1, columns 32 to 63", words, "0 to 255", "f32"});
  }
}

TEST(ForeignLayoutQ4_1, KeepsNanInUint4) {
  const Context context = make_context();
  const Bytes bytes = q4_1_block(0x7E00, 0x3C00, 0x10) + q4_1_block(0x3C00, 0x7E00, 0x10);
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 1, 64);
  ASSERT_TRUE(import(context.get(), bytes, LPT_FOREIGN_LAYOUT_GGML_Q4_1, tensor.get()));
  for (const double number : numbers_of(context.get(), tensor.get())) EXPECT_TRUE(std::isnan(number));
  const Bytes back = exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_GGML_Q4_1);
  for (const double number : ggml_numbers(kGgmlCases[2], back)) EXPECT_TRUE(std::isnan(number));
}

TEST(ForeignLayoutQ4_1, RejectsScaleAndZeroPointThatF16Lacks) {
  const Context context = make_context();
  const struct {
    float scale;
    uint8_t zero;
  } cases[] = {{0.1f, 0}, {1.0f + 0x1p-10f, 3}, {65504.0f, 2}, {INFINITY, 0}, {INFINITY, 1}};
  for (const auto &[scale, zero] : cases) {
    const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 2, 96);
    part_data<float>(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES)[4] = scale;
    part_data<uint8_t>(context.get(), tensor.get(), LPT_TENSOR_PART_ZERO_POINTS)[4] = zero;
    char words[64];
    std::snprintf(words, sizeof words, "scale %.9g and zero point %d", static_cast<double>(scale), zero);
    expect_rejected_export(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_GGML_Q4_1,
                           {"row 1, columns 32 to 63", words, "f16"});
  }
}

}  // namespace
}  // namespace lpt::test
