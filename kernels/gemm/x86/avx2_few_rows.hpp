// GEMM of few rows by packed weights: panels are decoded in registers, once for up to three rows. Included by ISA files: all
// functions have internal linkage.
#pragma once

#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/x86/avx2_panels.hpp"

namespace lpt {
namespace {

enum class PanelScaling { kNone, kScales, kZerosAndScales };

// The zero points and the scales of the lanes of a panel in one block of k.
struct BlockFactors {
  __m256 zeros[4], scales[4];
};

// Not inlined, because the conversions of scales would be most of the code of multiply_panel().
[[gnu::noinline]] inline void load_factors(const PanelReader &reader, int64_t block, BlockFactors &to) {
#pragma GCC unroll 4
  for (int e = 0; e < 4; ++e) {
    if (reader.zeros != nullptr) {
      to.zeros[e] = _mm256_cvtepi32_ps(load_zeros(reader.zeros + block * kPanelLanes + 8 * e));
    }
    to.scales[e] = _mm256_set1_ps(1.0f);
    if (reader.scales == nullptr) continue;
    const uint8_t *const from = reader.scales + block * reader.scale_bytes + e * reader.scale_bytes / 4;
    to.scales[e] = load_scales(reader.scale_format, from, 8);
  }
}

// A sink of DecodeAvx2 that adds up products in the order of k.
template <int kRows, PanelScaling kScaling>
struct RowSums {
  static constexpr int64_t kStride = 4;  // between steps of a row: rows are in panels of four

  RowSums(const PanelReader &reader, const uint32_t *const (&from)[kRows], BlockFactors &factors)
      : reader(reader), factors(factors) {
#pragma GCC unroll 3
    for (int i = 0; i < kRows; ++i) {
      rows[i] = reinterpret_cast<const float *>(from[i]);
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) sums[i][e] = _mm256_setzero_ps();
    }
  }

  // Blocks of scales have at least four steps.
  [[gnu::always_inline]] void begin(int64_t p) {
    if constexpr (kScaling != PanelScaling::kNone) {
      if (p != next_block) return;
      load_factors(reader, p / reader.block_length, factors);
      next_block += reader.block_length;
    }
  }

  [[gnu::always_inline]] void store(int64_t p, int e, __m256 value) {
    if constexpr (kScaling == PanelScaling::kZerosAndScales) value = _mm256_sub_ps(value, factors.zeros[e]);
    if constexpr (kScaling != PanelScaling::kNone) value = _mm256_mul_ps(value, factors.scales[e]);
#pragma GCC unroll 3
    for (int i = 0; i < kRows; ++i) {
      sums[i][e] = _mm256_fmadd_ps(_mm256_broadcast_ss(rows[i] + p * kStride), value, sums[i][e]);
    }
  }

  // References: a call with an address in this object would keep the sums out of registers.
  const PanelReader &reader;
  BlockFactors &factors;
  const float *rows[kRows];
  int64_t next_block = 0;
  __m256 sums[kRows][4];
};

// A sink for the last steps of k, fewer than four after a multiple of four.
struct LastValues {
  void begin(int64_t) const {}
  void store(int64_t p, int e, __m256 value) { values[p % 4][e] = value; }

  __m256 values[4][4];
};

[[gnu::noinline, gnu::flatten]] inline void decode_last(const PanelReader &reader, int64_t begin, LastValues &last) {
  decode_panel<DecodeAvx2>(reader, begin, reader.k, last);
}

// Multiplies kRows rows by a panel.
template <int kRows, PanelScaling kScaling>
[[gnu::noinline, gnu::flatten]] void multiply_panel(const PanelReader &reader, const uint32_t *const (&rows)[kRows],
                                                    const TileEpilogue &epilogue) {
  BlockFactors factors;
  RowSums<kRows, kScaling> sums(reader, rows, factors);
  const int64_t whole = reader.k / 4 * 4;
  decode_panel<DecodeAvx2>(reader, 0, whole, sums);
  if (whole < reader.k) {
    LastValues last;
    decode_last(reader, whole, last);
    sums.begin(whole);
    for (int64_t p = whole; p < reader.k; ++p) {
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) sums.store(p, e, last.values[p % 4][e]);
    }
  }
  write_tile<Avx2>(sums.sums, epilogue);
}

