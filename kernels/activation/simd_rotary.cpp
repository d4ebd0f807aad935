// SIMD kernels of the rotary embedding: the operations of ref.cpp in the same order. For pairs of adjacent columns, the table
// has cos twice, -sin and sin: x · cos + y · -sin and y · cos + x · sin have the bits of the reference kernel.
#include "kernels/activation/rotary.hpp"
#include "kernels/activation/vectors.hpp"

namespace lpt {
namespace {

// Table.

// One angle per lane of an F64. F64 itself may have attributes that a template ignores.
constexpr int64_t kAngles = kLanes / 2;
using Angles = double __attribute__((vector_size(8 * kAngles)));
using AngleBits = int64_t __attribute__((vector_size(8 * kAngles)));
using Entries = float __attribute__((vector_size(4 * kAngles)));

[[gnu::always_inline]] inline AngleBits bits_of_angles(Angles value) { return reinterpret_cast<AngleBits>(value); }
[[gnu::always_inline]] inline Angles select_angles(AngleBits condition, Angles yes, Angles no) {
  return reinterpret_cast<Angles>(condition ? bits_of_angles(yes) : bits_of_angles(no));
}

// Computes sine_cosine_f64() per lane.
[[gnu::always_inline]] inline SineCosineOf<Angles> sine_cosine(Angles x) {
  const Angles biased = x * kTwoOverPi + kAngleRoundBias, nan = Angles{} + __builtin_nan("");
  const SineCosineOf<Angles> reduced = reduced_sine_cosine_f64<Angles>(x, biased - kAngleRoundBias);
  const AngleBits quadrant = bits_of_angles(biased), is_odd = (quadrant & 1) != 0;
  const AngleBits sine_sign = (quadrant & 2) << 62, cosine_sign = ((quadrant + 1) & 2) << 62;
  const AngleBits sine = bits_of_angles(select_angles(is_odd, reduced.cosine, reduced.sine)) ^ sine_sign;
  const AngleBits cosine = bits_of_angles(select_angles(is_odd, reduced.sine, reduced.cosine)) ^ cosine_sign;
  const AngleBits is_in_range = (x >= -kMostAngle) & (x <= kMostAngle);
  return {select_angles(is_in_range, reinterpret_cast<Angles>(sine), nan),
          select_angles(is_in_range, reinterpret_cast<Angles>(cosine), nan)};
}

[[gnu::always_inline]] inline Angles load_frequencies(const RotaryTableRequest &request, int64_t i) {
  if (request.is_frequency_f64) {
    Angles wide;
    __builtin_memcpy(&wide, static_cast<const double *>(request.frequencies) + i, sizeof wide);
    return wide;
  }
  Entries narrow;
  __builtin_memcpy(&narrow, static_cast<const float *>(request.frequencies) + i, sizeof narrow);
  return __builtin_convertvector(narrow, Angles);
}

void rotary_table(const RotaryTableRequest &request) {
  const double sine_scale = request.is_inverse ? -request.scale : request.scale;
  for (int64_t row = request.first_row; row < request.first_row + request.rows; ++row) {
    const double position = rotary_position(request, row);
    float *const cosines = static_cast<float *>(request.cosines) + row * request.stride;
    float *const sines = static_cast<float *>(request.sines) + row * request.stride;
    int64_t i = 0;
    for (; i + kAngles <= request.count; i += kAngles) {
      const SineCosineOf<Angles> angle = sine_cosine(load_frequencies(request, i) * position);
      const Entries cosine = __builtin_convertvector(angle.cosine * request.scale, Entries);
      const Entries sine = __builtin_convertvector(angle.sine * sine_scale, Entries);
      if (request.layout == LPT_ROTARY_LAYOUT_HALVES) {
        __builtin_memcpy(cosines + i, &cosine, sizeof cosine);
        __builtin_memcpy(sines + i, &sine, sizeof sine);
        continue;
      }
      for (int64_t lane = 0; lane < kAngles; ++lane) {
        cosines[2 * (i + lane)] = cosines[2 * (i + lane) + 1] = cosine[lane];
        sines[2 * (i + lane)] = -sine[lane];
        sines[2 * (i + lane) + 1] = sine[lane];
      }
    }
    for (; i < request.count; ++i) write_rotary_entry<float>(request, row, i);
  }
}

// Rotation.

RowSource rotary_line(const MatrixView &view, int64_t offset) {
  return {static_cast<uint8_t *>(view.data) + offset * (is_f32(view) ? 4 : 2), view.format.id};
}

template <bool kIsF32>
void rotary(const RotaryRequest &request) {
  const int64_t count = request.count;
  for_rotary_rows(request, [&](const RotaryRow &row) {
    const RowSource inputs = rotary_line(request.input, row.input), outputs = rotary_line(request.output, row.output);
    const float *const cosines = static_cast<const float *>(request.cosines) + row.position * request.table_stride;
    const float *const sines = static_cast<const float *>(request.sines) + row.position * request.table_stride;
    if (request.layout == LPT_ROTARY_LAYOUT_HALVES) {
      for_columns(0, count, [&](int64_t column, ActiveLanes columns) {
        const F32 cosine = load(cosines + column, columns), sine = load(sines + column, columns);
        const F32 x = load_row<kIsF32>(inputs, column, columns);
        const F32 y = load_row<kIsF32>(inputs, count + column, columns);
        store_row<kIsF32>(outputs, column, columns, x * cosine - y * sine);
        store_row<kIsF32>(outputs, count + column, columns, x * sine + y * cosine);
      });
    } else {
      for_columns(0, 2 * count, [&](int64_t column, ActiveLanes columns) {
        const F32 cosine = load(cosines + column, columns), sine = load(sines + column, columns);
        const F32 pairs = load_row<kIsF32>(inputs, column, columns);
        store_row<kIsF32>(outputs, column, columns, pairs * cosine + exchanged_pairs(pairs) * sine);
      });
    }
    for_columns(2 * count, request.input.columns, [&](int64_t column, ActiveLanes columns) {
      store_row<kIsF32>(outputs, column, columns, load_row<kIsF32>(inputs, column, columns));
    });
  });
}

}  // namespace

void LPT_KERNEL(rotary_table)(const RotaryTableRequest &request) { rotary_table(request); }

void LPT_KERNEL(rotary)(const RotaryRequest &request) {
  is_f32(request.input) && is_f32(request.output) ? rotary<true>(request) : rotary<false>(request);
}

}  // namespace lpt
