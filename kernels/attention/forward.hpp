// The forward pass of attention, in blocks of keys with a running maximum (arXiv 2205.14135). Included by ISA files: everything
// here has internal linkage.
//
// For each unit of kAttentionLanes lanes and each block of kKeyBlock keys:
//   scores[key][lane] = key · query^T
//   peak, base        their running maximum, and that times c = scale · log2(e)
//   weights           2^(c · scores - base), as words [key][lane]
//   outputs[lane]     = outputs[lane] · 2^(old base - base) + weights^T · value
// Maxima, sums and exponentials take a lane for each query: no vector is reduced.
#pragma once

#include "kernels/attention/lanes.hpp"
#include "kernels/common/scratch_parts.hpp"

namespace lpt {
namespace {

template <typename Words>
struct ForwardScratch {
  using Word = typename Words::Word;

  explicit ForwardScratch(const AttentionForwardRequest &request) {
    const AttentionShape &shape = request.shape;
    steps = quotient_up(shape.width, Words::kNumbers);
    key_steps = round_up(shape.keys, kKeyBlock) / Words::kNumbers;
    columns = round_up(shape.value_width, kTileColumns);
    ScratchParts parts(request.scratch);
    keys = parts.take<Word>(round_up(shape.keys, kTileRows) * steps);
    values = parts.take<Word>(key_steps * columns);
    queries = parts.take<Word>(steps * kAttentionLanes);
    scores = parts.take<float>(kKeyBlock * kAttentionLanes);
    masks = parts.take<float>(request.mask.data == nullptr ? 0 : kKeyBlock * kAttentionLanes);
    weights = parts.take<Word>(kKeyBlock / Words::kNumbers * kAttentionLanes);
    outputs = parts.take<float>(kAttentionLanes * columns);
    bytes = parts.bytes();
  }

  int64_t steps, key_steps, columns;
  Word *keys, *values;  // of a head: left panels of kTileRows keys; right panels of all keys
  Word *queries;
  float *scores, *masks;
  Word *weights;
  float *outputs;
  size_t bytes;
};

// Running values of each lane.
struct LaneState {
  alignas(64) float peaks[kAttentionLanes], bases[kAttentionLanes], sums[kAttentionLanes], factors[kAttentionLanes];
};

template <typename Words>
struct Forward {
  using Word = typename Words::Word;

  const AttentionForwardRequest &request;
  const AttentionShape &shape;
  ForwardScratch<Words> scratch;
  LaneState state;

  explicit Forward(const AttentionForwardRequest &request) : request(request), shape(request.shape), scratch(request) {}

  // Keys and values of a head, up to `end`.
  void pack_head(const Lanes &lanes, int64_t end) {
    pack_left<Words>(
        end, shape.width, [&](int64_t i) { return row_at(request.key, lanes.batch, lanes.key_head, i); }, scratch.keys);
    const auto value_at = [&](int64_t i) { return row_at(request.value, lanes.batch, lanes.key_head, i); };
    pack_across<Words>(end, shape.value_width, value_at, scratch.key_steps, scratch.values);
  }

  void multiply_keys(int64_t first, int64_t count) {
    const Word *left = scratch.keys + first * scratch.steps;
    float *to = scratch.scores;
    for (int64_t key = 0; key < count; key += kTileRows) {
      for (int64_t lane = 0; lane < kAttentionLanes; lane += kTileColumns) {
        F32 sums[kTileRows][2] = {};
        add_steps<Words, kTileRows, 1>(left, kTileRows, scratch.queries + lane, kAttentionLanes, scratch.steps, sums);
        store_sums(sums, to + lane, kAttentionLanes);
      }
      left += kTileRows * scratch.steps;
      to += kTileRows * kAttentionLanes;
    }
  }

  // Scores that a lane does not see become minus infinity.
  void hide_keys(const Lanes &lanes, int64_t first, int64_t rows) {
    const HiddenKeys hidden(shape, lanes, first);
    for (int64_t v = 0; v < kLaneVectors; ++v) {
      float *at = scratch.scores + v * kLanes;
      for (int32_t row = 0; row < rows; ++row, at += kAttentionLanes) store(at, hidden.apply(v, row, load(at)));
    }
  }

  // scores · scale + mask: its scale is then 1.
  void add_mask(const Lanes &lanes, int64_t first, int64_t keys) {
    pack_mask(shape, request.mask, lanes, first, keys, scratch.masks);
    const F32 scale = broadcast(static_cast<float>(shape.scale));
    for (int64_t i = 0; i < keys * kAttentionLanes; i += kLanes) {
      store(scratch.scores + i, mul_add(load(scratch.scores + i), scale, load(scratch.masks + i)));
    }
  }

