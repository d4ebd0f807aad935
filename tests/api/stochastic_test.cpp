// Stochastic rounding through the C interface: random bits depend on the index of the element.
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

lpt_quantize_options stochastic(uint64_t random_seed, uint32_t stream, uint32_t step) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = LPT_ROUNDING_STOCHASTIC;
  options.random.seed = random_seed;
  options.random.stream = stream;
  options.random.step = step;
  return options;
}

std::vector<uint8_t> cast(lpt_context *context, const lpt_tensor *source, lpt_format format,
                          const lpt_quantize_options &options) {
  const Shape shape = shape_of(context, source);
  const Tensor target = make_tensor(context, format, shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_quantize(context, source, &options, target.get(), nullptr)));
  return bytes_of(context, target.get());
}

constexpr lpt_format kFormats[] = {LPT_FORMAT_E4M3FN,       LPT_FORMAT_BF16,       LPT_FORMAT_E2M1FN,
                                   LPT_FORMAT_E5M2_TENSOR,  LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_1X128,
                                   LPT_FORMAT_E5M2_128X128, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP4,
                                   LPT_FORMAT_NVFP4,        LPT_FORMAT_INT8_ROW};

TEST(Stochastic, BitsDoNotDependOnTheNumberOfThreads) {
  const std::vector<double> numbers = draw_normal(31, 301 * 515);
  const Context first = make_context(1);
  for (const Shape shape : {Shape{301, 515}, Shape{1, 301 * 515}}) {
    const Tensor source = wrap(first.get(), numbers, shape.rows, shape.columns);
    for (const lpt_format format : kFormats) {
      const std::vector<uint8_t> expected = cast(first.get(), source.get(), format, stochastic(7, 1, 2));
      for (const int32_t threads : {2, 3, 5}) {
        const Context context = make_context(threads);
        EXPECT_EQ(expected, cast(context.get(), source.get(), format, stochastic(7, 1, 2)))
            << name_of(format) << " " << threads << " threads";
      }
    }
  }
}

// Casts the shards of a matrix separately, as ranks do, and compares them with the cast of the full matrix.
void expect_shards_equal(lpt_context *context, lpt_format format, const std::vector<int64_t> &row_edges,
                         const std::vector<int64_t> &column_edges) {
  const int64_t rows = row_edges.back();
  const int64_t columns = column_edges.back();
  const std::vector<double> numbers = draw_normal(32, rows * columns);
  const Tensor source = wrap(context, numbers, rows, columns);
  const Tensor whole = make_tensor(context, format, rows, columns);
  const int64_t place = 1000003;  // offset of the full matrix in a larger tensor
  lpt_quantize_options options = stochastic(9, 3, 4);
  options.random.offset = place;
  ASSERT_TRUE(ok(context, lpt_quantize(context, source.get(), &options, whole.get(), nullptr)));
  options.random.row_stride = columns;
  for (size_t i = 0; i + 1 < row_edges.size(); ++i) {
    for (size_t j = 0; j + 1 < column_edges.size(); ++j) {
      const std::vector<int64_t> begins = {row_edges[i], column_edges[j]};
      const std::vector<int64_t> extents = {row_edges[i + 1] - begins[0], column_edges[j + 1] - begins[1]};
      options.random.offset = place + begins[0] * columns + begins[1];
      const Tensor part = view(context, source.get(), begins, extents);
      const Tensor expected = view(context, whole.get(), begins, extents);
      EXPECT_EQ(bytes_of(context, expected.get()), cast(context, part.get(), format, options))
          << name_of(format) << " at " << begins[0] << ", " << begins[1];
    }
  }
}

TEST(Stochastic, ShardsByRowsDrawTheBitsOfTheWhole) {
  const Context context = make_context(2);
  for (const lpt_format format : {LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_BF16, LPT_FORMAT_INT8,
                                  LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP8_E5M2, LPT_FORMAT_MXFP4}) {
    expect_shards_equal(context.get(), format, {0, 1, 64, 67, 130}, {0, 77});
  }
}

TEST(Stochastic, ShardsByColumnsDrawTheBitsOfTheWhole) {
  const Context context = make_context(2);
  for (const lpt_format format : {LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_BF16, LPT_FORMAT_INT8}) {
    expect_shards_equal(context.get(), format, {0, 40}, {0, 3, 50, 77});
  }
  expect_shards_equal(context.get(), LPT_FORMAT_MXFP8_E4M3, {0, 40}, {0, 32, 96, 101});
  expect_shards_equal(context.get(), LPT_FORMAT_MXFP4, {0, 40}, {0, 32, 96, 101});
}

