// GREEDY for tiles of 8 × 8, one per lane.
//
// A weight and its index form one key, which is sorted as an f32. The key is the bits of the weight, rounded up to a multiple
// of 64, plus 63 - index. Only zero rounds to zero. If two nonzero weights have equal rounded bits, and the tile has bits that
// were rounded, the order is ambiguous. Such a tile is solved by the reference kernel, and so is a tile whose weights sum to
// 2^127 or more, or to NaN. For |N(0, 1)|, this is one tile of 280.
#include "kernels/transposable_mask/slabs.hpp"

namespace lpt {
namespace {

constexpr int kKeys = 64;

[[gnu::always_inline]] inline void sort_pair(F32 &a, F32 &b) {
  const F32 larger = max(a, b);
  b = min(a, b);
  a = larger;
}

// Merges keys kLow, kLow + kStep, …, the largest first, by Batcher's odd-even merge.
template <int kLow, int kCount, int kStep>
[[gnu::always_inline]] inline void merge_keys(F32 (&keys)[kKeys]) {
  if constexpr (2 * kStep < kCount) {
    merge_keys<kLow, kCount, 2 * kStep>(keys);
    merge_keys<kLow + kStep, kCount, 2 * kStep>(keys);
#pragma GCC unroll 32
    for (int i = kLow + kStep; i + kStep < kLow + kCount; i += 2 * kStep) sort_pair(keys[i], keys[i + kStep]);
  } else {
    sort_pair(keys[kLow], keys[kLow + kStep]);
  }
}

template <int kLow, int kCount>
[[gnu::always_inline]] inline void sort_keys(F32 (&keys)[kKeys]) {
  if constexpr (kCount > 1) {
    sort_keys<kLow, kCount / 2>(keys);
    sort_keys<kLow + kCount / 2, kCount / 2>(keys);
    merge_keys<kLow, kCount, 1>(keys);
  }
}

// Mask and counters of a tile. Rows and columns have 4-bit counters, the first in the highest bits. The top bit of a counter is
// set if its row or column is full.
struct Greedy {
  U32 rows, columns;
  U32 upper = broadcast_bits(0), lower = broadcast_bits(0);  // bits of elements 0 to 31, 32 to 63

  [[gnu::always_inline]] explicit Greedy(int kept)
      : rows(broadcast_bits(0x11111111u * static_cast<uint32_t>(8 - kept))), columns(rows) {}

  // Keys count rows and columns from the end.
  [[gnu::always_inline]] void consider(U32 key) {
    const U32 of_row = (key >> 1) & broadcast_bits(28);
    const U32 of_column = (key << 2) & broadcast_bits(28);
    const U32 place = key & broadcast_bits(63);
    const U32 stays = neither_of(shift_left(rows, of_row), shift_left(columns, of_column), 0x80000000u);
    rows = rows + shift_right(stays, of_row | broadcast_bits(3));
    columns = columns + shift_right(stays, of_column | broadcast_bits(3));
    upper = upper | shift_right(stays, place - broadcast_bits(32));
    lower = lower | shift_right(stays, place);
  }
};

struct GreedySolver {
  static constexpr int kRows = 8;
  static constexpr int64_t kColumns = 8 * kLanes;

  // The tiles that are being solved.
  struct Tiles {
    F32 keys[kKeys];
    F32 sum = f32_of(broadcast_bits(0));
    U32 seen = broadcast_bits(0);  // OR of all weights
  };

  template <lpt_format kPlain, bool kIsWhole>
  [[gnu::always_inline]] static void load(const TileRowSpan &slab, int64_t column, int64_t count, Tiles &tiles) {
    for (int i = 0; i < 8; ++i) {
      F32 weights[8];
      load_weights<kPlain, kIsWhole>(slab, i, column, count, weights);
      transpose_eights(weights);
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) {
        const U32 bits = u32_of(weights[j]);
        const U32 rounded = (bits + broadcast_bits(63)) & broadcast_bits(~63u);
        tiles.keys[8 * i + j] = f32_of(rounded | broadcast_bits(static_cast<uint32_t>(63 - 8 * i - j)));
        tiles.sum = tiles.sum + weights[j];
        tiles.seen = tiles.seen | bits;
      }
    }
  }

  // Returns the lanes with adjacent nonzero keys that have equal rounded weights.
  static uint32_t ties(const F32 (&keys)[kKeys]) {
    uint32_t result = 0;
    for (int i = 0; i + 1 < kKeys; ++i) {
      const U32 key = u32_of(keys[i]), next = u32_of(keys[i + 1]);
      result |= lanes_below(key ^ next, 64) & ~lanes_below(next, 64);
    }
    return result;
  }

  [[gnu::always_inline]] static Greedy walk(const F32 (&keys)[kKeys], int kept, U32 &closest) {
    Greedy greedy(kept);
    U32 last = broadcast_bits(0x7FFFFFFFu);
    closest = last;
#pragma GCC unroll 4
    for (int i = 0; i < kKeys; ++i) {
      const U32 key = u32_of(keys[i]);
      greedy.consider(key);
      closest = min(closest, key ^ last);
      last = key;
    }
    return greedy;
  }

  template <int kRow>
  [[gnu::always_inline]] static void write(const TileRowSpan &slab, int64_t column, int64_t count,
                                           const Greedy &greedy) {
    if (kRow >= slab.rows) return;
    uint8_t *const to = slab.to + column + kRow * slab.request.mask.row_stride;
    write_eights<kRow % 4>(to, kRow < 4 ? greedy.upper : greedy.lower, count);
  }

  template <lpt_format kPlain, bool kIsWhole>
  static void solve(const TileRowSpan &slab, int64_t column, int64_t count) {
    Tiles tiles;
    load<kPlain, kIsWhole>(slab, column, count, tiles);
    sort_keys<0, kKeys>(tiles.keys);
    U32 closest;
    const Greedy greedy = walk(tiles.keys, slab.request.kept, closest);
    write<0>(slab, column, count, greedy);
    write<1>(slab, column, count, greedy);
    write<2>(slab, column, count, greedy);
    write<3>(slab, column, count, greedy);
    write<4>(slab, column, count, greedy);
    write<5>(slab, column, count, greedy);
    write<6>(slab, column, count, greedy);
    write<7>(slab, column, count, greedy);
    uint32_t unknown = lanes_below(closest, 64) & ~lanes_below(tiles.seen & broadcast_bits(63), 1);
    if (unknown != 0) unknown &= ties(tiles.keys);
    for (unknown |= lanes_not_below(tiles.sum, 0x1p127f); unknown != 0; unknown &= unknown - 1) {
      run_reference(slab, column, tile_of(__builtin_ctz(unknown)), count);
    }
  }
};

// SEARCH begins with GREEDY. The improvement is scalar and does not change a tile that the reference kernel solved.
struct SearchSolver {
  static constexpr int kRows = 8;
  static constexpr int64_t kColumns = 8 * kLanes;

  template <lpt_format kPlain, bool kIsWhole>
  static void solve(const TileRowSpan &slab, int64_t column, int64_t count) {
    GreedySolver::solve<kPlain, kIsWhole>(slab, column, count);
    improve_greedy_masks(part_of(slab, column, count));
  }
};

}  // namespace

void LPT_KERNEL(transposable_mask_8_greedy)(const TransposableMaskRequest &request) {
  solve_all<GreedySolver>(request);
}

void LPT_KERNEL(transposable_mask_8_search)(const TransposableMaskRequest &request) {
  solve_all<SearchSolver>(request);
}

}  // namespace lpt
