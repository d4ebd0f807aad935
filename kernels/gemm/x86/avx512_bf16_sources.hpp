// Decoding of lines of packed weights (panels.hpp) to pairs of k in bf16, in registers. Included by ISA files: all functions
// have internal linkage.
//
// A source reads kBytes of a panel at once and returns kSteps steps of two vectors. Dword l of columns[step][v] holds the
// elements k = 2 · step and 2 · step + 1 of lane 16 · v + l.
#pragma once

#include "kernels/gemm/panels.hpp"
#include "kernels/gemm/x86/avx512.hpp"

namespace lpt {
namespace {

constexpr int32_t kMostNibbleZero = 16;  // code - zero is then in [-16, 15]: 5 bits, an index of NibbleZeroLines

// Decoding tables of a source.
struct PanelTables {
  ByteTable bytes;                 // indexed by the code, without the bit `sign`
  alignas(64) uint16_t words[32];  // bf16 of a nibble, twice; with zero points, of a 5-bit difference
  uint8_t sign;                    // the sign bit of a code byte; 0: none
};

inline uint16_t exact_bf16(float value) { return static_cast<uint16_t>(float_bits(value) >> 16); }

inline void set_tables(lpt_format format, bool has_zeros, PanelTables &tables) {
  const Element element = element_of(format);
  const uint32_t codes = 1u << element.bits;
  if (const ByteTable *const bytes = byte_table_of(format); bytes != nullptr) {
    tables.sign = 0x80;
    tables.bytes = *bytes;
  } else if (element.bits <= 4) {
    for (uint32_t i = 0; i < 32; ++i) {
      const float difference = i < 16 ? static_cast<float>(i) : static_cast<float>(i) - 32;
      tables.words[i] = exact_bf16(has_zeros ? difference : decode(element, i & (codes - 1)));
    }
  } else if (element.bits <= 8) {
    tables.sign = element.bits == 8 ? 0x80 : 0;
    for (uint32_t i = 0; i < 128; ++i) {
      const uint32_t bits = exact_bf16(element.is_integer ? static_cast<float>(i) : decode(element, i & (codes - 1)));
      tables.bytes.low[i] = static_cast<uint8_t>(bits & 0xFF);
      tables.bytes.high[i] = static_cast<uint8_t>(bits >> 8);
    }
  }
}

// Zero points of the lanes of a panel, in the form that a source reads.
struct LaneZeros {
  __m512i of[2];
};

// Returns the zero point of each lane in all four bytes of the lane's dword.
inline __m512i zeros_of_lanes(const uint8_t *zeros, int v) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(zeros + 16 * v));
  return _mm512_mullo_epi32(_mm512_cvtepu8_epi32(bytes), _mm512_set1_epi32(0x01010101));
}

inline LaneZeros wide_zeros_of(const uint8_t *zeros) {
  return {{_mm512_srli_epi32(zeros_of_lanes(zeros, 0), 24), _mm512_srli_epi32(zeros_of_lanes(zeros, 1), 24)}};
}

// Lines of bf16: packed weights, or expanded panels.
struct HalfLines {
  static constexpr int kSteps = 1;
  static constexpr int64_t kBytes = 128;

  explicit HalfLines(const PanelTables &) {}
  static LaneZeros zeros_of(const uint8_t *) { return {}; }

  void read(const uint8_t *line, const LaneZeros &, __m512i (&columns)[1][2]) const {
    columns[0][0] = _mm512_loadu_si512(line);
    columns[0][1] = _mm512_loadu_si512(line + 64);
  }
};

// Floats of 5 to 8 bits. The look-ups ignore the sign bit.
template <bool kIsFnuz>
struct ByteLines {
  static constexpr int kSteps = 1;
  static constexpr int64_t kBytes = 64;

  explicit ByteLines(const PanelTables &tables)
      : look_up(tables.bytes), sign(_mm512_set1_epi8(static_cast<char>(tables.sign))) {}
  static LaneZeros zeros_of(const uint8_t *) { return {}; }

