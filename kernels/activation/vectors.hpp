// What the layers' loops are made of, once for all instruction sets: groups of adjacent columns in f32 and their sums in
// f64. Included by ISA files: everything here has internal linkage.
//
// An Isa gives the vector types, of which gcc and clang add, subtract, multiply and divide the lanes, and what else is
// done with them; see x86_avx2.cpp for the list. Isa::Columns says which lanes of a group there are.
#pragma once

#include <cstdint>

#include "kernels/activation/kernels.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

// body(column, columns) for every group in [begin, end); `columns` is constant but for the last one.
template <typename Isa, typename Body>
[[gnu::always_inline]] inline void for_columns(int64_t begin, int64_t end, const Body &body) {
  int64_t column = begin;
  for (; column + Isa::kWidth <= end; column += Isa::kWidth) body(column, Isa::all_columns());
  if (column < end) body(column, Isa::first_columns(end - column));
}

// ---- numbers in memory

struct RowSource {
  uint8_t *data;
  lpt_format format;
};

inline bool is_f32(const MatrixView &view) { return view.format.id == LPT_FORMAT_F32; }

inline RowSource line_of(const MatrixView &view, int64_t row) {
  const int64_t bytes = is_f32(view) ? 4 : 2;
  return {static_cast<uint8_t *>(view.data) + row * view.row_stride * bytes, view.format.id};
}

inline float *floats_at(const RowSource &line, int64_t column) { return reinterpret_cast<float *>(line.data) + column; }

// Zero where there is no column. kIsF32: so are all lines, and the loops test no formats.
template <typename Isa, bool kIsF32>
[[gnu::always_inline]] inline typename Isa::Floats load(const RowSource &line, int64_t column,
                                                        typename Isa::Columns columns) {
  if (kIsF32 || line.format == LPT_FORMAT_F32) return Isa::load(floats_at(line, column), columns);
  const auto halves = Isa::load_halves(line.data + 2 * column, columns);
  return line.format == LPT_FORMAT_F16 ? Isa::from_f16(halves) : Isa::from_bf16(halves);
}

// Nearest even; beyond the largest value infinity; NaN the positive quiet one.
template <typename Isa, bool kIsF32>
[[gnu::always_inline]] inline void store(const RowSource &line, int64_t column, typename Isa::Columns columns,
                                         typename Isa::Floats value) {
  value = Isa::with_plain_nan(value);
  if (kIsF32 || line.format == LPT_FORMAT_F32) return Isa::store(floats_at(line, column), columns, value);
  const auto halves = line.format == LPT_FORMAT_F16 ? Isa::to_f16(value) : Isa::to_bf16(value);
  Isa::store_halves(line.data + 2 * column, columns, halves);
}

// ---- functions: the operations of src/formats/functions.hpp

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats exp_polynomial(typename Isa::Floats r) {
  using K = ExpConstants;
  using Floats = typename Isa::Floats;
  Floats p = Isa::fused(Isa::all(K::kC6), r, Isa::all(K::kC5));
  p = Isa::fused(p, r, Isa::all(K::kC4));
  p = Isa::fused(p, r, Isa::all(K::kC3));
  p = Isa::fused(p, r, Isa::all(K::kC2));
  p = Isa::fused(p, r, Isa::all(1.0f));
  return Isa::fused(p, r, Isa::all(1.0f));
}

// The operand order of min and max keeps NaN.
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats exponential(typename Isa::Floats x) {
  using K = ExpConstants;
  using Floats = typename Isa::Floats;
  x = Isa::max(Isa::all(K::kLowest), x);
  x = Isa::min(Isa::all(K::kHighest), x);
  const Floats bias = Isa::all(K::kRoundBias);
  const Floats n = Isa::fused(x, Isa::all(K::kLog2E), bias) - bias;
  Floats r = Isa::fused(n, Isa::all(-K::kLn2High), x);
  r = Isa::fused(n, Isa::all(-K::kLn2Low), r);
  return Isa::times_power_of_two(exp_polynomial<Isa>(r), n);
}

template <typename Isa>
struct Logistic {
  typename Isa::Floats value, complement;
};

template <typename Isa>
[[gnu::always_inline]] inline Logistic<Isa> logistic(typename Isa::Floats x) {
  using Floats = typename Isa::Floats;
  const Floats one = Isa::all(1.0f);
  const Floats e = exponential<Isa>(Isa::with_sign(x));
  const Floats larger = one / (one + e);
  const Floats smaller = e * larger;
  return {Isa::if_negative(x, smaller, larger), Isa::if_negative(x, larger, smaller)};
}

// ---- sums in f64: of the lower lanes and of the upper ones

template <typename Isa>
struct Sum {
  typename Isa::Doubles low = {}, high = {};

  // The product is exact.
  [[gnu::always_inline]] void add_products(typename Isa::Floats a, typename Isa::Floats b) {
    low = Isa::fused(Isa::low_half(a), Isa::low_half(b), low);
    high = Isa::fused(Isa::high_half(a), Isa::high_half(b), high);
  }
  [[gnu::always_inline]] void add(typename Isa::Floats value) {
    low += Isa::low_half(value);
    high += Isa::high_half(value);
  }
  double total() const { return Isa::total(low + high); }
};

}  // namespace
}  // namespace lpt
