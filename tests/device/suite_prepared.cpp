// Casts on a GPU of a source that is first rotated, smoothed or transposed, with vectors of the caller on the device: the bits
// of the CPU.
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kPreparedFormats[] = {LPT_FORMAT_E4M3FN,         LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_1X128,
                                           LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_MXFP8_E4M3,    LPT_FORMAT_MXFP6_E3M2,
                                           LPT_FORMAT_MXFP4,          LPT_FORMAT_NVFP4,         LPT_FORMAT_E5M2_ROW,
                                           LPT_FORMAT_INT4_1X32};
constexpr int64_t kRows = 40, kColumns = 144;

// Options with vectors on the device of the context.
struct Options {
  lpt_quantize_options value = LPT_QUANTIZE_OPTIONS_INIT;
  Tensor signs, smoothing, words;
};

class DevicePrepared : public Devices {
 protected:
  Tensor numbers(lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    return tensor_of(cpu(), format, rows, columns, draw_normal(place, rows * columns, 3.0));
  }

  Tensor random_signs(int64_t count) {
    Tensor signs = make_tensor(cpu(), LPT_FORMAT_INT8, {count});
    const lpt_random random = LPT_RANDOM_INIT;
    EXPECT_TRUE(ok(cpu(), lpt_hadamard_draw_signs(cpu(), &random, signs.get())));
    return signs;
  }

  Tensor smoothing_factors(lpt_format format, int64_t count) {
    std::vector<double> factors = draw_normal(77, count);
    for (double &each : factors) each = std::exp2(std::round(each)) * (format == LPT_FORMAT_F32 ? 1.25 : 1.0);
    return tensor_of(cpu(), format, 1, count, factors);
  }

  Options moved(const Options &given) {
    Options result;
    result.value = given.value;
    const auto move = [&](const Tensor &from, Tensor &to, lpt_tensor const *&member) {
      if (from == nullptr) return;
      to = there(from.get());
      member = to.get();
    };
    move(given.signs, result.signs, result.value.hadamard_signs);
    move(given.smoothing, result.smoothing, result.value.smoothing);
    move(given.words, result.words, result.value.random_words);
    return result;
  }

  static void point_to_own(Options &options) {
    options.value.hadamard_signs = options.signs.get();
    options.value.smoothing = options.smoothing.get();
    options.value.random_words = options.words.get();
  }

  // Compares one output of one source on both devices.
  void expect_equal(const lpt_tensor *source, lpt_format target, Options &options, bool is_transposed) {
    point_to_own(options);
    const Shape shape = shape_of(cpu(), source);
    const int64_t rows = is_transposed ? shape.columns : shape.rows,
                  columns = is_transposed ? shape.rows : shape.columns;
    const auto cast = [&](lpt_context *context, const lpt_tensor *from, const Options &how, lpt_tensor *to) {
      return lpt_quantize(context, from, &how.value, is_transposed ? nullptr : to, is_transposed ? to : nullptr);
    };
    const Tensor expected = make_tensor(cpu(), target, rows, columns),
                 found = make_tensor(gpu(), target, rows, columns);
    ASSERT_TRUE(ok(cpu(), cast(cpu(), source, options, expected.get())));
    ASSERT_TRUE(ok(gpu(), cast(gpu(), there(source).get(), moved(options), found.get())));
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get()))
        << name_of(target) << (is_transposed ? " transposed" : "") << ", size " << options.value.hadamard_size;
  }
};

TEST_F(DevicePrepared, RotatedCastsHaveTheBitsOfTheCpu) {
  const Tensor source = numbers(LPT_FORMAT_BF16, kRows, kColumns, 1);
  int32_t size = 16;
  for (const lpt_format target : kPreparedFormats) {
    Options options;
    options.value.hadamard_size = size;
    options.signs = random_signs(size);
    for (const bool is_transposed : {false, true}) expect_equal(source.get(), target, options, is_transposed);
    size = size == 128 ? 16 : 2 * size;
  }
}

TEST_F(DevicePrepared, RotatedCastsDrawTheSameBits) {
  const Tensor source = numbers(LPT_FORMAT_F32, 40, kColumns, 2);
  for (const lpt_format target : {LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP4, LPT_FORMAT_E4M3FN_TENSOR}) {
    Options options;
    options.value.rounding = LPT_ROUNDING_STOCHASTIC;
    options.value.random.seed = 5;
    options.value.hadamard_size = 64;
    options.signs = random_signs(kColumns);  // one per column
    expect_equal(source.get(), target, options, false);
  }
}

