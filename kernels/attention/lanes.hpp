// Lanes of attention: their queries, and the keys that they attend to. Included by ISA files: all functions have internal
// linkage.
#pragma once

#include "kernels/attention/panels.hpp"

namespace lpt {
namespace {

constexpr int64_t kKeyBlock = 96;  // keys whose scores are stored at once
static_assert(kKeyBlock % kTileRows == 0 && kAttentionLanes % kTileColumns == 0);
constexpr int64_t kLaneVectors = kAttentionLanes / kLanes;
constexpr double kLog2E = 0x1.71547652b82fep+0;

// The test saves a division by 1, which takes as long as any other.
inline int64_t query_of(const AttentionShape &shape, int64_t lane) {
  return shape.group == 1 ? lane : lane / shape.group;
}

// The keys that a lane attends to.
struct KeyRange {
  int64_t begin, end;
};

inline KeyRange keys_of_lane(const AttentionShape &shape, int64_t lane) {
  if (!shape.is_causal) return {0, shape.keys};
  const int64_t end = query_of(shape, lane) + shape.keys - shape.queries + 1;
  return {min_i64(max_i64(end - shape.window, 0), shape.keys), min_i64(max_i64(end, 0), shape.keys)};
}

// The lanes of a unit.
struct Lanes {
  int64_t batch, key_head, first, count;

  Lanes(const AttentionShape &shape, int64_t unit) {
    const int64_t blocks = attention_blocks(shape);
    key_head = unit / blocks % shape.key_heads;
    batch = unit / blocks / shape.key_heads;
    first = unit % blocks * kAttentionLanes;
    count = min_i64(shape.queries * shape.group - first, kAttentionLanes);
  }

  // Returns the row of a lane in a matrix of queries.
  RowSource row(const AttentionShape &shape, const AttentionMatrix &matrix, int64_t i) const {
    const int64_t lane = first + i, query = query_of(shape, lane);
    return row_at(matrix, batch, key_head * shape.group + lane - query * shape.group, query);
  }
  KeyRange first_range(const AttentionShape &shape) const { return keys_of_lane(shape, first); }
  KeyRange last_range(const AttentionShape &shape) const { return keys_of_lane(shape, first + count - 1); }
};

// Returns whether all lanes attend to all of `rows` keys from `first` on.
inline bool is_unmasked(const KeyRange &low, const KeyRange &high, int64_t first, int64_t rows) {
  return first >= high.begin && first + rows <= low.end;
}

// For each lane, the keys of a block that it attends to; all other keys are hidden.
struct HiddenKeys {
  HiddenKeys(const AttentionShape &shape, const Lanes &lanes, int64_t first) {
    for (int64_t i = 0; i < kAttentionLanes; ++i) {
      const KeyRange range = keys_of_lane(shape, lanes.first + min_i64(i, lanes.count - 1));
      begins[i] = static_cast<int32_t>(min_i64(max_i64(range.begin - first, 0), kKeyBlock));
      ends[i] = static_cast<int32_t>(min_i64(max_i64(range.end - first, 0), kKeyBlock));
    }
  }
  // Sets the scores of key `row` of the block to minus infinity in the lanes of vector v that do not attend to it.
  [[gnu::always_inline]] F32 apply(int64_t v, int32_t row, F32 scores) const {
    I32 begin, end;
    __builtin_memcpy(&begin, begins + v * kLanes, sizeof begin);
    __builtin_memcpy(&end, ends + v * kLanes, sizeof end);
    const I32 key = broadcast_i32(row);
    return select((key >= begin) & (key < end), scores, broadcast(-__builtin_inff()));
  }

 private:
  alignas(64) int32_t begins[kAttentionLanes], ends[kAttentionLanes];
};

// Packs the mask of `keys` keys from `first` on, as [key][lane].
inline void pack_mask(const AttentionShape &shape, const AttentionMatrix &mask, const Lanes &lanes, int64_t first,
                      int64_t keys, float *to) {
  const auto mask_at = [&](int64_t i) {
    RowSource row = lanes.row(shape, mask, i);
    row.data += first * (row.format == LPT_FORMAT_F32 ? 4 : 2);
    return row;
  };
  pack_along<FloatWords, kAttentionLanes>(lanes.count, keys, mask_at, to);
}

}  // namespace
}  // namespace lpt