// Implements the Kernel of driver.hpp.
template <typename Isa>
class FewRowsGemm {
 public:
  static void multiply(const GemmRequest &request) {
    FewRowsGemm gemm(request);
    const GemmBlocking blocking = {
        .rows = request.m, .row_space = request.m, .columns = request.n, .depth = request.k, .span = kPanelLanes};
    run_driver(request, blocking, gemm);
  }

  static size_t scratch_bytes(const GemmRequest &request) { return Scratch(request).bytes; }

  void pack_columns(int64_t, int64_t) const {}

  void pack_rows(int64_t row, int64_t rows, const Depth &) const {
    pack<Isa, 1>(a_, row, rows, scratch_.rows);
    for (int64_t i = 0; i < rows; ++i) scratch_.row_factors[i] = lane_factor(a_, row + i);
  }

  void multiply(const GemmArea &area, const Depth &) const {
    const int64_t lane = request_.first_column + area.column;
    PanelReader reader = panel_reader(request_.b, lane / kPanelLanes, request_.k);
    reader.values = b_values_;
    alignas(32) float factors[kPanelLanes];
    write_panel_factors(request_.b, lane, area.columns, request_.k, static_cast<float>(request_.alpha), factors);
    TileEpilogue epilogue = epilogue_of(request_, area);
    epilogue.row_factors = scratch_.row_factors;
    epilogue.column_factors = factors;
    for (int64_t row = 0; row < area.rows;) {  // tiles of nearly equal size
      const int64_t tiles = (area.rows - row + kRowsInRegisters - 1) / kRowsInRegisters,
                    count = (area.rows - row) / tiles;
      multiply_rows(count, reader, row, epilogue);
      epilogue.c += count * epilogue.row_bytes;
      epilogue.row_factors += count;
      row += count;
    }
  }

 private:
  // Packed rows of a and their factors, in the scratch.
  struct Scratch {
    uint32_t *rows;
    float *row_factors;
    size_t bytes;

    explicit Scratch(const GemmRequest &request) {
      ScratchParts parts(request.scratch);
      const int64_t space = round_up(request.m, Isa::kVector);
      rows = parts.take<uint32_t>(space * request.k);
      row_factors = parts.take<float>(space);
      bytes = parts.bytes();
    }
  };

  explicit FewRowsGemm(const GemmRequest &request)
      : request_(request),
        a_(operand_of(request.a, !request.is_a_transposed, request.first_row, request.k, a_values_)),
        scratch_(request) {
    set_values(request.b.format.element, b_values_);
  }

  void multiply_rows(int64_t count, const PanelReader &reader, int64_t row, const TileEpilogue &epilogue) const {
    if (count == 1) return multiply_rows<1>(reader, row, epilogue);
    count == 2 ? multiply_rows<2>(reader, row, epilogue) : multiply_rows<3>(reader, row, epilogue);
  }

  template <int kRows>
  void multiply_rows(const PanelReader &reader, int64_t row, const TileEpilogue &epilogue) const {
    constexpr int64_t kLanes = Isa::kTileRows;  // of a panel of a
    static_assert(kLanes == RowSums<kRows, PanelScaling::kNone>::kStride);
    const uint32_t *rows[kRows];
    for (int64_t i = 0; i < kRows; ++i) {
      rows[i] = scratch_.rows + (row + i) / kLanes * kLanes * request_.k + (row + i) % kLanes;
    }
    if (reader.zeros != nullptr) {
      return multiply_panel<kRows, PanelScaling::kZerosAndScales>(reader, rows, epilogue);
    }
    reader.scales == nullptr ? multiply_panel<kRows, PanelScaling::kNone>(reader, rows, epilogue)
                             : multiply_panel<kRows, PanelScaling::kScales>(reader, rows, epilogue);
  }

  const GemmRequest &request_;
  ValueTable a_values_, b_values_ = {};
  Operand a_;
  Scratch scratch_;
};

}  // namespace
}  // namespace lpt
