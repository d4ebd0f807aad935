// Decoding of operands to bf16, for elements that bf16 represents exactly. Included by ISA files: all functions have internal
// linkage.
//
// vdpbf16ps reads subnormals as zero and returns zero for subnormal results. 8-bit and 4-bit floats and int8 decode to normal
// numbers. The results differ for bf16 subnormals, for products of elements and e8m0fnu scales below 2^-126, and for sums below
// 2^-126.
#pragma once

#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/x86/avx512.hpp"

namespace lpt {
namespace {

// Returns the upper halves of 32 f32: exact for values that bf16 represents.
inline __m512i cut_to_bf16(__m512 low, __m512 high) {
  alignas(64) static constexpr uint16_t kOdd[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                    33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  return _mm512_permutex2var_epi16(_mm512_castps_si512(low), _mm512_load_si512(kOdd), _mm512_castps_si512(high));
}

// Converts 32 floats of 8 bits to bf16. Both bytes of a word look up the same code; then the sign is set.
inline __m512i decode_bytes_bf16(__m256i codes, const ByteTable &table) {
  const __m512i wide = _mm512_cvtepu8_epi16(codes);
  const __m512i index = _mm512_or_si512(wide, _mm512_slli_epi16(wide, 8));
  const __m512i low = _mm512_permutex2var_epi8(_mm512_load_si512(table.low), index, _mm512_load_si512(table.low + 64));
  const __m512i high =
      _mm512_permutex2var_epi8(_mm512_load_si512(table.high), index, _mm512_load_si512(table.high + 64));
  const __m512i magnitude = _mm512_mask_blend_epi8(0xAAAAAAAAAAAAAAAA, low, high);
  return _mm512_ternarylogic_epi32(magnitude, index, _mm512_set1_epi16(INT16_MIN), 0xF8);  // magnitude | (index & sign)
}

// Returns whether 16 adjacent elements share a scale and a zero point.
inline bool has_wide_blocks(const Operand &operand) {
  return (operand.zeros == nullptr && !operand.is_scaled_along_k) || operand.column_shift >= 4;
}

// Returns the values of 16 codes in the block of an element.
inline __m512 values_of_block(const Operand &operand, int64_t row, int64_t column) {
  __m512 values = _mm512_loadu_ps(operand.values);
  if (operand.zeros != nullptr) {
    const int64_t block = (row >> operand.row_shift) * operand.scale_stride + (column >> operand.column_shift);
    values = _mm512_sub_ps(values, _mm512_set1_ps(static_cast<float>(operand.zeros[block])));
  }
  return operand.is_scaled_along_k ? _mm512_mul_ps(values, _mm512_set1_ps(scale_at(operand, row, column))) : values;
}

// Decodes 32 adjacent 4-bit elements with wide blocks. The table has 16 values for each half of them.
inline __m512i look_up_nibbles(const Operand &operand, int64_t row, int64_t column, int64_t count) {
  const uint8_t *const from = operand.data + (row * operand.row_stride + column) / 2;
  const __m512i bytes = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(first16((count + 1) / 2), from));
  const __m512 low = values_of_block(operand, row, column);
  const __m512 high = operand.column_shift == 4 && count > 16 ? values_of_block(operand, row, column + 16) : low;
  const __m512i nibbles = _mm512_or_si512(bytes, _mm512_slli_epi32(bytes, 12));
  const __m512i half = _mm512_maskz_set1_epi32(0xFF00, 0x00100010);
  const __m512i index = _mm512_ternarylogic_epi32(nibbles, _mm512_set1_epi32(0x000F000F), half, 0xEA);  // (a & b) | c
  return _mm512_maskz_permutexvar_epi16(first32(count), index, cut_to_bf16(low, high));
}

constexpr int32_t kTableBits = 6;  // two registers hold 64 bf16

// Decodes 32 adjacent elements of at most kTableBits bits.
inline __m512i look_up_codes(const Operand &operand, int64_t row, int64_t column, int64_t count) {
  const int64_t index = operand.first_digit + row * operand.row_stride + column;
  const __m256i codes = load_codes32(operand.element, operand.data, index, count);
  const float *const values = operand.values;
  const __m512i low = cut_to_bf16(_mm512_loadu_ps(values), _mm512_loadu_ps(values + 16));
  const __m512i high = cut_to_bf16(_mm512_loadu_ps(values + 32), _mm512_loadu_ps(values + 48));
  const __m512i found = _mm512_permutex2var_epi16(low, _mm512_cvtepu8_epi16(codes), high);
  return _mm512_maskz_mov_epi16(first32(count), found);
}

// Decodes 32 adjacent elements of 8 bits.
inline __m512i gather_bytes(const Operand &operand, int64_t row, int64_t column, int64_t count) {
  const uint8_t *const from = operand.data + row * operand.row_stride + column;
  const __m256i codes = _mm256_maskz_loadu_epi8(first32(count), from);
  const __m512 low = _mm512_i32gather_ps(_mm512_cvtepu8_epi32(_mm256_castsi256_si128(codes)), operand.values, 4);
  const __m512 high = _mm512_i32gather_ps(_mm512_cvtepu8_epi32(_mm256_extracti128_si256(codes, 1)), operand.values, 4);
  return _mm512_maskz_mov_epi16(first32(count), cut_to_bf16(low, high));
}

// Converts 16 lanes of four 8-bit floats to bf16: pairs[0] has the first two of each lane, pairs[1] the others.
inline void decode_quads(const ByteLookUp &look_up, __m512i codes, __m512i (&pairs)[2]) {
  const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  const __m512i ordered = _mm512_shuffle_epi8(codes, order);
  const __m512i low = look_up.low(ordered), high = look_up.high(ordered, ordered, _mm512_set1_epi8(INT8_MIN));
  pairs[0] = _mm512_unpacklo_epi8(low, high);
  pairs[1] = _mm512_unpackhi_epi8(low, high);
}

struct Bf16 : Avx512 {
  static constexpr int64_t kPerDword = 2;

