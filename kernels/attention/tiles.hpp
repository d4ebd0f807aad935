// Operands and GEMMs of attention by AMX. Included by ISA files: all functions have internal linkage.
//
// A multiplication of tiles has 32 rows, 32 columns and steps of 32 elements of the sum (kernels/common/amx_tiles.hpp):
//   left operand   [32 rows][step][row][16 words]: rows of a matrix, or its columns if the sum runs over rows
//   right operand  [step][16 words][32 columns]: the panels of lanes and columns of panels.hpp, padded to full steps
#pragma once

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
  multiply_unit<UnitBf16, true>(reinterpret_cast<const uint8_t *>(left), reinterpret_cast<const uint8_t *>(right),
                                steps, kIsAdded ? sums : nullptr, sums);
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

}  // namespace
}  // namespace lpt
