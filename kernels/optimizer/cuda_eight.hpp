// Eight adjacent elements of an array: the unit that a thread of this family loads and stores. It is half a fragment
// (cuda_fragment.hpp), because a thread holds four arrays at once. One Philox block has random bits for eight elements.
// Elements past the end of the array are 0 and are not stored.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "kernels/common/cuda_random.hpp"

namespace lpt {

constexpr int32_t kEight = 8;

struct FloatVec8 {
  float number[kEight];
};

// Codes of 8 or 16 bits: elements in order, the first in the lowest bits.
template <int32_t kBits>
struct CodeVec8 {
  uint32_t word[kBits / 4];
};

template <int32_t kBits>
__device__ __forceinline__ uint32_t code_at(const CodeVec8<kBits> &codes, int32_t place) {
  return codes.word[place * kBits / 32] >> (place * kBits % 32) & ((1u << kBits) - 1);
}

// Sets the code of element `place`, which must be 0.
template <int32_t kBits>
__device__ __forceinline__ void put_code(CodeVec8<kBits> &codes, int32_t place, uint32_t code) {
  codes.word[place * kBits / 32] |= code << (place * kBits % 32);
}

// Returns the number of elements from `index` on, at most 8.
__device__ __forceinline__ int32_t eight_count(int64_t numbers, int64_t index) {
  const int64_t left = numbers - index;
  return left <= 0 ? 0 : left < kEight ? static_cast<int32_t>(left) : kEight;
}

// Eight elements or codes as stored in memory: 8, 4 or 2 words. A thread loads all its arrays before it decodes one.
struct RawVec8 {
  uint32_t word[kEight];
};

__device__ __forceinline__ void take_four(RawVec8 &raw, int32_t first, const void *from) {
  const uint4 four = load_four(from);
  raw.word[first] = four.x;
  raw.word[first + 1] = four.y;
  raw.word[first + 2] = four.z;
  raw.word[first + 3] = four.w;
}

// Loads f32 or bf16 elements; the format is the same for all threads. `is_whole`: eight elements, aligned to 16 bytes.
__device__ __forceinline__ RawVec8 load_raw_numbers(bool is_bf16, const void *data, int64_t index, int32_t count,
                                                    bool is_whole) {
  const auto *const from = static_cast<const uint8_t *>(data) + index * (is_bf16 ? 2 : 4);
  RawVec8 raw = {};
  if (is_whole) {
    take_four(raw, 0, from);
    if (!is_bf16) take_four(raw, 4, from + 16);
    return raw;
  }
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i >= count) break;
    if (is_bf16) {
      raw.word[i / 2] |= uint32_t{reinterpret_cast<const uint16_t *>(from)[i]} << (16 * (i % 2));
    } else {
      raw.word[i] = reinterpret_cast<const uint32_t *>(from)[i];
    }
  }
  return raw;
}

// Loads bytes. `is_whole`: eight bytes, aligned to 8 bytes.
__device__ __forceinline__ RawVec8 load_raw_bytes(const void *data, int64_t index, int32_t count, bool is_whole) {
  const auto *const from = static_cast<const uint8_t *>(data) + index;
  RawVec8 raw = {};
  if (is_whole) {
    const uint2 two = __ldcs(reinterpret_cast<const uint2 *>(from));
    raw.word[0] = two.x;
    raw.word[1] = two.y;
    return raw;
  }
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) raw.word[i / 4] |= uint32_t{from[i]} << (8 * (i % 4));
  }
  return raw;
}

__device__ __forceinline__ FloatVec8 raw_numbers(bool is_bf16, const RawVec8 &raw) {
  FloatVec8 eight;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    const uint32_t half = i % 2 == 0 ? raw.word[i / 2] << 16 : raw.word[i / 2] & 0xFFFF0000u;
    eight.number[i] = bits_float(is_bf16 ? half : raw.word[i]);
  }
  return eight;
}

__device__ __forceinline__ void store_f32(void *data, int64_t index, int32_t count, bool is_whole,
                                          const FloatVec8 &eight) {
  float *const to = static_cast<float *>(data) + index;
  if (is_whole) {
    for (int32_t i = 0; i < kEight; i += 4) {
      store_four(to + i, float_bits(eight.number[i]), float_bits(eight.number[i + 1]), float_bits(eight.number[i + 2]),
                 float_bits(eight.number[i + 3]));
    }
    return;
  }
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) to[i] = eight.number[i];
  }
}

__device__ __forceinline__ void store_halves(void *data, int64_t index, int32_t count, bool is_whole,
                                             const CodeVec8<16> &codes) {
  uint16_t *const to = static_cast<uint16_t *>(data) + index;
  if (is_whole) return store_four(to, codes.word[0], codes.word[1], codes.word[2], codes.word[3]);
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) to[i] = static_cast<uint16_t>(code_at(codes, i));
  }
}

__device__ __forceinline__ void store_bytes(void *data, int64_t index, int32_t count, bool is_whole,
                                            const CodeVec8<8> &codes) {
  uint8_t *const to = static_cast<uint8_t *>(data) + index;
  if (is_whole) return __stcs(reinterpret_cast<uint2 *>(to), uint2{codes.word[0], codes.word[1]});
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) to[i] = static_cast<uint8_t>(code_at(codes, i));
  }
}

// Draws the random bits of elements `index` to `index` + 7. With 8 bits per element, the bits of eight later elements follow.
__device__ __forceinline__ RandomFragment draw_eight(const RandomSource &source, int64_t index) {
  const auto first = static_cast<uint64_t>(source.offset + index);
  return drawn_words<1>(source, source.bits == 16 ? 2 * first : first);
}

}  // namespace lpt
