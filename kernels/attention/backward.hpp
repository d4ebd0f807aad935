// The backward pass of attention (arXiv 2307.08691). Included by ISA files: all functions have internal linkage.
//
// For each block of kKeyBlock keys and each unit of kAttentionLanes lanes:
//   p[key][lane]  = 2^(c · key · query^T - base)
//   s[key][lane]  = p · (value · output_gradient^T - mean)
//   value sums   += p · output_gradient,  key sums += s · query,  query sums += s^T · key
#pragma once

#include "kernels/attention/lanes.hpp"
#include "kernels/common/scratch_parts.hpp"

namespace lpt {
namespace {

template <typename Words>
struct BackwardScratch {
  using Word = typename Words::Word;
  static constexpr int64_t kLaneSteps = kAttentionLanes / Words::kNumbers;

  explicit BackwardScratch(const AttentionBackwardRequest &request) {
    const AttentionShape &shape = request.forward.shape;
    steps = quotient_up(shape.width, Words::kNumbers);
    value_steps = quotient_up(shape.value_width, Words::kNumbers);
    columns = round_up(shape.width, kTileColumns);
    value_columns = round_up(shape.value_width, kTileColumns);
    const int64_t lanes = attention_blocks(shape) * kAttentionLanes;
    ScratchParts parts(request.scratch);
    queries = parts.take<Word>(lanes * steps);
    query_columns = parts.take<Word>(lanes / Words::kNumbers * columns);
    gradients = parts.take<Word>(lanes * value_steps);
    gradient_columns = parts.take<Word>(lanes / Words::kNumbers * value_columns);
    bases = parts.take<float>(lanes);
    means = parts.take<float>(lanes);
    query_sums = parts.take<float>(lanes * columns);
    keys = parts.take<Word>(kKeyBlock * steps);
    key_columns = parts.take<Word>(kKeyBlock / Words::kNumbers * columns);
    values = parts.take<Word>(kKeyBlock * value_steps);
    key_sums = parts.take<float>(kKeyBlock * columns);
    value_sums = parts.take<float>(kKeyBlock * value_columns);
    masks = parts.take<float>(request.forward.mask.data == nullptr ? 0 : kKeyBlock * kAttentionLanes);
    weights = parts.take<Word>(kKeyBlock * kLaneSteps);
    score_rows = parts.take<Word>(kKeyBlock * kLaneSteps);
    score_columns = parts.take<Word>(kKeyBlock / Words::kNumbers * kAttentionLanes);
    bytes = parts.bytes();
  }

  int64_t steps, value_steps, columns, value_columns;
  // Per head: right panels of each unit, of its lanes and of its columns.
  Word *queries, *query_columns, *gradients, *gradient_columns;
  float *bases, *means;  // per lane
  float *query_sums;     // [lane][column]
  // Per block of keys.
  Word *keys, *key_columns, *values;
  float *key_sums, *value_sums;  // [key][column]
  // Per block and unit: p and s as left panels of keys, and s as a left panel of lanes.
  float *masks;
  Word *weights, *score_rows, *score_columns;
  size_t bytes;
};

template <typename Words>
struct Backward {
  using Word = typename Words::Word;
  using Scratch = BackwardScratch<Words>;

  const AttentionBackwardRequest &request;
  const AttentionShape &shape;
  Scratch scratch;
  float factor, mask_scale;  // converts scores, or scores · mask_scale + mask, to powers of two

  explicit Backward(const AttentionBackwardRequest &request)
      : request(request), shape(request.forward.shape), scratch(request) {
    const double scale = request.forward.mask.data == nullptr ? shape.scale : 1.0;
    factor = static_cast<float>(scale * kLog2E);
    mask_scale = static_cast<float>(shape.scale);
  }

  // Lanes of a head.

  void pack_unit(const Lanes &lanes) {
    const auto query_at = [&](int64_t i) { return lanes.row(shape, request.forward.query, i); };
    const auto gradient_at = [&](int64_t i) { return lanes.row(shape, request.output_gradient, i); };
    pack_along<Words, kAttentionLanes>(lanes.count, shape.width, query_at,
                                       scratch.queries + lanes.first * scratch.steps);
    pack_along<Words, kAttentionLanes>(lanes.count, shape.value_width, gradient_at,
                                       scratch.gradients + lanes.first * scratch.value_steps);
    const int64_t first_step = lanes.first / Words::kNumbers;
    pack_across<Words>(lanes.count, shape.width, query_at, Scratch::kLaneSteps,
                       scratch.query_columns + first_step * scratch.columns);
    pack_across<Words>(lanes.count, shape.value_width, gradient_at, Scratch::kLaneSteps,
                       scratch.gradient_columns + first_step * scratch.value_columns);
    for (int64_t i = 0; i < kAttentionLanes; ++i) {
      float &base = scratch.bases[lanes.first + i], &mean = scratch.means[lanes.first + i];
      base = __builtin_inff();
      mean = 0.0f;
      if (i >= lanes.count) continue;
      const float log_sum = *floats_at(lanes.row(shape, request.forward.log_sums, i), 0);
      if (log_sum != -__builtin_inff()) base = static_cast<float>(log_sum * kLog2E);
      const RowSource output = lanes.row(shape, request.forward.output, i), gradient = gradient_at(i);
      F32 sums = {};
      for_columns(0, shape.value_width, [&](int64_t column, ActiveLanes columns) {
        sums = mul_add(load_row<false>(output, column, columns), load_row<false>(gradient, column, columns), sums);
      });
      mean = reduce_sum(sums);
    }
  }

