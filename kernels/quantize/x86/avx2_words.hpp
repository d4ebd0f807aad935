// Words of added_words.hpp in lanes of AVX2. Included by an ISA file only.
#pragma once

#include "kernels/quantize/added_words.hpp"
#include "kernels/quantize/x86/avx2_random.hpp"

namespace lpt {
namespace {

constexpr int64_t random_bytes(WordRounding rounding) {
  return rounding == WordRounding::kDrawn16 ? 2 : rounding == WordRounding::kDrawn8 ? 1 : 0;
}

// Returns the words of eight elements: `added`, or built from the random bits at `random`.
template <WordRounding kRounding>
[[gnu::always_inline]] inline __m256i words_at(const uint8_t *random, __m256i added) {
  if constexpr (kRounding == WordRounding::kDrawn16) return dwords_of_words(load_half_bytes(random));
  if constexpr (kRounding == WordRounding::kDrawn8) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(random));
    return _mm256_add_epi32(_mm256_slli_epi32(_mm256_cvtepu8_epi32(bytes), 8), all_lanes(0x80));
  }
  return added;
}

// Adds the words to values with 17 fraction bits and truncates.
template <WordRounding kRounding>
[[gnu::always_inline]] inline __m256i cut_at_17(__m256i fixed, __m256i words) {
  const __m256i last = all_lanes(kRounding == WordRounding::kDrawn16 ? 1 : 0);
  const __m256i twice = _mm256_add_epi32(_mm256_add_epi32(words, words), last);
  return _mm256_srli_epi32(_mm256_add_epi32(fixed, twice), 17);
}

}  // namespace
}  // namespace lpt
