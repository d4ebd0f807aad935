// The formulas of optimizer.hpp for a unit of elements: moments are read from f32 or from codes of a byte, and left in
// f32. Included by ISA files.
#pragma once

#include "kernels/optimizer/rule.hpp"
#include "kernels/optimizer/step_codes.hpp"

namespace lpt {
namespace {

constexpr int64_t kUnit = 1024;  // elements: whole blocks of any kind; four arrays of it stay in the first cache
constexpr int64_t kGroup = 128;  // elements whose magnitudes are measured together
constexpr int64_t kUnitGroups = kUnit / kGroup;
constexpr int64_t kUnitLanes = 16;  // at least a group's and a vector's

template <typename Isa>
struct UpdateConstants {
  using Floats = typename Isa::Floats;
  explicit UpdateConstants(const StepConstants &c)
      : beta1(Isa::all(c.beta1)),
        one_minus_beta1(Isa::all(c.one_minus_beta1)),
        beta2(Isa::all(c.beta2)),
        one_minus_beta2(Isa::all(c.one_minus_beta2)),
        root_correction(Isa::all(c.root_correction)),
        step_size(Isa::all(c.step_size)),
        decay(Isa::all(c.decay)),
        coupled_decay(Isa::all(c.coupled_decay)),
        epsilon(Isa::all(c.epsilon)),
        gradient_scale(Isa::all(c.gradient_scale)),
        is_coupled(c.coupled_decay != 0.0f),
        is_nesterov(c.is_nesterov) {}
  Floats beta1, one_minus_beta1, beta2, one_minus_beta2, root_correction, step_size, decay, coupled_decay, epsilon,
      gradient_scale;
  bool is_coupled, is_nesterov;
};

// How a moment is read.
enum class Reading { kNot, kFloats, kCodes };

// A moment in a unit.
template <typename Isa>
struct MomentPlaces {
  const float *floats;   // of kFloats
  const uint8_t *codes;  // of kCodes
  const ByteNumbers *numbers;
  float scales[kUnitGroups];
  float *to;
  // Of kCodes, for each group: bits of its largest magnitude; or ones above those of finite numbers, which say only that
  // the group needs another look. It needs one as well where the unit has a NaN.
  int32_t largest[kUnitLanes];
  int64_t prefetch_distance;  // elements to what is fetched meanwhile
};

template <typename Isa>
struct UpdatePlaces {
  const float *gradient, *parameter;
  float *parameter_to;  // or the step, see kIsStep
  int64_t gradient_prefetch_distance, parameter_prefetch_distance;
  MomentPlaces<Isa> first, second;
  bool has_nan;  // infinities count
};

// What a moment's new numbers give. What is taken off the parameter follows later, since roots and quotients take long.
template <typename Isa>
struct Updated {
  typename Isa::Floats first, second;
  typename Isa::Floats update;  // of Adam the root
};

template <typename Isa, lpt_optimizer_method kMethod>
[[gnu::always_inline]] inline Updated<Isa> updated(const UpdateConstants<Isa> &c, typename Isa::Floats m,
                                                   typename Isa::Floats v, typename Isa::Floats g) {
  using Floats = typename Isa::Floats;
  if constexpr (kMethod == LPT_OPTIMIZER_METHOD_SGD) {
    const Floats first = sgd_first(c, m, g);
    return {first, first, sgd_direction(c, first, g)};
  } else if constexpr (kMethod == LPT_OPTIMIZER_METHOD_LION) {
    const Floats mixed = lion_mixed(c, m, g);
    const Floats first = lion_first(c, m, g);
    const auto is_signed = magnitude_of<Isa>(mixed) > Isa::all(0.0f);
    const auto sign_bit = Isa::bits(mixed) & ~kMagnitude;
    return {first, first, select<Isa>(is_signed, Isa::floats(sign_bit | 0x3F800000), mixed)};
  } else {
    const Floats first = adam_first(c, m, g);
    const Floats second = adam_second(c, v, g);
    return {first, second, Isa::root(second * c.root_correction)};
  }
}

template <typename Isa, Reading kReading>
[[gnu::always_inline]] inline void read_moment(const MomentPlaces<Isa> &places, int64_t at,
                                               typename Isa::Floats (&out)[4]) {
  if constexpr (kReading == Reading::kCodes) {
    _mm_prefetch(reinterpret_cast<const char *>(places.codes + at + places.prefetch_distance), _MM_HINT_T0);
    Isa::decode(*places.numbers, places.codes + at, out);
    const typename Isa::Floats scales = Isa::all(places.scales[at / kGroup]);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) out[j] = out[j] * scales;
  } else if constexpr (kReading == Reading::kFloats) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) out[j] = Isa::load(places.floats + at + j * Isa::kWidth);
  }
}

