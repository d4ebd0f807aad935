// The scale tiles of cuBLAS, worked out by hand from what is published. golden_dialects_test.cpp asks torchao.
#include "tests/api/dialect.hpp"

namespace lpt::test {
namespace {

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

}  // namespace
}  // namespace lpt::test
