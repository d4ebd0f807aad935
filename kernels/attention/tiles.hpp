// Operands and GEMMs of attention by AMX. Included by ISA files: all functions have internal linkage.
//
// A multiplication of tiles has 32 rows, 32 columns and steps of 32 elements of the sum (kernels/common/amx_tiles.hpp):
//   left operand   [32 rows][step][row][16 words]: rows of a matrix, or its columns if the sum runs over rows
//   right operand  [step][16 words][32 columns]: the panels of lanes and columns of panels.hpp, padded to full steps
#pragma once

#include "kernels/attention/backward.hpp"
#include "kernels/attention/pair_words.hpp"
#include "kernels/common/amx_tiles.hpp"

namespace lpt {
namespace {

constexpr int64_t kStepNumbers = kStepBytes / 2;  // bf16 per step
constexpr int64_t kStepWords = kStepBytes / 4;
constexpr int64_t kLeftWords = kPairRows * kStepWords;  // words per step of either operand
static_assert(kPairColumns == kTileColumns && kKeyBlock % kPairRows == 0 && kAttentionLanes % kPairColumns == 0);

using TileWord = PairWords::Word;

// Computes sums (32 × 32 floats) = left · right, plus `sums` if kIsAdded.
template <bool kIsAdded>
inline void multiply_tiles(const TileWord *left, const TileWord *right, int64_t steps, float *sums) {
  multiply_amx<AmxBf16, true>(reinterpret_cast<const uint8_t *>(left), reinterpret_cast<const uint8_t *>(right), steps,
                              kIsAdded ? sums : nullptr, sums, sums);
}

// Packs `count` rows as left operands. The sum runs along the rows. Missing rows up to a multiple of 32 are zeros.
template <typename RowAt>
void pack_tile_rows(int64_t count, int64_t numbers, const RowAt &row_at, TileWord *to) {
  const int64_t steps = quotient_up(numbers, kStepNumbers);
  for (int64_t first = 0; first < count; first += kPairRows, to += steps * kLeftWords) {
    for (int64_t i = 0; i < kPairRows; ++i) {
      TileWord *at = to + i * kStepWords;
      const bool is_present = first + i < count;
      const RowSource row = is_present ? row_at(first + i) : RowSource{nullptr, LPT_FORMAT_NONE};
      for (int64_t step = 0; step < steps; ++step, at += kLeftWords) {
        const auto words = is_present ? PairWords::words_along(row, step * kStepWords, numbers) : PairWords::Vector{};
        PairWords::store_words(at, words, kStepWords);
      }
    }
  }
}

// Packs columns of `count` rows as left operands of `steps` steps each. The sum runs over the rows. Missing rows are zeros.
template <typename RowAt>
void pack_tile_columns(int64_t count, int64_t columns, const RowAt &row_at, int64_t steps, TileWord *to) {
  for (int64_t column = 0; column < columns; column += kPairColumns, to += steps * kLeftWords) {
    for (int64_t step = 0; step * kStepNumbers < count; ++step) {
      alignas(64) TileWord words[kStepWords * kPairColumns];
      pack_across<PairWords>(
          count - step * kStepNumbers, min_i64(columns - column, kPairColumns),
          [&](int64_t i) {
            RowSource row = row_at(step * kStepNumbers + i);
            row.data += 2 * column;
            return row;
          },
          kStepWords, words);
      for (int64_t half = 0; half < 2; ++half) {
        PairWords::Vector lines[kLanes];
        for (int64_t i = 0; i < kLanes; ++i) lines[i] = PairWords::read(words + i * kPairColumns + half * kLanes);
        transpose(lines);
        TileWord *const at = to + step * kLeftWords + half * kUnitRows * kStepWords;
        for (int64_t i = 0; i < kLanes; ++i) PairWords::store_words(at + i * kStepWords, lines[i], kStepWords);
      }
    }
  }
}

// Packs a panel of kAttentionLanes rows as a right operand. Words after `numbers` are zeros up to a full step.
template <typename RowAt>
void pack_tile_lanes(int64_t count, int64_t numbers, const RowAt &row_at, TileWord *to) {
  const int64_t words = quotient_up(numbers, 2), padded = round_up(words, kStepWords);
  pack_along<PairWords, kAttentionLanes>(count, numbers, row_at, to);
  __builtin_memset(to + words * kAttentionLanes, 0,
                   sizeof(TileWord) * static_cast<size_t>((padded - words) * kAttentionLanes));
}

// Transposes the sums [column][lane] of `columns` columns to [lane][column].
inline void transpose_sums(const float *sums, int64_t columns, float *to) {
  for (int64_t column = 0; column < columns; column += kLanes) {
    for (int64_t lane = 0; lane < kAttentionLanes; lane += kLanes) {
      PairWords::Vector lines[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        lines[i] = _mm512_loadu_si512(sums + (column + i) * kAttentionLanes + lane);
      }
      transpose(lines);
      for (int64_t i = 0; i < kLanes; ++i) _mm512_storeu_si512(to + (lane + i) * columns + column, lines[i]);
    }
  }
}

// The GEMMs of the forward pass; see Forward. Outputs are computed as [column][lane]. The right operand of this GEMM are the
// weights in the layout that the softmax stores.
struct ForwardTiles {
  using Words = PairWords;
  static constexpr int64_t kRows = kPairRows;
  static constexpr int64_t kGroup = 16;

