// GREEDY for tiles of 8 × 8, one in each lane. Included by ISA files: everything here has internal linkage.
//
// A weight and its place are one key, sorted as an f32: the weight's bits, rounded up to a multiple of 64, and 63 - place
// below. Only zero rounds to zero. Where two weights round alike and are not zero, and the tile has bits that were rounded,
// the order is not known: such a tile goes to the plain row, as does one whose weights sum to 2^127 or more, or to NaN.
// Of |N(0, 1)|, one tile of 280 does.
//
// An Isa gives kWidth, Floats, Codes, and
//   what slabs.hpp requests, add(a, b), larger(a, b), smaller(a, b), not_below(a, limit)
//   codes(bits), either(a, b), both(a, b), differ(a, b): or, and, exclusive or
//   neither_of(a, b, bits)            bits that are in neither a nor b
//   plus(a, b), minus(a, b), lower(a, b): of non-negative integers
//   below(a, limit)                   a bit for each lane
//   left<n>(a), right<n>(a), left_by(a, counts), right_by(a, counts): shifts; zero for counts from 32 on, or negative ones
//   bits_of(floats), floats_of(bits)
//   transpose_eights(vectors)         8 × 8; leaves tile tile_of(lane) in a lane
//   write_eights<row>(to, bits, count)  byte `row` of each tile's bits as 8 bytes, tiles in the order of their columns
#pragma once

#include "kernels/transposable_mask/slabs.hpp"

namespace lpt {
namespace {

constexpr int kKeys = 64;

template <typename Isa>
[[gnu::always_inline]] inline void sort_pair(typename Isa::Floats &a, typename Isa::Floats &b) {
  const typename Isa::Floats larger = Isa::larger(a, b);
  b = Isa::smaller(a, b);
  a = larger;
}

// Batcher's odd-even merge of keys kLow, kLow + kStep, …, the largest first.
template <typename Isa, int kLow, int kCount, int kStep>
[[gnu::always_inline]] inline void merge_keys(typename Isa::Floats (&keys)[kKeys]) {
  if constexpr (2 * kStep < kCount) {
    merge_keys<Isa, kLow, kCount, 2 * kStep>(keys);
    merge_keys<Isa, kLow + kStep, kCount, 2 * kStep>(keys);
#pragma GCC unroll 32
    for (int i = kLow + kStep; i + kStep < kLow + kCount; i += 2 * kStep) sort_pair<Isa>(keys[i], keys[i + kStep]);
  } else {
    sort_pair<Isa>(keys[kLow], keys[kLow + kStep]);
  }
}

template <typename Isa, int kLow, int kCount>
[[gnu::always_inline]] inline void sort_keys(typename Isa::Floats (&keys)[kKeys]) {
  if constexpr (kCount > 1) {
    sort_keys<Isa, kLow, kCount / 2>(keys);
    sort_keys<Isa, kLow + kCount / 2, kCount / 2>(keys);
    merge_keys<Isa, kLow, kCount, 1>(keys);
  }
}

// Which places stay. Rows and columns have four bits each, the first in the highest ones; the highest of the four says that
// no more stay.
template <typename Isa>
struct Greedy {
  using Codes = typename Isa::Codes;
  Codes rows, columns;
  Codes upper = Isa::codes(0), lower = Isa::codes(0);  // bits of places 0 to 31, 32 to 63

  [[gnu::always_inline]] explicit Greedy(int kept)
      : rows(Isa::codes(0x11111111u * static_cast<uint32_t>(8 - kept))), columns(rows) {}

  // Keys count rows and columns from the end.
  [[gnu::always_inline]] void consider(Codes key) {
    const Codes of_row = Isa::both(Isa::template right<1>(key), Isa::codes(28));
    const Codes of_column = Isa::both(Isa::template left<2>(key), Isa::codes(28));
    const Codes place = Isa::both(key, Isa::codes(63));
    const Codes stays = Isa::neither_of(Isa::left_by(rows, of_row), Isa::left_by(columns, of_column), 0x80000000u);
    rows = Isa::plus(rows, Isa::right_by(stays, Isa::either(of_row, Isa::codes(3))));
    columns = Isa::plus(columns, Isa::right_by(stays, Isa::either(of_column, Isa::codes(3))));
    upper = Isa::either(upper, Isa::right_by(stays, Isa::minus(place, Isa::codes(32))));
    lower = Isa::either(lower, Isa::right_by(stays, place));
  }
};

template <typename Isa>
struct GreedySolver {
  static constexpr int kRows = 8;
  static constexpr int64_t kColumns = 8 * Isa::kWidth;
  using Floats = typename Isa::Floats;
  using Codes = typename Isa::Codes;

