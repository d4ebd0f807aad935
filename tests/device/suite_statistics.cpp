// Statistics of casts on a GPU: the counts and sums of the CPU, bit for bit.
#include <cmath>

#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

struct StatisticsDeleter {
  void operator()(lpt_statistics *handle) const { lpt_statistics_destroy(handle); }
};
using Statistics = std::unique_ptr<lpt_statistics, StatisticsDeleter>;

Statistics make_statistics(lpt_context *context) {
  lpt_statistics *handle = nullptr;
  EXPECT_TRUE(ok(context, lpt_statistics_create(context, &handle)));
  return Statistics(handle);
}

class DeviceStatistics : public Devices {
 protected:
  // Draws values of many magnitudes, some of them not finite.
  Tensor numbers(lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    std::vector<double> drawn = draw_normal(place, rows * columns);
    for (size_t i = 0; i < drawn.size(); i += 7) drawn[i] = std::ldexp(drawn[i], -static_cast<int>(i % 29));
    if (format == LPT_FORMAT_F32) drawn[drawn.size() / 2] = NAN, drawn[drawn.size() / 3] = HUGE_VAL;
    return tensor_of(cpu(), format, rows, columns, drawn);
  }

  // Casts on both devices, with or without a transposed output.
  void cast(const lpt_tensor *source, lpt_format target, lpt_format transposed) {
    const Shape shape = shape_of(cpu(), source);
    const Tensor sent = there(source);
    for (lpt_context *const context : {cpu(), gpu()}) {
      const Tensor rows = make_tensor(context, target, shape.rows, shape.columns);
      Tensor columns;
      if (transposed != LPT_FORMAT_NONE) columns = make_tensor(context, transposed, shape.columns, shape.rows);
      lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
      options.statistics = context == cpu() ? here_.get() : there_.get();
      ASSERT_TRUE(ok(
          context, lpt_quantize(context, context == cpu() ? source : sent.get(), &options, rows.get(), columns.get())));
    }
  }

  void expect_equal(const std::string &what) {
    const lpt_statistics_info expected = values(cpu(), here_), found = values(gpu(), there_);
    EXPECT_EQ(expected.element_count, found.element_count) << what;
    EXPECT_EQ(expected.nan_count, found.nan_count) << what;
    EXPECT_EQ(expected.clipped_count, found.clipped_count) << what;
    EXPECT_EQ(expected.underflow_count, found.underflow_count) << what;
    EXPECT_EQ(expected.amax, found.amax) << what;
    EXPECT_EQ(expected.squared_sum, found.squared_sum) << what;
    // The scale of a block with NaN is NaN; the NaN bits of a sum depend on the machine.
    const bool are_nan = std::isnan(expected.squared_error) && std::isnan(found.squared_error);
    EXPECT_TRUE(are_nan || expected.squared_error == found.squared_error) << what;
    EXPECT_GT(found.element_count, 0);
  }

  void begin() {
    here_ = make_statistics(cpu());
    there_ = make_statistics(gpu());
  }

  static lpt_statistics_info values(lpt_context *context, const Statistics &statistics) {
    lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
    EXPECT_TRUE(ok(context, lpt_statistics_read(context, statistics.get(), &values)));
    return values;
  }

  Statistics here_ = make_statistics(cpu()), there_ = make_statistics(gpu());
};

TEST_F(DeviceStatistics, AreThoseOfTheCpu) {
  constexpr lpt_format targets[] = {LPT_FORMAT_E4M3FN,     LPT_FORMAT_E5M2,           LPT_FORMAT_E4M3FN_TENSOR,
                                    LPT_FORMAT_E5M2_1X128, LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_MXFP8_E4M3,
                                    LPT_FORMAT_MXFP6_E3M2, LPT_FORMAT_MXFP6_E2M3,     LPT_FORMAT_MXFP4,
                                    LPT_FORMAT_NVFP4,      LPT_FORMAT_INT4_1X32};
  for (const lpt_format target : targets) {
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
      begin();
      cast(numbers(format, 37, 272, 3).get(), target, LPT_FORMAT_NONE);
      cast(numbers(format, 5, 128, 4).get(), target, LPT_FORMAT_NONE);
      expect_equal(name_of(target) + " of " + name_of(format));
    }
  }
}

// Sums of several tiles, whose order affects the bits.
TEST_F(DeviceStatistics, AddTilesInTheOrderOfTheCpu) {
  cast(numbers(LPT_FORMAT_BF16, 40, 4200, 5).get(), LPT_FORMAT_MXFP4, LPT_FORMAT_NONE);
  expect_equal("tiles");
  cast(numbers(LPT_FORMAT_BF16, 140, 520, 6).get(), LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR);
  expect_equal("tiles of both outputs");
}

// Statistics of the cast within a fake quantization.
TEST_F(DeviceStatistics, CountCastsAndBack) {
  const Tensor source = numbers(LPT_FORMAT_BF16, 37, 272, 8), moved = there(source.get());
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.statistics = here_.get();
  ASSERT_TRUE(ok(cpu(), lpt_fake_quantize(cpu(), source.get(), LPT_FORMAT_NVFP4, &options, source.get())));
  options.statistics = there_.get();
  ASSERT_TRUE(ok(gpu(), lpt_fake_quantize(gpu(), moved.get(), LPT_FORMAT_NVFP4, &options, moved.get())));
  expect_equal("cast and back");
}

TEST_F(DeviceStatistics, BeginAgain) {
  cast(numbers(LPT_FORMAT_F32, 3, 64, 7).get(), LPT_FORMAT_MXFP4, LPT_FORMAT_NONE);
  ASSERT_TRUE(ok(gpu(), lpt_statistics_reset(gpu(), there_.get())));
  EXPECT_EQ(0, values(gpu(), there_).element_count);
}

TEST_F(DeviceStatistics, RejectWhatTheyDoNotCount) {
  const Tensor source = make_tensor(gpu(), LPT_FORMAT_F32, 32, 64);
  const Tensor rows = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, 32, 64);
  const Tensor columns = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, 64, 32);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.statistics = there_.get();
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_quantize(gpu(), source.get(), &options, nullptr, columns.get()));
  expect_words({"statistics is given without quantized", "cuda:0"}, lpt_context_error(gpu()));
  const Tensor factors = make_tensor(gpu(), LPT_FORMAT_F32, {64});
  options.smoothing = factors.get();
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_quantize(gpu(), source.get(), &options, rows.get(), nullptr));
  expect_words({"statistics is given with smoothing", "cuda:0"}, lpt_context_error(gpu()));
  options.smoothing = nullptr;
  options.hadamard_size = 16;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_quantize(gpu(), source.get(), &options, rows.get(), nullptr));
  expect_words({"statistics is given with hadamard_size", "cuda:0"}, lpt_context_error(gpu()));
  options.hadamard_size = 0;
  options.statistics = here_.get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(gpu(), source.get(), &options, rows.get(), nullptr));
  expect_words({"statistics counts on cpu", "cuda:0"}, lpt_context_error(gpu()));
  lpt_statistics_info unused = LPT_STATISTICS_INFO_INIT;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_statistics_read(cpu(), there_.get(), &unused));
  expect_words({"statistics counts on cuda:0", "cpu"}, lpt_context_error(cpu()));
}

}  // namespace
}  // namespace lpt::test