  int64_t width_steps, key_steps, columns;
  TileWord *keys, *values;  // per head: left operands of its rows; of its columns
  TileWord *queries, *weights;
  float *scores, *sums, *outputs;  // [key][lane], [column][lane], [lane][column]

  ForwardTiles(const AttentionShape &shape, ScratchParts &parts) {
    width_steps = quotient_up(shape.width, kStepNumbers);
    key_steps = quotient_up(shape.keys, kStepNumbers);
    columns = round_up(shape.value_width, kPairColumns);
    keys = parts.take<TileWord>(key_steps * width_steps * kLeftWords);
    values = parts.take<TileWord>(columns / kPairColumns * key_steps * kLeftWords);
    queries = parts.take<TileWord>(width_steps * kLeftWords);
    weights = parts.take<TileWord>(kKeyBlock / 2 * kAttentionLanes);
    scores = parts.take<float>(kKeyBlock * kAttentionLanes);
    sums = parts.take<float>(columns * kAttentionLanes);
    outputs = parts.take<float>(columns * kAttentionLanes);
  }

  template <typename KeyAt, typename ValueAt>
  void pack_head(const AttentionShape &shape, int64_t end, const KeyAt &key_at, const ValueAt &value_at) {
    pack_tile_rows(end, shape.width, key_at, keys);
    pack_tile_columns(end, shape.value_width, value_at, key_steps, values);
  }

  template <typename QueryAt>
  void begin_unit(const AttentionShape &shape, int64_t lanes, const QueryAt &query_at) {
    pack_tile_lanes(lanes, shape.width, query_at, queries);
    __builtin_memset(sums, 0, sizeof(float) * static_cast<size_t>(columns * kAttentionLanes));
  }

  void multiply_keys(int64_t first, int64_t rows) {
    for (int64_t key = 0; key < rows; key += kPairRows) {
      multiply_tiles<false>(keys + (first + key) / kPairRows * width_steps * kLeftWords, queries, width_steps,
                            scores + key * kAttentionLanes);
    }
  }

  void add_values(int64_t first, int64_t rows, const float *factors) {
    const F32 low = load(factors), high = load(factors + kLanes), one = broadcast(1.0f);
    const bool is_scaled =
        _mm512_cmp_ps_mask(low, one, _CMP_NEQ_UQ) != 0 || _mm512_cmp_ps_mask(high, one, _CMP_NEQ_UQ) != 0;
    for (int64_t column = 0; is_scaled && column < columns; ++column) {
      float *const at = sums + column * kAttentionLanes;
      store(at, load(at) * low);
      store(at + kLanes, load(at + kLanes) * high);
    }
    const TileWord *left = values + first / kStepNumbers * kLeftWords;
    for (int64_t column = 0; column < columns; column += kPairColumns, left += key_steps * kLeftWords) {
      multiply_tiles<true>(left, weights, rows / kStepNumbers, sums + column * kAttentionLanes);
    }
  }