TEST_F(DevicePrepared, SmoothedCastsHaveTheBitsOfTheCpu) {
  const Tensor source = numbers(LPT_FORMAT_F32, kRows, kColumns, 3);
  for (const lpt_format target : kPreparedFormats) {
    Options options;
    options.smoothing = smoothing_factors(LPT_FORMAT_F32, kColumns);
    for (const bool is_transposed : {false, true}) expect_equal(source.get(), target, options, is_transposed);
    options.value.hadamard_size = 32;
    expect_equal(source.get(), target, options, false);
  }
}

TEST_F(DevicePrepared, SmoothingBecomesColumnScales) {
  const lpt_format target = format_named("e4m3fn/column/e8m0fnu/f32");
  Options options;
  options.smoothing = smoothing_factors(LPT_FORMAT_E8M0FNU, kColumns);
  const Tensor source = numbers(LPT_FORMAT_F32, 20, kColumns, 4);
  expect_equal(source.get(), target, options, false);
}

TEST_F(DevicePrepared, BitsOfTheCallerAreTaken) {
  const Tensor source = numbers(LPT_FORMAT_F32, 40, 90, 5);
  for (const int32_t bits : {8, 16}) {
    Options options;
    options.value.rounding = LPT_ROUNDING_STOCHASTIC;
    options.value.stochastic_bits = bits;
    options.words = make_tensor(cpu(), LPT_FORMAT_UINT8, 40, 90 * bits / 8);
    Random random(6);
    auto *const bytes = static_cast<uint8_t *>(describe(cpu(), options.words.get()).data);
    for (int64_t i = 0; i < 40 * 90 * bits / 8; ++i) bytes[i] = static_cast<uint8_t>(random.bits());
    for (const lpt_format target : kPreparedFormats) {
      for (const bool is_transposed : {false, true}) expect_equal(source.get(), target, options, is_transposed);
    }
  }
}

TEST_F(DevicePrepared, TransposedCastsHaveScalesAlongColumns) {
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    const Tensor source = numbers(format, kRows, kColumns, 7);
    Options options;
    for (const lpt_format target : kPreparedFormats) expect_equal(source.get(), target, options, true);
  }
}

TEST_F(DevicePrepared, TransposedCastsDrawTheSameBits) {
  const Tensor source = numbers(LPT_FORMAT_BF16, kRows, kColumns, 9);
  for (const int32_t bits : {8, 16}) {
    Options options;
    options.value.rounding = LPT_ROUNDING_STOCHASTIC;
    options.value.stochastic_bits = bits;
    options.value.random.seed = 3;
    options.value.random.row_stride = 2 * kColumns;  // a part of a wider matrix
    options.value.random.offset = 7 * kColumns;
    for (const lpt_format target : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_NVFP4}) {
      expect_equal(source.get(), target, options, true);
      options.value.hadamard_size = options.value.hadamard_size == 0 ? 16 : 0;
    }
  }
}

TEST_F(DevicePrepared, RotationsHaveTheBitsOfTheCpu) {
  lpt_hadamard_options options = LPT_HADAMARD_OPTIONS_INIT;
  for (const int32_t size : {64, 512}) {
    options.size = size;
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
      for (const int32_t is_inverse : {0, 1}) {
        const int64_t columns = 3 * size + 8;
        const Tensor source = numbers(format, 9, columns, 8), signs = random_signs(size), moved = there(signs.get());
        const Tensor expected = make_tensor(cpu(), format, 9, columns), found = make_tensor(gpu(), format, 9, columns);
        options.is_inverse = is_inverse;
        options.signs = signs.get();
        ASSERT_TRUE(ok(cpu(), lpt_hadamard(cpu(), source.get(), &options, expected.get())));
        options.signs = moved.get();
        ASSERT_TRUE(ok(gpu(), lpt_hadamard(gpu(), there(source.get()).get(), &options, found.get())));
        EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name_of(format) << " size " << size;
      }
    }
  }
}

TEST_F(DevicePrepared, VectorsOfTheCpuAreRejected) {
  const Tensor source = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64), target = make_tensor(gpu(), LPT_FORMAT_NVFP4, 4, 64);
  const Tensor signs = random_signs(16);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.hadamard_size = 16;
  options.hadamard_signs = signs.get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(gpu(), source.get(), &options, target.get(), nullptr));
  expect_words({"hadamard_signs is", "on cpu", "cuda:0"}, lpt_context_error(gpu()));
}

}  // namespace
}  // namespace lpt::test