  // Keys of a block.

  void pack_block(int64_t batch, int64_t key_head, int64_t first, int64_t count) {
    const auto key_at = [&](int64_t i) { return row_at(request.forward.key, batch, key_head, first + i); };
    const auto value_at = [&](int64_t i) { return row_at(request.forward.value, batch, key_head, first + i); };
    pack_left<Words>(count, shape.width, key_at, scratch.keys);
    pack_left<Words>(count, shape.value_width, value_at, scratch.values);
    pack_across<Words>(count, shape.width, key_at, kKeyBlock / Words::kNumbers, scratch.key_columns);
    __builtin_memset(scratch.key_sums, 0, sizeof(float) * static_cast<size_t>(kKeyBlock * scratch.columns));
    __builtin_memset(scratch.value_sums, 0, sizeof(float) * static_cast<size_t>(kKeyBlock * scratch.value_columns));
  }

  // Computes p and s for kTileRows keys from `key` of the block on, and for kTileColumns lanes.
  template <bool kIsHidden>
  void weigh_tile(const Lanes &lanes, const HiddenKeys *hidden, int64_t key, int64_t lane) {
    const int64_t at = lanes.first * scratch.steps, gradient_at = lanes.first * scratch.value_steps;
    alignas(64) float weights[kTileRows][kTileColumns];
    {
      F32 sums[kTileRows][2] = {};
      add_steps<Words, kTileRows, 1>(scratch.keys + key * scratch.steps, kTileRows, scratch.queries + at + lane,
                                     kAttentionLanes, scratch.steps, sums);
      const F32 scale = broadcast(mask_scale), factors = broadcast(factor);
#pragma GCC unroll 2
      for (int64_t v = 0; v < 2; ++v) {
        const F32 base = F32{} - load(scratch.bases + lanes.first + lane + v * kLanes);
        const float *const masks = scratch.masks + key * kAttentionLanes + lane + v * kLanes;
#pragma GCC unroll 12
        for (int64_t i = 0; i < kTileRows; ++i) {
          F32 score = sums[i][v];
          if (kIsHidden) {
            if (request.forward.mask.data != nullptr) score = mul_add(score, scale, load(masks + i * kAttentionLanes));
            score = hidden->apply(lane / kLanes + v, static_cast<int32_t>(key + i), score);
          }
          store(weights[i] + v * kLanes, power_of_two(mul_add(score, factors, base)));
        }
      }
    }
    F32 sums[kTileRows][2] = {};
    add_steps<Words, kTileRows, 1>(scratch.values + key * scratch.value_steps, kTileRows,
                                   scratch.gradients + gradient_at + lane, kAttentionLanes, scratch.value_steps, sums);
    const F32 means[2] = {load(scratch.means + lanes.first + lane), load(scratch.means + lanes.first + lane + kLanes)};
#pragma GCC unroll 12
    for (int64_t i = 0; i < kTileRows; ++i) {
      const F32 low = load(weights[i]), high = load(weights[i] + kLanes);
      sums[i][0] = low * (sums[i][0] - means[0]);
      sums[i][1] = high * (sums[i][1] - means[1]);
      const int64_t word = (key + i) * Scratch::kLaneSteps + lane / Words::kNumbers;
      Words::store_words_along(scratch.weights + word, low, high);
      Words::store_words_along(scratch.score_rows + word, sums[i][0], sums[i][1]);
    }
    Word *to = scratch.score_columns + key / Words::kNumbers * kAttentionLanes + lane;
#pragma GCC unroll 12
    for (int64_t i = 0; i < kTileRows; i += Words::kNumbers, to += kAttentionLanes) {
#pragma GCC unroll 2
      for (int64_t v = 0; v < 2; ++v) {
        F32 rows[Words::kNumbers];
        for (int64_t n = 0; n < Words::kNumbers; ++n) rows[n] = sums[i + n][v];
        Words::store_words_of(to + v * kLanes, rows);
      }
    }
  }

  void weigh(const Lanes &lanes, int64_t first, int64_t rows) {
    const bool is_hidden = request.forward.mask.data != nullptr ||
                           !is_seen_whole(lanes.first_range(shape), lanes.last_range(shape), first, rows);
    if (request.forward.mask.data != nullptr)
      pack_mask(shape, request.forward.mask, lanes, first, min_i64(shape.keys - first, rows), scratch.masks);
    if (is_hidden) {
      const HiddenKeys hidden(shape, lanes, first);
      for (int64_t key = 0; key < rows; key += kTileRows) {
        for (int64_t lane = 0; lane < kAttentionLanes; lane += kTileColumns) {
          weigh_tile<true>(lanes, &hidden, key, lane);
        }
      }
      return;
    }
    for (int64_t key = 0; key < rows; key += kTileRows) {
      for (int64_t lane = 0; lane < kAttentionLanes; lane += kTileColumns) weigh_tile<false>(lanes, nullptr, key, lane);
    }
  }