  const float *finish_unit() {
    transpose_sums(sums, columns, outputs);
    return outputs;
  }
};

// The GEMMs of the backward pass, see Backward. Sums are blocks of 32 × 32 floats. p and s of up to kUnits units are kept, because
// a multiplication of one step loads and stores more sums than it computes.
struct BackwardTiles {
  using Head = BackwardLanes<PairWords, kStepWords>;
  static constexpr int64_t kRows = kPairRows;
  static constexpr int64_t kUnits = 4;
  static constexpr int64_t kBlockSteps = kKeyBlock / kStepNumbers;
  static_assert(kAttentionLanes == kStepNumbers);

  const Head &head;
  int64_t width_steps, value_steps;
  // Of a block of keys: left operands of rows and of columns; sums as [32 keys][32 columns][key][column].
  TileWord *keys, *key_columns, *values;
  float *key_sums, *value_sums;
  float *query_sums, *query_rows;  // of a head: [unit][column][lane], [lane][column]
  // Of a block and a unit: [key][lane].
  float *masks, *scores, *products;
  // Of a block and kUnits units: p and s as left operands of keys, s as a right operand of each unit.
  TileWord *weights, *score_rows, *score_columns;

  BackwardTiles(const Head &head, ScratchParts &parts) : head(head) {
    width_steps = head.steps / kStepWords;
    value_steps = head.value_steps / kStepWords;
    query_sums = parts.take<float>(head.units * kAttentionLanes * head.columns);
    query_rows = parts.take<float>(head.units * kAttentionLanes * head.columns);
    keys = parts.take<TileWord>(kKeyBlock * head.steps);
    key_columns = parts.take<TileWord>(kKeyBlock / 2 * head.columns);
    values = parts.take<TileWord>(kKeyBlock * head.value_steps);
    key_sums = parts.take<float>(kKeyBlock * head.columns);
    value_sums = parts.take<float>(kKeyBlock * head.value_columns);
    masks = parts.take<float>(head.has_mask() ? kKeyBlock * kAttentionLanes : 0);
    scores = parts.take<float>(kKeyBlock * kAttentionLanes);
    products = parts.take<float>(kKeyBlock * kAttentionLanes);
    weights = parts.take<TileWord>(kKeyBlock * kUnits * kStepWords);
    score_rows = parts.take<TileWord>(kKeyBlock * kUnits * kStepWords);
    score_columns = parts.take<TileWord>(kKeyBlock / 2 * kUnits * kAttentionLanes);
  }

  template <typename KeyAt, typename ValueAt>
  void pack_block(int64_t count, const KeyAt &key_at, const ValueAt &value_at) {
    pack_tile_rows(count, head.shape.width, key_at, keys);
    pack_tile_rows(count, head.shape.value_width, value_at, values);
    pack_tile_columns(count, head.shape.width, key_at, kBlockSteps, key_columns);
    __builtin_memset(key_sums, 0, sizeof(float) * static_cast<size_t>(kKeyBlock * head.columns));
    __builtin_memset(value_sums, 0, sizeof(float) * static_cast<size_t>(kKeyBlock * head.value_columns));
  }

  // Computes p and s of `rows` keys, two at a time.
  template <bool kIsHidden>
  void compute_weights_of_keys(const Lanes &lanes, const HiddenKeys *hidden, int64_t rows, int64_t slot) {
    const F32 factor = broadcast(head.factor), mask_scale = broadcast(head.mask_scale);
    const bool has_mask = head.has_mask();
    F32 bases[2], means[2];
#pragma GCC unroll 2
    for (int64_t v = 0; v < 2; ++v) {
      bases[v] = F32{} - load(head.bases + lanes.first + v * kLanes);
      means[v] = load(head.means + lanes.first + v * kLanes);
    }
    const float *score = scores, *product = products, *mask = masks;
    TileWord *columns = score_columns + slot * kKeyBlock / 2 * kAttentionLanes;
    for (int64_t key = 0; key < rows; key += 2, columns += kAttentionLanes) {
      F32 p[2][2], s[2][2];
#pragma GCC unroll 2
      for (int64_t i = 0; i < 2; ++i, score += kAttentionLanes, product += kAttentionLanes, mask += kAttentionLanes) {
#pragma GCC unroll 2
        for (int64_t v = 0; v < 2; ++v) {
          F32 value = load(score + v * kLanes);
          if (kIsHidden) {
            if (has_mask) value = mul_add(value, mask_scale, load(mask + v * kLanes));
            value = hidden->apply(v, static_cast<int32_t>(key + i), value);
          }
          p[i][v] = power_of_two(mul_add(value, factor, bases[v]));
          s[i][v] = p[i][v] * (load(product + v * kLanes) - means[v]);
        }
        const int64_t row = key + i;
        const int64_t at = (row / kPairRows * kUnits + slot) * kLeftWords + row % kPairRows * kStepWords;
        PairWords::store_words_along(weights + at, p[i][0], p[i][1]);
        PairWords::store_words_along(score_rows + at, s[i][0], s[i][1]);
      }
#pragma GCC unroll 2
      for (int64_t v = 0; v < 2; ++v) {
        const F32 pair[2] = {s[0][v], s[1][v]};
        PairWords::store_words_of(columns + v * kLanes, pair);
      }
    }
  }