  void read(const uint8_t *line, const LaneZeros &, __m512i (&columns)[1][2]) const {
    __m512i codes = _mm512_loadu_si512(line);
    asm("" : "+v"(codes));  // gcc 12 would load the line for each use
    __m512i low = look_up.low(codes), high = look_up.high(codes, codes, sign);
    if constexpr (kIsFnuz) {
      const __mmask64 is_nan = _mm512_cmpeq_epi8_mask(codes, sign);
      low = _mm512_mask_mov_epi8(low, is_nan, _mm512_set1_epi8(-64));
      high = _mm512_mask_mov_epi8(high, is_nan, _mm512_set1_epi8(127));
    }
    columns[0][0] = _mm512_unpacklo_epi8(low, high);
    columns[0][1] = _mm512_unpackhi_epi8(low, high);
  }

  ByteLookUp look_up;
  __m512i sign;
};

// Elements of at most 4 bits. The table has 16 values twice, so that the bit above a nibble has no effect.
struct NibbleLines {
  static constexpr int kSteps = 2;
  static constexpr int64_t kBytes = 64;

  explicit NibbleLines(const PanelTables &tables) : words(_mm512_load_si512(tables.words)) {}
  static LaneZeros zeros_of(const uint8_t *) { return {}; }

  void read(const uint8_t *line, const LaneZeros &, __m512i (&columns)[2][2]) const {
    const __m512i codes = _mm512_loadu_si512(line);
    columns[0][0] = _mm512_permutexvar_epi16(codes, words);
    columns[0][1] = _mm512_permutexvar_epi16(_mm512_srli_epi16(codes, 4), words);
    columns[1][0] = _mm512_permutexvar_epi16(_mm512_srli_epi16(codes, 8), words);
    columns[1][1] = _mm512_permutexvar_epi16(_mm512_srli_epi16(codes, 12), words);
  }

  __m512i words;
};

// Returns the bf16 of two vectors of f32 that bf16 represents exactly, a pair per dword.
inline __m512i upper_halves(__m512 first, __m512 second) {
  const __m512i low = _mm512_srli_epi32(_mm512_castps_si512(first), 16);
  const __m512i upper = _mm512_set1_epi32(static_cast<int32_t>(0xFFFF0000));
  return _mm512_ternarylogic_epi32(low, _mm512_castps_si512(second), upper, 0xF8);  // low | (second & upper)
}

// uint4 with zero points of at most kMostNibbleZero. The difference, which is exact, is the index of the table.
struct NibbleZeroLines {
  static constexpr int kSteps = 2;
  static constexpr int64_t kBytes = 64;

  explicit NibbleZeroLines(const PanelTables &tables)
      : words(_mm512_load_si512(tables.words)), mask(_mm512_set1_epi8(15)) {}
  static LaneZeros zeros_of(const uint8_t *from) { return {{zeros_of_lanes(from, 0), zeros_of_lanes(from, 1)}}; }

  void read(const uint8_t *line, const LaneZeros &zeros, __m512i (&columns)[2][2]) const {
    const __m512i codes = _mm512_loadu_si512(line);
    const __m512i low = _mm512_sub_epi8(_mm512_and_si512(codes, mask), zeros.of[0]);
    const __m512i high = _mm512_sub_epi8(_mm512_and_si512(_mm512_srli_epi16(codes, 4), mask), zeros.of[1]);
    columns[0][0] = _mm512_permutexvar_epi16(low, words);
    columns[0][1] = _mm512_permutexvar_epi16(high, words);
    columns[1][0] = _mm512_permutexvar_epi16(_mm512_srli_epi16(low, 8), words);
    columns[1][1] = _mm512_permutexvar_epi16(_mm512_srli_epi16(high, 8), words);
  }

  __m512i words, mask;
};

// uint4 with any zero points, converted through f32.
struct NibbleAnyZeroLines {
  static constexpr int kSteps = 2;
  static constexpr int64_t kBytes = 64;

  explicit NibbleAnyZeroLines(const PanelTables &) {}
  static LaneZeros zeros_of(const uint8_t *from) { return wide_zeros_of(from); }