  static Floats add_product(Floats sum, Dwords row, Dwords columns) {
    return _mm512_dpbf16_ps(sum, (__m512bh)row, (__m512bh)columns);
  }

  static void interleave(Dwords (&rows)[2]) {
    alignas(64) static constexpr uint16_t kLow[32] = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                                      8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
    alignas(64) static constexpr uint16_t kHigh[32] = {16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
                                                       24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63};
    const Dwords low = _mm512_permutex2var_epi16(rows[0], _mm512_load_si512(kLow), rows[1]);
    rows[1] = _mm512_permutex2var_epi16(rows[0], _mm512_load_si512(kHigh), rows[1]);
    rows[0] = low;
  }

  // Decodes 32 adjacent elements. Elements past `count` are 0.
  template <Decoder kDecoder>
  static Dwords decode(const Operand &operand, int64_t row, int64_t column, int64_t count) {
    const int64_t index = row * operand.row_stride + column;
    const __mmask32 mask = first32(count);
    __m512i value;
    if constexpr (kDecoder == Decoder::kBf16) {
      value = _mm512_maskz_loadu_epi16(mask, operand.data + 2 * index);
    } else if constexpr (kDecoder == Decoder::kInt8) {
      const __m512i words = _mm512_cvtepi8_epi16(_mm256_maskz_loadu_epi8(mask, operand.data + index));
      const __m512i low = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(words));
      const __m512i high = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(words, 1));
      value = cut_to_bf16(_mm512_cvtepi32_ps(low), _mm512_cvtepi32_ps(high));
    } else if constexpr (kDecoder == Decoder::kTable) {
      if (operand.bits == 4 && has_wide_blocks(operand)) return look_up_nibbles(operand, row, column, count);
      if (operand.zeros == nullptr && operand.bits == 8) {
        value = gather_bytes(operand, row, column, count);
      } else if (operand.zeros == nullptr && operand.bits <= kTableBits && operand.bits != 4) {
        value = look_up_codes(operand, row, column, count);
      } else {
        float values[32];
        read_values(operand, row, column, count, values);
        value = cut_to_bf16(_mm512_loadu_ps(values), _mm512_loadu_ps(values + 16));
      }
    } else {
      value = decode_bytes_bf16(_mm256_maskz_loadu_epi8(mask, operand.data + index), *operand.table);
    }
    if (operand.is_scaled_along_k) {  // exact: the kernel table excludes other scales
      const __m512 low = f32_of_bf16(_mm512_castsi512_si256(value));
      const __m512 high = f32_of_bf16(_mm512_extracti64x4_epi64(value, 1));
      const __m512 low_scales = load_scales(operand, row, column, count);
      const bool is_one_scale = operand.column_shift >= 5 || count <= 16;
      const __m512 high_scales = is_one_scale ? low_scales : load_scales(operand, row, column + 16, count - 16);
      value =
          _mm512_maskz_mov_epi16(mask, cut_to_bf16(_mm512_mul_ps(low, low_scales), _mm512_mul_ps(high, high_scales)));
    }
    return value;
  }

