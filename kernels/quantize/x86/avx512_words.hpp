// Words of added_words.hpp for groups of elements with AVX-512. Included by an ISA file only.
#pragma once

#include "kernels/quantize/added_words.hpp"
#include "kernels/quantize/x86/avx512_rows.hpp"

namespace lpt {
namespace {

constexpr int kSmallerMagnitudeSigned = 2;  // vrangeps: the smaller magnitude, with the sign of the first operand

constexpr Kind kind_of(WordRounding rounding) {
  return rounding == WordRounding::kDrawn16 ? Kind::kRandom16 : Kind::kRandom8;
}

// Source of the added words.
struct WordSource {
  __m512i added;  // for kAdded
  RowCast draw;   // only its random members are used
};

inline WordSource word_source(const QuantizeRequest &request) {
  WordSource source = {};
  source.added = _mm512_set1_epi16(static_cast<int16_t>(added_word(request)));
  if (request.rounding == LPT_ROUNDING_STOCHASTIC) source.draw.philox = philox_lanes(request.random);
  source.draw.rounds = request.random.rounds;
  return source;
}

// The words of 128 elements, in four groups.
struct WordUnit {
  __m512i group[4];
};

template <WordRounding kRounding>
[[gnu::always_inline]] inline WordUnit words_at(const WordSource &source, uint64_t index) {
  if constexpr (!is_drawn(kRounding)) return {{source.added, source.added, source.added, source.added}};
  const RandomUnit<kind_of(kRounding)> drawn = random_unit<kind_of(kRounding)>(source.draw, index);
  if constexpr (kRounding == WordRounding::kDrawn16) {
    return {{drawn.part[0].low, drawn.part[0].high, drawn.part[1].low, drawn.part[1].high}};
  }
  WordUnit words;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i bytes = drawn.part[i / 2].low;
    const __m256i half = i % 2 == 0 ? _mm512_castsi512_si256(bytes) : _mm512_extracti64x4_epi64(bytes, 1);
    words.group[i] = _mm512_or_si512(_mm512_slli_epi16(_mm512_cvtepu8_epi16(half), 8), _mm512_set1_epi16(0x80));
  }
  return words;
}

// Returns the first or last sixteen words of a group, one per lane.
[[gnu::always_inline]] inline __m512i words_in_lanes(__m512i group, int half) {
  return dwords_of_words(half == 0 ? _mm512_castsi512_si256(group) : _mm512_extracti64x4_epi64(group, 1));
}

// Adds the words to values with 17 fraction bits and truncates.
template <WordRounding kRounding>
[[gnu::always_inline]] inline __m512i cut_at_17(__m512i fixed, __m512i words) {
  const __m512i last = _mm512_set1_epi32(kRounding == WordRounding::kDrawn16 ? 1 : 0);
  const __m512i twice = _mm512_add_epi32(_mm512_add_epi32(words, words), last);
  return _mm512_srli_epi32(_mm512_add_epi32(fixed, twice), 17);
}

}  // namespace
}  // namespace lpt
