// Expansion of packed weights to f32 in vectors of eight lanes. Included by ISA files: all functions have internal linkage.
#pragma once

#include <cmath>

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

  void begin(int64_t) const {}

  // Stores eight elements of step p, from lane 8 · e on, after subtracting the zero points and multiplying by the scales of
  // their block.
  [[gnu::always_inline]] void store(int64_t p, int e, __m256 value) const {
    if (p >= reader.k) return;
    const int64_t block = reader.block_of(p);
    if (reader.zeros != nullptr) {
      const uint8_t *const from = reader.zeros + block * kPanelLanes + 8 * e;
      value = _mm256_sub_ps(value, _mm256_cvtepi32_ps(load_zeros(from)));
    }
    if (reader.scales != nullptr) {
      const uint8_t *const from = reader.scales + block * reader.scale_bytes + e * reader.scale_bytes / 4;
      value = _mm256_mul_ps(value, load_scales(reader.scale_format, from, 8));
    }
    _mm256_storeu_ps(to[e] + (p - reader.depth.first) * kVectors * 8, value);
  }

  const PanelReader reader;  // a copy, which stores cannot change
  float *to[4];
};

inline __m256i load_vec8(const uint8_t *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); }

inline __m256 look_up(const PanelReader &reader, __m256i codes) { return _mm256_i32gather_ps(reader.values, codes, 4); }