  static constexpr int64_t kCodes = 16;  // codes of a lane that are decoded at once

  // Decodes kCodes codes of each of eight lanes to eight steps of eight lanes, two steps per line.
  static void decode_lanes(const ByteLookUp &look_up, const uint8_t *const (&lanes)[kTileRows], int64_t at,
                           Dwords (&lines)[4]) {
    alignas(64) static constexpr uint16_t kOrder[32] = {0, 4, 8, 12, 2, 6, 10, 14, 16, 20, 24, 28, 18, 22, 26, 30,
                                                        1, 5, 9, 13, 3, 7, 11, 15, 17, 21, 25, 29, 19, 23, 27, 31};
    const auto load = [&](int64_t lane) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i *>(lanes[lane] + at));
    };
    __m512i pairs[2];  // two lanes in each 128-bit quarter
#pragma GCC unroll 2
    for (int64_t i = 0; i < 2; ++i) {
      pairs[i] = _mm512_broadcast_i64x2(load(i));
      pairs[i] = _mm512_mask_broadcast_i64x2(pairs[i], 0x0C, load(i + 2));
      pairs[i] = _mm512_mask_broadcast_i64x2(pairs[i], 0x30, load(i + 4));
      pairs[i] = _mm512_mask_broadcast_i64x2(pairs[i], 0xC0, load(i + 6));
    }
    const __m512i eights[2] = {_mm512_unpacklo_epi64(pairs[0], pairs[1]), _mm512_unpackhi_epi64(pairs[0], pairs[1])};
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const __m512i codes = _mm512_permutexvar_epi16(_mm512_load_si512(kOrder), eights[i]);
      const __m512i low = look_up.low(codes), high = look_up.high(codes, codes, _mm512_set1_epi8(INT8_MIN));
      lines[2 * i] = _mm512_unpacklo_epi8(low, high);
      lines[2 * i + 1] = _mm512_unpackhi_epi8(low, high);
    }
  }

  // Packs the last codes of eight lanes, fewer than 16 per lane.
  static void pack_rest(const ByteLookUp &look_up, const uint8_t *const (&lanes)[kTileRows], int64_t at, int64_t count,
                        uint32_t *to) {
    uint8_t rest[kTileRows][kCodes] = {};
    const uint8_t *from[kTileRows];
    for (int64_t l = 0; l < kTileRows; ++l) {
      memcpy(rest[l], lanes[l] + at, static_cast<size_t>(count));
      from[l] = rest[l];
    }
    Dwords lines[4];
    decode_lanes(look_up, from, 0, lines);
    int64_t left = (count + 1) / 2 * kTileRows;  // dwords
    for (int64_t i = 0; left > 0; ++i, left -= kVector) {
      _mm512_mask_storeu_epi32(to + i * kVector, first16(left), lines[i]);
    }
  }

  // Packs lanes × k of 8-bit floats into panels of eight lanes. The last panel repeats the last lane.
  static void pack_byte_lanes(const Operand &operand, int64_t first, int64_t lanes, uint32_t *panels) {
    const ByteLookUp look_up(*operand.table);
    const int64_t steps = (operand.k + 1) / 2, whole = operand.k / kCodes * kCodes;
    const uint8_t *const data = operand.data + (operand.first_lane + first) * operand.row_stride;
    for (int64_t lane = 0; lane < lanes; lane += kTileRows) {
      uint32_t *to = panels + lane * steps;
      const uint8_t *from[kTileRows];
      for (int64_t l = 0; l < kTileRows; ++l) from[l] = data + min_i64(lane + l, lanes - 1) * operand.row_stride;
      for (int64_t k = 0; k < whole; k += kCodes, to += kCodes / kPerDword * kTileRows) {
        if (k % 64 == 0) {  // the lines of the next lanes: the hardware does not prefetch so many short runs
#pragma GCC unroll 8
          for (int64_t l = 0; l < kTileRows; ++l) __builtin_prefetch(from[l] + kTileRows * operand.row_stride + k);
        }
        Dwords lines[4];
        decode_lanes(look_up, from, k, lines);
#pragma GCC unroll 4
        for (int64_t i = 0; i < 4; ++i) store(lines[i], to + i * kVector);
      }
      if (whole < operand.k) pack_rest(look_up, from, whole, operand.k - whole, to);
    }
  }

  // Packs 16 lanes by 64 elements of k, or fewer if kIsWhole is false.
  template <bool kIsWhole>
  static void pack_byte_block(const Operand &operand, const ByteLookUp &look_up, const uint8_t *from, int64_t present,
                              int64_t k, uint32_t *to) {
    const __mmask64 mask = lane_mask(0, k);
    Dwords codes[kVector];
#pragma GCC unroll 16
    for (int64_t l = 0; l < kVector; ++l) {
      const uint8_t *const at = from + l * operand.row_stride;
      if constexpr (kIsWhole) {
        codes[l] = _mm512_loadu_si512(at);
      } else {
        codes[l] = l < present ? _mm512_maskz_loadu_epi8(mask, at) : no_dwords();
      }
    }
    for (int64_t l = 0; l < kVector; ++l) __builtin_prefetch(from + (kVector + l) * operand.row_stride);
    lpt::transpose(codes);
    const int64_t steps = kIsWhole ? 2 * kVector : (k + 1) / 2;
#pragma GCC unroll 4
    for (int64_t q = 0; q < kVector; ++q, to += 2 * kTileVectors * kVector) {
      if (!kIsWhole && 2 * q >= steps) break;
      Dwords pairs[2];
      decode_quads(look_up, codes[q], pairs);
      store(pairs[0], to);
      if (kIsWhole || 2 * q + 1 < steps) store(pairs[1], to + kTileVectors * kVector);
    }
  }

  // Packs lanes × k of 8-bit floats into panels of kTileVectors vectors. The codes are transposed first, four steps of k per
  // dword, and then decoded.
  static void pack_byte_vectors(const Operand &operand, int64_t first, int64_t lanes, uint32_t *panels) {
    constexpr int64_t kBlockCodes = 4 * kVector;
    const int64_t steps = (operand.k + 1) / 2;
    const ByteLookUp look_up(*operand.table);
    for (int64_t lane = 0; lane < lanes; lane += kVector) {
      const int64_t present = min_i64(lanes - lane, kVector);
      uint32_t *to = half_at<Bf16, 2 * kTileVectors>(panels, steps, 2 * (lane / kVector));
      const uint8_t *from = operand.data + (operand.first_lane + first + lane) * operand.row_stride;
      for (int64_t k = 0; k < operand.k; k += kBlockCodes, from += kBlockCodes) {
        const int64_t left = operand.k - k;
        if (present == kVector && left >= kBlockCodes) {
          pack_byte_block<true>(operand, look_up, from, present, left, to);
        } else {
          pack_byte_block<false>(operand, look_up, from, present, min_i64(left, kBlockCodes), to);
        }
        to += kBlockCodes / kPerDword * kTileVectors * kVector;
      }
    }
  }

  template <int kHalves>
  static void pack_bytes(const Operand &operand, int64_t first, int64_t lanes, uint32_t *panels) {
    if constexpr (kHalves == 1) {
      pack_byte_lanes(operand, first, lanes, panels);
    } else {
      pack_byte_vectors(operand, first, lanes, panels);
    }
  }
};

}  // namespace
}  // namespace lpt
