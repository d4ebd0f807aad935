// Eight adjacent numbers of an array, as a thread of this family reads and writes them: half a fragment (cuda_fragment.hpp), since
// it holds four arrays at once, and as many as one block of Philox has random bits for. What is beyond the end is zero, and is
// not written.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "kernels/common/cuda_random.hpp"

namespace lpt {

constexpr int32_t kEight = 8;

struct NumberEight {
  float number[kEight];
};

// Codes of 8 or 16 bits, elements in order, lowest first.
template <int32_t kBits>
struct CodeEight {
  uint32_t word[kBits / 4];
};

template <int32_t kBits>
__device__ __forceinline__ uint32_t code_at(const CodeEight<kBits> &codes, int32_t place) {
  return codes.word[place * kBits / 32] >> (place * kBits % 32) & ((1u << kBits) - 1);
}

// Adds the code of element `place`, which was 0.
template <int32_t kBits>
__device__ __forceinline__ void put_code(CodeEight<kBits> &codes, int32_t place, uint32_t code) {
  codes.word[place * kBits / 32] |= code << (place * kBits % 32);
}

// How many numbers are left from `index` on, eight at most.
__device__ __forceinline__ int32_t eight_count(int64_t numbers, int64_t index) {
  const int64_t left = numbers - index;
  return left <= 0 ? 0 : left < kEight ? static_cast<int32_t>(left) : kEight;
}

// `is_whole`: eight of them, on a boundary of 16 bytes, or of 8 where they take no more.
__device__ __forceinline__ NumberEight load_f32(const void *data, int64_t index, int32_t count, bool is_whole) {
  const float *const from = static_cast<const float *>(data) + index;
  NumberEight eight;
  if (is_whole) {
    for (int32_t i = 0; i < kEight; i += 4) {
      const uint4 four = load_four(from + i);
      eight.number[i] = bits_float(four.x);
      eight.number[i + 1] = bits_float(four.y);
      eight.number[i + 2] = bits_float(four.z);
      eight.number[i + 3] = bits_float(four.w);
    }
    return eight;
  }
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) eight.number[i] = i < count ? from[i] : 0.0f;
  return eight;
}

__device__ __forceinline__ CodeEight<16> load_halves(const void *data, int64_t index, int32_t count, bool is_whole) {
  const uint16_t *const from = static_cast<const uint16_t *>(data) + index;
  if (is_whole) {
    const uint4 four = load_four(from);
    return {{four.x, four.y, four.z, four.w}};
  }
  CodeEight<16> codes = {};
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) put_code(codes, i, from[i]);
  }
  return codes;
}

__device__ __forceinline__ CodeEight<8> load_bytes(const void *data, int64_t index, int32_t count, bool is_whole) {
  const uint8_t *const from = static_cast<const uint8_t *>(data) + index;
  if (is_whole) {
    const uint2 two = __ldcs(reinterpret_cast<const uint2 *>(from));
    return {{two.x, two.y}};
  }
  CodeEight<8> codes = {};
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) put_code(codes, i, from[i]);
  }
  return codes;
}

// Numbers of f32 or bf16: the same for all threads.
__device__ __forceinline__ NumberEight load_vec8(bool is_bf16, const void *data, int64_t index, int32_t count,
                                                 bool is_whole) {
  if (!is_bf16) return load_f32(data, index, count, is_whole);
  const CodeEight<16> codes = load_halves(data, index, count, is_whole);
  NumberEight eight;
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) eight.number[i] = bits_float(code_at(codes, i) << 16);
  return eight;
}

__device__ __forceinline__ void store_f32(void *data, int64_t index, int32_t count, bool is_whole,
                                          const NumberEight &eight) {
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
                                             const CodeEight<16> &codes) {
  uint16_t *const to = static_cast<uint16_t *>(data) + index;
  if (is_whole) return store_four(to, codes.word[0], codes.word[1], codes.word[2], codes.word[3]);
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) to[i] = static_cast<uint16_t>(code_at(codes, i));
  }
}

__device__ __forceinline__ void store_bytes(void *data, int64_t index, int32_t count, bool is_whole,
                                            const CodeEight<8> &codes) {
  uint8_t *const to = static_cast<uint8_t *>(data) + index;
  if (is_whole) return __stcs(reinterpret_cast<uint2 *>(to), uint2{codes.word[0], codes.word[1]});
#pragma unroll
  for (int32_t i = 0; i < kEight; ++i) {
    if (i < count) to[i] = static_cast<uint8_t>(code_at(codes, i));
  }
}

// Bits of the elements `index` to `index` + 7, and of some behind them.
__device__ __forceinline__ RandomFragment draw_eight(const RandomSource &source, int64_t index) {
  const auto first = static_cast<uint64_t>(source.offset + index);
  return drawn_words<1>(source, source.bits == 16 ? 2 * first : first);
}

}  // namespace lpt
