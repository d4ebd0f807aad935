// Byte registers with AVX2, shared by the files of this family. Included by an ISA file only.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/intrinsics.hpp"

namespace lpt {
namespace {

inline __m256i load_bytes(const uint8_t *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); }

inline __m128i load_half(const uint8_t *from) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)); }

// Loads 16 bytes into both halves.
inline __m256i load_twice(const uint8_t *from) { return _mm256_broadcastsi128_si256(load_half(from)); }

template <typename Word>
inline Word load_word(const uint8_t *from) {
  Word word;
  memcpy(&word, from, sizeof word);
  return word;
}

template <bool kIsStreamed>
inline void write_bytes(uint8_t *to, __m256i bytes) {
  if (kIsStreamed) {
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to), bytes);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), bytes);
  }
}

// Permutes quarters to 0, 2, 1, 3, which restores the order after a pack or interleave within halves.
inline __m256i in_order(__m256i quarters) { return _mm256_permute4x64_epi64(quarters, 0xD8); }

// Unpacks 32 codes of 4 bits to bytes; together() packs 64 of them.
inline __m256i apart(__m128i pairs) {
  const __m256i words = _mm256_cvtepu8_epi16(pairs);
  return _mm256_and_si256(_mm256_or_si256(words, _mm256_slli_epi16(words, 4)), _mm256_set1_epi8(0x0F));
}

inline __m256i together(__m256i low, __m256i high) {
  const __m256i weights = _mm256_set1_epi16(0x1001);
  return in_order(_mm256_packus_epi16(_mm256_maddubs_epi16(low, weights), _mm256_maddubs_epi16(high, weights)));
}

}  // namespace
}  // namespace lpt
