// GEMM in f32 for CPUs without AVX-512.
#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx2.hpp"
#include "kernels/gemm/x86/avx2_few_rows.hpp"
#include "kernels/gemm/x86/avx2_look_up.hpp"
#include "kernels/gemm/x86/avx2_panels.hpp"

namespace lpt {
namespace {

// Returns the scales of `count` elements with blocks shorter than eight, each repeated for the elements of its block.
[[gnu::noinline]] inline __m256 short_block_scales(lpt_format format, const uint8_t *from, int32_t shift,
                                                   int64_t count) {
  const int64_t needed = ((count < 8 ? count : 8) + (1 << shift) - 1) >> shift;
  const __m256 scales = load_scales(format, from, needed);
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_permutevar8x32_ps(scales, _mm256_srl_epi32(lanes, _mm_cvtsi32_si128(shift)));
}

// Returns the block scales of eight adjacent elements, the first at a multiple of eight.
inline __m256 load_scales(const Operand &operand, int64_t row, int64_t column, int64_t count) {
  const int32_t shift = operand.column_shift;
  if (shift >= 3) return _mm256_set1_ps(scale_at(operand, row, column));
  const int64_t index = (row >> operand.row_shift) * operand.scale_stride + (column >> shift);
  const uint8_t *const from = operand.scales + index * scale_bytes(operand.scale_format);
  return short_block_scales(operand.scale_format, from, shift, count);
}

// Returns read_values() of eight elements, the first at a multiple of eight.
inline __m256 look_up(const Operand &operand, int64_t row, int64_t column, int64_t count) {
  const int64_t index = row * operand.row_stride + column;
  if (operand.element.is_ternary || (operand.zeros != nullptr && operand.column_shift < 3)) {
    float values[32];
    read_values(operand, row, column, count, values);
    return _mm256_loadu_ps(values);
  }
  const __m256i codes = load_codes(operand.data + index * operand.bits / 8, operand.bits, count);
  __m256 value = operand.bits <= 4
                     ? look_up16(_mm256_loadu_ps(operand.values), _mm256_loadu_ps(operand.values + 8), codes)
                     : _mm256_i32gather_ps(operand.values, codes, 4);
  if (operand.zeros != nullptr) {
    const int64_t block = (row >> operand.row_shift) * operand.scale_stride + (column >> operand.column_shift);
    value = _mm256_sub_ps(value, _mm256_set1_ps(static_cast<float>(operand.zeros[block])));
  }
  return _mm256_and_ps(value, _mm256_castsi256_ps(first8(count)));
}

// A tile of 4 × 24 has 12 sums, enough for a latency of 4 to 5 cycles at two fused multiply-adds per cycle. With three vectors
// of b and one of a, it needs all 16 registers.
struct FloatTiles : Avx2 {
  using Tiles = LookUpTiles;
  static constexpr int64_t kPerDword = 1;
  static constexpr bool kHasStarts = false;
  static constexpr int64_t kTileRows = 4;
  static constexpr int64_t kTileVectors = 3;

  static void expand_panels(const MatrixView &view, int64_t first, int64_t lanes, int64_t k, const Depth &depth,
                            uint32_t *to) {
    lpt::expand_panels<ExpandAvx2<kTileVectors>>(view, first, lanes, k, depth, to);
  }

  static Floats start(const int32_t *) { return _mm256_setzero_ps(); }
  static void interleave(Dwords (&)[1]) {}

  static Floats add_product(Floats sum, Dwords row, Dwords columns) {
    return _mm256_fmadd_ps(_mm256_castsi256_ps(row), _mm256_castsi256_ps(columns), sum);
  }

  // Decodes eight adjacent elements. Elements past `count` are 0.
  template <Decoder kDecoder>
  static Dwords decode(const Operand &operand, int64_t row, int64_t column, int64_t count) {
    const int64_t index = row * operand.row_stride + column;
    const int64_t present = count < 8 ? count : 8;
    __m256 value;
    if constexpr (kDecoder == Decoder::kF32) {
      value = _mm256_maskload_ps(reinterpret_cast<const float *>(operand.data) + index, first8(present));
    } else if constexpr (kDecoder == Decoder::kBf16) {
      value = f32_of_bf16(load_bytes(operand.data + 2 * index, 2 * present));
    } else if constexpr (kDecoder == Decoder::kF16) {
      value = _mm256_cvtph_ps(load_bytes(operand.data + 2 * index, 2 * present));
    } else if constexpr (kDecoder == Decoder::kInt8) {
      value = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_bytes(operand.data + index, present)));
    } else if constexpr (kDecoder == Decoder::kTable) {
      value = look_up(operand, row, column, present);
    } else {
      value = decode_floats(_mm_cvtepu8_epi16(load_bytes(operand.data + index, present)), operand.element);
    }
    if (operand.is_scaled_along_k) {
      const __m256 scaled = _mm256_mul_ps(value, load_scales(operand, row, column, count));
      value = _mm256_and_ps(scaled, _mm256_castsi256_ps(first8(present)));
    }
    return _mm256_castps_si256(value);
  }
};

}  // namespace

void gemm_any_x86_avx2(const GemmRequest &request) { multiply<FloatTiles>(request); }

size_t gemm_scratch_x86_avx2(const GemmRequest &request) { return scratch_bytes_of<FloatTiles>(request); }

void gemm_rows_x86_avx2(const GemmRequest &request) { FewRowsGemm<FloatTiles>::multiply(request); }

size_t gemm_scratch_rows_x86_avx2(const GemmRequest &request) {
  return FewRowsGemm<FloatTiles>::scratch_bytes(request);
}

}  // namespace lpt
