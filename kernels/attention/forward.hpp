// The forward pass of attention, in blocks of keys with a running maximum (arXiv 2205.14135). Included by ISA files: all
// functions have internal linkage.
//
// For each unit of kAttentionLanes lanes and each block of kKeyBlock keys:
//   scores[key][lane] = key · query^T
//   peak, base        the running maximum, and the maximum times c = scale · log2(e)
//   weights           2^(c · scores - base), as words [key][lane]
//   outputs[lane]     = outputs[lane] · 2^(old base - base) + weights^T · value
// Maxima, sums and exponentials have one SIMD lane per query, so that no vector is reduced. `Gemms` packs the operands of the
// two GEMMs and computes them: ForwardPanels by vectors, ForwardTiles by AMX.
#pragma once

#include "kernels/attention/lanes.hpp"
#include "kernels/common/scratch_parts.hpp"

namespace lpt {
namespace {

// Running values of each lane.
struct LaneState {
  alignas(64) float peaks[kAttentionLanes], bases[kAttentionLanes], sums[kAttentionLanes], factors[kAttentionLanes];
};

template <typename WordsOf>
struct ForwardPanels {
  using Words = WordsOf;
  using Word = typename Words::Word;
  static constexpr int64_t kRows = kTileRows;   // scores are computed for a multiple of kRows keys
  static constexpr int64_t kGroup = kTileRows;  // keys per iteration of the softmax

  int64_t steps, key_steps, columns;
  Word *keys, *values;  // per head: left panels of kTileRows keys; right panels of all keys
  Word *queries, *weights;
  float *scores, *outputs;  // [key][lane], [lane][column]

  ForwardPanels(const AttentionShape &shape, ScratchParts &parts) {
    steps = quotient_up(shape.width, Words::kNumbers);
    key_steps = round_up(shape.keys, kKeyBlock) / Words::kNumbers;
    columns = round_up(shape.value_width, kTileColumns);
    keys = parts.take<Word>(round_up(shape.keys, kTileRows) * steps);
    values = parts.take<Word>(key_steps * columns);
    queries = parts.take<Word>(steps * kAttentionLanes);
    scores = parts.take<float>(kKeyBlock * kAttentionLanes);
    weights = parts.take<Word>(kKeyBlock / Words::kNumbers * kAttentionLanes);
    outputs = parts.take<float>(kAttentionLanes * columns);
  }

  // Packs the first `end` keys and values of a head.
  template <typename KeyAt, typename ValueAt>
  void pack_head(const AttentionShape &shape, int64_t end, const KeyAt &key_at, const ValueAt &value_at) {
    pack_left<Words>(end, shape.width, key_at, keys);
    pack_across<Words>(end, shape.value_width, value_at, key_steps, values);
  }

  template <typename QueryAt>
  void begin_unit(const AttentionShape &shape, int64_t lanes, const QueryAt &query_at) {
    pack_along<Words, kAttentionLanes>(lanes, shape.width, query_at, queries);
    __builtin_memset(outputs, 0, sizeof(float) * kAttentionLanes * columns);
  }

  void multiply_keys(int64_t first, int64_t rows) {
    const Word *left = keys + first * steps;
    float *to = scores;
    for (int64_t key = 0; key < rows; key += kTileRows) {
      for (int64_t lane = 0; lane < kAttentionLanes; lane += kTileColumns) {
        F32 sums[kTileRows][2] = {};
        add_steps<Words, kTileRows, 1>(left, kTileRows, queries + lane, kAttentionLanes, steps, sums);
        store_sums(sums, to + lane, kAttentionLanes);
      }
      left += kTileRows * steps;
      to += kTileRows * kAttentionLanes;
    }
  }

  template <int kLanesOfTile>
  void add_values_of(int64_t lane, int64_t first, int64_t rows, const float *factors) {
    const Word *panel = values + first / Words::kNumbers * kTileColumns;
    float *to = outputs + lane * columns;
    for (int64_t column = 0; column < columns; column += kTileColumns) {
      F32 sums[kLanesOfTile][2];
#pragma GCC unroll 12
      for (int i = 0; i < kLanesOfTile; ++i) {
        const F32 factor = broadcast(factors[lane + i]);
        sums[i][0] = load(to + i * columns + column) * factor;
        sums[i][1] = load(to + i * columns + column + kLanes) * factor;
      }
      add_steps<Words, kLanesOfTile, 1>(weights + lane, kAttentionLanes, panel, kTileColumns, rows / Words::kNumbers,
                                        sums);
      store_sums(sums, to + column, columns);
      panel += key_steps * kTileColumns;
    }
  }

  // Computes outputs = outputs · factors of their lanes + weights^T · value.
  void add_values(int64_t first, int64_t rows, const float *factors) {
    int64_t lane = 0;
    for (; lane + kTileRows <= kAttentionLanes; lane += kTileRows) add_values_of<kTileRows>(lane, first, rows, factors);
    add_values_of<kAttentionLanes % kTileRows>(lane, first, rows, factors);
  }

  // Returns the outputs as [lane][column].
  const float *finish_unit() { return outputs; }
};

template <typename Gemms>
struct Forward {
  using Words = typename Gemms::Words;

  const AttentionForwardRequest &request;
  const AttentionShape &shape;
  ScratchParts parts;
  Gemms gemms;
  float *masks;
  LaneState state;

