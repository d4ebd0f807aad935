// The codes of bitsandbytes, derived by hand from its documentation. golden_foreign_layouts_test.cpp compares with the library.
#include "tests/api/foreign_layout.hpp"

namespace lpt::test {
namespace {

TEST(ForeignLayoutBitsandbytes, PutsTheFirstOfAByteInItsHighHalf) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NF4, 2, 4);
  fill(context.get(), tensor.get(), LPT_TENSOR_PART_PAYLOAD, {0x21, 0x43, 0x65, 0x87});
  EXPECT_EQ((Bytes{0x12, 0x34, 0x56, 0x78}), exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES));
}

TEST(ForeignLayoutBitsandbytes, LetsRowsFollowInsideAByte) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_BNB_FP4, 3, 3);
  fill(context.get(), tensor.get(), LPT_TENSOR_PART_PAYLOAD, {0x21, 0x03, 0x54, 0x06, 0x87, 0x09});
  EXPECT_EQ((Bytes{0x12, 0x34, 0x56, 0x78, 0x90}),
            exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES));
  // The unused half of the last byte may have any value; the import sets it to zero.
  const Tensor read = make_tensor(context.get(), LPT_FORMAT_BNB_FP4, 3, 3);
  std::memset(describe(context.get(), read.get()).data, 0xFF, 6);
  ASSERT_TRUE(import(context.get(), {0x12, 0x34, 0x56, 0x78, 0x9E}, LPT_FOREIGN_LAYOUT_BITSANDBYTES, read.get()));
  const auto *data = static_cast<const uint8_t *>(describe(context.get(), read.get()).data);
  EXPECT_EQ((Bytes{0x21, 0x03, 0x54, 0x06, 0x87, 0x09}), Bytes(data, data + 6));
}

TEST(ForeignLayoutBitsandbytes, MovesEveryElementOfFourBitsInEveryShape) {
  const Context context = make_context(4);
  for (const char *name : {"nf4", "bnb_fp4", "int4", "uint4", "e2m1fn", "e3m0", "e1m2b1-finite", "nf4_1x64", "nvfp4",
                           "uint4_1x32", "int4_1x128", "e3m0_tensor"}) {
    for (const Shape shape : {Shape{1, 1}, Shape{7, 1}, Shape{5, 33}, Shape{4, 64}, Shape{301, 257}}) {
      const Tensor tensor = make_tensor(context.get(), format_named(name), shape.rows, shape.columns);
      const Tensor codes = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_PAYLOAD);
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
      EXPECT_EQ(expected, exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES)) << name;
      const Tensor read = make_tensor(context.get(), format_named(name), shape.rows, shape.columns);
      ASSERT_TRUE(import(context.get(), expected, LPT_FOREIGN_LAYOUT_BITSANDBYTES, read.get()));
      EXPECT_EQ(bytes_of(context.get(), tensor.get()), bytes_of(context.get(), read.get())) << name;
    }
  }
}

TEST(ForeignLayoutBitsandbytes, LeavesTheScales) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NF4_1X64, 2, 128);
  auto *scales = part_data<float>(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  scales[2] = 5.0f;
  EXPECT_EQ(128u, size_of(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES));
  ASSERT_TRUE(import(context.get(), Bytes(128, 0xF0), LPT_FOREIGN_LAYOUT_BITSANDBYTES, tensor.get()));
  const std::vector<double> numbers = numbers_of(context.get(), tensor.get());
  EXPECT_EQ(1.0, numbers[0]);
  EXPECT_EQ(-1.0, numbers[1]);
  EXPECT_EQ(5.0, numbers[128]);
  EXPECT_EQ(-5.0, numbers[129]);
}

}  // namespace
}  // namespace lpt::test
