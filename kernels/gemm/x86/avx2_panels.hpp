// Expansion of packed weights to f32 in vectors of eight lanes. Included by ISA files: all functions have internal linkage.
#pragma once

#include "kernels/gemm/f32_panels.hpp"
#include "kernels/gemm/x86/avx2.hpp"

namespace lpt {
namespace {

// Addresses of the output of a panel, in panels of kVectors vectors.
template <int kVectors>
struct PanelStore {
  explicit PanelStore(const PanelReader &reader) : reader(reader) {
    for (int e = 0; e < 4; ++e) to[e] = vector_of<kVectors, 8>(reader, e);
  }

  // Stores eight elements of step p, from lane 8 · e on, after subtracting the zero points and multiplying by the scales of
  // their block.
  [[gnu::always_inline]] void store(int64_t p, int e, __m256 value) const {
    if (p >= reader.k) return;
    const int64_t block = reader.block_of(p);
    if (reader.zeros != nullptr) {
      const auto *const from = reinterpret_cast<const __m128i *>(reader.zeros + block * kPanelLanes + 8 * e);
      value = _mm256_sub_ps(value, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(from))));
    }
    if (reader.scales != nullptr) {
      const uint8_t *const from = reader.scales + block * reader.scale_bytes + e * reader.scale_bytes / 4;
      value = _mm256_mul_ps(value, load_scales(reader.scale_format, from, 8));
    }
    _mm256_storeu_ps(to[e] + p * kVectors * 8, value);
  }

  const PanelReader reader;  // a copy, which stores cannot change
  float *to[4];
};

inline __m256i load_vec8(const uint8_t *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); }

inline __m256 look_up(const PanelReader &reader, __m256i codes) { return _mm256_i32gather_ps(reader.values, codes, 4); }

template <int kVectors>
struct ExpandAvx2 {
  static void nibbles(const PanelReader &reader) {
    const PanelStore<kVectors> slab(reader);
    for (int64_t p = 0; p < reader.k; p += 4) {
      for (int half = 0; half < 2; ++half) {
        const __m256i line = load_vec8(reader.codes + p / 4 * kPanelLineBytes + 32 * half);
        for (int n = 0; n < 8; ++n) {  // permute reads three bits of an index, blend the highest bit
          const __m256i index = _mm256_srl_epi32(line, _mm_cvtsi32_si128(4 * n));
          slab.store(p + kNibbleOrder[n / 2], 2 * (n % 2) + half, look_up16(reader.values, index));
        }
      }
    }
  }

  static void byte_pairs(const PanelReader &reader) {
    const PanelStore<kVectors> slab(reader);
    const Element element = element_of(reader.element);
    const bool is_half = is_small_half(element);
    const auto number = [&](__m128i codes) {
      return is_half ? decode_floats(codes, element) : look_up(reader, dwords_of_words(codes));
    };
    for (int64_t p = 0; p < reader.k; p += 2) {
      for (int e = 0; e < 4; ++e) {  // four lanes are adjacent
        const uint8_t *const from = reader.codes + p / 2 * kPanelLineBytes + 32 * (e % 2) + 8 * (e / 2);
        const __m128i pairs = _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)),
                                                 _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from + 16)));
        slab.store(p, e, number(_mm_and_si128(pairs, _mm_set1_epi16(255))));
        slab.store(p + 1, e, number(_mm_srli_epi16(pairs, 8)));
      }
    }
  }

  static void byte_quads(const PanelReader &reader) {
    const PanelStore<kVectors> slab(reader);
    const Element element = element_of(reader.element);
    const __m256 unit = _mm256_set1_ps(reader.values[1]);  // value of code 1; used for integers
    const auto number = [&](__m256i top) {
      if (element.levels != nullptr) return look_up(reader, _mm256_srli_epi32(top, 24));
      const __m256i integers = element.is_signed ? _mm256_srai_epi32(top, 24) : _mm256_srli_epi32(top, 24);
      return _mm256_mul_ps(_mm256_cvtepi32_ps(integers), unit);
    };
    for (int64_t p = 0; p < reader.k; p += 4) {
      for (int e = 0; e < 4; ++e) {
        const __m256i line = load_vec8(reader.codes + (p / 2 + e / 2) * kPanelLineBytes + 32 * (e % 2));
        slab.store(p, e, number(_mm256_slli_epi32(line, 24)));
        slab.store(p + 1, e, number(_mm256_slli_epi32(line, 16)));
        slab.store(p + 2, e, number(_mm256_slli_epi32(line, 8)));
        slab.store(p + 3, e, number(line));
      }
    }
  }

  static void halves(const PanelReader &reader) {
    const PanelStore<kVectors> slab(reader);
    for (int64_t p = 0; p < reader.k; p += 2) {
      for (int e = 0; e < 4; ++e) {
        const __m256i line = load_vec8(reader.codes + (p + e / 2) * kPanelLineBytes + 32 * (e % 2));
        for (int t = 0; t < 2; ++t) {
          const __m256i words =
              t == 0 ? _mm256_and_si256(line, _mm256_set1_epi32(0xFFFF)) : _mm256_srli_epi32(line, 16);
          const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0x08);
          const __m128i numbers = _mm256_castsi256_si128(packed);
          slab.store(p + t, e, reader.element == LPT_FORMAT_BF16 ? f32_of_bf16(numbers) : _mm256_cvtph_ps(numbers));
        }
      }
    }
  }

  static void words(const PanelReader &reader) {
    const PanelStore<kVectors> slab(reader);
    for (int64_t p = 0; p < reader.k; ++p) {
      for (int e = 0; e < 4; ++e) {
        const uint8_t *const from = reader.codes + (2 * p + e / 2) * kPanelLineBytes + 32 * (e % 2);
        slab.store(p, e, _mm256_loadu_ps(reinterpret_cast<const float *>(from)));
      }
    }
  }
};

}  // namespace
}  // namespace lpt