  // Computes sums[row][column] += left · right for kRows rows.
  template <int kRows, int kRowStride>
  static void add_tiles(const Word *left, int64_t left_stride, const Word *right, int64_t steps, int64_t panel_steps,
                        float *sums, int64_t columns) {
    for (int64_t column = 0; column < columns; column += kTileColumns, right += panel_steps * kTileColumns) {
      F32 tile[kRows][2];
      load_sums(sums + column, columns, tile);
      add_steps<Words, kRows, kRowStride>(left, left_stride, right, kTileColumns, steps, tile);
      store_sums(tile, sums + column, columns);
    }
  }

  void add_unit(const Lanes &lanes, int64_t rows) {
    constexpr int64_t kSteps = Scratch::kLaneSteps;
    const int64_t first_step = lanes.first / Words::kNumbers;
    const Word *const gradients = scratch.gradient_columns + first_step * scratch.value_columns;
    const Word *const queries = scratch.query_columns + first_step * scratch.columns;
    for (int64_t key = 0; key < rows; key += kTileRows) {
      add_tiles<kTileRows, kSteps>(scratch.weights + key * kSteps, 1, gradients, kSteps, kSteps,
                                   scratch.value_sums + key * scratch.value_columns, scratch.value_columns);
    }
    for (int64_t key = 0; key < rows; key += kTileRows) {
      add_tiles<kTileRows, kSteps>(scratch.score_rows + key * kSteps, 1, queries, kSteps, kSteps,
                                   scratch.key_sums + key * scratch.columns, scratch.columns);
    }
    float *const sums = scratch.query_sums + lanes.first * scratch.columns;
    const int64_t steps = rows / Words::kNumbers;
    int64_t lane = 0;
    for (; lane + kTileRows <= kAttentionLanes; lane += kTileRows) {
      add_tiles<kTileRows, 1>(scratch.score_columns + lane, kAttentionLanes, scratch.key_columns, steps,
                              kKeyBlock / Words::kNumbers, sums + lane * scratch.columns, scratch.columns);
    }
    add_tiles<kAttentionLanes % kTileRows, 1>(scratch.score_columns + lane, kAttentionLanes, scratch.key_columns, steps,
                                              kKeyBlock / Words::kNumbers, sums + lane * scratch.columns,
                                              scratch.columns);
  }

  static void write_row(const RowSource &row, const float *sums, int64_t width, float scale) {
    const F32 scales = broadcast(scale);
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      store_row<false>(row, column, columns, load(sums + column, columns) * scales);
    });
  }

  void run_head(int64_t batch, int64_t key_head) {
    const int64_t blocks = attention_blocks(shape), first_unit = (batch * shape.key_heads + key_head) * blocks;
    const auto scale = static_cast<float>(shape.scale);
    for (int64_t unit = 0; unit < blocks; ++unit) pack_unit(Lanes(shape, first_unit + unit));
    __builtin_memset(scratch.query_sums, 0,
                     sizeof(float) * static_cast<size_t>(blocks * kAttentionLanes * scratch.columns));
    for (int64_t first = 0; first < shape.keys; first += kKeyBlock) {
      const int64_t count = min_i64(shape.keys - first, kKeyBlock);
      pack_block(batch, key_head, first, count);
      for (int64_t unit = 0; unit < blocks; ++unit) {
        const Lanes lanes(shape, first_unit + unit);
        const int64_t seen = min_i64(lanes.last_range(shape).end - first, count);
        if (seen <= 0 || lanes.first_range(shape).begin >= first + count) continue;
        const int64_t rows = round_up(seen, kTileRows);
        weigh(lanes, first, rows);
        add_unit(lanes, rows);
      }
      for (int64_t i = 0; i < count; ++i) {
        write_row(row_at(request.key_gradient, batch, key_head, first + i), scratch.key_sums + i * scratch.columns,
                  shape.width, scale);
        write_row(row_at(request.value_gradient, batch, key_head, first + i),
                  scratch.value_sums + i * scratch.value_columns, shape.value_width, 1.0f);
      }
    }
    for (int64_t unit = 0; unit < blocks; ++unit) {
      const Lanes lanes(shape, first_unit + unit);
      for (int64_t i = 0; i < lanes.count; ++i) {
        write_row(lanes.row(shape, request.query_gradient, i), scratch.query_sums + (lanes.first + i) * scratch.columns,
                  shape.width, scale);
      }
    }
  }
};

template <typename Words>
void attention_backward(const AttentionBackwardRequest &request) {
  Backward<Words> backward(request);
  for (int64_t head = request.first_head; head < request.first_head + request.heads; ++head) {
    backward.run_head(head / request.forward.shape.key_heads, head % request.forward.shape.key_heads);
  }
}

}  // namespace
}  // namespace lpt