  void compute_weights(const Lanes &lanes, int64_t first, int64_t rows, const HiddenKeys *hidden, int64_t slot) {
    for (int64_t key = 0; key < rows; key += kPairRows) {
      multiply_tiles<false>(keys + key * head.steps, head.queries + lanes.first * head.steps, width_steps,
                            scores + key * kAttentionLanes);
      multiply_tiles<false>(values + key * head.value_steps, head.gradients + lanes.first * head.value_steps,
                            value_steps, products + key * kAttentionLanes);
    }
    if (head.has_mask()) {
      pack_mask(head.shape, head.request.forward.mask, lanes, first, min_i64(head.shape.keys - first, rows), masks);
    }
    if (hidden != nullptr) {
      compute_weights_of_keys<true>(lanes, hidden, rows, slot);
    } else {
      compute_weights_of_keys<false>(lanes, nullptr, rows, slot);
    }
  }

  void add_units(int64_t first_lane, int64_t units, int64_t rows) {
    const int64_t lane_words = head.units * Head::kLaneSteps * kPairColumns;  // of a panel of columns
    const int64_t first = first_lane / 2 * kPairColumns;
    for (int64_t key = 0; key < rows; key += kPairRows) {
      const int64_t left = key * kUnits * kStepWords;
      for (int64_t column = 0, panel = first; column < head.value_columns;
           column += kPairColumns, panel += lane_words) {
        multiply_tiles<true>(weights + left, head.gradient_columns + panel, units,
                             value_sums + key * head.value_columns + column * kPairRows);
      }
      for (int64_t column = 0, panel = first; column < head.columns; column += kPairColumns, panel += lane_words) {
        multiply_tiles<true>(score_rows + left, head.query_columns + panel, units,
                             key_sums + key * head.columns + column * kPairRows);
      }
    }
    for (int64_t slot = 0; slot < units; ++slot) {
      const TileWord *const right = score_columns + slot * kKeyBlock / 2 * kAttentionLanes;
      float *const sums = query_sums + (first_lane + slot * kAttentionLanes) * head.columns;
      for (int64_t column = 0; column < head.columns; column += kPairColumns) {
        multiply_tiles<true>(key_columns + column * kBlockSteps * kStepWords, right, rows / kStepNumbers,
                             sums + column * kAttentionLanes);
      }
    }
  }

  SumRows key_row(int64_t key) const { return row_of(key_sums, key, head.columns); }
  SumRows value_row(int64_t key) const { return row_of(value_sums, key, head.value_columns); }
  SumRows query_row(int64_t lane) const { return {query_rows + lane * head.columns, kTileColumns}; }
  void finish_head() {
    for (int64_t unit = 0; unit < head.units; ++unit) {
      const int64_t at = unit * kAttentionLanes * head.columns;
      transpose_sums(query_sums + at, head.columns, query_rows + at);
    }
  }

 private:
  static SumRows row_of(const float *sums, int64_t key, int64_t columns) {
    return {sums + key / kPairRows * kPairRows * columns + key % kPairRows * kPairColumns, kPairNumbers};
  }
};

}  // namespace
}  // namespace lpt