  explicit Forward(const AttentionForwardRequest &request)
      : request(request), shape(request.shape), parts(request.scratch), gemms(shape, parts) {
    masks = parts.take<float>(request.mask.data == nullptr ? 0 : kKeyBlock * kAttentionLanes);
  }

  // Sets scores of keys that a lane does not attend to to minus infinity.
  void hide_keys(const Lanes &lanes, int64_t first, int64_t rows) {
    const HiddenKeys hidden(shape, lanes, first);
    for (int64_t v = 0; v < kLaneVectors; ++v) {
      float *at = gemms.scores + v * kLanes;
      for (int32_t row = 0; row < rows; ++row, at += kAttentionLanes) store(at, hidden.apply(v, row, load(at)));
    }
  }

  // Computes scores · scale + mask. The remaining scale of the scores is 1.
  void add_mask(const Lanes &lanes, int64_t first, int64_t keys) {
    pack_mask(shape, request.mask, lanes, first, keys, masks);
    const F32 scale = broadcast(static_cast<float>(shape.scale));
    for (int64_t i = 0; i < keys * kAttentionLanes; i += kLanes) {
      store(gemms.scores + i, mul_add(load(gemms.scores + i), scale, load(masks + i)));
    }
  }

  // Converts scores to weights, and updates the running values of the lanes.
  void compute_weights(int64_t rows) {
    const double scale = request.mask.data == nullptr ? shape.scale : 1.0;
    const F32 factor = broadcast(static_cast<float>(scale * kLog2E));
    const F32 lowest = broadcast(-__builtin_inff());
    for (int64_t v = 0; v < kLaneVectors; ++v) {
      const float *const scores = gemms.scores + v * kLanes;
      const F32 old_peak = load(state.peaks + v * kLanes), old_base = load(state.bases + v * kLanes);
      F32 peaks[4] = {old_peak, lowest, lowest, lowest};
      for (int64_t row = 0; row < rows; row += Gemms::kGroup) {
#pragma GCC unroll 16
        for (int64_t i = 0; i < Gemms::kGroup; ++i) {
          peaks[i % 4] = max(load(scores + (row + i) * kAttentionLanes), peaks[i % 4]);
        }
      }
      const F32 peak = max(max(peaks[0], peaks[1]), max(peaks[2], peaks[3]));
      const F32 base = select(is_equal(peak, lowest), broadcast(0.0f), peak * factor);
      const F32 change = select(is_equal(old_peak, lowest), broadcast(0.0f), power_of_two(old_base - base));
      F32 sums[2] = {load(state.sums + v * kLanes) * change, F32{}};
      typename Words::Word *to = gemms.weights + v * kLanes;
      for (int64_t row = 0; row < rows; row += Gemms::kGroup) {
#pragma GCC unroll 16
        for (int64_t i = 0; i < Gemms::kGroup; i += Words::kNumbers) {
          F32 weights[Words::kNumbers];
#pragma GCC unroll 2
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

  void write_outputs(const Lanes &lanes) {
    const float *const outputs = gemms.finish_unit();
    for (int64_t i = 0; i < lanes.count; ++i) {
      const float sum = state.sums[i];
      const F32 inverse = broadcast(sum == 0.0f ? 0.0f : 1.0f / sum);
      const RowSource row = lanes.row(shape, request.output, i);
      const float *const from = outputs + i * gemms.columns;
      for_columns(0, shape.value_width, [&](int64_t column, ActiveLanes columns) {
        store_row<false>(row, column, columns, load(from + column) * inverse);
      });
      if (request.log_sums.data == nullptr) continue;
      *floats_at(lanes.row(shape, request.log_sums, i), 0) =
          sum == 0.0f ? -__builtin_inff() : static_cast<float>(state.bases[i] / kLog2E + __builtin_logf(sum));
    }
  }

  // Packs the keys and values of a head up to `end`.
  void pack_head(const Lanes &lanes, int64_t end) {
    gemms.pack_head(
        shape, end, [&](int64_t i) { return row_at(request.key, lanes.batch, lanes.key_head, i); },
        [&](int64_t i) { return row_at(request.value, lanes.batch, lanes.key_head, i); });
  }

  void run_unit(const Lanes &lanes) {
    gemms.begin_unit(shape, lanes.count, [&](int64_t i) { return lanes.row(shape, request.query, i); });
    for (int64_t i = 0; i < kAttentionLanes; ++i) {
      state.peaks[i] = -__builtin_inff();
      state.bases[i] = state.sums[i] = 0.0f;
    }
    const KeyRange low = lanes.first_range(shape), high = lanes.last_range(shape);
    for (int64_t first = low.begin / kKeyBlock * kKeyBlock; first < high.end; first += kKeyBlock) {
      const int64_t seen = min_i64(high.end - first, kKeyBlock), rows = round_up(seen, Gemms::kRows);
      gemms.multiply_keys(first, rows);
      if (request.mask.data != nullptr) add_mask(lanes, first, seen);
      if (!is_unmasked(low, high, first, rows)) hide_keys(lanes, first, rows);
      compute_weights(rows);
      gemms.add_values(first, rows, state.factors);
    }
    write_outputs(lanes);
  }
};

template <typename Gemms>
void attention_forward(const AttentionForwardRequest &request) {
  Forward<Gemms> forward(request);
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

template <typename Gemms>
size_t attention_forward_bytes(const AttentionForwardRequest &request) {
  return Forward<Gemms>(request).parts.bytes();
}

}  // namespace
}  // namespace lpt
