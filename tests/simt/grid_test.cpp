// The choice of grids: every strip is somebody's, no device refuses it, and few threads are idle.
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/common/cuda_grid.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows[] = {1, 2, 3, 100, 4096, 65535, 65536, 1 << 20, int64_t{1} << 31};
constexpr int64_t kColumns[] = {1, 16, 17, 100, 128, 2048, 4096, 4097, 14336, 1 << 20, int64_t{1} << 28};

TEST(StripGrid, CoversEveryStripWithinTheLimitsOfDevices) {
  for (const uint32_t threads : {128u, 256u}) {
    for (const int64_t rows : kRows) {
      for (const int64_t columns : kColumns) {
        const StripGrid grid = strip_grid(rows, columns, threads);
        EXPECT_EQ(grid.block_x * grid.block_y, threads);
        EXPECT_GE(int64_t{grid.grid_x} * grid.block_x * 16, columns);
        EXPECT_GE(grid.grid_y, 1u);
        EXPECT_LE(grid.grid_y, 65535u);
        EXPECT_LE(grid.grid_x, 0x7FFFFFFFu);
        EXPECT_LT((int64_t{grid.grid_y} - 1) * grid.block_y, rows) << "a block without rows";
      }
    }
  }
}

// Below half of the threads have nothing to do, along rows; whole blocks of them none.
TEST(StripGrid, LeavesFewThreadsIdle) {
  for (const int64_t columns : kColumns) {
    const StripGrid grid = strip_grid(4096, columns, 256);
    const int64_t strips = (columns + 15) / 16;
    const int64_t threads = int64_t{grid.grid_x} * grid.block_x;
    EXPECT_LT(threads, 2 * strips) << columns;
    EXPECT_LT(threads - strips, grid.block_x) << columns;
  }
}

TEST(StripGrid, GivesAThreadSeveralRowsWhereThereAreMany) {
  const StripGrid large = strip_grid(65536, 8192, 256);
  EXPECT_LE(int64_t{large.grid_x} * large.grid_y, 4224);
  const StripGrid small = strip_grid(64, 4096, 256);
  EXPECT_EQ(small.grid_y, 64u);
}

}  // namespace
}  // namespace lpt::test
