// Sixteen adjacent elements of a row, in the form in which one thread loads and stores them: 128 bits at a time if they are
// aligned to 16 bytes, otherwise one by one. Elements past the end of the row are 0 and are not stored.
#pragma once

#include "kernels/common/cuda_grid.hpp"
#include "kernels/common/launch.hpp"
#include "src/formats/element.hpp"

namespace lpt {

constexpr int32_t kFragment = 16;
constexpr uint32_t kAllLanes = ~0u;

struct FloatFragment {
  float number[kFragment];
};

// Position of a thread in a FragmentGrid. It starts at (first_row, first_column) and advances by rows_of_grid() rows.
__device__ __forceinline__ int64_t first_column_of_grid() {
  return (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kFragment;
}
__device__ __forceinline__ int64_t first_row_of_grid() { return int64_t{blockIdx.y} * blockDim.y + threadIdx.y; }
__device__ __forceinline__ int64_t rows_of_grid() { return int64_t{gridDim.y} * blockDim.y; }

// Returns the linear index of the thread in its block, which may be two-dimensional.
__device__ __forceinline__ uint32_t thread_of_block() { return threadIdx.y * blockDim.x + threadIdx.x; }

inline dim3 blocks_of_grid(const FragmentGrid &grid) { return dim3(grid.grid_x, grid.grid_y); }
inline dim3 threads_of_grid(const FragmentGrid &grid) { return dim3(grid.block_x, grid.block_y); }

// Returns true if all rows of a matrix begin on a boundary of `bytes` bytes.
inline bool are_rows_aligned(const void *data, int64_t stride_bytes, int64_t bytes = 16) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) == 0 && stride_bytes % bytes == 0;
}

// Bytes of an element of f32, bf16 or f16.
inline int64_t number_bytes(lpt_format numbers) { return numbers == LPT_FORMAT_F32 ? 4 : 2; }

// Storage format of elements, as a template parameter of kernels.
enum class Dtype { kF32, kBf16, kF16 };

// Calls body(DtypeTag<...>{}) with the tag of the format.
template <Dtype kDtype>
struct DtypeTag {};

template <typename Body>
void for_float_dtype(lpt_format element, const Body &body) {
  if (element == LPT_FORMAT_F32) return body(DtypeTag<Dtype::kF32>{});
  if (element == LPT_FORMAT_BF16) return body(DtypeTag<Dtype::kBf16>{});
  body(DtypeTag<Dtype::kF16>{});
}

template <Dtype kDtype>
constexpr int32_t kDtypeBytes = kDtype == Dtype::kF32 ? 4 : 2;

// Converts f16. A NaN keeps its sign, as in decode(), and has any payload: cvt.f32.f16 returns 0x7FFFFFFF for every NaN.
__device__ __forceinline__ float half_number(uint32_t code) {
#if defined(__CUDA_ARCH__)
  float number;
  asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(static_cast<uint16_t>(code)));
  return bits_float(float_bits(number) | (code << 16 & 0x80000000u));
#else
  return decode(kElementF16, code);
#endif
}

// Round to f16 or to bf16: to nearest, ties to even, overflow to infinity. A NaN keeps only its sign.
__device__ __forceinline__ uint32_t half_code(float number) {
  const uint32_t sign = float_bits(number) >> 16 & 0x8000u;
  if (number != number) return sign | kElementF16.nan_code;
#if defined(__CUDA_ARCH__)
  uint16_t code;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(number));
  return code;
#else
  return encode(kElementF16, number, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0);
#endif
}

