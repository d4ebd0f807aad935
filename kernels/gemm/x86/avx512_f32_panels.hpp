// Expansion of packed weights to f32, 32 lanes per step. Included by ISA files: all functions have internal linkage.
#pragma once

#include "kernels/gemm/f32_panels.hpp"
#include "kernels/gemm/x86/avx512.hpp"

namespace lpt {
namespace {

// An output panel has kVectors vectors of lanes.
template <int kVectors>
struct PanelStore {
  const PanelReader &reader;

  explicit PanelStore(const PanelReader &reader) : reader(reader) {}

  // Stores 16 elements of step p after subtracting the zero points and multiplying by the scales of their block.
  void store(int64_t p, int v, __m512 value) const {
    if (p >= reader.k) return;
    const int64_t block = reader.block_of(p);
    if (reader.zeros != nullptr) {
      const auto *const from = reinterpret_cast<const __m128i *>(reader.zeros + block * kPanelLanes + 16 * v);
      value = _mm512_sub_ps(value, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(from))));
    }
    if (reader.scales != nullptr) {
      const uint8_t *const from = reader.scales + block * reader.scale_bytes + v * reader.scale_bytes / 2;
      value = _mm512_mul_ps(value, load_scales(reader.scale_format, from));
    }
    _mm512_storeu_ps(vector_of<kVectors, 16>(reader, v) + (p - reader.depth.first) * kVectors * 16, value);
  }
};

inline __m512 look_up(const PanelReader &reader, __m512i codes) { return _mm512_i32gather_ps(codes, reader.values, 4); }

template <int kVectors>
struct ExpandAvx512 {
  using Store = PanelStore<kVectors>;

  static void nibbles(const PanelReader &reader, int64_t begin, int64_t end, const Store &store) {
    const __m512 values = _mm512_loadu_ps(reader.values);
    for (int64_t p = begin; p < end; p += 4) {
      const __m512i line = _mm512_loadu_si512(reader.codes + p / 4 * kPanelLineBytes);
      for (int n = 0; n < 8; ++n) {  // permute reads four bits of an index
        const __m512i index = _mm512_srl_epi32(line, _mm_cvtsi32_si128(4 * n));
        store.store(p + kNibbleOrder[n / 2], n % 2, _mm512_permutexvar_ps(index, values));
      }
    }
  }

  static void byte_pairs(const PanelReader &reader, int64_t begin, int64_t end, const Store &store) {
    const __m512i lane = _mm512_setr_epi32(0, 2, 4, 6, 16, 18, 20, 22, 32, 34, 36, 38, 48, 50, 52, 54);
    for (int64_t p = begin; p < end; p += 2) {
      const __m512i line = _mm512_loadu_si512(reader.codes + p / 2 * kPanelLineBytes);
      for (int n = 0; n < 4; ++n) {
        const __m512i index = _mm512_add_epi32(lane, _mm512_set1_epi32(8 * (n % 2) + n / 2));
        const __m512i codes = _mm512_maskz_permutexvar_epi8(0x1111111111111111, index, line);
        store.store(p + n / 2, n % 2, look_up(reader, codes));
      }
    }
  }

  static void byte_quads(const PanelReader &reader, int64_t begin, int64_t end, const Store &store) {
    for (int64_t p = begin; p < end; p += 4) {
      for (int v = 0; v < 2; ++v) {
        __m512i line = _mm512_loadu_si512(reader.codes + (p / 2 + v) * kPanelLineBytes);
        for (int64_t t = 0; t < 4; ++t, line = _mm512_srli_epi32(line, 8)) {
          const __m512i codes = _mm512_and_si512(line, _mm512_set1_epi32(255));
          store.store(p + t, v, look_up(reader, codes));
        }
      }
    }
  }

  static void halves(const PanelReader &reader, int64_t begin, int64_t end, const Store &store) {
    for (int64_t p = begin; p < end; p += 2) {
      for (int v = 0; v < 2; ++v) {
        const __m512i line = _mm512_loadu_si512(reader.codes + (p + v) * kPanelLineBytes);
        for (int t = 0; t < 2; ++t) {
          const __m256i halves = _mm512_cvtepi32_epi16(t == 0 ? line : _mm512_srli_epi32(line, 16));
          const bool is_bf16 = reader.element == LPT_FORMAT_BF16;
          store.store(p + t, v, is_bf16 ? f32_of_bf16(halves) : _mm512_cvtph_ps(halves));
        }
      }
    }
  }

  static void words(const PanelReader &reader, int64_t begin, int64_t end, const Store &store) {
    for (int64_t p = begin; p < end; ++p) {
      for (int v = 0; v < 2; ++v) {
        store.store(p, v, _mm512_loadu_ps(reader.codes + (2 * p + v) * kPanelLineBytes));
      }
    }
  }
};

}  // namespace
}  // namespace lpt
