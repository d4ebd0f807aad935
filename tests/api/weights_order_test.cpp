// Output orders that reduce the number of tiles of packed weights: lpt_weights_order().
#include <algorithm>
#include <cmath>

#include "tests/api/gemm.hpp"
#include "tests/api/weights_sparse.hpp"

namespace lpt::test {
namespace {

// Rows of four interleaved kinds: in the computed order each kind has separate tile rows.
TEST(WeightsOrder, HaveFewerTilesInOrder) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const int64_t n = 256, k = 512;
  std::vector<double> numbers(static_cast<size_t>(n * k));
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t p = r * 7 % 4 * 128; p < (r * 7 % 4 + 1) * 128; ++p)
      numbers[static_cast<size_t>(r * k + p)] = 1.0 + static_cast<double>(r);
  }
  const Tensor weights = tensor_of(c, LPT_FORMAT_F32, n, k, numbers);
  std::vector<int32_t> order(static_cast<size_t>(n));
  int64_t given = 0, count = 0;
  ASSERT_TRUE(ok(c, lpt_weights_order(c, weights.get(), nullptr, order.data(), &given, &count)));
  EXPECT_EQ(given, 4 * 8);  // each tile row of 64 rows has rows of all kinds
  EXPECT_EQ(count, 4 * 2);
  lpt_weights_options options = tiles();
  options.output_order = order.data();
  const Tensor sparse_packed = pack(c, weights.get(), &options);
  EXPECT_EQ(size_of(c, sparse_packed.get()), static_cast<size_t>(count * 64 * 64 * 4 + 4 * 8));
  const int64_t m = 2;
  const Tensor a = tensor_of(c, LPT_FORMAT_F32, m, k, draw_normal(861, m * k));
  const std::vector<double> whole = gemm_of(c, a.get(), weights.get(), m, n);
  const std::vector<double> found = gemm_of(c, a.get(), sparse_packed.get(), m, n);
  std::vector<bool> is_seen(order.size());
  for (size_t j = 0; j < order.size(); ++j) {
    const auto row = static_cast<size_t>(order[j]);
    ASSERT_FALSE(is_seen[row]);
    is_seen[row] = true;
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(whole[i * order.size() + row], found[i * order.size() + j],
                  1e-3 * (1.0 + std::fabs(whole[i * order.size() + row])));
    }
  }
}

// The order never increases the tile count, and the count equals that of the stored tiles.
TEST(WeightsOrder, InOrderAreNeverMore) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  for (const double share : {0.0, 0.5, 0.9, 0.99, 1.0}) {
    for (const auto &[n, k] : {std::array<int64_t, 2>{1, 1}, {100, 300}, {257, 129}}) {
      const Tensor weights = tensor_of(c, LPT_FORMAT_E4M3FN, n, k, thinned(862, n, k, share, 1, 8));
      std::vector<int32_t> order(static_cast<size_t>(n));
      int64_t given = -1, count = -1;
      lpt_weights_options options = tiles(32, 8);
      ASSERT_TRUE(ok(c, lpt_weights_order(c, weights.get(), &options, order.data(), &given, &count)));
      EXPECT_LE(count, given);
      const int64_t lines = (n + 31) / 32, bits = lines * (((k + 7) / 8 + 63) / 64 * 8);
      EXPECT_EQ(size_of(c, pack(c, weights.get(), &options).get()), static_cast<size_t>(given * 32 * 8 + bits));
      options.output_order = order.data();
      EXPECT_EQ(size_of(c, pack(c, weights.get(), &options).get()), static_cast<size_t>(count * 32 * 8 + bits));
    }
  }
}

// The given order is good: each tile row of 32 rows has six tiles, and each row has two of them. Nearest-row order is worse.
TEST(WeightsOrder, StayInOrderWhereTheOrderIsNoGain) {
  const Context context = make_context(1);
  const int64_t n = 128, k = 16 * 8;
  Random random(863);
  int64_t kept = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> numbers(static_cast<size_t>(n * k));
    for (int64_t r = 0; r < n; ++r) {
      for (int i = 0; i < 2; ++i) {
        const int64_t tile = (r / 32 * 3 + random.below(6)) % 16;
        numbers[static_cast<size_t>(r * k + tile * 8 + random.below(8))] = 1.0;
      }
    }
    const Tensor weights = tensor_of(context.get(), LPT_FORMAT_INT8, n, k, numbers);
    std::vector<int32_t> order(static_cast<size_t>(n));
    int64_t given = 0, count = 0;
    const lpt_weights_options options = tiles(32, 8);
    ASSERT_TRUE(
        ok(context.get(), lpt_weights_order(context.get(), weights.get(), &options, order.data(), &given, &count)));
    EXPECT_LE(count, given);
    kept += count == given && std::is_sorted(order.begin(), order.end());
  }
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace lpt::test