__device__ __forceinline__ uint32_t bf16_code(float number) {
  const uint32_t bits = float_bits(number);
  if (number != number) return (bits >> 16 & 0x8000u) | 0x7FC0u;
  return (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
}

template <Dtype kDtype>
__device__ __forceinline__ float number_of(uint32_t code) {
  if constexpr (kDtype == Dtype::kF32) return bits_float(code);
  if constexpr (kDtype == Dtype::kBf16) return bits_float(code << 16);
  return half_number(code);
}

template <Dtype kDtype>
__device__ __forceinline__ uint32_t code_of(float number) {
  if constexpr (kDtype == Dtype::kF32) return float_bits(number);
  if constexpr (kDtype == Dtype::kBf16) return bf16_code(number);
  return half_code(number);
}

// Computes the codes of bf16 or f16, two to a word, the first in the lowest bits. The device instruction for pairs returns
// 0x7FFF for each NaN. If one of the codes is a NaN, all are computed one by one instead.
template <Dtype kDtype, int32_t kWords>
__device__ __forceinline__ void encode_halves(const float (&number)[2 * kWords], uint32_t (&word)[kWords]) {
#if defined(__CUDA_ARCH__)
  uint32_t nans = 0;
#pragma unroll
  for (int32_t i = 0; i < kWords; ++i) {
    if constexpr (kDtype == Dtype::kBf16) {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word[i]) : "f"(number[2 * i + 1]), "f"(number[2 * i]));
    } else {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word[i]) : "f"(number[2 * i + 1]), "f"(number[2 * i]));
    }
    nans |= (word[i] & 0x7FFF7FFFu) + 0x00010001u;
  }
  if ((nans & 0x80008000u) == 0) return;
#endif
#pragma unroll
  for (int32_t i = 0; i < kWords; ++i) {
    word[i] = code_of<kDtype>(number[2 * i]) | code_of<kDtype>(number[2 * i + 1]) << 16;
  }
}

// Converts as decode() does: a NaN of 16 bits keeps only its sign.
template <Dtype kDtype>
__device__ __forceinline__ float plain_number(uint32_t code) {
  const float number = number_of<kDtype>(code);
  if (kDtype == Dtype::kF32 || number == number) return number;
  return bits_float((code & 0x8000u) << 16 | 0x7FC00000u);
}

__device__ __forceinline__ uint4 load_four(const void *address) { return __ldcs(static_cast<const uint4 *>(address)); }

__device__ __forceinline__ void store_four(void *address, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  __stcs(static_cast<uint4 *>(address), uint4{a, b, c, d});
}

template <Dtype kDtype>
constexpr int32_t kFragmentWords = kFragment *kDtypeBytes<kDtype> / 4;

// Sixteen elements as stored in memory. A thread that processes several fragments loads all of them before it decodes one.
template <Dtype kDtype>
struct RawFragment {
  uint32_t word[kFragmentWords<kDtype>];
};

// Loads `count` elements from `index` on. `is_whole`: 16 elements, aligned to 16 bytes.
template <Dtype kDtype>
__device__ __forceinline__ RawFragment<kDtype> load_raw_fragment(const void *data, int64_t index, int32_t count,
                                                                 bool is_whole) {
  const auto *bytes = static_cast<const unsigned char *>(data) + index * kDtypeBytes<kDtype>;
  RawFragment<kDtype> raw = {};
  if (is_whole) {
#pragma unroll
    for (int32_t i = 0; i < kFragmentWords<kDtype>; i += 4) {
      const uint4 four = load_four(bytes + 4 * i);
      raw.word[i] = four.x;
      raw.word[i + 1] = four.y;
      raw.word[i + 2] = four.z;
      raw.word[i + 3] = four.w;
    }
    return raw;
  }
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    if (i >= count) continue;
    if constexpr (kDtype == Dtype::kF32) {
      raw.word[i] = reinterpret_cast<const uint32_t *>(bytes)[i];
    } else {
      raw.word[i / 2] |= uint32_t{reinterpret_cast<const uint16_t *>(bytes)[i]} << (16 * (i % 2));
    }
  }
  return raw;
}

template <Dtype kDtype>
__device__ __forceinline__ FloatFragment decode_fragment(const RawFragment<kDtype> &raw) {
  FloatFragment fragment;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    if constexpr (kDtype == Dtype::kF32) {
      fragment.number[i] = bits_float(raw.word[i]);
    } else {
      fragment.number[i] = number_of<kDtype>(i % 2 == 0 ? raw.word[i / 2] & 0xFFFFu : raw.word[i / 2] >> 16);
    }
  }
  return fragment;
}

