// Statistics of a span, shared by all instruction sets. Included by an ISA file only.
//
// f32 values are added in f64 without conversion. The bits of a nonnegative finite f32 shifted left by 29 are the f64 of 2^-896
// times its value, zero and subnormals included. Therefore all sums are scaled by 2^-896. The rounding does not change: every
// f32 is a multiple of 2^-149, so sums that f64 cannot represent exactly are far above its subnormals.
//
// Sixteen lanes of sums are stored in vectors of f64, alternately those of even and of odd elements of one vector of f32.
//
// The template parameter Isa provides the vector types and their operations; see avx2_sums.hpp for the list.
#pragma once

#include <cstring>

#include "kernels/quantize/sums_loop.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

// Adds lane i + width to lane i, for widths 8, 4, 2, 1.
inline double sum_of_lanes(double (&lane)[16]) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

// Scale of the f64 sums.
constexpr double kSumSize = 0x1p-896;

// Returns the index of a lane's sum, for vectors of kLanes f32.
template <int kLanes>
constexpr int place_of(int lane) {
  return (lane / kLanes * 2 + lane % 2) * (kLanes / 2) + lane % kLanes / 2;
}

// Returns the sum of the lanes and sets them to zero.
template <int kLanes>
double take_sums(double (&sums)[16]) {
  double lane[16];
  for (int i = 0; i < 16; ++i) lane[i] = sums[place_of<kLanes>(i)];
  memset(sums, 0, sizeof sums);
  return sum_of_lanes(lane) * (1.0 / kSumSize);
}

// Returns true if round(scaled_value) + zero, rounded to nearest even in 16 bits, is below 0 or above the largest code. A NaN
// rounds to 0.
inline bool leaves_range(float scaled_value, float zero, float limit) {
  const auto rounded = static_cast<int16_t>(
      encode(kElementInt16, scaled_value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16));
  const float moved = static_cast<float>(rounded) + zero;
  return moved < 0.0f || moved > limit;
}

// Accumulates statistics of spans. Sums restart with each row; counts cover all rows.
template <typename Isa, lpt_format kPlain>
class SumLanes {
 public:
  void add(const SumSpan &span) {
    const bool is_done = add_whole(span);
    add_scalar(span, is_done ? span.whole : 0);
  }

  void end_row(CastStatistics &sums) {
    sums.squares += take_sums<kLanes>(squares_);
    sums.squared_errors += take_sums<kLanes>(errors_);
  }

  void end(CastStatistics &sums) const {
    sums.nans = nans_;
    sums.clipped = clipped_;
    sums.underflows = underflows_;
    sums.amax = amax_;
  }

 private:
  using Floats = typename Isa::Floats;
  using Doubles = typename Isa::Doubles;

  static constexpr int kLanes = Isa::kLanes;  // f32 lanes of a vector
  static constexpr int kParts = 16 / kLanes;
  static constexpr int kDoubles = kLanes / 2;
  static constexpr int64_t kBytes = kPlain == LPT_FORMAT_F32 ? 4 : 2;

  // How clipped elements are counted: with or without zero points, with narrow or wide blocks, or with one block.
  enum class Clips { kZerosOfNarrow, kZerosOfWide, kOfNarrow, kOfWide, kOfOne };

  bool add_whole(const SumSpan &span) {
    const int32_t log2_columns = span.scales.log2_columns;
    const bool is_narrow = log2_columns < 4;
    if (span.scales.has_zeros) {
      return is_narrow ? add_vectors<Clips::kZerosOfNarrow>(span) : add_vectors<Clips::kZerosOfWide>(span);
    }
    if (span.count <= int64_t{1} << log2_columns) return add_vectors<Clips::kOfOne>(span);
    return is_narrow ? add_vectors<Clips::kOfNarrow>(span) : add_vectors<Clips::kOfWide>(span);
  }

  // Adds sixteen elements per step. Returns false and adds nothing if an element, an error or a square is not finite. Read as a
  // scaled f64, the bits of such a square are at least 2^128 · 2^-896, and so is the sum.
  template <Clips kClips>
  bool add_vectors(const SumSpan &span) {
    const uint8_t *source = span.source;
    const int64_t count = span.whole;
    const Clipping<kClips> clipping(span);
    Doubles squares[2 * kParts], errors[2 * kParts];
    load_sums(squares, squares_);
    load_sums(errors, errors_);
    Floats amax = Isa::all(0.0f);
    typename Isa::Count clipped, underflows;
    for (int64_t at = 0; at < count; at += 16) {
#pragma GCC unroll 2
      for (int part = 0; part < kParts; ++part) {
        const int64_t first = at + kLanes * part;
        const Floats value = Isa::template load<kPlain>(source + first * kBytes);
        const Floats decoded = Isa::load_floats(span.decoded + first);
        amax = Isa::larger_magnitude(amax, value);
        if constexpr (kClips != Clips::kOfOne) clipped.add(clipping.of(span, value, first));
        underflows.add(Isa::is_lost(value, decoded));
        Isa::add_squares(squares + 2 * part, value);
        Isa::add_squares(errors + 2 * part, Isa::difference(value, decoded));
      }
    }
    if (!are_finite(squares) || !are_finite(errors)) [[unlikely]]
      return false;
    const float largest = Isa::largest_of(amax);
    if (kClips == Clips::kOfOne && largest * span.inverse[0] > span.limit) {
      for (int64_t at = 0; at < count; at += kLanes) {
        clipped.add(clipping.of(span, Isa::template load<kPlain>(source + at * kBytes), at));
      }
    }
    amax_ = largest > amax_ ? largest : amax_;
    clipped_ += clipped.total();
    underflows_ += underflows.total();
    store_sums(squares, squares_);
    store_sums(errors, errors_);
    return true;
  }

