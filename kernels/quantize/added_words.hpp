// Rounding modes that add a 16-bit word below the last place and truncate. The word is 0 for toward zero, one half for ties
// away, and random for stochastic rounding. 8 random bits are the upper bits of such a word, and half of their last place is
// added below them. Included by an ISA file only.
//
// Where a value has 17 fraction bits, psi + 2R + 1 of encode() adds twice the word, plus 1 if all 16 bits are random.
#pragma once

#include "kernels/quantize/quantize.hpp"

namespace lpt {
namespace {

// Rounding to nearest even, or by an added word: constant (kAdded), or random with 16 or 8 bits.
enum class WordRounding { kEven, kAdded, kDrawn16, kDrawn8 };

constexpr bool is_drawn(WordRounding rounding) {
  return rounding == WordRounding::kDrawn16 || rounding == WordRounding::kDrawn8;
}

inline WordRounding word_rounding(const QuantizeRequest &request) {
  if (request.rounding == LPT_ROUNDING_NEAREST_EVEN) return WordRounding::kEven;
  if (request.rounding != LPT_ROUNDING_STOCHASTIC) return WordRounding::kAdded;
  return request.random.bits == 16 ? WordRounding::kDrawn16 : WordRounding::kDrawn8;
}

// Returns the constant word of kAdded.
inline uint16_t added_word(const QuantizeRequest &request) {
  return request.rounding == LPT_ROUNDING_NEAREST_AWAY ? 0x8000 : 0;
}

// Returns the index of the random bits of element (row, column).
inline uint64_t random_index(const RandomSource &random, int64_t row, int64_t column) {
  return static_cast<uint64_t>(random.offset) + static_cast<uint64_t>(row) * static_cast<uint64_t>(random.row_stride) +
         static_cast<uint64_t>(column);
}

}  // namespace
}  // namespace lpt