template <Dtype kDtype>
__device__ __forceinline__ FloatFragment load_fragment(const void *data, int64_t index, int32_t count, bool is_whole) {
  return decode_fragment(load_raw_fragment<kDtype>(data, index, count, is_whole));
}

template <Dtype kDtype>
__device__ __forceinline__ void store_fragment(void *data, int64_t index, int32_t count, bool is_whole,
                                               const FloatFragment &fragment) {
  auto *bytes = static_cast<unsigned char *>(data) + index * kDtypeBytes<kDtype>;
  if (!is_whole) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      if (i >= count) break;
      if constexpr (kDtype == Dtype::kF32) {
        reinterpret_cast<float *>(bytes)[i] = fragment.number[i];
      } else {
        reinterpret_cast<uint16_t *>(bytes)[i] = static_cast<uint16_t>(code_of<kDtype>(fragment.number[i]));
      }
    }
    return;
  }
  uint32_t word[kFragmentWords<kDtype>];
  if constexpr (kDtype == Dtype::kF32) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) word[i] = float_bits(fragment.number[i]);
  } else {
    encode_halves<kDtype>(fragment.number, word);
  }
#pragma unroll
  for (int32_t i = 0; i < kFragmentWords<kDtype>; i += 4) {
    store_four(bytes + 4 * i, word[i], word[i + 1], word[i + 2], word[i + 3]);
  }
}

// Load and store in a format that is known at run time: f32, bf16 or f16, the same for all threads.
__device__ __forceinline__ FloatFragment load_numbers(lpt_format format, const void *data, int64_t index, int32_t count,
                                                      bool is_whole) {
  if (format == LPT_FORMAT_F32) return load_fragment<Dtype::kF32>(data, index, count, is_whole);
  if (format == LPT_FORMAT_BF16) return load_fragment<Dtype::kBf16>(data, index, count, is_whole);
  return load_fragment<Dtype::kF16>(data, index, count, is_whole);
}

__device__ __forceinline__ void store_numbers(lpt_format format, void *data, int64_t index, int32_t count,
                                              bool is_whole, const FloatFragment &fragment) {
  if (format == LPT_FORMAT_F32) return store_fragment<Dtype::kF32>(data, index, count, is_whole, fragment);
  if (format == LPT_FORMAT_BF16) return store_fragment<Dtype::kBf16>(data, index, count, is_whole, fragment);
  store_fragment<Dtype::kF16>(data, index, count, is_whole, fragment);
}

// Replaces a NaN by the positive quiet NaN.
__device__ __forceinline__ float positive_nan(float number) {
  return number == number ? number : bits_float(0x7FC00000u);
}

// Returns max(most, |number|), or a NaN if one of them is NaN.
__device__ __forceinline__ float larger_magnitude(float most, float number) {
#if defined(__CUDA_ARCH__)
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(most), "f"(fabsf(number)));
  return larger;
#else
  const float magnitude = bits_float(float_bits(number) & 0x7FFFFFFFu);
  return float_bits(magnitude) > float_bits(most) ? magnitude : most;
#endif
}

// Returns the largest number of the warp, to all its lanes.
__device__ __forceinline__ uint32_t largest_of_warp(uint32_t number) {
#if defined(__CUDA_ARCH__)
  return __reduce_max_sync(kAllLanes, number);
#else
  for (uint32_t distance = 16; distance > 0; distance /= 2) {
    const uint32_t other = __shfl_xor_sync(kAllLanes, number, distance);
    number = other > number ? other : number;
  }
  return number;
#endif
}

// Returns the number of elements of the row from `column` on, at most 16.
__device__ __forceinline__ int32_t fragment_count(int64_t columns, int64_t column) {
  const int64_t left = columns - column;
  return left <= 0 ? 0 : left < kFragment ? static_cast<int32_t>(left) : kFragment;
}

// Sixteen codes of kBits bits (4, 6, 8, 16, 32): kBits / 2 words, elements in order, the first in the lowest bits.
template <int32_t kBits>
struct CodeFragment {
  uint32_t word[kBits / 2];
};