TEST(Stochastic, ShardsByRowsAndColumnsDrawTheBitsOfTheWhole) {
  const Context context = make_context(2);
  expect_shards_equal(context.get(), LPT_FORMAT_E4M3FN, {0, 5, 30}, {0, 19, 64});
  expect_shards_equal(context.get(), LPT_FORMAT_E4M3FN_1X128, {0, 5, 30}, {0, 128, 300});
}

TEST(Stochastic, TransposedOutputIsTheTranspositionWhereOneScaleServesAll) {
  const Context context = make_context(2);
  const int64_t rows = 67;
  const int64_t columns = 45;
  const std::vector<double> numbers = draw_normal(33, rows * columns);
  const Tensor source = wrap(context.get(), numbers, rows, columns);
  for (const lpt_format format :
       {LPT_FORMAT_E4M3FN, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_INT8_TENSOR}) {
    for (const int32_t bits : {16, 8}) {
      lpt_quantize_options options = stochastic(11, 5, 6);
      options.stochastic_bits = bits;
      options.random.offset = 12345;
      options.random.row_stride = 100;
      const Tensor straight = make_tensor(context.get(), format, rows, columns);
      const Tensor transposed_copy = make_tensor(context.get(), format, columns, rows);
      ASSERT_TRUE(ok(context.get(),
                     lpt_quantize(context.get(), source.get(), &options, straight.get(), transposed_copy.get())));
      EXPECT_EQ(transposed(numbers_of(context.get(), straight.get()), rows, columns),
                numbers_of(context.get(), transposed_copy.get()))
          << name_of(format) << " " << bits << " bits";
    }
  }
}

TEST(Stochastic, SameCallGivesTheSameBits) {
  const Context context = make_context(2);
  const std::vector<double> numbers = draw_normal(34, 50 * 60);
  const Tensor source = wrap(context.get(), numbers, 50, 60);
  EXPECT_EQ(cast(context.get(), source.get(), LPT_FORMAT_E5M2, stochastic(1, 2, 3)),
            cast(context.get(), source.get(), LPT_FORMAT_E5M2, stochastic(1, 2, 3)));
}

TEST(Stochastic, EveryPartOfTheCounterChangesTheBits) {
  const Context context = make_context();
  const std::vector<double> numbers = draw_normal(35, 50 * 60);
  const Tensor source = wrap(context.get(), numbers, 50, 60);
  const std::vector<uint8_t> base = cast(context.get(), source.get(), LPT_FORMAT_E5M2, stochastic(1, 2, 3));
  const auto differs = [&](lpt_quantize_options options) {
    return cast(context.get(), source.get(), LPT_FORMAT_E5M2, options) != base;
  };
  EXPECT_TRUE(differs(stochastic(2, 2, 3))) << "seed";
  EXPECT_TRUE(differs(stochastic(uint64_t{1} << 32 | 1, 2, 3))) << "high half of the seed";
  EXPECT_TRUE(differs(stochastic(1, 3, 3))) << "stream";
  EXPECT_TRUE(differs(stochastic(1, 2, 4))) << "step";
  lpt_quantize_options options = stochastic(1, 2, 3);
  options.random.offset = 8;
  EXPECT_TRUE(differs(options)) << "offset";
  options = stochastic(1, 2, 3);
  options.random.row_stride = 61;
  EXPECT_TRUE(differs(options)) << "row_stride";
  options = stochastic(1, 2, 3);
  options.philox_rounds = 10;
  EXPECT_TRUE(differs(options)) << "philox_rounds";
  options = stochastic(1, 2, 3);
  options.stochastic_bits = 8;
  EXPECT_TRUE(differs(options)) << "stochastic_bits";
}

