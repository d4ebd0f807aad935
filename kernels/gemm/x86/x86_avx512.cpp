// GEMM in f32: operands are decoded to f32, and sums are fused multiply-adds.
#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512.hpp"
#include "kernels/gemm/x86/avx512_f32_panels.hpp"

namespace lpt {
namespace {

// Returns read_values() of 16 elements, the first at a multiple of 16.
inline __m512 look_up(const Operand &operand, int64_t row, int64_t column, int64_t count) {
  if (operand.zeros != nullptr && operand.column_shift < 4) {
    float values[32];
    read_values(operand, row, column, count, values);
    return _mm512_loadu_ps(values);
  }
  const int64_t index = operand.first_digit + row * operand.row_stride + column;
  const __m256i bytes = load_codes32(operand.element, operand.data, index, min_i64(count, 16));
  const __m512i codes = _mm512_cvtepu8_epi32(_mm256_castsi256_si128(bytes));
  __m512 value = operand.bits <= 4 ? _mm512_permutexvar_ps(codes, _mm512_loadu_ps(operand.values))
                                   : _mm512_i32gather_ps(codes, operand.values, 4);
  if (operand.zeros != nullptr) {
    const int64_t block = (row >> operand.row_shift) * operand.scale_stride + (column >> operand.column_shift);
    value = _mm512_sub_ps(value, _mm512_set1_ps(static_cast<float>(operand.zeros[block])));
  }
  return _mm512_maskz_mov_ps(first16(count), value);
}

struct FloatTiles : Avx512 {
  static constexpr int64_t kPerDword = 1;
  static constexpr int64_t kTileVectors = 3;  // wider than for pairs: a step then has 11 loads per 24 multiply-adds

  static void interleave(Dwords (&)[1]) {}

  static void expand_panels(const MatrixView &view, int64_t first, int64_t lanes, int64_t k, const Depth &depth,
                            uint32_t *to) {
    lpt::expand_panels<ExpandAvx512<kTileVectors>>(view, first, lanes, k, depth, to);
  }

  static Floats add_product(Floats sum, Dwords row, Dwords columns) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(row), _mm512_castsi512_ps(columns), sum);
  }

  // Decodes 16 adjacent elements. Elements past `count` are 0.
  template <Decoder kDecoder>
  static Dwords decode(const Operand &operand, int64_t row, int64_t column, int64_t count) {
    const int64_t index = row * operand.row_stride + column;
    const __mmask16 mask = first16(count);
    __m512 value;
    if constexpr (kDecoder == Decoder::kF32) {
      value = _mm512_maskz_loadu_ps(mask, operand.data + 4 * index);
    } else if constexpr (kDecoder == Decoder::kBf16) {
      value = f32_of_bf16(_mm256_maskz_loadu_epi16(mask, operand.data + 2 * index));
    } else if constexpr (kDecoder == Decoder::kF16) {
      value = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, operand.data + 2 * index));
    } else if constexpr (kDecoder == Decoder::kInt8) {
      value = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, operand.data + index)));
    } else if constexpr (kDecoder == Decoder::kTable) {
      value = look_up(operand, row, column, min_i64(count, 16));
    } else {
      value = decode_bytes_f32(_mm_maskz_loadu_epi8(mask, operand.data + index), *operand.table);
    }
    if (operand.is_scaled_along_k) {
      value = _mm512_maskz_mul_ps(mask, value, load_scales(operand, row, column, count));
    }
    return _mm512_castps_si512(value);
  }
};

}  // namespace

void gemm_any_x86_avx512(const GemmRequest &request) { multiply<FloatTiles>(request); }

size_t gemm_scratch_x86_avx512(const GemmRequest &request) { return scratch_bytes_of<FloatTiles>(request); }

}  // namespace lpt
