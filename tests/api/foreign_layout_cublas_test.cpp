// The scale tiles of cuBLAS, derived by hand from its documentation. golden_foreign_layouts_test.cpp compares with torchao.
#include "tests/api/foreign_layout.hpp"

namespace lpt::test {
namespace {

TEST(ForeignLayoutCublas, PutsEachScaleWhereTheTilesHaveIt) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, 129, 5 * 32 - 7);
  const struct {
    int64_t row, column;
    size_t place;
  } cases[] = {{0, 0, 0},   {0, 1, 1},     {1, 0, 16},  {31, 3, 499}, {32, 0, 4},     {33, 1, 21},    {64, 2, 10},
               {96, 0, 12}, {127, 3, 511}, {0, 4, 512}, {5, 4, 592},  {128, 0, 1024}, {128, 3, 1027}, {128, 4, 1536}};
  ASSERT_EQ(2048u, size_of(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES));
  auto *scales = part_data<uint8_t>(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  std::memset(scales, 0, 129 * 5);
  for (const auto &[row, column, place] : cases) {
    uint8_t &scale = scales[row * 5 + column];
    scale = 0x5A;
    Bytes expected(2048, 0);
    expected[place] = 0x5A;
    EXPECT_EQ(expected, exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES))
        << row << ", " << column;
    scale = 0;
  }
}

TEST(ForeignLayoutCublas, MovesTheScalesAloneInEveryShape) {
  const Context context = make_context(3);
  for (const lpt_format format : {LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP6_E2M3}) {
    const int32_t block = describe(format).block_columns;
    for (const Shape grid : {Shape{1, 1}, Shape{128, 4}, Shape{129, 5}, Shape{33, 17}, Shape{385, 130}}) {
      const int64_t columns = grid.columns * block - block / 2;
      const Tensor tensor = make_tensor(context.get(), format, grid.rows, columns);
      const Bytes scales = random_bytes(310, static_cast<size_t>(grid.rows * grid.columns));
      fill(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES, scales);
      const int64_t across = (grid.columns + 3) / 4;
      Bytes expected(static_cast<size_t>((grid.rows + 127) / 128 * across * 512));
      for (int64_t r = 0; r < grid.rows; ++r) {
        for (int64_t c = 0; c < grid.columns; ++c) {
          const int64_t place = (r / 128 * across + c / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + c % 4;
          expected[static_cast<size_t>(place)] = scales[static_cast<size_t>(r * grid.columns + c)];
        }
      }
      EXPECT_EQ(expected, exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES)) << name_of(format);

      const Tensor read = tensor_of(context.get(), format, grid.rows, columns, draw_normal(311, grid.rows * columns));
      const Bytes payload = part_bytes(context.get(), read.get(), LPT_TENSOR_PART_PAYLOAD);
      ASSERT_TRUE(import(context.get(), expected, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, read.get()));
      EXPECT_EQ(scales, part_bytes(context.get(), read.get(), LPT_TENSOR_PART_BLOCK_SCALES));
      EXPECT_EQ(payload, part_bytes(context.get(), read.get(), LPT_TENSOR_PART_PAYLOAD));
    }
  }
}

TEST(ForeignLayoutCublas, SeesTheScalesOfAView) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), LPT_FORMAT_MXFP8_E5M2, 40, 320);
  const Bytes noise = random_bytes(311, 400);
  fill(context.get(), whole.get(), LPT_TENSOR_PART_BLOCK_SCALES, noise);
  const Tensor part = view(context.get(), whole.get(), {3, 64}, {33, 160});
  const Bytes tiles = exported(context.get(), part.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES);
  ASSERT_EQ(1024u, tiles.size());
  EXPECT_EQ(noise[3 * 10 + 2], tiles[0]);
  EXPECT_EQ(noise[35 * 10 + 2 + 3], tiles[7]);
  EXPECT_EQ(noise[4 * 10 + 2 + 4], tiles[512 + 16]);
  std::memset(part_data<uint8_t>(context.get(), whole.get(), LPT_TENSOR_PART_BLOCK_SCALES), 0, 400);
  ASSERT_TRUE(import(context.get(), tiles, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, part.get()));
  const Bytes read = part_bytes(context.get(), whole.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  for (size_t i = 0; i < 400; ++i) {
    const bool is_inside = i / 10 >= 3 && i / 10 < 36 && i % 10 >= 2 && i % 10 < 7;
    EXPECT_EQ(is_inside ? noise[i] : 0, read[i]) << i;
  }
}

// The inverse mapping: the row and the scale of that row at a byte of the tiles.
struct TilePlace {
  TilePlace(int64_t byte, int64_t scales_across) {
    const int64_t tiles_across = (scales_across + 3) / 4;
    const int64_t tile = byte / 512, inside = byte % 512;
    row = tile / tiles_across * 128 + inside / 4 % 4 * 32 + inside / 16;
    column = tile % tiles_across * 4 + inside % 4;
  }
  int64_t row, column;
};

// Expands scales of blocks of several rows to tiles with one scale per row.
Bytes repeated(const Bytes &scales, int64_t block_rows, int64_t rows, int64_t scales_across) {
  Bytes tiles(static_cast<size_t>((rows + 127) / 128 * ((scales_across + 3) / 4) * 512));
  for (size_t i = 0; i < tiles.size(); ++i) {
    const TilePlace at(static_cast<int64_t>(i), scales_across);
    if (at.row >= rows || at.column >= scales_across) continue;
    tiles[i] = scales[static_cast<size_t>(at.row / block_rows * scales_across + at.column)];
  }
  return tiles;
}

