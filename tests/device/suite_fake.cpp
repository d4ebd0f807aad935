// Fake quantization on a GPU, and random signs: the bits of the CPU.
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kFormats[] = {LPT_FORMAT_E4M3FN,     LPT_FORMAT_E5M2_TENSOR,    LPT_FORMAT_E4M3FN_ROW,
                                   LPT_FORMAT_E5M2_1X128, LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_MXFP8_E4M3,
                                   LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_MXFP4,          LPT_FORMAT_NVFP4,
                                   LPT_FORMAT_INT4_1X32};
constexpr lpt_format kSources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr int64_t kRows = 37, kColumns = 272;

class DeviceFakeQuantize : public Devices {
 protected:
  Tensor numbers(lpt_format format, uint64_t place) {
    return tensor_of(cpu(), format, kRows, kColumns, draw_normal(place, kRows * kColumns, 3.0));
  }

  // Compares one source on both devices.
  void expect_equal(const lpt_tensor *source, lpt_format format, const lpt_quantize_options &options,
                    lpt_format output) {
    const Tensor expected = make_tensor(cpu(), output, kRows, kColumns);
    const Tensor found = make_tensor(gpu(), output, kRows, kColumns);
    ASSERT_TRUE(ok(cpu(), lpt_fake_quantize(cpu(), source, format, &options, expected.get()))) << name_of(format);
    ASSERT_TRUE(ok(gpu(), lpt_fake_quantize(gpu(), there(source).get(), format, &options, found.get())))
        << name_of(format);
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name_of(format);
  }
};

TEST_F(DeviceFakeQuantize, HasTheBitsOfTheCpu) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.random.seed = 5;
  for (const lpt_format format : kFormats) {
    for (const lpt_format source : kSources) {
      const Tensor given = numbers(source, static_cast<uint64_t>(source));
      for (const lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC}) {
        options.rounding = rounding;
        expect_equal(given.get(), format, options, source);
      }
    }
  }
}

TEST_F(DeviceFakeQuantize, ScalesThatNoRankFindsAreOne) {
  const Tensor source = numbers(LPT_FORMAT_F32, 8);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_NVFP4}) {
    expect_equal(source.get(), format, options, LPT_FORMAT_F32);
  }
  options.flags = 0;
  options.scale_rule = LPT_SCALE_RULE_FIXED;
  for (const lpt_format format :
       {LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4, LPT_FORMAT_E4M3FN_1X128}) {
    expect_equal(source.get(), format, options, LPT_FORMAT_BF16);
  }
}

TEST_F(DeviceFakeQuantize, RotatesAsTheCpu) {
  const Tensor source = numbers(LPT_FORMAT_BF16, 9);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.hadamard_size = 16;
  expect_equal(source.get(), LPT_FORMAT_MXFP4, options, LPT_FORMAT_F32);
}

TEST_F(DeviceFakeQuantize, WorksInPlace) {
  const Tensor source = numbers(LPT_FORMAT_F32, 10), moved = there(source.get());
  ASSERT_TRUE(ok(cpu(), lpt_fake_quantize(cpu(), source.get(), LPT_FORMAT_NVFP4, nullptr, source.get())));
  ASSERT_TRUE(ok(gpu(), lpt_fake_quantize(gpu(), moved.get(), LPT_FORMAT_NVFP4, nullptr, moved.get())));
  EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(moved.get()));
}

TEST_F(DeviceFakeQuantize, WritesNothingWhereItIsRejected) {
  const Tensor source = there(numbers(LPT_FORMAT_F32, 11).get());
  const std::vector<uint8_t> before = bytes_on_device(source.get());
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_MEAN;
  options.hadamard_size = 16;
  for (const lpt_format format : {LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_E5M2_TENSOR}) {
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_fake_quantize(gpu(), source.get(), format, &options, source.get()));
    expect_words({"LPT_SCALE_RULE_MEAN", "rotation"}, lpt_context_error(gpu()));
  }
  EXPECT_EQ(before, bytes_on_device(source.get()));
}

using DeviceSigns = Devices;

TEST_F(DeviceSigns, AreThoseOfTheCpu) {
  lpt_random random = LPT_RANDOM_INIT;
  random.seed = 21;
  for (const int64_t count : {int64_t{1}, int64_t{16}, int64_t{37}, int64_t{5000}}) {
    for (const int64_t offset : {int64_t{0}, int64_t{3}, int64_t{4096}}) {
      random.offset = offset;
      const Tensor expected = make_tensor(cpu(), LPT_FORMAT_INT8, {count});
      const Tensor found = make_tensor(gpu(), LPT_FORMAT_INT8, {count});
      ASSERT_TRUE(ok(cpu(), lpt_hadamard_draw_signs(cpu(), &random, expected.get())));
      ASSERT_TRUE(ok(gpu(), lpt_hadamard_draw_signs(gpu(), &random, found.get())));
      EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << count << " from " << offset;
    }
  }
}

}  // namespace
}  // namespace lpt::test