template <typename Isa>
[[gnu::always_inline]] inline void fetch(const float *from) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < Isa::kQuad; i += 16) _mm_prefetch(reinterpret_cast<const char *>(from + i), _MM_HINT_T0);
}

struct NothingElse {
  static constexpr bool kMayBeCoupled = true;
  void operator()(int64_t) const {}
};

// The loop over a unit. The CPU can look ahead by some hundred instructions only, which is less than a root and a
// quotient take; so the loop does the first half of one iteration between the halves of the one before. `Other` is done in
// each iteration as well, in the time that the divider takes.
template <typename Isa, lpt_optimizer_method kMethod, Reading kFirst, Reading kSecond, bool kIsStep,
          typename Other = NothingElse>
struct UpdateLoop {
  using Floats = typename Isa::Floats;
  using Ints = typename Isa::Ints;

  // Moments of four vectors from `i` on.
  [[gnu::always_inline]] inline void begin(int64_t i) {
    Floats m[4], v[4];
    read_moment<Isa, kFirst>(first, i, m);
    read_moment<Isa, kSecond>(second, i, v);
    fetch<Isa>(gradient + i + gradient_prefetch_distance);
    fetch<Isa>(parameter + i + parameter_prefetch_distance);
    if constexpr (kFirst == Reading::kFloats) fetch<Isa>(first.floats + i + first.prefetch_distance);
    if constexpr (kSecond == Reading::kFloats) fetch<Isa>(second.floats + i + second.prefetch_distance);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * Isa::kWidth;
      Floats g = Isa::load(gradient + at) * c.gradient_scale;
      if (Other::kMayBeCoupled && c.is_coupled) g = g + c.coupled_decay * Isa::load(parameter + at);
      const Updated<Isa> now = updated<Isa, kMethod>(c, m[j], kSecond == Reading::kNot ? m[j] : v[j], g);
      update[j] = now.update;
      Isa::store(first_to + at, now.first);
      if constexpr (kFirst == Reading::kCodes) {
        // A NaN may be lost: of Adam it makes the parameter NaN as well.
        largest_first = kMethod == LPT_OPTIMIZER_METHOD_ADAM
                            ? Isa::greatest_magnitude(largest_first, now.first)
                            : Isa::greatest(largest_first, Isa::bits(now.first) & kMagnitude);
      } else {
        check = Isa::fused(now.first, Isa::all(0.0f), check);
      }
      if constexpr (kSecond != Reading::kNot) Isa::store(second_to + at, now.second);
      if constexpr (kSecond == Reading::kCodes) {
        largest_second = Isa::greatest_unsigned(largest_second, Isa::bits(now.second));
      } else if constexpr (kSecond == Reading::kFloats) {
        check = Isa::fused(now.second, Isa::all(0.0f), check);
      }
    }
    if (i % kGroup == kGroup - Isa::kQuad) end_group(i / kGroup);
  }

  [[gnu::always_inline]] inline void end_group(int64_t group) {
    if constexpr (kFirst == Reading::kCodes) first.largest[group] = Isa::greatest_of(largest_first);
    if constexpr (kSecond == Reading::kCodes) second.largest[group] = Isa::greatest_of(largest_second);
    largest_first = largest_second = Isa::all_ints(0);
  }

  [[gnu::always_inline]] inline void divide(int64_t i) {
    if constexpr (kMethod == LPT_OPTIMIZER_METHOD_ADAM) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        update[j] = Isa::quotient_or_zero(Isa::load(first_to + i + j * Isa::kWidth), update[j] + c.epsilon);
      }
    }
  }

  // The parameters of four vectors.
  [[gnu::always_inline]] inline void finish(int64_t i, const Floats (&updates)[4]) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * Isa::kWidth;
      const Floats old = Isa::load(parameter + at);
      const Floats fresh =
          kIsStep ? c.decay * old + c.step_size * updates[j] : (old - c.decay * old) - c.step_size * updates[j];
      late_check = Isa::fused(fresh, Isa::all(0.0f), late_check);
      Isa::store(parameter_to + at, fresh);
    }
  }

  [[gnu::always_inline]] inline void run(int64_t count) {
    begin(0);
    for (int64_t i = Isa::kQuad; i < count; i += Isa::kQuad) {
      divide(i - Isa::kQuad);
      const Floats updates[4] = {update[0], update[1], update[2], update[3]};
      begin(i);
      other(i - Isa::kQuad);
      finish(i - Isa::kQuad, updates);
    }
    divide(count - Isa::kQuad);
    other(count - Isa::kQuad);
    finish(count - Isa::kQuad, update);
  }

  const UpdateConstants<Isa> c;
  const Other other;
  MomentPlaces<Isa> &first, &second;
  const float *gradient, *parameter;
  float *parameter_to, *first_to, *second_to;
  int64_t gradient_prefetch_distance, parameter_prefetch_distance;
  Floats update[4] = {};
  Ints largest_first = Isa::all_ints(0), largest_second = Isa::all_ints(0);
  // A number that is not finite makes them NaN. Two, since parameters are known late.
  Floats check = Isa::all(0.0f), late_check = Isa::all(0.0f);
};

