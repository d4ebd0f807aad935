// The backward pass of attention (arXiv 2307.08691). Included by ISA files: all functions have internal linkage.
//
// For each block of kKeyBlock keys and each unit of kAttentionLanes lanes:
//   p[key][lane]  = 2^(c · key · query^T - base)
//   s[key][lane]  = p · (value · output_gradient^T - mean)
//   value sums   += p · output_gradient,  key sums += s · query,  query sums += s^T · key
// `Gemms` packs the keys of a block and computes the five GEMMs: BackwardPanels by vectors, BackwardTiles by AMX.
#pragma once

#include "kernels/attention/lanes.hpp"
#include "kernels/common/scratch_parts.hpp"

namespace lpt {
namespace {

// Queries and output gradients of a head, packed. Rows of lanes are padded to a multiple of kStepUnit words.
template <typename WordsOf, int64_t kStepUnit>
struct BackwardLanes {
  using Words = WordsOf;
  using Word = typename Words::Word;
  static constexpr int64_t kLaneSteps = kAttentionLanes / Words::kNumbers;

  const AttentionBackwardRequest &request;
  const AttentionShape &shape;
  float factor, mask_scale;  // convert scores, or scores · mask_scale + mask, to powers of two
  int64_t units, steps, value_steps, columns, value_columns;
  Word *queries, *gradients;               // right panels of the lanes of each unit
  Word *query_columns, *gradient_columns;  // right panels of columns, over the lanes of all units
  float *bases, *means;                    // per lane

  BackwardLanes(const AttentionBackwardRequest &request, ScratchParts &parts)
      : request(request), shape(request.forward.shape), units(attention_blocks(shape)) {
    const double scale = has_mask() ? 1.0 : shape.scale;
    factor = static_cast<float>(scale * kLog2E);
    mask_scale = static_cast<float>(shape.scale);
    steps = round_up(quotient_up(shape.width, Words::kNumbers), kStepUnit);
    value_steps = round_up(quotient_up(shape.value_width, Words::kNumbers), kStepUnit);
    columns = round_up(shape.width, kTileColumns);
    value_columns = round_up(shape.value_width, kTileColumns);
    const int64_t lanes = units * kAttentionLanes;
    queries = parts.take<Word>(lanes * steps);
    gradients = parts.take<Word>(lanes * value_steps);
    query_columns = parts.take<Word>(lanes / Words::kNumbers * columns);
    gradient_columns = parts.take<Word>(lanes / Words::kNumbers * value_columns);
    bases = parts.take<float>(lanes);
    means = parts.take<float>(lanes);
  }

  bool has_mask() const { return request.forward.mask.data != nullptr; }
  int64_t first_unit(int64_t batch, int64_t key_head) const { return (batch * shape.key_heads + key_head) * units; }

  void pack_head(int64_t batch, int64_t key_head) {
    for (int64_t unit = 0; unit < units; ++unit) pack_unit(Lanes(shape, first_unit(batch, key_head) + unit));
    const Lanes all(shape, first_unit(batch, key_head));
    const int64_t lanes = shape.queries * shape.group;
    const auto query_at = [&](int64_t i) { return all.row(shape, request.forward.query, i); };
    const auto gradient_at = [&](int64_t i) { return all.row(shape, request.output_gradient, i); };
    pack_across<Words>(lanes, shape.width, query_at, units * kLaneSteps, query_columns);
    pack_across<Words>(lanes, shape.value_width, gradient_at, units * kLaneSteps, gradient_columns);
  }

 private:
  template <typename RowAt>
  static void pack_lanes(int64_t count, int64_t numbers, const RowAt &row_at, int64_t padded, Word *to) {
    const int64_t words = quotient_up(numbers, Words::kNumbers);
    pack_along<Words, kAttentionLanes>(count, numbers, row_at, to);
    __builtin_memset(to + words * kAttentionLanes, 0,
                     sizeof(Word) * static_cast<size_t>((padded - words) * kAttentionLanes));
  }

