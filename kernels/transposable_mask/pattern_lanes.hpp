// 2:4 by patterns.hpp, a tile in each lane. Included by ISA files: everything here has internal linkage.
//
// An Isa gives kWidth, Floats, Codes, Flags, and
//   what slabs.hpp requests, add(a, b), larger(a, b)
//   is_greater(a, b)                 Flags
//   not_below(a, limit)              a bit for each lane that is as large, or NaN
//   codes(bits)                      the same in all lanes
//   choose(flags, a, b)             b where true, else a
//   flip(flags, a, b)               a ^ b where true, else a
//   either(a, b)                     a | b
//   transpose_fours(vectors)         4 × 4 within each four lanes
//   write_row<row>(to, codes, count) bits 4 · row on of each tile as bytes, tiles in the order of their columns;
//                                    transpose_fours leaves tile (kWidth / 4) · (lane % 4) + lane / 4 in a lane
#pragma once

#include "kernels/transposable_mask/patterns.hpp"
#include "kernels/transposable_mask/slabs.hpp"

namespace lpt {
namespace {

template <typename Isa>
struct Candidates {
  typename Isa::Floats sums;
  typename Isa::Codes bits;

  [[gnu::always_inline]] void consider(typename Isa::Floats next_sums, typename Isa::Codes next_bits) {
    bits = Isa::choose(Isa::is_greater(next_sums, sums), bits, next_bits);
    sums = Isa::larger(next_sums, sums);
  }
};

template <typename Isa>
struct PairLanes {
  using Floats = typename Isa::Floats;
  using Codes = typename Isa::Codes;
  Floats of[4][6];

  [[gnu::always_inline]] explicit PairLanes(const Floats (&weights)[4][4]) {
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row) {
#pragma GCC unroll 6
      for (int p = 0; p < 6; ++p) of[row][p] = Isa::add(weights[row][kPairs[p].low], weights[row][kPairs[p].high]);
    }
  }

  // Tiles that are not for patterns.
  [[gnu::always_inline]] uint32_t endless() const {
    const Floats upper = Isa::add(Isa::add(of[0][0], of[0][5]), Isa::add(of[1][0], of[1][5]));
    const Floats lower = Isa::add(Isa::add(of[2][0], of[2][5]), Isa::add(of[3][0], of[3][5]));
    return Isa::not_below(Isa::add(upper, lower), __builtin_inff());
  }

  [[gnu::always_inline]] Floats half(int half, int upper, int lower) const {
    return Isa::add(of[2 * half][upper], of[2 * half + 1][lower]);
  }

  [[gnu::always_inline]] void consider_equal_pairs(Candidates<Isa> &best) const {
#pragma GCC unroll 5
    for (int p = 1; p < 6; ++p) {
      best.consider(Isa::add(half(0, p, p), half(1, 5 - p, 5 - p)),
                    Isa::codes(half_bits(p, p) | half_bits(5 - p, 5 - p) << 8));
    }
  }

  [[gnu::always_inline]] Candidates<Isa> complements(int index) const {
    Candidates<Isa> best = {half(index, 0, 5), Isa::codes(half_bits(0, 5) << 8 * index)};
#pragma GCC unroll 5
    for (int p = 1; p < 6; ++p) best.consider(half(index, p, 5 - p), Isa::codes(half_bits(p, 5 - p) << 8 * index));
    return best;
  }

  // Adds the better order of two pairs to the bits of the first one.
  [[gnu::always_inline]] Floats either_order(int index, int a, int b, Codes &bits) const {
    const Floats first = half(index, a, b), next = half(index, b, a);
    bits = Isa::flip(Isa::is_greater(next, first), bits, Isa::codes((half_bits(a, b) ^ half_bits(b, a)) << 8 * index));
    return Isa::larger(next, first);
  }

  [[gnu::always_inline]] void consider_shared_columns(Candidates<Isa> &best) const {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      const SharedColumn &s = kSharedColumns[i];
      Codes bits = Isa::codes(half_bits(s.upper, s.upper_other) | half_bits(s.lower, s.lower_other) << 8);
      const Floats upper = either_order(0, s.upper, s.upper_other, bits);
      const Floats lower = either_order(1, s.lower, s.lower_other, bits);
      best.consider(Isa::add(upper, lower), bits);
    }
  }

  [[gnu::always_inline]] Codes best_bits() const {
    Candidates<Isa> best = {Isa::add(half(0, 0, 0), half(1, 5, 5)), Isa::codes(half_bits(0, 0) | half_bits(5, 5) << 8)};
    consider_equal_pairs(best);
    const Candidates<Isa> upper = complements(0), lower = complements(1);
    best.consider(Isa::add(upper.sums, lower.sums), Isa::either(upper.bits, lower.bits));
    consider_shared_columns(best);
    return best.bits;
  }
};

template <typename Isa>
struct PatternSolver {
  static constexpr int kRows = 4;
  static constexpr int64_t kColumns = 4 * Isa::kWidth;

  template <lpt_format kPlain, bool kIsWhole>
  [[gnu::always_inline]] static void solve(const TileRowSpan &slab, int64_t column, int64_t count) {
    typename Isa::Floats weights[4][4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      load_weights<Isa, kPlain, kIsWhole>(slab, i, column, count, weights[i]);
      Isa::transpose_fours(weights[i]);
    }
    const PairLanes<Isa> sums(weights);
    const typename Isa::Codes bits = sums.best_bits();
    const int rows = kIsWhole ? 4 : slab.rows;
    uint8_t *const to = slab.to + column;
    const int64_t stride = slab.request.mask.row_stride;
    Isa::template write_row<0>(to, bits, count);
    if (rows > 1) Isa::template write_row<1>(to + stride, bits, count);
    if (rows > 2) Isa::template write_row<2>(to + 2 * stride, bits, count);
    if (rows > 3) Isa::template write_row<3>(to + 3 * stride, bits, count);
    for (uint32_t left = sums.endless(); left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      run_plainly(slab, column, lane % 4 * (Isa::kWidth / 4) + lane / 4, count);
    }
  }
};

}  // namespace
}  // namespace lpt