// AdamW is Adam with other constants. kIsStep: what shall be taken off the parameter is stored in its place. `count` is
// whole groups, at least one.
template <typename Isa, lpt_optimizer_method kMethod, Reading kFirst, Reading kSecond, bool kIsStep, typename Other>
[[gnu::always_inline]] inline void update_beside(const UpdateConstants<Isa> &constants, UpdatePlaces<Isa> &places,
                                                 int64_t count, const Other &other) {
  UpdateLoop<Isa, kMethod, kFirst, kSecond, kIsStep, Other> loop = {constants,
                                                                    other,
                                                                    places.first,
                                                                    places.second,
                                                                    places.gradient,
                                                                    places.parameter,
                                                                    places.parameter_to,
                                                                    places.first.to,
                                                                    places.second.to,
                                                                    places.gradient_prefetch_distance,
                                                                    places.parameter_prefetch_distance};
  loop.run(count);
  places.has_nan = Isa::has_nan(loop.check + loop.late_check);
}

template <typename Isa, lpt_optimizer_method kMethod, Reading kFirst, Reading kSecond, bool kIsStep>
[[gnu::noinline]] void update(const UpdateConstants<Isa> &constants, UpdatePlaces<Isa> &places, int64_t count) {
  update_beside<Isa, kMethod, kFirst, kSecond, kIsStep>(constants, places, count, NothingElse{});
}

template <typename Isa>
[[gnu::noinline]] void plain_nans(float *numbers, int64_t count) {
  for (int64_t i = 0; i < count; i += Isa::kWidth) Isa::store(numbers + i, with_plain_nan<Isa>(Isa::load(numbers + i)));
}

}  // namespace
}  // namespace lpt