  void pack_unit(const Lanes &lanes) {
    const auto gradient_at = [&](int64_t i) { return lanes.row(shape, request.output_gradient, i); };
    pack_lanes(
        lanes.count, shape.width, [&](int64_t i) { return lanes.row(shape, request.forward.query, i); }, steps,
        queries + lanes.first * steps);
    pack_lanes(lanes.count, shape.value_width, gradient_at, value_steps, gradients + lanes.first * value_steps);
    for (int64_t i = 0; i < kAttentionLanes; ++i) {
      float &base = bases[lanes.first + i], &mean = means[lanes.first + i];
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
};

// Rows of sums, in segments of kTileColumns columns that are `segment` floats apart.
struct SumRows {
  const float *data;
  int64_t segment;

  void write(const RowSource &row, int64_t width, float scale) const {
    const F32 scales = broadcast(scale);
    for_columns(0, width, [&](int64_t column, ActiveLanes columns) {
      const float *const from = data + column / kTileColumns * segment + column % kTileColumns;
      store_row<false>(row, column, columns, load(from, columns) * scales);
    });
  }
};

template <typename Words>
struct BackwardPanels {
  using Head = BackwardLanes<Words, 1>;
  using Word = typename Words::Word;
  static constexpr int64_t kLaneSteps = Head::kLaneSteps;
  static constexpr int64_t kRows = kTileRows;  // p and s are computed for a multiple of so many keys
  static constexpr int64_t kUnits = 1;         // that are added together

  const Head &head;
  // Per block of keys.
  Word *keys, *key_columns, *values;
  float *key_sums, *value_sums;  // [key][column]
  float *query_sums;             // of a head: [lane][column]
  // Per block and unit: p and s as left panels of keys, and s as a left panel of lanes.
  float *masks;
  Word *weights, *score_rows, *score_columns;

  BackwardPanels(const Head &head, ScratchParts &parts) : head(head) {
    query_sums = parts.take<float>(head.units * kAttentionLanes * head.columns);
    keys = parts.take<Word>(kKeyBlock * head.steps);
    key_columns = parts.take<Word>(kKeyBlock / Words::kNumbers * head.columns);
    values = parts.take<Word>(kKeyBlock * head.value_steps);
    key_sums = parts.take<float>(kKeyBlock * head.columns);
    value_sums = parts.take<float>(kKeyBlock * head.value_columns);
    masks = parts.take<float>(head.has_mask() ? kKeyBlock * kAttentionLanes : 0);
    weights = parts.take<Word>(kKeyBlock * kLaneSteps);
    score_rows = parts.take<Word>(kKeyBlock * kLaneSteps);
    score_columns = parts.take<Word>(kKeyBlock / Words::kNumbers * kAttentionLanes);
  }

  template <typename KeyAt, typename ValueAt>
  void pack_block(int64_t count, const KeyAt &key_at, const ValueAt &value_at) {
    const AttentionShape &shape = head.shape;
    pack_left<Words>(count, shape.width, key_at, keys);
    pack_left<Words>(count, shape.value_width, value_at, values);
    pack_across<Words>(count, shape.width, key_at, kKeyBlock / Words::kNumbers, key_columns);
    __builtin_memset(key_sums, 0, sizeof(float) * static_cast<size_t>(kKeyBlock * head.columns));
    __builtin_memset(value_sums, 0, sizeof(float) * static_cast<size_t>(kKeyBlock * head.value_columns));
  }

  SumRows key_row(int64_t key) const { return {key_sums + key * head.columns, kTileColumns}; }
  SumRows value_row(int64_t key) const { return {value_sums + key * head.value_columns, kTileColumns}; }
  SumRows query_row(int64_t lane) const { return {query_sums + lane * head.columns, kTileColumns}; }
  void finish_head() {}

  // Computes p and s for kTileRows keys from `key` of the block on, and for kTileColumns lanes.
  template <bool kIsHidden>
  void compute_weights_of_tile(const Lanes &lanes, const HiddenKeys *hidden, int64_t key, int64_t lane) {
    const int64_t at = lanes.first * head.steps, gradient_at = lanes.first * head.value_steps;
    alignas(64) float tile[kTileRows][kTileColumns];
    {
      F32 sums[kTileRows][2] = {};
      add_steps<Words, kTileRows, 1>(keys + key * head.steps, kTileRows, head.queries + at + lane, kAttentionLanes,
                                     head.steps, sums);
      const F32 scale = broadcast(head.mask_scale), factors = broadcast(head.factor);
#pragma GCC unroll 2
      for (int64_t v = 0; v < 2; ++v) {
        const F32 base = F32{} - load(head.bases + lanes.first + lane + v * kLanes);
        const float *const mask = masks + key * kAttentionLanes + lane + v * kLanes;
#pragma GCC unroll 12
        for (int64_t i = 0; i < kTileRows; ++i) {
          F32 score = sums[i][v];
          if (kIsHidden) {
            if (head.has_mask()) score = mul_add(score, scale, load(mask + i * kAttentionLanes));
            score = hidden->apply(lane / kLanes + v, static_cast<int32_t>(key + i), score);
          }
          store(tile[i] + v * kLanes, power_of_two(mul_add(score, factors, base)));
        }
      }
    }
    F32 sums[kTileRows][2] = {};
    add_steps<Words, kTileRows, 1>(values + key * head.value_steps, kTileRows, head.gradients + gradient_at + lane,
                                   kAttentionLanes, head.value_steps, sums);
    const F32 means[2] = {load(head.means + lanes.first + lane), load(head.means + lanes.first + lane + kLanes)};
#pragma GCC unroll 12
    for (int64_t i = 0; i < kTileRows; ++i) {
      const F32 low = load(tile[i]), high = load(tile[i] + kLanes);
      sums[i][0] = low * (sums[i][0] - means[0]);
      sums[i][1] = high * (sums[i][1] - means[1]);
      const int64_t word = (key + i) * kLaneSteps + lane / Words::kNumbers;
      Words::store_words_along(weights + word, low, high);
      Words::store_words_along(score_rows + word, sums[i][0], sums[i][1]);
    }
    Word *to = score_columns + key / Words::kNumbers * kAttentionLanes + lane;
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

  // Computes p and s of a block and of unit `slot` of the units that are added together. `hidden` is NULL if no lane has a hidden key
  // or a mask.
  void compute_weights(const Lanes &lanes, int64_t first, int64_t rows, const HiddenKeys *hidden, int64_t) {
    if (head.has_mask()) {
      pack_mask(head.shape, head.request.forward.mask, lanes, first, min_i64(head.shape.keys - first, rows), masks);
    }
    for (int64_t key = 0; key < rows; key += kTileRows) {
      for (int64_t lane = 0; lane < kAttentionLanes; lane += kTileColumns) {
        if (hidden != nullptr) {
          compute_weights_of_tile<true>(lanes, hidden, key, lane);
        } else {
          compute_weights_of_tile<false>(lanes, nullptr, key, lane);
        }
      }
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

  void add_units(int64_t first_lane, int64_t, int64_t rows) {
    const int64_t step = first_lane / Words::kNumbers, lane_steps = head.units * kLaneSteps;
    const Word *const gradients = head.gradient_columns + step * kTileColumns;
    const Word *const queries = head.query_columns + step * kTileColumns;
    for (int64_t key = 0; key < rows; key += kTileRows) {
      add_tiles<kTileRows, kLaneSteps>(weights + key * kLaneSteps, 1, gradients, kLaneSteps, lane_steps,
                                       value_sums + key * head.value_columns, head.value_columns);
    }
    for (int64_t key = 0; key < rows; key += kTileRows) {
      add_tiles<kTileRows, kLaneSteps>(score_rows + key * kLaneSteps, 1, queries, kLaneSteps, lane_steps,
                                       key_sums + key * head.columns, head.columns);
    }
    float *const sums = query_sums + first_lane * head.columns;
    constexpr int64_t kBlockSteps = kKeyBlock / Words::kNumbers;
    const int64_t steps = rows / Words::kNumbers;
    int64_t lane = 0;
    for (; lane + kTileRows <= kAttentionLanes; lane += kTileRows) {
      add_tiles<kTileRows, 1>(score_columns + lane, kAttentionLanes, key_columns, steps, kBlockSteps,
                              sums + lane * head.columns, head.columns);
    }
    add_tiles<kAttentionLanes % kTileRows, 1>(score_columns + lane, kAttentionLanes, key_columns, steps, kBlockSteps,
                                              sums + lane * head.columns, head.columns);
  }
};

template <typename Gemms>
struct Backward {
  ScratchParts parts;
  typename Gemms::Head head;
  Gemms gemms;

  explicit Backward(const AttentionBackwardRequest &request)
      : parts(request.scratch), head(request, parts), gemms(head, parts) {}

  // Adds the units [begin, end) of a head to the sums of a block of keys.
  void add_units(int64_t first_unit, int64_t begin, int64_t end, int64_t first, int64_t count) {
    const AttentionShape &shape = head.shape;
    const Lanes last(shape, first_unit + end - 1);
    const int64_t rows = round_up(min_i64(last.last_range(shape).end - first, count), Gemms::kRows);
    for (int64_t unit = begin; unit < end; ++unit) {
      const Lanes lanes(shape, first_unit + unit);
      if (head.has_mask() || !is_unmasked(lanes.first_range(shape), lanes.last_range(shape), first, rows)) {
        const HiddenKeys hidden(shape, lanes, first);
        gemms.compute_weights(lanes, first, rows, &hidden, unit - begin);
      } else {
        gemms.compute_weights(lanes, first, rows, nullptr, unit - begin);
      }
    }
    gemms.add_units(begin * kAttentionLanes, end - begin, rows);
  }

  void add_block(int64_t batch, int64_t key_head, int64_t first, int64_t count) {
    const AttentionShape &shape = head.shape;
    const int64_t first_unit = head.first_unit(batch, key_head);
    const auto sees = [&](int64_t unit) {
      const Lanes lanes(shape, first_unit + unit);
      return lanes.last_range(shape).end > first && lanes.first_range(shape).begin < first + count;
    };
    for (int64_t unit = 0; unit < head.units;) {
      if (!sees(unit)) {
        ++unit;
        continue;
      }
      int64_t end = unit + 1;
      while (end < min_i64(unit + Gemms::kUnits, head.units) && sees(end)) ++end;
      add_units(first_unit, unit, end, first, count);
      unit = end;
    }
  }

  void run_head(int64_t batch, int64_t key_head) {
    const AttentionBackwardRequest &request = head.request;
    const AttentionShape &shape = head.shape;
    const auto scale = static_cast<float>(shape.scale);
    head.pack_head(batch, key_head);
    __builtin_memset(gemms.query_sums, 0,
                     sizeof(float) * static_cast<size_t>(head.units * kAttentionLanes * head.columns));
    for (int64_t first = 0; first < shape.keys; first += kKeyBlock) {
      const int64_t count = min_i64(shape.keys - first, kKeyBlock);
      gemms.pack_block(
          count, [&](int64_t i) { return row_at(request.forward.key, batch, key_head, first + i); },
          [&](int64_t i) { return row_at(request.forward.value, batch, key_head, first + i); });
      add_block(batch, key_head, first, count);
      for (int64_t i = 0; i < count; ++i) {
        gemms.key_row(i).write(row_at(request.key_gradient, batch, key_head, first + i), shape.width, scale);
        gemms.value_row(i).write(row_at(request.value_gradient, batch, key_head, first + i), shape.value_width, 1.0f);
      }
    }
    gemms.finish_head();
    for (int64_t unit = 0; unit < head.units; ++unit) {
      const Lanes lanes(shape, head.first_unit(batch, key_head) + unit);
      for (int64_t i = 0; i < lanes.count; ++i) {
        gemms.query_row(lanes.first + i).write(lanes.row(shape, request.query_gradient, i), shape.width, scale);
      }
    }
  }
};

template <typename Gemms>
void attention_backward(const AttentionBackwardRequest &request) {
  Backward<Gemms> backward(request);
  for (int64_t head = request.first_head; head < request.first_head + request.heads; ++head) {
    backward.run_head(head / request.forward.shape.key_heads, head % request.forward.shape.key_heads);
  }
}

template <typename Gemms>
size_t attention_backward_bytes(const AttentionBackwardRequest &request) {
  return Backward<Gemms>(request).parts.bytes();
}

}  // namespace
}  // namespace lpt
