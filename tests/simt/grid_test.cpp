// Grid selection: grids cover every fragment once, satisfy all device limits, and have few idle threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "kernels/common/cuda_grid.hpp"
#include "kernels/gemm/cuda/cuda_gemm.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "kernels/transposable_mask/cuda_kernels.hpp"
#include "tests/kernels/quantize_case.hpp"
#include "tests/simt/device_kernels.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows[] = {1, 2, 3, 100, 4096, 65535, 65536, 1 << 20, int64_t{1} << 31};
constexpr int64_t kGridColumns[] = {1, 16, 17, 100, 128, 2048, 4096, 4097, 14336, 1 << 20, int64_t{1} << 28};

TEST(FragmentGrid, CoversEveryFragmentWithinTheLimitsOfDevices) {
  for (const uint32_t threads : {128u, 256u}) {
    for (const int64_t rows : kRows) {
      for (const int64_t columns : kGridColumns) {
        const FragmentGrid grid = fragment_grid(rows, columns, threads);
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

TEST(Divisor, EqualsTheDivision) {
  for (const uint32_t number :
       {1u, 2u, 3u, 7u, 8u, 255u, 256u, 511u, 513u, 65535u, 1000003u, 0x3FFFFFFFu, 0x40000000u}) {
    const Divisor divisor = divisor_of(number);
    for (uint64_t multiple = 0; multiple < uint64_t{1} << 31; multiple += number * (1 + multiple / number / 5)) {
      for (int64_t offset = -1; offset <= 1; ++offset) {
        const int64_t dividend = static_cast<int64_t>(multiple) + offset;
        if (dividend < 0 || dividend >= int64_t{1} << 31) continue;
        EXPECT_EQ(quotient(static_cast<uint32_t>(dividend), divisor), static_cast<uint32_t>(dividend) / number)
            << dividend << " / " << number;
      }
    }
  }
}

// Less than half of the threads are idle along rows, and no full block is idle.
TEST(FragmentGrid, LeavesFewThreadsIdle) {
  for (const int64_t columns : kGridColumns) {
    const FragmentGrid grid = fragment_grid(4096, columns, 256);
    const int64_t fragments = (columns + 15) / 16;
    const int64_t threads = int64_t{grid.grid_x} * grid.block_x;
    EXPECT_LT(threads, 2 * fragments) << columns;
    EXPECT_LT(threads - fragments, grid.block_x) << columns;
  }
}

TEST(FragmentGrid, GivesAThreadSeveralRowsWhereThereAreMany) {
  const FragmentGrid large = fragment_grid(65536, 8192, 256);
  EXPECT_LE(int64_t{large.grid_x} * large.grid_y, 4224);
  const FragmentGrid small = fragment_grid(64, 4096, 256);
  EXPECT_EQ(small.grid_y, 64u);
}

// Launches of large extents, whose work is dropped: no memory is allocated.

constexpr int64_t kLarge = 5'000'000;

struct MatrixExtents {
  int64_t rows, columns;
};
constexpr MatrixExtents kExtents[] = {{kLarge, 64}, {64, kLarge}, {kLarge, kLarge}};

class LargeLaunches : public testing::Test {
 protected:
  LargeLaunches() {
    simt::set_queue([](void *, std::function<void()>) {});
  }
  ~LargeLaunches() override { simt::set_queue(nullptr); }

  static MatrixView view(lpt_format id, int64_t rows, int64_t columns) {
    MatrixView result;
    find_format(id, result.format);
    result.rows = rows;
    result.columns = result.row_stride = result.block_scale_stride = columns;
    return result;
  }
};

TEST_F(LargeLaunches, OfCastsKeepTheLimitsOfDevices) {
  Tally tally(quantize_device_kernels());
  for (const MatrixExtents &e : kExtents) {
    for (const lpt_format target :
         {LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_E4M3FN_ROW,
          LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4,
          LPT_FORMAT_NVFP4_16X16}) {
      for (const bool is_transposed : {false, true}) {
        QuantizeRequest request = {};
        request.source = view(LPT_FORMAT_F32, e.rows, e.columns);
        request.target = view(target, e.rows, e.columns);
        if (is_transposed) std::swap(request.source.row_stride, request.source.column_stride);
        request.rule = resolved(request.target.format, LPT_SCALE_RULE_DEFAULT, request.rounding);
        request.tensor_inverse = 1.0f;
        request.random_column_stride = 1;
        for (const KernelEntry<QuantizeRequest> &kernel : quantize_device_kernels()) {
          if (kernel.unsupported_reason(request) != nullptr) continue;
          EXPECT_NO_THROW(kernel.queue(request, nullptr)) << kernel.name << ": " << e.rows << " x " << e.columns;
          tally.add(kernel.name);
        }
      }
    }
  }
  tally.expect_all_at_least(1);
}

TEST_F(LargeLaunches, OfTransposedCodesKeepTheLimitsOfDevices) {
  for (const MatrixExtents &e : kExtents) {
    for (const lpt_format format : {LPT_FORMAT_E4M3FN, LPT_FORMAT_BF16, LPT_FORMAT_F32, LPT_FORMAT_E4M3FN_128X128}) {
      const TransposeRequest request = {view(format, e.rows, e.columns), view(format, e.columns, e.rows)};
      const KernelEntry<TransposeRequest> &kernel = transpose_device_kernels().front();
      ASSERT_EQ(nullptr, kernel.unsupported_reason(request));
      EXPECT_NO_THROW(kernel.queue(request, nullptr)) << e.rows << " x " << e.columns;
    }
  }
}

// The grid limit is 65535 tiles of 64 columns. The first launch is dropped, because it takes seconds on the CPU.
TEST_F(LargeLaunches, OfTransposedCodesGoOnWhereTheFirstEnds) {
  constexpr int64_t kFirst = int64_t{65535} * 64, kRest = 70;
  static int launches;
  launches = 0;
  simt::set_queue([](void *, std::function<void()> work) {
    if (launches++ == 1) work();
  });
  std::vector<uint8_t> source(kFirst + kRest), target(kFirst + kRest, 0xA5);
  for (int64_t i = 0; i < kRest; ++i) source[static_cast<size_t>(kFirst + i)] = static_cast<uint8_t>(i + 1);
  TransposeRequest request = {view(LPT_FORMAT_E4M3FN, 1, kFirst + kRest), view(LPT_FORMAT_E4M3FN, kFirst + kRest, 1)};
  request.source.data = source.data();
  request.target.data = target.data();
  transpose_device_kernels().front().queue(request, nullptr);
  EXPECT_EQ(2, launches);
  EXPECT_EQ(std::vector<uint8_t>(kFirst, 0xA5), std::vector<uint8_t>(target.begin(), target.begin() + kFirst));
  EXPECT_EQ(std::vector<uint8_t>(source.end() - kRest, source.end()),
            std::vector<uint8_t>(target.end() - kRest, target.end()));
}

TEST_F(LargeLaunches, OfGemmsKeepTheLimitsOfDevicesOrAreRejected) {
  for (const int64_t m : {int64_t{1}, int64_t{100}, kLarge}) {
    for (const int64_t n : {kLarge, int64_t{8'388'480}, int64_t{8'388'481}}) {
      GemmRequest request = {};
      request.m = m;
      request.n = n;
      request.k = 128;
      request.a = view(LPT_FORMAT_E4M3FN, m, request.k);
      request.b = view(LPT_FORMAT_INT4_1X128, n, request.k);
      request.c = view(LPT_FORMAT_F32, m, n);
      request.is_b_transposed = true;
      request.alpha = 1.0;
      for (const KernelEntry<GemmRequest> &kernel : gemm_device_kernels()) {
        if (kernel.unsupported_reason(request) != nullptr) continue;
        EXPECT_NO_THROW(kernel.queue(request, nullptr)) << kernel.name << ": " << m << " x " << n;
      }
    }
  }
}

TEST_F(LargeLaunches, OfTransposableMasksKeepTheLimitsOfDevices) {
  for (const MatrixExtents &e : kExtents) {
    TransposableMaskRequest request = {};
    request.source = view(LPT_FORMAT_F32, e.rows, e.columns);
    request.mask = view(LPT_FORMAT_UINT8, e.rows, e.columns);
    request.kept = 2;
    request.of = 4;
    request.solver = LPT_SPARSE_SOLVER_EXACT;
    for (const KernelEntry<TransposableMaskRequest> &kernel : transposable_mask_device_kernels()) {
      if (kernel.unsupported_reason(request) != nullptr) continue;
      EXPECT_NO_THROW(kernel.queue(request, nullptr)) << kernel.name << ": " << e.rows << " x " << e.columns;
    }
  }
}

}  // namespace
}  // namespace lpt::test
