// Rotations and their signs through the C interface, against Sylvester's matrix and Philox, both defined again in this file.
#include <bit>
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kWide[] = {LPT_FORMAT_F32, LPT_FORMAT_F64, LPT_FORMAT_BF16, LPT_FORMAT_F16};

lpt_hadamard_options rotation(int32_t size, const lpt_tensor *signs = nullptr, int32_t is_inverse = 0) {
  lpt_hadamard_options options = LPT_HADAMARD_OPTIONS_INIT;
  options.size = size;
  options.signs = signs;
  options.is_inverse = is_inverse;
  return options;
}

std::vector<double> draw_signs(uint64_t place, int64_t count) {
  Random random(place);
  std::vector<double> signs(static_cast<size_t>(count));
  for (double &sign : signs) sign = random.chance(0.5) ? 1.0 : -1.0;
  return signs;
}

// A rotated row, and the sums of magnitudes that bound its error.
struct Rotated {
  std::vector<double> value, magnitude;
};

Rotated rotated(const std::vector<double> &row, int64_t size, const std::vector<double> &signs, bool is_inverse) {
  const auto columns = static_cast<int64_t>(row.size());
  const auto sign = [&](int64_t c) { return signs.empty() ? 1.0 : signs[static_cast<size_t>(c) % signs.size()]; };
  Rotated result{std::vector<double>(row.size()), std::vector<double>(row.size())};
  for (int64_t begin = 0; begin < columns; begin += size) {
    while (size > columns - begin) size /= 2;
    for (int64_t j = 0; j < size; ++j) {
      const auto at = static_cast<size_t>(begin + j);
      for (int64_t i = 0; i < size; ++i) {
        const double h = std::popcount(static_cast<uint64_t>(i & j)) % 2 == 0 ? 1.0 : -1.0;
        const double number = row[static_cast<size_t>(begin + i)] * (is_inverse ? 1.0 : sign(begin + i));
        result.value[at] += h * number / std::sqrt(static_cast<double>(size));
        result.magnitude[at] += std::fabs(number) / std::sqrt(static_cast<double>(size));
      }
      if (is_inverse) result.value[at] *= sign(begin + j);
    }
  }
  return result;
}

// Returns half a unit in the last place of the output, plus the error of an underflow.
double rounding_error(lpt_format format, double value) {
  if (format == LPT_FORMAT_BF16) return std::fabs(value) * 0x1p-8 + 0x1p-133;
  if (format == LPT_FORMAT_F16) return std::fabs(value) * 0x1p-11 + 0x1p-24;
  return 0;
}