  // Of tiles on their way.
  struct Tiles {
    Floats keys[kKeys];
    Floats sum = Isa::floats_of(Isa::codes(0));
    Codes seen = Isa::codes(0);  // all bits of all weights
  };

  template <lpt_format kPlain, bool kIsWhole>
  [[gnu::always_inline]] static void load(const TileRowSpan &slab, int64_t column, int64_t count, Tiles &tiles) {
    for (int i = 0; i < 8; ++i) {
      Floats weights[8];
      load_weights<Isa, kPlain, kIsWhole>(slab, i, column, count, weights);
      Isa::transpose_eights(weights);
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) {
        const Codes bits = Isa::bits_of(weights[j]);
        const Codes rounded = Isa::both(Isa::plus(bits, Isa::codes(63)), Isa::codes(~63u));
        tiles.keys[8 * i + j] = Isa::floats_of(Isa::either(rounded, Isa::codes(static_cast<uint32_t>(63 - 8 * i - j))));
        tiles.sum = Isa::add(tiles.sum, weights[j]);
        tiles.seen = Isa::either(tiles.seen, bits);
      }
    }
  }

  // Lanes with neighbours that round alike and are not zero.
  static uint32_t ties(const Floats (&keys)[kKeys]) {
    uint32_t result = 0;
    for (int i = 0; i + 1 < kKeys; ++i) {
      const Codes key = Isa::bits_of(keys[i]), next = Isa::bits_of(keys[i + 1]);
      result |= Isa::below(Isa::differ(key, next), 64) & ~Isa::below(next, 64);
    }
    return result;
  }

  [[gnu::always_inline]] static Greedy<Isa> walk(const Floats (&keys)[kKeys], int kept, Codes &closest) {
    Greedy<Isa> greedy(kept);
    Codes last = Isa::codes(0x7FFFFFFFu);
    closest = last;
#pragma GCC unroll 4
    for (int i = 0; i < kKeys; ++i) {
      const Codes key = Isa::bits_of(keys[i]);
      greedy.consider(key);
      closest = Isa::lower(closest, Isa::differ(key, last));
      last = key;
    }
    return greedy;
  }

  template <int kRow>
  [[gnu::always_inline]] static void write(const TileRowSpan &slab, int64_t column, int64_t count,
                                           const Greedy<Isa> &greedy) {
    if (kRow >= slab.rows) return;
    uint8_t *const to = slab.to + column + kRow * slab.request.mask.row_stride;
    Isa::template write_eights<kRow % 4>(to, kRow < 4 ? greedy.upper : greedy.lower, count);
  }

  template <lpt_format kPlain, bool kIsWhole>
  static void solve(const TileRowSpan &slab, int64_t column, int64_t count) {
    Tiles tiles;
    load<kPlain, kIsWhole>(slab, column, count, tiles);
    sort_keys<Isa, 0, kKeys>(tiles.keys);
    Codes closest;
    const Greedy<Isa> greedy = walk(tiles.keys, slab.request.kept, closest);
    write<0>(slab, column, count, greedy);
    write<1>(slab, column, count, greedy);
    write<2>(slab, column, count, greedy);
    write<3>(slab, column, count, greedy);
    write<4>(slab, column, count, greedy);
    write<5>(slab, column, count, greedy);
    write<6>(slab, column, count, greedy);
    write<7>(slab, column, count, greedy);
    uint32_t unknown = Isa::below(closest, 64) & ~Isa::below(Isa::both(tiles.seen, Isa::codes(63)), 1);
    if (unknown != 0) unknown &= ties(tiles.keys);
    for (unknown |= Isa::not_below(tiles.sum, 0x1p127f); unknown != 0; unknown &= unknown - 1) {
      run_plainly(slab, column, Isa::tile_of(__builtin_ctz(unknown)), count);
    }
  }
};

// SEARCH begins with GREEDY; what follows is plain code, and leaves a tile as it is that the plain row has solved.
template <typename Isa>
struct SearchSolver {
  static constexpr int kRows = 8;
  static constexpr int64_t kColumns = 8 * Isa::kWidth;

  template <lpt_format kPlain, bool kIsWhole>
  static void solve(const TileRowSpan &slab, int64_t column, int64_t count) {
    GreedySolver<Isa>::template solve<kPlain, kIsWhole>(slab, column, count);
    improve_greedy_masks(part_of(slab, column, count));
  }
};

}  // namespace
}  // namespace lpt
