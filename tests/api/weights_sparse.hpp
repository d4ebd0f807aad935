// Weights with zeros, and options that pack them in tiles.
#pragma once

#include <cmath>

#include "tests/api/gemm.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {

inline lpt_weights_options tiles(int32_t rows = 0, int32_t columns = 0) {
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.storage = LPT_WEIGHTS_STORAGE_BLOCK_SPARSE;
  options.tile_rows = rows;
  options.tile_columns = columns;
  return options;
}

// Returns normal values of which a fraction is +0 or -0, element by element or tile by tile.
inline std::vector<double> thinned(uint64_t seed, int64_t rows, int64_t columns, double zero_share,
                                   int64_t tile_rows = 1, int64_t tile_columns = 1) {
  std::vector<double> numbers = draw_normal(seed, rows * columns);
  Random random(seed + 1);
  const int64_t across = (columns + tile_columns - 1) / tile_columns;
  std::vector<bool> is_zero(static_cast<size_t>((rows + tile_rows - 1) / tile_rows * across));
  for (size_t i = 0; i < is_zero.size(); ++i) is_zero[i] = static_cast<double>(random.below(1000)) < 1000 * zero_share;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      double &number = numbers[static_cast<size_t>(r * columns + c)];
      if (is_zero[static_cast<size_t>(r / tile_rows * across + c / tile_columns)]) number = std::copysign(0.0, number);
    }
  }
  return numbers;
}

inline size_t size_of(lpt_context *context, const lpt_tensor *tensor) {
  size_t bytes = 0;
  EXPECT_TRUE(ok(context, lpt_tensor_size(context, tensor, &bytes)));
  return bytes;
}

}  // namespace lpt::test