// Decodes panels in vectors of eight lanes. A Sink has begin(p), which is called before up to four steps of k from p on, and
// store(p, e, value) for the lanes from 8 · e on. Values of a lane are stored in the order of k.
struct DecodeAvx2 {
  template <typename Sink>
  static void nibbles(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink) {
    if (reader.element == LPT_FORMAT_INT4) {
      return nibbles_by(reader, begin, end, sink, [](__m256i line, int n) {
        return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(line, 28 - 4 * n), 28));
      });
    }
    if (reader.element == LPT_FORMAT_UINT4) {
      return nibbles_by(reader, begin, end, sink, [](__m256i line, int n) {
        return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(line, 4 * n), _mm256_set1_epi32(15)));
      });
    }
    IntegerTable integers;
    if (find_integers(reader, integers)) {  // looks up all bytes of the line at once
      const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i *>(integers.value)));
      const __m256 unit = _mm256_set1_ps(integers.unit);
      return nibbles_by(reader, begin, end, sink, [table, unit](__m256i line, int n) {
        const __m256i codes = _mm256_and_si256(_mm256_srli_epi16(line, n % 2 * 4), _mm256_set1_epi8(15));
        const __m256i bytes = _mm256_shuffle_epi8(table, codes);
        const __m256i dwords = _mm256_srai_epi32(_mm256_slli_epi32(bytes, 24 - n / 2 * 8), 24);
        return _mm256_mul_ps(_mm256_cvtepi32_ps(dwords), unit);
      });
    }
    const __m256 low = _mm256_loadu_ps(reader.values), high = _mm256_loadu_ps(reader.values + 8);
    nibbles_by(reader, begin, end, sink,
               [low, high](__m256i line, int n) { return look_up16(low, high, _mm256_srli_epi32(line, 4 * n)); });
  }

  template <typename Sink>
  static void byte_pairs(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink) {
    const Element element = element_of(reader.element);
    if (is_small_half(element)) return half_pairs(reader, element, begin, end, sink);
    for (int64_t p = begin; p < end; p += 2) {
      sink.begin(p);
      for (int e = 0; e < 4; ++e) {  // four lanes are adjacent
        const uint8_t *const from = reader.codes + p / 2 * kPanelLineBytes + 32 * (e % 2) + 8 * (e / 2);
        const __m128i pairs = _mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)),
                                                 _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from + 16)));
        sink.store(p, e, look_up(reader, dwords_of_words(_mm_and_si128(pairs, _mm_set1_epi16(255)))));
        sink.store(p + 1, e, look_up(reader, dwords_of_words(_mm_srli_epi16(pairs, 8))));
      }
    }
  }

  template <typename Sink>
  static void byte_quads(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink) {
    const Element element = element_of(reader.element);
    if (reader.element == LPT_FORMAT_INT8) {
      return byte_quads_by(reader, begin, end, sink,
                           [](__m256i top) { return _mm256_cvtepi32_ps(_mm256_srai_epi32(top, 24)); });
    }
    const __m256 unit = _mm256_set1_ps(reader.values[1]);  // value of code 1; used for integers
    byte_quads_by(reader, begin, end, sink, [&](__m256i top) {
      if (element.levels != nullptr) return look_up(reader, _mm256_srli_epi32(top, 24));
      const __m256i integers = element.is_signed ? _mm256_srai_epi32(top, 24) : _mm256_srli_epi32(top, 24);
      return _mm256_mul_ps(_mm256_cvtepi32_ps(integers), unit);
    });
  }

  template <typename Sink>
  static void halves(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink) {
    if (reader.element == LPT_FORMAT_BF16) {
      const __m256i top = _mm256_set1_epi32(static_cast<int32_t>(0xFFFF0000));
      return halves_by(reader, begin, end, sink, [top](__m256i line, int t) {
        return _mm256_castsi256_ps(t == 0 ? _mm256_slli_epi32(line, 16) : _mm256_and_si256(line, top));
      });
    }
    halves_by(reader, begin, end, sink, [](__m256i line, int t) {
      const __m256i words = t == 0 ? _mm256_and_si256(line, _mm256_set1_epi32(0xFFFF)) : _mm256_srli_epi32(line, 16);
      const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0x08);
      return _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
    });
  }

  template <typename Sink>
  static void words(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink) {
    for (int64_t p = begin; p < end; ++p) {
      sink.begin(p);
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) {
        const uint8_t *const from = reader.codes + (2 * p + e / 2) * kPanelLineBytes + 32 * (e % 2);
        sink.store(p, e, _mm256_loadu_ps(reinterpret_cast<const float *>(from)));
      }
    }
  }

 private:
  // Values of codes as integers times a unit.
  struct IntegerTable {
    float unit;
    int8_t value[16];
  };

  // Returns false if the values are not such integers. The sign of zeros is lost: it does not change sums that begin at +0.
  static bool find_integers(const PanelReader &reader, IntegerTable &integers) {
    float unit = 0;  // the smallest magnitude
    for (int code = 0; code < 16; ++code) {
      const float magnitude = std::fabs(reader.values[code]);
      if (magnitude > 0 && (unit == 0 || magnitude < unit)) unit = magnitude;
    }
    integers.unit = unit;
    for (int code = 0; code < 16; ++code) {
      const float value = reader.values[code] / unit;
      if (!(std::fabs(value) <= 127) || value != std::floor(value)) return false;
      integers.value[code] = static_cast<int8_t>(value);
    }
    return true;
  }

  // number(line, n) converts nibble n of each dword.
  template <typename Sink, typename Number>
  static void nibbles_by(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink, const Number &number) {
    for (int64_t p = begin; p < end; p += 4) {
      sink.begin(p);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const __m256i line = load_vec8(reader.codes + p / 4 * kPanelLineBytes + 32 * half);
#pragma GCC unroll 8
        for (int n = 0; n < 8; ++n) {
          sink.store(p + n / 2, 2 * (n % 2) + half, number(line, 2 * static_cast<int>(kNibbleOrder[n / 2]) + n % 2));
        }
      }
    }
  }

  // Floats that f16 holds with another bias of the exponent. All codes of half a line are converted to f16 in words.
  template <typename Sink>
  static void half_pairs(const PanelReader &reader, const Element &element, int64_t begin, int64_t end, Sink &sink) {
    const HalfConversion conversion(element);
    for (int64_t p = begin; p < end; p += 2) {
      sink.begin(p);
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const __m256i line = load_vec8(reader.codes + p / 2 * kPanelLineBytes + 32 * half);
        const __m256i pairs =
            _mm256_permute4x64_epi64(line, 0xD8);  // lanes of v 0 in the low half, of v 1 in the high half
#pragma GCC unroll 2
        for (int t = 0; t < 2; ++t) {
          const __m256i codes = t == 0 ? _mm256_and_si256(pairs, _mm256_set1_epi16(255)) : _mm256_srli_epi16(pairs, 8);
          const __m256i numbers = conversion.halves(codes);
          sink.store(p + t, half, conversion.floats(_mm256_castsi256_si128(numbers)));
          sink.store(p + t, half + 2, conversion.floats(_mm256_extracti128_si256(numbers, 1)));
        }
      }
    }
  }

  // number(top) converts the highest byte of each dword.
  template <typename Sink, typename Number>
  static void byte_quads_by(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink, const Number &number) {
    for (int64_t p = begin; p < end; p += 4) {
      sink.begin(p);
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) {
        const __m256i line = load_vec8(reader.codes + (p / 2 + e / 2) * kPanelLineBytes + 32 * (e % 2));
        sink.store(p, e, number(_mm256_slli_epi32(line, 24)));
        sink.store(p + 1, e, number(_mm256_slli_epi32(line, 16)));
        sink.store(p + 2, e, number(_mm256_slli_epi32(line, 8)));
        sink.store(p + 3, e, number(line));
      }
    }
  }

  // number(line, t) converts word t of each dword.
  template <typename Sink, typename Number>
  static void halves_by(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink, const Number &number) {
    for (int64_t p = begin; p < end; p += 2) {
      sink.begin(p);
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) {
        const __m256i line = load_vec8(reader.codes + (p + e / 2) * kPanelLineBytes + 32 * (e % 2));
        sink.store(p, e, number(line, 0));
        sink.store(p + 1, e, number(line, 1));
      }
    }
  }
};

template <int kVectors>
struct ExpandAvx2 : DecodeAvx2 {
  using Store = PanelStore<kVectors>;
};

}  // namespace
}  // namespace lpt