TEST(Hadamard, GivesTheDefinitionInEveryFormat) {
  const Context context = make_context(2);
  for (const lpt_format from : kWide) {
    for (const lpt_format to : kWide) {
      for (const int64_t columns : {128, 77, 300}) {
        for (const int32_t size : {16, 32, 64, 128}) {
          for (const int32_t is_inverse : {0, 1}) {
            const int64_t rows = 35;  // more rows than the library rotates at once
            const Tensor source = tensor_of(context.get(), from, rows, columns, draw_normal(71, rows * columns));
            const std::vector<double> signs = draw_signs(72, is_inverse == 1 ? columns : size);
            const Tensor sign_tensor = vector_of(context.get(), LPT_FORMAT_INT8, signs);
            const Tensor output = make_tensor(context.get(), to, rows, columns);
            const lpt_hadamard_options options = rotation(size, sign_tensor.get(), is_inverse);
            ASSERT_TRUE(ok(context.get(), lpt_hadamard(context.get(), source.get(), &options, output.get())));
            const std::vector<double> numbers = numbers_of(context.get(), source.get());
            const std::vector<double> found = numbers_of(context.get(), output.get());
            for (int64_t r = 0; r < rows; ++r) {
              const auto begin = numbers.begin() + r * columns;
              const Rotated expected =
                  rotated(std::vector<double>(begin, begin + columns), size, signs, is_inverse == 1);
              for (int64_t c = 0; c < columns; ++c) {
                const auto at = static_cast<size_t>(c);
                // Seven additions, one product and its factor: each has an error of half a unit in the last place of f32.
                const double allowed =
                    10 * 0x1p-24 * expected.magnitude[at] + rounding_error(to, expected.value[at]) * 1.001;
                ASSERT_NEAR(found[static_cast<size_t>(r * columns + c)], expected.value[at], allowed)
                    << name_of(from) << " to " << name_of(to) << " size " << size << " columns " << columns << " at "
                    << r << ", " << c;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Hadamard, IsTheSameInPlaceAndForAnyNumberOfThreads) {
  const int64_t rows = 301;
  const int64_t columns = 517;
  const std::vector<double> numbers = draw_normal(73, rows * columns);
  const Context one = make_context(1);
  for (const lpt_format format : kWide) {
    const Tensor source = tensor_of(one.get(), format, rows, columns, numbers);
    const Tensor expected = make_tensor(one.get(), format, rows, columns);
    const lpt_hadamard_options options = rotation(64);
    ASSERT_TRUE(ok(one.get(), lpt_hadamard(one.get(), source.get(), &options, expected.get())));
    for (const int32_t threads : {1, 3}) {
      const Context context = make_context(threads);
      const Tensor apart = make_tensor(context.get(), format, rows, columns);
      ASSERT_TRUE(ok(context.get(), lpt_hadamard(context.get(), source.get(), &options, apart.get())));
      EXPECT_TRUE(bytes_of(one.get(), expected.get()) == bytes_of(one.get(), apart.get()))
          << name_of(format) << ", " << threads << " threads";
      const Tensor in_place = tensor_of(context.get(), format, rows, columns, numbers);
      ASSERT_TRUE(ok(context.get(), lpt_hadamard(context.get(), in_place.get(), &options, in_place.get())));
      EXPECT_TRUE(bytes_of(one.get(), expected.get()) == bytes_of(one.get(), in_place.get()))
          << name_of(format) << " in place, " << threads << " threads";
    }
  }
}

TEST(Hadamard, IsUndoneByTheInverse) {
  const Context context = make_context(2);
  for (const int32_t size : {16, 32, 64, 128}) {
    const std::vector<double> numbers = draw_normal(74, 40 * 200);
    const Tensor tensor = tensor_of(context.get(), LPT_FORMAT_F32, 40, 200, numbers);
    const Tensor signs = vector_of(context.get(), LPT_FORMAT_INT8, draw_signs(75, size));
    lpt_hadamard_options options = rotation(size, signs.get());
    ASSERT_TRUE(ok(context.get(), lpt_hadamard(context.get(), tensor.get(), &options, tensor.get())));
    EXPECT_GT(relative_error(numbers_of(context.get(), tensor.get()), numbers), 0.5);
    options.is_inverse = 1;
    ASSERT_TRUE(ok(context.get(), lpt_hadamard(context.get(), tensor.get(), &options, tensor.get())));
    EXPECT_LT(relative_error(numbers_of(context.get(), tensor.get()), numbers), 1e-6) << size;
  }
}

TEST(Hadamard, TakesEmptyMatricesAndSingleColumns) {
  const Context context = make_context(2);
  for (const Shape shape : {Shape{0, 32}, Shape{5, 0}, Shape{5, 1}}) {
    const std::vector<double> numbers = draw_normal(76, shape.rows * shape.columns);
    const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, shape.rows, shape.columns, numbers);
    const Tensor output = make_tensor(context.get(), LPT_FORMAT_F32, shape.rows, shape.columns);
    EXPECT_TRUE(ok(context.get(), lpt_hadamard(context.get(), source.get(), nullptr, output.get())));
    EXPECT_EQ(numbers, numbers_of(context.get(), output.get()));  // a single column is unchanged
  }
}

// A cast with a rotation equals the rotation followed by the cast, on the rows of each output.
TEST(Hadamard, IsWhatACastDoesFirst) {
  const int64_t rows = 96;
  const int64_t columns = 160;
  const Context context = make_context(2);
  const std::vector<double> numbers = draw_normal(77, rows * columns);
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, rows, columns, numbers);
  const Tensor transposed_source =
      tensor_of(context.get(), LPT_FORMAT_F32, columns, rows, transposed(numbers, rows, columns));
  const Tensor signs = vector_of(context.get(), LPT_FORMAT_INT8, draw_signs(78, 32));
  const lpt_hadamard_options options = rotation(32, signs.get());
  lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
  cast.hadamard_size = 32;
  cast.hadamard_signs = signs.get();
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4, LPT_FORMAT_E5M2_ROW}) {
    const Tensor quantized = make_tensor(context.get(), format, rows, columns);
    const Tensor transposed_copy = make_tensor(context.get(), format, columns, rows);
    ASSERT_TRUE(
        ok(context.get(), lpt_quantize(context.get(), source.get(), &cast, quantized.get(), transposed_copy.get())));
    for (const bool is_transposed : {false, true}) {
      const lpt_tensor *from = is_transposed ? transposed_source.get() : source.get();
      const Shape shape = shape_of(context.get(), from);
      const Tensor rotated_source = make_tensor(context.get(), LPT_FORMAT_F32, shape.rows, shape.columns);
      ASSERT_TRUE(ok(context.get(), lpt_hadamard(context.get(), from, &options, rotated_source.get())));
      const Tensor expected = make_tensor(context.get(), format, shape.rows, shape.columns);
      ASSERT_TRUE(
          ok(context.get(), lpt_quantize(context.get(), rotated_source.get(), nullptr, expected.get(), nullptr)));
      const lpt_tensor *found = is_transposed ? transposed_copy.get() : quantized.get();
      EXPECT_TRUE(bytes_of(context.get(), expected.get()) == bytes_of(context.get(), found))
          << name_of(format) << (is_transposed ? " transposed" : "");
    }
  }
}

// Signs.

// Philox4x32 with 7 rounds, from the paper.
std::vector<uint32_t> philox(std::vector<uint32_t> counter, uint64_t seed) {
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < 7; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// Random domain 6 is in the top four bits, the stream of the caller in the middle.
double expected_sign(const lpt_random &random, int64_t i) {
  const uint64_t index = static_cast<uint64_t>(random.offset + i);
  const uint64_t block = index / 8;
  const std::vector<uint32_t> words = philox(
      {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 6u << 28 | random.stream << 4, random.step},
      random.seed);
  return (words[index % 8 / 2] >> (16 * (index % 2)) & 1) != 0 ? -1.0 : 1.0;
}

std::vector<double> drawn(lpt_context *context, const lpt_random &random, int64_t count) {
  const Tensor signs = make_tensor(context, LPT_FORMAT_INT8, {count});
  EXPECT_TRUE(ok(context, lpt_hadamard_draw_signs(context, &random, signs.get())));
  return numbers_of(context, signs.get());
}

TEST(RandomSigns, AreTheLowestBitsOfPhilox) {
  const Context context = make_context();
  for (const lpt_random &random :
       {lpt_random LPT_RANDOM_INIT, lpt_random{0x123456789ABCDEF, 0, 0, 5, 9},
        lpt_random{7, 13, 0, (1u << 24) - 1, 0xFFFFFFFF}, lpt_random{7, (int64_t{1} << 40) + 3, 0, 1, 2}}) {
    const std::vector<double> signs = drawn(context.get(), random, 999);
    for (int64_t i = 0; i < 999; ++i) {
      ASSERT_EQ(signs[static_cast<size_t>(i)], expected_sign(random, i)) << i << " of offset " << random.offset;
    }
  }
}

TEST(RandomSigns, AreFairAndDifferBySeedStreamAndStep) {
  const Context context = make_context();
  constexpr int64_t kCount = 100000;
  const lpt_random first = {42, 0, 0, 1, 1};
  const std::vector<double> signs = drawn(context.get(), first, kCount);
  lpt_random others[] = {first, first, first};
  others[0].seed = 43;
  others[1].stream = 2;
  others[2].step = 2;
  const double four_sigma = 4 * std::sqrt(static_cast<double>(kCount));
  double sum = 0;
  for (const double sign : signs) sum += sign;
  EXPECT_LE(std::fabs(sum), four_sigma);
  for (const lpt_random &other : others) {
    const std::vector<double> more = drawn(context.get(), other, kCount);
    double gemm = 0;
    for (size_t i = 0; i < signs.size(); ++i) gemm += signs[i] * more[i];
    EXPECT_LE(std::fabs(gemm), four_sigma) << other.seed << ' ' << other.stream << ' ' << other.step;
  }
  EXPECT_EQ(signs, drawn(context.get(), first, kCount));
}

// Invalid calls.

class BadHadamard : public testing::Test {
 protected:
  void expect(lpt_status expected, const std::vector<const char *> &words, lpt_status found) {
    const std::string text = lpt_context_error(context.get());
    EXPECT_EQ(expected, found) << text;
    expect_words(words, text);
    EXPECT_EQ(before, plain_bytes(context.get(), output.get())) << "the output was written: " << text;
  }
  lpt_status rotate(const lpt_hadamard_options &options) {
    return lpt_hadamard(context.get(), source.get(), &options, output.get());
  }
  Tensor signs_of(const std::vector<double> &numbers) { return vector_of(context.get(), LPT_FORMAT_INT8, numbers); }

  Context context = make_context();
  Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 4, 40, draw_normal(79, 160));
  Tensor output = tensor_of(context.get(), LPT_FORMAT_F32, 4, 40, std::vector<double>(160, 7.0));
  std::vector<uint8_t> before = plain_bytes(context.get(), output.get());
};

TEST_F(BadHadamard, SaysWhatIsWrong) {
  lpt_context *c = context.get();
  expect(LPT_INVALID_ARGUMENT, {"source is NULL"}, lpt_hadamard(c, nullptr, nullptr, output.get()));
  expect(LPT_INVALID_ARGUMENT, {"output is NULL"}, lpt_hadamard(c, source.get(), nullptr, nullptr));
  for (const int32_t size : {0, -1, -16, 8, 48, 16384}) {
    expect(LPT_INVALID_ARGUMENT, {"size is ", "a power of two from 16 to 8192"}, rotate(rotation(size)));
  }
  expect(LPT_INVALID_ARGUMENT, {"is_inverse is 2", "0 to 1"}, rotate(rotation(16, nullptr, 2)));
  lpt_hadamard_options flagged = rotation(16);
  flagged.flags = 1u << 20;
  expect(LPT_UNSUPPORTED, {"flags is 0x100000"}, rotate(flagged));
  const Tensor other = make_tensor(c, LPT_FORMAT_F32, 4, 41);
  expect(LPT_INVALID_ARGUMENT, {"output is 4 x 41", "4 x 40", "source"},
         lpt_hadamard(c, source.get(), nullptr, other.get()));
  const Tensor codes = make_tensor(c, LPT_FORMAT_E4M3FN, 4, 40);
  expect(LPT_UNSUPPORTED, {"source is e4m3fn", "f64, f32, bf16 or f16"},
         lpt_hadamard(c, codes.get(), nullptr, output.get()));
  expect(LPT_UNSUPPORTED, {"output is e4m3fn"}, lpt_hadamard(c, source.get(), nullptr, codes.get()));
}

TEST_F(BadHadamard, SaysWhatIsWrongWithSigns) {
  lpt_context *c = context.get();
  const Tensor few = signs_of(std::vector<double>(15, 1.0));
  expect(LPT_INVALID_ARGUMENT, {"signs has 15 numbers", "16", "40"}, rotate(rotation(16, few.get())));
  std::vector<double> numbers(16, -1.0);
  numbers[11] = 0;
  const Tensor zero = signs_of(numbers);
  expect(LPT_INVALID_ARGUMENT, {"signs[11] is 0", "1 or -1"}, rotate(rotation(16, zero.get())));
  const Tensor floats = vector_of(c, LPT_FORMAT_F32, std::vector<double>(16, 1.0));
  expect(LPT_INVALID_ARGUMENT, {"signs", "f32", "int8"}, rotate(rotation(16, floats.get())));
  Scaler scaler;
  ASSERT_TRUE(ok(c, lpt_scaler_create(c, nullptr, out(scaler))));
  expect(LPT_INVALID_ARGUMENT, {"signs is not a live tensor"},
         rotate(rotation(16, reinterpret_cast<const lpt_tensor *>(scaler.get()))));
}

TEST_F(BadHadamard, KeepsOutputsApartFromSources) {
  lpt_context *c = context.get();
  auto *data = static_cast<float *>(describe(c, output.get()).data);
  const Tensor shifted = wrap(c, LPT_FORMAT_F32, data + 40, 3, 40);
  const Tensor part = wrap(c, LPT_FORMAT_F32, data, 3, 40);
  expect(LPT_INVALID_ARGUMENT, {"output", "overlaps source"}, lpt_hadamard(c, part.get(), nullptr, shifted.get()));
  const Tensor narrow = wrap(c, LPT_FORMAT_BF16, data, 3, 40);
  expect(LPT_INVALID_ARGUMENT, {"output", "overlaps source"}, lpt_hadamard(c, part.get(), nullptr, narrow.get()));
}

TEST_F(BadHadamard, ChecksWithoutData) {
  lpt_context *c = context.get();
  const Tensor dataless = wrap(c, LPT_FORMAT_F32, nullptr, 4, 40);
  expect(LPT_INVALID_ARGUMENT, {"source", "without data"}, lpt_hadamard(c, dataless.get(), nullptr, output.get()));
  lpt_hadamard_options check = rotation(32);
  check.flags = LPT_CHECK_ONLY;
  expect(LPT_OK, {}, lpt_hadamard(c, dataless.get(), &check, output.get()));
  expect(LPT_OK, {}, lpt_hadamard(c, source.get(), &check, output.get()));
}

TEST_F(BadHadamard, SaysWhatIsWrongWithRandomSigns) {
  lpt_context *c = context.get();
  const Tensor signs = make_tensor(c, LPT_FORMAT_INT8, {16});
  lpt_random random = LPT_RANDOM_INIT;
  expect(LPT_INVALID_ARGUMENT, {"random is NULL"}, lpt_hadamard_draw_signs(c, nullptr, signs.get()));
  expect(LPT_INVALID_ARGUMENT, {"signs is NULL"}, lpt_hadamard_draw_signs(c, &random, nullptr));
  const Tensor floats = vector_of(c, LPT_FORMAT_F32, std::vector<double>(16, 1.0));
  expect(LPT_INVALID_ARGUMENT, {"signs", "f32", "int8"}, lpt_hadamard_draw_signs(c, &random, floats.get()));
  expect(LPT_INVALID_ARGUMENT, {"signs is 4 x 40", "a vector"}, lpt_hadamard_draw_signs(c, &random, output.get()));
  random.stream = 1u << 24;
  expect(LPT_INVALID_ARGUMENT, {"random.stream is 16777216", "2^24"}, lpt_hadamard_draw_signs(c, &random, signs.get()));
  random.stream = 0;
  random.offset = -1;
  expect(LPT_INVALID_ARGUMENT, {"random.offset is -1", "0 to 2^60"}, lpt_hadamard_draw_signs(c, &random, signs.get()));
}

}  // namespace
}  // namespace lpt::test
