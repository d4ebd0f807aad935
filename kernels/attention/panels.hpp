// Panels and tiles of attention. Included by ISA files: all functions have internal linkage.
//
// Panels hold words. A word is one element, or two elements that are adjacent along the sum if the instruction set adds pairs.
// A step of the sum is one word of each row:
//   left panel   [step][row]: a tile broadcasts a word to all lanes
//   right panel  [step][column]: a tile reads two vectors of words
#pragma once

#include "kernels/attention/kernels.hpp"
#include "kernels/common/row_vectors.hpp"

namespace lpt {
namespace {

constexpr int64_t kTileRows = kLanes == 16 ? 12 : 6;  // rows by two vectors of sums, limited by the registers
constexpr int64_t kTileColumns = 2 * kLanes;

inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t quotient_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }
inline int64_t round_up(int64_t value, int64_t unit) { return quotient_up(value, unit) * unit; }

inline RowSource row_at(const AttentionMatrix &matrix, int64_t batch, int64_t head, int64_t row) {
  const int64_t bytes = matrix.format == LPT_FORMAT_F32 ? 4 : 2;
  const int64_t at = batch * matrix.batch_stride + head * matrix.head_stride + row * matrix.row_stride;
  return {static_cast<uint8_t *>(matrix.data) + at * bytes, matrix.format};
}

inline float reduce_sum(F32 values) { return static_cast<float>(reduce_add(lower_f64(values) + upper_f64(values))); }

// Words of one f32, converted from f32, bf16 or f16.
struct FloatWords {
  using Word = float;
  using Vector = F32;
  static constexpr int64_t kNumbers = 1;  // per word

  static Vector repeat(const Word *word) { return broadcast(*word); }
  static Vector read(const Word *words) { return load(words); }
  static F32 add(F32 sum, Vector left, Vector right) { return mul_add(left, right, sum); }

  // Returns words `first` to `first + kLanes` of a row of `numbers` elements. Elements past its end are 0.
  static Vector words_along(const RowSource &row, int64_t first, int64_t numbers) {
    const int64_t count = min_i64(numbers - first, kLanes);
    return count == kLanes ? load_row<false>(row, first, all_lanes()) : load_row<false>(row, first, first_lanes(count));
  }
  static void store_words(Word *to, Vector words, int64_t count) { store_numbers(to, words, count); }
  // Stores kTileColumns words whose elements are in consecutive rows.
  static void store_words_across(Word *to, const RowSource *rows, int64_t column, int64_t columns) {
    for (int64_t v = 0; v < 2; ++v, column += kLanes) {
      store(to + v * kLanes, rows->data != nullptr && column < columns ? words_along(*rows, column, columns) : F32{});
    }
  }
  // Stores two vectors of a row.
  static void store_words_along(Word *to, F32 low, F32 high) {
    store(to, low);
    store(to + kLanes, high);
  }
  // Stores a vector of words, whose elements are in kNumbers rows.
  static void store_words_of(Word *to, const F32 *rows) { store(to, *rows); }
};

// Packs `count` rows, at most kExtent, as a panel of kExtent rows. The sum runs along the rows. row_at(i) returns row i.
template <typename Words, int64_t kExtent, typename RowAt>
void pack_along(int64_t count, int64_t numbers, const RowAt &row_at, typename Words::Word *to) {
  const int64_t steps = quotient_up(numbers, Words::kNumbers);
  for (int64_t first = 0; first < kExtent; first += kLanes) {
    const int64_t width = min_i64(kExtent - first, kLanes);
    for (int64_t step = 0; step < steps; step += kLanes) {
      typename Words::Vector lines[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        lines[i] = first + i < min_i64(count, first + width) ? Words::words_along(row_at(first + i), step, numbers)
                                                             : typename Words::Vector{};
      }
      transpose(lines);
      const int64_t last = min_i64(steps - step, kLanes);
      for (int64_t i = 0; i < last; ++i) Words::store_words(to + (step + i) * kExtent + first, lines[i], width);
    }
  }
}

// Packs columns of `count` rows as panels of kTileColumns columns with `steps` steps each. The sum runs over the rows.
template <typename Words, typename RowAt>
void pack_across(int64_t count, int64_t columns, const RowAt &row_at, int64_t steps, typename Words::Word *to) {
  for (int64_t column = 0; column < columns; column += kTileColumns) {
    for (int64_t step = 0; step < steps; ++step, to += kTileColumns) {
      RowSource rows[Words::kNumbers];
      for (int64_t i = 0; i < Words::kNumbers; ++i) {
        const int64_t row = step * Words::kNumbers + i;
        rows[i] = row < count ? row_at(row) : RowSource{nullptr, LPT_FORMAT_NONE};
      }
      Words::store_words_across(to, rows, column, columns);
    }
  }
}

// Packs left panels of kTileRows rows each.
template <typename Words, typename RowAt>
void pack_left(int64_t count, int64_t numbers, const RowAt &row_at, typename Words::Word *to) {
  const int64_t steps = quotient_up(numbers, Words::kNumbers);
  for (int64_t first = 0; first < count; first += kTileRows, to += kTileRows * steps) {
    pack_along<Words, kTileRows>(
        min_i64(count - first, kTileRows), numbers, [&](int64_t i) { return row_at(first + i); }, to);
  }
}

// Computes sums += left · right. Words of adjacent rows of the left panel are kRowStride apart.
template <typename Words, int kRows, int kRowStride>
[[gnu::always_inline]] inline void add_steps(const typename Words::Word *left, int64_t left_stride,
                                             const typename Words::Word *right, int64_t right_stride, int64_t steps,
                                             F32 (&sums)[kRows][2]) {
  for (; steps > 0; --steps, left += left_stride, right += right_stride) {
    const auto low = Words::read(right), high = Words::read(right + kLanes);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const auto row = Words::repeat(left + i * kRowStride);
      sums[i][0] = Words::add(sums[i][0], row, low);
      sums[i][1] = Words::add(sums[i][1], row, high);
    }
  }
}

template <int kRows>
[[gnu::always_inline]] inline void load_sums(const float *from, int64_t stride, F32 (&sums)[kRows][2]) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    sums[i][0] = load(from + i * stride);
    sums[i][1] = load(from + i * stride + kLanes);
  }
}

template <int kRows>
[[gnu::always_inline]] inline void store_sums(const F32 (&sums)[kRows][2], float *to, int64_t stride) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    store(to + i * stride, sums[i][0]);
    store(to + i * stride + kLanes, sums[i][1]);
  }
}

// Returns 2^t for t of at most 1, with a relative error of 2^-23. NaN is preserved. AVX-512 scales by 2^-infinity to 0; AVX2
// limits t from below.
[[gnu::always_inline]] inline F32 power_of_two(F32 t) {
  if constexpr (kLanes < 16) t = max(broadcast(-160.0f), t);
  const F32 f = from_nearest_integer(t);
  const F32 n = t - f;
  F32 p = mul_add(broadcast(0x1.5bba14p-10f), f, broadcast(0x1.3cea88p-7f));
  p = mul_add(p, f, broadcast(0x1.c6b752p-5f));
  p = mul_add(p, f, broadcast(0x1.ebf9bcp-3f));
  p = mul_add(p, f, broadcast(0x1.62e42ap-1f));
  p = mul_add(p, f, broadcast(1.0f));
  return times_power_of_two(p, n);
}

}  // namespace
}  // namespace lpt