  template <Clips kClips>
  struct Clipping {
    static constexpr bool kHasZeros = kClips == Clips::kZerosOfNarrow || kClips == Clips::kZerosOfWide;
    static constexpr bool kIsNarrow = kClips == Clips::kZerosOfNarrow || kClips == Clips::kOfNarrow;
    typename Isa::Places places;
    Floats limit;

    explicit Clipping(const SumSpan &span) : places(span.scales.log2_columns), limit(Isa::all(span.limit)) {}
    [[gnu::always_inline]] typename Isa::Flags of(const SumSpan &span, Floats value, int64_t column) const {
      const Floats inverse = places.template of<kIsNarrow>(span.inverse, column);
      const Floats scaled_value = Isa::scaled(Isa::magnitude(value), inverse);
      if constexpr (!kHasZeros) return Isa::is_above(scaled_value, limit);
      return Isa::leaves_range(scaled_value, value, places.template of<kIsNarrow>(span.scales.zero, column), limit);
    }
  };

  static bool are_finite(const Doubles (&sums)[2 * kParts]) {
    bool result = true;
#pragma GCC unroll 4
    for (const Doubles &sum : sums) result &= Isa::are_below(sum, 0x1p128 * kSumSize);
    return result;
  }

  // Adds the elements from `begin` on, a multiple of 16, one at a time.
  [[gnu::noinline]] void add_scalar(const SumSpan &span, int64_t begin) {
    for (int64_t at = begin; at < span.count; at += 16) {
      const int64_t count = span.count - at < 16 ? span.count - at : 16;
      alignas(64) uint8_t bytes[16 * 4] = {};
      alignas(64) float numbers[16];
      memcpy(bytes, span.source + at * kBytes, static_cast<size_t>(count * kBytes));
      for (int part = 0; part < kParts; ++part) {
        Isa::store_floats(numbers + kLanes * part, Isa::template load<kPlain>(bytes + kLanes * part * kBytes));
      }
      for (int i = 0; i < count; ++i) add_one(span, at + i, numbers[i]);
    }
  }

  void add_one(const SumSpan &span, int64_t column, float value) {
    if (value != value) {
      ++nans_;
      return;
    }
    const int64_t block = column >> span.scales.log2_columns;
    const float scaled_value = scaled(value, span.inverse[block]);
    const float magnitude = bits_float(float_bits(value) & 0x7FFFFFFFu);
    const bool is_clipped = span.scales.has_zeros ? leaves_range(scaled_value, span.scales.zero[block], span.limit)
                                                  : bits_float(float_bits(scaled_value) & 0x7FFFFFFFu) > span.limit;
    if (is_clipped) ++clipped_;
    if (magnitude > kLargestFloat) return;
    const float decoded = span.decoded[column];
    const float error = value - decoded;
    if (value != 0.0f && decoded == 0.0f) ++underflows_;
    if (magnitude > amax_) amax_ = magnitude;
    const int place = place_of<kLanes>(static_cast<int>(column % 16));
    squares_[place] += static_cast<double>(value * value) * kSumSize;
    errors_[place] += static_cast<double>(error * error) * kSumSize;
  }

  static void load_sums(Doubles (&vectors)[2 * kParts], const double (&sums)[16]) {
#pragma GCC unroll 4
    for (int i = 0; i < 2 * kParts; ++i) vectors[i] = Isa::load_doubles(sums + kDoubles * i);
  }

  static void store_sums(const Doubles (&vectors)[2 * kParts], double (&sums)[16]) {
#pragma GCC unroll 4
    for (int i = 0; i < 2 * kParts; ++i) Isa::store_doubles(sums + kDoubles * i, vectors[i]);
  }

  alignas(64) double squares_[16] = {};
  alignas(64) double errors_[16] = {};
  float amax_ = 0.0f;
  int64_t nans_ = 0, clipped_ = 0, underflows_ = 0;
};

// Computes statistics for codes of `bits` bits; see walk_sums() for fill and decode.
template <typename Isa, typename Fill, typename Decode>
void sum_cast_with(const CastStatisticsRequest &request, int32_t bits, const Fill &fill, const Decode &decode) {
  switch (request.source.format.element) {
    case LPT_FORMAT_BF16:
      return walk_sums<SumLanes<Isa, LPT_FORMAT_BF16>>(request, bits, fill, decode);
    case LPT_FORMAT_F16:
      return walk_sums<SumLanes<Isa, LPT_FORMAT_F16>>(request, bits, fill, decode);
    default:
      return walk_sums<SumLanes<Isa, LPT_FORMAT_F32>>(request, bits, fill, decode);
  }
}

}  // namespace
}  // namespace lpt
