// Roundings that add a word of 16 bits behind the last place and cut: 0 toward zero, the half for ties away, random
// bits for stochastic rounding. 8 random bits are the upper ones of such a word, and the half of their last place is
// below them. Included by an ISA file only.
//
// With 17 bits behind the point, psi + 2R + 1 of encode() adds twice the word, and a last 1 where all 16 bits were
// drawn.
#pragma once

#include "kernels/quantize/quantize.hpp"

namespace lpt {
namespace {

// To nearest even, or by a word: one for all, or drawn ones.
enum class WordRounding { kEven, kAdded, kDrawn16, kDrawn8 };

constexpr bool is_drawn(WordRounding rounding) {
  return rounding == WordRounding::kDrawn16 || rounding == WordRounding::kDrawn8;
}

inline WordRounding word_rounding(const QuantizeRequest &request) {
  if (request.rounding == LPT_ROUNDING_NEAREST_EVEN) return WordRounding::kEven;
  if (request.rounding != LPT_ROUNDING_STOCHASTIC) return WordRounding::kAdded;
  return request.random.bits == 16 ? WordRounding::kDrawn16 : WordRounding::kDrawn8;
}

// The word of kAdded.
inline uint16_t added_word(const QuantizeRequest &request) {
  return request.rounding == LPT_ROUNDING_NEAREST_AWAY ? 0x8000 : 0;
}

// Of the element in column `column` of row `row`.
inline uint64_t random_index(const RandomSource &random, int64_t row, int64_t column) {
  return static_cast<uint64_t>(random.offset) + static_cast<uint64_t>(row) * static_cast<uint64_t>(random.row_stride) +
         static_cast<uint64_t>(column);
}

}  // namespace
}  // namespace lpt