TEST(ForeignLayoutCublas, RepeatsTheScaleOfABlockInEachOfItsRows) {
  const Context context = make_context(3);
  for (const char *name : {"nvfp4_16x16", "e2m1fn/256x16/e4m3fn", "e4m3fn/128x128/e8m0fnu", "e5m2/wholex32/e8m0fnu"}) {
    const lpt_format format = format_named(name);
    const lpt_format_description about = describe(format);
    for (const Shape shape : {Shape{1, 1}, Shape{16, 64}, Shape{17, 65}, Shape{129, 130}, Shape{600, 1030}}) {
      const std::string where = std::string(name) + ", " + std::to_string(shape.rows) + " rows";
      const int64_t block_rows = about.block_rows == LPT_BLOCK_EXTENT_FULL ? shape.rows : about.block_rows;
      const int64_t across = (shape.columns + about.block_columns - 1) / about.block_columns;
      const Tensor tensor = make_tensor(context.get(), format, shape.rows, shape.columns);
      const Bytes scales = random_bytes(312, static_cast<size_t>((shape.rows + block_rows - 1) / block_rows * across));
      fill(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES, scales);
      Bytes tiles = repeated(scales, block_rows, shape.rows, across);
      EXPECT_TRUE(tiles == exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES)) << where;

      // The import ignores tile entries outside the matrix.
      for (size_t i = 0; i < tiles.size(); ++i) {
        const TilePlace at(static_cast<int64_t>(i), across);
        if (at.row >= shape.rows || at.column >= across) tiles[i] = static_cast<uint8_t>(i);
      }
      const Tensor read = make_tensor(context.get(), format, shape.rows, shape.columns);
      fill(context.get(), read.get(), LPT_TENSOR_PART_PAYLOAD,
           random_bytes(313, part_bytes(context.get(), read.get(), LPT_TENSOR_PART_PAYLOAD).size()));
      const Bytes payload = part_bytes(context.get(), read.get(), LPT_TENSOR_PART_PAYLOAD);
      ASSERT_TRUE(import(context.get(), tiles, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, read.get())) << where;
      EXPECT_TRUE(scales == part_bytes(context.get(), read.get(), LPT_TENSOR_PART_BLOCK_SCALES)) << where;
      EXPECT_TRUE(payload == part_bytes(context.get(), read.get(), LPT_TENSOR_PART_PAYLOAD)) << where;
    }
  }
}

TEST(ForeignLayoutCublas, SeesTheBlocksOfAView) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), LPT_FORMAT_NVFP4_16X16, 64, 160);
  const Bytes noise = random_bytes(314, 40);
  fill(context.get(), whole.get(), LPT_TENSOR_PART_BLOCK_SCALES, noise);
  const Tensor part = view(context.get(), whole.get(), {16, 32}, {48, 80});
  Bytes inside;
  for (size_t r = 1; r < 4; ++r) inside.insert(inside.end(), &noise[r * 10 + 2], &noise[r * 10 + 2] + 5);
  const Bytes tiles = repeated(inside, 16, 48, 5);
  EXPECT_EQ(tiles, exported(context.get(), part.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES));
  fill(context.get(), whole.get(), LPT_TENSOR_PART_BLOCK_SCALES, Bytes(40, 0));
  ASSERT_TRUE(import(context.get(), tiles, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, part.get()));
  const Bytes read = part_bytes(context.get(), whole.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  for (size_t i = 0; i < 40; ++i) {
    const bool is_inside = i / 10 >= 1 && i % 10 >= 2 && i % 10 < 7;
    EXPECT_EQ(is_inside ? noise[i] : 0, read[i]) << i;
  }
}

TEST(ForeignLayoutCublas, RejectsABlockOfDifferentScalesAndSaysWhereItBegins) {
  const Context context = make_context(3);
  constexpr int64_t kRows = 4012, kColumns = 330, kAcross = 21;  // enough rows for several threads
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NVFP4_16X16, kRows, kColumns);
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_NVFP4_16X16, kRows, kColumns);
  const Bytes scales = random_bytes(315, static_cast<size_t>((kRows + 15) / 16 * kAcross));
  const Bytes good = repeated(scales, 16, kRows, kAcross);
  const auto changed = [](Bytes tiles, int64_t row, int64_t column) {
    for (size_t i = 0; i < tiles.size(); ++i) {
      const TilePlace at(static_cast<int64_t>(i), kAcross);
      if (at.row == row && at.column == column) tiles[i] ^= 1;
    }
    return tiles;
  };
  expect_rejected_import(context.get(), changed(good, 37, 3), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, target.get(),
                         {"buffer has in row 37, columns 48 to 63", "in row 32", "16 x 16"});
  // The other rows of a block are compared with its first row.
  expect_rejected_import(context.get(), changed(good, 288, 0), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, target.get(),
                         {"buffer has in row 289, columns 0 to 15", "in row 288"});
  // The last block has fewer columns. The first of several mismatches is reported, even if threads share the tiles.
  Bytes bad = changed(changed(changed(good, 4011, 20), 140, 2), 4011, 0);
  expect_rejected_import(context.get(), bad, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, target.get(),
                         {"buffer has in row 140, columns 32 to 47", "in row 128"});
  bad = changed(good, 4011, 20);
  expect_rejected_import(context.get(), bad, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, target.get(),
                         {"buffer has in row 4011, columns 320 to 329", "in row 4000"});
}

}  // namespace
}  // namespace lpt::test