TEST(Stochastic, MeanIsTheValueWithinFourSigma) {
  const Context context = make_context(2);
  constexpr int64_t kDraws = int64_t{1} << 20;
  std::printf("seed of the casts 77\n");
  const struct {
    lpt_format format;
    double low, step, fraction;
    int32_t bits;
  } cases[] = {
      {LPT_FORMAT_E4M3FN, 1.0, 0.125, 0.25, 16},   {LPT_FORMAT_E4M3FN, 1.0, 0.125, 0x1p-9, 16},
      {LPT_FORMAT_E4M3FN, 1.0, 0.125, 0.75, 8},    {LPT_FORMAT_E4M3FN, 0x1p-9, 0x1p-9, 0.3125, 16},  // subnormals
      {LPT_FORMAT_E5M2, -16.0, -4.0, 0.8125, 16},  {LPT_FORMAT_E2M1FN, 4.0, 2.0, 0.375, 8},
      {LPT_FORMAT_BF16, 1.0, 0x1p-7, 0.46875, 16}, {LPT_FORMAT_INT8, 5.0, 1.0, 0.125, 16}};
  for (const auto &[format, low, step, fraction, bits] : cases) {
    const std::vector<double> numbers(kDraws, low + fraction * step);
    const Tensor source = wrap(context.get(), numbers, 1024, kDraws / 1024);
    const Tensor target = make_tensor(context.get(), format, 1024, kDraws / 1024);
    lpt_quantize_options options = stochastic(77, 0, 0);
    options.stochastic_bits = bits;
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
    int64_t ups = 0;
    for (const double number : numbers_of(context.get(), target.get())) {
      ASSERT_TRUE(number == low || number == low + step) << number;
      ups += number == low ? 0 : 1;
    }
    const double sigma = std::sqrt(fraction * (1.0 - fraction) / static_cast<double>(kDraws));
    EXPECT_NEAR(fraction, static_cast<double>(ups) / static_cast<double>(kDraws), 4.0 * sigma) << name_of(format);
  }
}

// A uint4 block from low to high with scale 1 and zero point round(-low). Codes represent values from -zero to 15 - zero.
class StochasticZeroPoint : public testing::TestWithParam<std::pair<double, double>> {
 protected:
  static constexpr int64_t kDraws = 4096, kColumns = 32;

  // Returns the mean of the decoded values over draws. Each draw is a row of the same values.
  static std::vector<double> means(const std::vector<double> &block) {
    const Context context = make_context(1);
    std::vector<double> numbers;
    for (int64_t row = 0; row < kDraws; ++row) numbers.insert(numbers.end(), block.begin(), block.end());
    const Tensor source = wrap(context.get(), numbers, kDraws, kColumns);
    const Tensor codes = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, kDraws, kColumns);
    const lpt_quantize_options options = stochastic(11, 5, 6);
    EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, codes.get(), nullptr)));
    std::vector<double> sums(kColumns);
    const std::vector<double> decoded = numbers_of(context.get(), codes.get());
    for (size_t i = 0; i < decoded.size(); ++i) sums[i % kColumns] += decoded[i] / kDraws;
    return sums;
  }
};

// Within the codes the mean equals the value to 4 sigma of a Bernoulli draw. A value beyond them saturates.
TEST_P(StochasticZeroPoint, MeanIsTheValueWithinTheCodes) {
  const auto [low, high] = GetParam();
  std::vector<double> block;
  for (int64_t i = 0; i < kColumns; ++i) {
    block.push_back(static_cast<double>(static_cast<float>(low + (high - low) * static_cast<double>(i) / 31)));
  }
  const double zero = std::nearbyint(-low);
  const std::vector<double> given = means(block);
  int beyond = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const double held = std::clamp(block[i], -zero, 15 - zero), fraction = held - std::floor(held);
    const double sigma = std::sqrt(fraction * (1 - fraction) / kDraws);
    EXPECT_NEAR(held, given[i], 4 * sigma + 1e-6) << block[i];
    beyond += held != block[i];
  }
  EXPECT_EQ(1, beyond) << "one end of the block is beyond the codes";
}

INSTANTIATE_TEST_SUITE_P(Ends, StochasticZeroPoint, testing::Values(std::pair(-7.25, 7.75), std::pair(-7.75, 7.25)));

TEST(Stochastic, NeighboursAreUncorrelated) {
  const Context context = make_context();
  constexpr int64_t kDraws = int64_t{1} << 18;
  const std::vector<double> numbers(kDraws, 1.0625);  // halfway
  const Tensor source = wrap(context.get(), numbers, 512, kDraws / 512);
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 512, kDraws / 512);
  const lpt_quantize_options options = stochastic(78, 0, 0);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  const std::vector<double> given = numbers_of(context.get(), target.get());
  for (const size_t lag : {1u, 2u, 8u, 16u, 512u}) {
    double sum = 0.0;
    for (size_t i = 0; i + lag < given.size(); ++i)
      sum += (given[i] > 1.0 ? 1.0 : -1.0) * (given[i + lag] > 1.0 ? 1.0 : -1.0);
    EXPECT_LT(std::abs(sum), 4.5 * std::sqrt(static_cast<double>(kDraws))) << "lag " << lag;
  }
}

}  // namespace
}  // namespace lpt::test
