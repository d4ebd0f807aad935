// 2:4 by patterns.hpp, one tile per lane.
#include "kernels/transposable_mask/patterns.hpp"
#include "kernels/transposable_mask/slabs.hpp"

namespace lpt {
namespace {

struct Candidates {
  F32 sums;
  U32 bits;

  [[gnu::always_inline]] void consider(F32 next_sums, U32 next_bits) {
    bits = select(is_greater(next_sums, sums), next_bits, bits);
    sums = max(next_sums, sums);
  }
};

struct PairLanes {
  F32 of[4][6];

  [[gnu::always_inline]] explicit PairLanes(const F32 (&weights)[4][4]) {
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row) {
#pragma GCC unroll 6
      for (int p = 0; p < 6; ++p) of[row][p] = weights[row][kPairs[p].low] + weights[row][kPairs[p].high];
    }
  }

  // Returns one bit per tile whose sum is infinite or NaN: the reference kernel solves it.
  [[gnu::always_inline]] uint32_t endless() const {
    const F32 upper = (of[0][0] + of[0][5]) + (of[1][0] + of[1][5]);
    const F32 lower = (of[2][0] + of[2][5]) + (of[3][0] + of[3][5]);
    return lanes_not_below(upper + lower, __builtin_inff());
  }

  [[gnu::always_inline]] F32 half(int half, int upper, int lower) const {
    return of[2 * half][upper] + of[2 * half + 1][lower];
  }

  [[gnu::always_inline]] void consider_equal_pairs(Candidates &best) const {
#pragma GCC unroll 5
    for (int p = 1; p < 6; ++p) {
      best.consider(half(0, p, p) + half(1, 5 - p, 5 - p),
                    broadcast_bits(half_bits(p, p) | half_bits(5 - p, 5 - p) << 8));
    }
  }

  [[gnu::always_inline]] Candidates complements(int index) const {
    Candidates best = {half(index, 0, 5), broadcast_bits(half_bits(0, 5) << 8 * index)};
#pragma GCC unroll 5
    for (int p = 1; p < 6; ++p) best.consider(half(index, p, 5 - p), broadcast_bits(half_bits(p, 5 - p) << 8 * index));
    return best;
  }

  // Returns the better order of two pairs, and updates the bits of the first order.
  [[gnu::always_inline]] F32 either_order(int index, int a, int b, U32 &bits) const {
    const F32 first = half(index, a, b), next = half(index, b, a);
    bits = xor_where(is_greater(next, first), bits, broadcast_bits((half_bits(a, b) ^ half_bits(b, a)) << 8 * index));
    return max(next, first);
  }

  [[gnu::always_inline]] void consider_shared_columns(Candidates &best) const {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      const SharedColumn &s = kSharedColumns[i];
      U32 bits = broadcast_bits(half_bits(s.upper, s.upper_other) | half_bits(s.lower, s.lower_other) << 8);
      const F32 upper = either_order(0, s.upper, s.upper_other, bits);
      const F32 lower = either_order(1, s.lower, s.lower_other, bits);
      best.consider(upper + lower, bits);
    }
  }

  [[gnu::always_inline]] U32 best_bits() const {
    Candidates best = {half(0, 0, 0) + half(1, 5, 5), broadcast_bits(half_bits(0, 0) | half_bits(5, 5) << 8)};
    consider_equal_pairs(best);
    const Candidates upper = complements(0), lower = complements(1);
    best.consider(upper.sums + lower.sums, upper.bits | lower.bits);
    consider_shared_columns(best);
    return best.bits;
  }
};

struct PatternSolver {
  static constexpr int kRows = 4;
  static constexpr int64_t kColumns = 4 * kLanes;

  template <lpt_format kPlain, bool kIsWhole>
  [[gnu::always_inline]] static void solve(const TileRowSpan &slab, int64_t column, int64_t count) {
    F32 weights[4][4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      load_weights<kPlain, kIsWhole>(slab, i, column, count, weights[i]);
      transpose_fours(weights[i]);
    }
    const PairLanes sums(weights);
    const U32 bits = sums.best_bits();
    const int rows = kIsWhole ? 4 : slab.rows;
    uint8_t *const to = slab.to + column;
    const int64_t stride = slab.request.mask.row_stride;
    write_row<0>(to, bits, count);
    if (rows > 1) write_row<1>(to + stride, bits, count);
    if (rows > 2) write_row<2>(to + 2 * stride, bits, count);
    if (rows > 3) write_row<3>(to + 3 * stride, bits, count);
    for (uint32_t left = sums.endless(); left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      run_reference(slab, column, lane % 4 * (kLanes / 4) + lane / 4, count);
    }
  }
};

}  // namespace

void LPT_KERNEL(transposable_mask_2_4_exact)(const TransposableMaskRequest &request) {
  solve_all<PatternSolver>(request);
}

}  // namespace lpt