  void read(const uint8_t *line, const LaneZeros &zeros, __m512i (&columns)[2][2]) const {
    const __m512i codes = _mm512_loadu_si512(line);
    for (int v = 0; v < 2; ++v) {
      const __m512i nibbles = v == 0 ? codes : _mm512_srli_epi32(codes, 4);
      columns[0][v] = pair(nibbles, _mm512_srli_epi32(nibbles, 16), zeros.of[v]);
      columns[1][v] = pair(_mm512_srli_epi32(nibbles, 8), _mm512_srli_epi32(nibbles, 24), zeros.of[v]);
    }
  }

  static __m512i pair(__m512i first, __m512i second, __m512i zero) {
    return upper_halves(less_zero(first, zero), less_zero(second, zero));
  }
  static __m512 less_zero(__m512i nibbles, __m512i zero) {
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_and_si512(nibbles, _mm512_set1_epi32(15)), zero));
  }
};

// Signed 8-bit integers, by look-ups of their magnitudes. If the format has fraction bits, their factor is applied to the sums.
struct IntegerLines {
  static constexpr int kSteps = 2;
  static constexpr int64_t kBytes = 128;

  explicit IntegerLines(const PanelTables &tables) : look_up(tables.bytes) {}
  static LaneZeros zeros_of(const uint8_t *) { return {}; }

  void read(const uint8_t *line, const LaneZeros &, __m512i (&columns)[2][2]) const {
    const __m512i sign = _mm512_set1_epi8(INT8_MIN);
    const __m512i pairs = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const __m512i codes = _mm512_shuffle_epi8(_mm512_loadu_si512(line + 64 * v), pairs);
      const __m512i magnitude = _mm512_abs_epi8(codes);  // 128 looks up the low byte of 0, which is also that of 128
      const __m512i low = look_up.low(magnitude);
      const __mmask64 is_least = _mm512_cmpeq_epi8_mask(codes, sign);  // -128 is 0xC300
      const __m512i high = _mm512_mask_mov_epi8(look_up.high(magnitude, codes, sign), is_least, _mm512_set1_epi8(-61));
      columns[0][v] = _mm512_unpacklo_epi8(low, high);
      columns[1][v] = _mm512_unpackhi_epi8(low, high);
    }
  }

  ByteLookUp look_up;
};

// 8-bit integers, converted through f32: signed, or unsigned with zero points. It needs more instructions than look-ups, but
// has a shorter latency from a line to its products.
template <bool kHasZeros>
struct WideIntegerLines {
  static constexpr int kSteps = 2;
  static constexpr int64_t kBytes = 128;

  explicit WideIntegerLines(const PanelTables &) {}
  static LaneZeros zeros_of(const uint8_t *from) { return kHasZeros ? wide_zeros_of(from) : LaneZeros{}; }

  void read(const uint8_t *line, const LaneZeros &zeros, __m512i (&columns)[2][2]) const {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const __m512i codes = _mm512_loadu_si512(line + 64 * v);
      columns[0][v] = pair(_mm512_slli_epi32(codes, 24), _mm512_slli_epi32(codes, 16), zeros.of[v]);
      columns[1][v] = pair(_mm512_slli_epi32(codes, 8), codes, zeros.of[v]);
    }
  }

  // The codes are the top bytes of the dwords.
  static __m512i pair(__m512i first, __m512i second, __m512i zero) {
    return upper_halves(number(first, zero), number(second, zero));
  }
  static __m512 number(__m512i dwords, __m512i zero) {
    if constexpr (kHasZeros) return _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_srli_epi32(dwords, 24), zero));
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(dwords, 24));
  }
};

// Selects the fastest decoder for tiles of kRows rows.
template <typename Source, int kRows>
struct SourceFor {
  using Type = Source;
};
template <int kRows>
requires(kRows >= 4) struct SourceFor<IntegerLines, kRows> {
  using Type = WideIntegerLines<false>;
};

}  // namespace
}  // namespace lpt