  // Scores → weights, and the values of their lanes.
  void weigh(int64_t rows) {
    const double scale = request.mask.data == nullptr ? shape.scale : 1.0;
    const F32 factor = broadcast(static_cast<float>(scale * kLog2E));
    const F32 lowest = broadcast(-__builtin_inff());
    for (int64_t v = 0; v < kLaneVectors; ++v) {
      const float *const scores = scratch.scores + v * kLanes;
      const F32 old_peak = load(state.peaks + v * kLanes), old_base = load(state.bases + v * kLanes);
      F32 peaks[4] = {old_peak, lowest, lowest, lowest};
      for (int64_t row = 0; row < rows; row += kTileRows) {
#pragma GCC unroll 12
        for (int64_t i = 0; i < kTileRows; ++i) {
          peaks[i % 4] = max(load(scores + (row + i) * kAttentionLanes), peaks[i % 4]);
        }
      }
      const F32 peak = max(max(peaks[0], peaks[1]), max(peaks[2], peaks[3]));
      const F32 base = select(is_equal(peak, lowest), broadcast(0.0f), peak * factor);
      const F32 change = select(is_equal(old_peak, lowest), broadcast(0.0f), power_of_two(old_base - base));
      F32 sums[2] = {load(state.sums + v * kLanes) * change, F32{}};
      Word *to = scratch.weights + v * kLanes;
      for (int64_t row = 0; row < rows; row += kTileRows) {
#pragma GCC unroll 12
        for (int64_t i = 0; i < kTileRows; i += Words::kNumbers) {
          F32 weights[Words::kNumbers];
          for (int64_t n = 0; n < Words::kNumbers; ++n) {
            const F32 score = load(scores + (row + i + n) * kAttentionLanes);
            weights[n] = power_of_two(mul_add(score, factor, F32{} - base));
            sums[(i + n) % 2] += weights[n];
          }
          Words::store_words_of(to, weights);
          to += kAttentionLanes;
        }
      }
      store(state.peaks + v * kLanes, peak);
      store(state.bases + v * kLanes, base);
      store(state.sums + v * kLanes, sums[0] + sums[1]);
      store(state.factors + v * kLanes, change);
    }
  }

  template <int kRows>
  void add_values(int64_t lane, int64_t first, int64_t rows) {
    const Word *values = scratch.values + first / Words::kNumbers * kTileColumns;
    float *to = scratch.outputs + lane * scratch.columns;
    for (int64_t column = 0; column < scratch.columns; column += kTileColumns) {
      F32 sums[kRows][2];
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        const F32 factor = broadcast(state.factors[lane + i]);
        sums[i][0] = load(to + i * scratch.columns + column) * factor;
        sums[i][1] = load(to + i * scratch.columns + column + kLanes) * factor;
      }
      add_steps<Words, kRows, 1>(scratch.weights + lane, kAttentionLanes, values, kTileColumns, rows / Words::kNumbers,
                                 sums);
      store_sums(sums, to + column, scratch.columns);
      values += scratch.key_steps * kTileColumns;
    }
  }

  void write_outputs(const Lanes &lanes) {
    for (int64_t i = 0; i < lanes.count; ++i) {
      const float sum = state.sums[i];
      const F32 inverse = broadcast(sum == 0.0f ? 0.0f : 1.0f / sum);
      const RowSource row = lanes.row(shape, request.output, i);
      const float *const from = scratch.outputs + i * scratch.columns;
      for_columns(0, shape.value_width, [&](int64_t column, ActiveLanes columns) {
        store_row<false>(row, column, columns, load(from + column) * inverse);
      });
      if (request.log_sums.data == nullptr) continue;
      *floats_at(lanes.row(shape, request.log_sums, i), 0) =
          sum == 0.0f ? -__builtin_inff() : static_cast<float>(state.bases[i] / kLog2E + __builtin_logf(sum));
    }
  }

  void run_unit(const Lanes &lanes) {
    const auto query_at = [&](int64_t i) { return lanes.row(shape, request.query, i); };
    pack_along<Words, kAttentionLanes>(lanes.count, shape.width, query_at, scratch.queries);
    for (int64_t i = 0; i < kAttentionLanes; ++i) {
      state.peaks[i] = -__builtin_inff();
      state.bases[i] = state.sums[i] = 0.0f;
    }
    __builtin_memset(scratch.outputs, 0, sizeof(float) * kAttentionLanes * scratch.columns);
    const KeyRange low = lanes.first_range(shape), high = lanes.last_range(shape);
    for (int64_t first = low.begin / kKeyBlock * kKeyBlock; first < high.end; first += kKeyBlock) {
      const int64_t seen = min_i64(high.end - first, kKeyBlock), rows = round_up(seen, kTileRows);
      multiply_keys(first, rows);
      if (request.mask.data != nullptr) add_mask(lanes, first, seen);
      if (!is_seen_whole(low, high, first, rows)) hide_keys(lanes, first, rows);
      weigh(rows);
      int64_t lane = 0;
      for (; lane + kTileRows <= kAttentionLanes; lane += kTileRows) add_values<kTileRows>(lane, first, rows);
      add_values<kAttentionLanes % kTileRows>(lane, first, rows);
    }
    write_outputs(lanes);
  }
};

template <typename Words>
void attention_forward(const AttentionForwardRequest &request) {
  Forward<Words> forward(request);
  const int64_t blocks = attention_blocks(request.shape), end = request.first_unit + request.units;
  for (int64_t unit = request.first_unit; unit < end; ++unit) {
    const Lanes lanes(request.shape, unit);
    if (unit == request.first_unit || unit % blocks == 0) {
      const int64_t last = min_i64(end, (unit / blocks + 1) * blocks) - 1;
      forward.pack_head(lanes, Lanes(request.shape, last).last_range(request.shape).end);
    }
    forward.run_unit(lanes);
  }
}

}  // namespace
}  // namespace lpt