// Sets the codes of elements `place` and `place` + 1, which must be 0. `place` is even.
template <int32_t kBits>
__device__ __forceinline__ void put_pair(CodeFragment<kBits> &fragment, int32_t place, uint32_t pair) {
  const int32_t bit = place * kBits;
  fragment.word[bit / 32] |= pair << (bit % 32);
  if (bit % 32 + 2 * kBits > 32) fragment.word[bit / 32 + 1] |= pair >> (32 - bit % 32);
}

template <int32_t kBits>
__device__ __forceinline__ uint32_t code_at(const CodeFragment<kBits> &fragment, int32_t place) {
  if constexpr (kBits == 32) return fragment.word[place];
  const int32_t bit = place * kBits;
  uint32_t code = fragment.word[bit / 32] >> (bit % 32);
  if (bit % 32 + kBits > 32) code |= fragment.word[bit / 32 + 1] << (32 - bit % 32);
  return code & ((1u << (kBits % 32)) - 1);
}

// Sets the code of element `place`, which must be 0.
template <int32_t kBits>
__device__ __forceinline__ void put_code(CodeFragment<kBits> &fragment, int32_t place, uint32_t code) {
  fragment.word[place * kBits / 32] |= code << (place * kBits % 32);  // for 8, 16 and 32 bits
}

// Stores the bytes of `count` codes. Unused bits of the last byte are 0. `is_whole`: all 16 codes, aligned to
// code_boundary(kBits).
template <int32_t kBits>
__device__ __forceinline__ void store_codes(void *data, int64_t byte, int32_t count, bool is_whole,
                                            const CodeFragment<kBits> &fragment) {
  auto *bytes = static_cast<unsigned char *>(data) + byte;
  if (is_whole) {
    if constexpr (kBits % 8 == 0) {
      for (int32_t i = 0; i < kBits / 2; i += 4) {
        store_four(bytes + 4 * i, fragment.word[i], fragment.word[i + 1], fragment.word[i + 2], fragment.word[i + 3]);
      }
    } else if constexpr (kBits == 4) {
      __stcs(reinterpret_cast<uint2 *>(bytes), uint2{fragment.word[0], fragment.word[1]});
    } else {
      for (int32_t i = 0; i < kBits / 2; ++i) reinterpret_cast<uint32_t *>(bytes)[i] = fragment.word[i];
    }
    return;
  }
  const int32_t last = (count * kBits + 7) / 8;
#pragma unroll
  for (int32_t i = 0; i < 2 * kBits; ++i) {
    if (i < last) bytes[i] = static_cast<unsigned char>(fragment.word[i / 4] >> (8 * (i % 4)));
  }
}

template <int32_t kBits>
__device__ __forceinline__ CodeFragment<kBits> load_codes(const void *data, int64_t byte, int32_t count,
                                                          bool is_whole) {
  const auto *bytes = static_cast<const unsigned char *>(data) + byte;
  CodeFragment<kBits> fragment = {};
  if (is_whole) {
    if constexpr (kBits % 8 == 0) {
      for (int32_t i = 0; i < kBits / 2; i += 4) {
        const uint4 four = load_four(bytes + 4 * i);
        fragment.word[i] = four.x;
        fragment.word[i + 1] = four.y;
        fragment.word[i + 2] = four.z;
        fragment.word[i + 3] = four.w;
      }
    } else {
      for (int32_t i = 0; i < kBits / 2; ++i) fragment.word[i] = reinterpret_cast<const uint32_t *>(bytes)[i];
    }
    return fragment;
  }
  const int32_t last = (count * kBits + 7) / 8;
#pragma unroll
  for (int32_t i = 0; i < 2 * kBits; ++i) {
    if (i < last) fragment.word[i / 4] |= static_cast<uint32_t>(bytes[i]) << (8 * (i % 4));
  }
  return fragment;
}

// Returns the alignment in bytes with which the codes of a fragment are loaded and stored in few instructions.
constexpr int64_t code_boundary(int32_t bits) { return bits >= 8 ? 16 : bits == 4 ? 8 : 4; }

}  // namespace lpt
