// The formulas of optimizer.hpp for a unit of elements. Moments are read as f32 or as 8-bit codes, and written as f32. Included
// by simd_*.cpp.
#pragma once

#include "kernels/optimizer/rule.hpp"
#include "kernels/optimizer/step_codes.hpp"

namespace lpt {
namespace {

constexpr int64_t kUnit = 1024;  // elements: a multiple of all block sizes; four f32 arrays of a unit fit in L1
constexpr int64_t kGroup = 128;  // elements per group: the update computes one amax of each
constexpr int64_t kUnitGroups = kUnit / kGroup;
constexpr int64_t kUnitLanes = 16;  // at least kUnitGroups and kLanes

struct UpdateConstants {
  explicit UpdateConstants(const StepConstants &c)
      : beta1(broadcast(c.beta1)),
        one_minus_beta1(broadcast(c.one_minus_beta1)),
        beta2(broadcast(c.beta2)),
        one_minus_beta2(broadcast(c.one_minus_beta2)),
        root_correction(broadcast(c.root_correction)),
        step_size(broadcast(c.step_size)),
        decay(broadcast(c.decay)),
        coupled_decay(broadcast(c.coupled_decay)),
        epsilon(broadcast(c.epsilon)),
        gradient_scale(broadcast(c.gradient_scale)),
        is_coupled(c.coupled_decay != 0.0f),
        is_nesterov(c.is_nesterov) {}
  F32 beta1, one_minus_beta1, beta2, one_minus_beta2, root_correction, step_size, decay, coupled_decay, epsilon,
      gradient_scale;
  bool is_coupled, is_nesterov;
};

constexpr int64_t kPrefetchDistance = 384;  // elements: larger distances evict the unit from L1

// Prefetch address of an array. Each iteration of a loop prefetches the next cache lines.
struct NextData {
  [[gnu::always_inline]] inline void fetch() {
#pragma GCC unroll 4
    for (int64_t line = 0; line < kQuad / 16; ++line) _mm_prefetch(from + 64 * line, _MM_HINT_T0);
    from += bytes;
  }
  const char *from;
  int64_t bytes;  // size of four vectors
};

// next_elements() is for an array that the loop reads in place. next_unit() is for an array that is decoded before the loop of
// the next unit.
inline NextData next_elements(const void *data, int64_t bytes_each) {
  return {static_cast<const char *>(data) + kPrefetchDistance * bytes_each, kQuad * bytes_each};
}
inline NextData next_unit(const void *data, int64_t bytes_each) {
  return {static_cast<const char *>(data) + kUnit * bytes_each, kQuad * bytes_each};
}

// How the update reads a moment.
enum class Reading { kNot, kFloats, kCodes };

// A moment of a unit: input, output and prefetch address of the update.
struct MomentArrays {
  const float *floats;   // for kFloats
  const uint8_t *codes;  // for kCodes
  const ByteNumbers *numbers;
  float scales[kUnitGroups];
  float *to;
  // For kCodes, per group: the bits of its largest magnitude. Bits above those of finite values state only that the magnitudes
  // have to be computed again. The same holds for all groups if the unit has a NaN.
  int32_t largest[kUnitLanes];
  NextData next;
};

struct UpdateArrays {
  const float *gradient, *parameter;
  float *parameter_to;  // or steps: see kIsStep
  MomentArrays first, second;
  NextData next_gradient, next_parameter, next_compensation;
  bool has_nan;  // or infinities
};

// Results of the first half of an update. The parameter follows in the second half, because roots and quotients have a long
// latency.
struct Updated {
  F32 first, second;
  F32 update;  // the direction; for Adam, the root in its denominator
};

template <lpt_optimizer_method kMethod>
[[gnu::always_inline]] inline Updated updated(const UpdateConstants &c, F32 m, F32 v, F32 g) {
  if constexpr (kMethod == LPT_OPTIMIZER_METHOD_SGD) {
    const F32 first = sgd_first(c, m, g);
    return {first, first, sgd_direction(c, first, g)};
  } else if constexpr (kMethod == LPT_OPTIMIZER_METHOD_LION) {
    const F32 mixed = lion_mixed(c, m, g);
    const F32 first = lion_first(c, m, g);
    const auto is_signed = abs(mixed) > broadcast(0.0f);
    const auto sign_bit = i32_of(mixed) & ~kMagnitude;
    return {first, first, select(is_signed, f32_of(sign_bit | 0x3F800000), mixed)};
  } else {
    const F32 first = adam_first(c, m, g);
    const F32 second = adam_second(c, v, g);
    return {first, second, sqrt(second * c.root_correction)};
  }
}

template <Reading kReading>
[[gnu::always_inline]] inline void read_moment(const MomentArrays &places, int64_t at, F32 (&out)[4]) {
  if constexpr (kReading == Reading::kCodes) {
    _mm_prefetch(places.next.from + at, _MM_HINT_T0);
    decode(*places.numbers, places.codes + at, out);
    const F32 scales = broadcast(places.scales[at / kGroup]);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) out[j] = out[j] * scales;
  } else if constexpr (kReading == Reading::kFloats) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) out[j] = load(places.floats + at + j * kLanes);
  }
}

struct NoOther {
  static constexpr bool kMayBeCoupled = true;
  void operator()(int64_t) const {}
};

// The loop over a unit. Out-of-order execution covers some hundred instructions, which is less than the latency of a root and a
// quotient. The loop therefore runs the first half of an iteration between the two halves of the previous one. Each iteration
// also runs `Other` while the divider is busy.
template <lpt_optimizer_method kMethod, Reading kFirst, Reading kSecond, bool kIsStep, typename Other = NoOther>
struct UpdateLoop {
  // Computes the moments of four vectors from element i on.
  [[gnu::always_inline]] inline void begin(int64_t i) {
    F32 m[4], v[4];
    read_moment<kFirst>(first, i, m);
    read_moment<kSecond>(second, i, v);
    next_gradient.fetch();
    next_parameter.fetch();
    if constexpr (kIsStep) next_compensation.fetch();
    if constexpr (kFirst == Reading::kFloats) next_first.fetch();
    if constexpr (kSecond == Reading::kFloats) next_second.fetch();
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * kLanes;
      F32 g = load(gradient + at) * c.gradient_scale;
      if (Other::kMayBeCoupled && c.is_coupled) g = g + c.coupled_decay * load(parameter + at);
      const Updated now = updated<kMethod>(c, m[j], kSecond == Reading::kNot ? m[j] : v[j], g);
      update[j] = now.update;
      store(first_to + at, now.first);
      if constexpr (kFirst == Reading::kCodes) {
        // larger_magnitude() can lose a NaN. With Adam, late_check detects it, because the parameter is NaN too.
        largest_first = kMethod == LPT_OPTIMIZER_METHOD_ADAM ? larger_magnitude(largest_first, now.first)
                                                             : max(largest_first, i32_of(now.first) & kMagnitude);
      } else {
        check = mul_add(now.first, broadcast(0.0f), check);
      }
      if constexpr (kSecond != Reading::kNot) store(second_to + at, now.second);
      if constexpr (kSecond == Reading::kCodes) {
        largest_second = max_unsigned(largest_second, i32_of(now.second));
      } else if constexpr (kSecond == Reading::kFloats) {
        check = mul_add(now.second, broadcast(0.0f), check);
      }
    }
    if (i % kGroup == kGroup - kQuad) end_group(i / kGroup);
  }

  [[gnu::always_inline]] inline void end_group(int64_t group) {
    if constexpr (kFirst == Reading::kCodes) first.largest[group] = reduce_max_unsigned(largest_first);
    if constexpr (kSecond == Reading::kCodes) second.largest[group] = reduce_max_unsigned(largest_second);
    largest_first = largest_second = broadcast_i32(0);
  }

  [[gnu::always_inline]] inline void divide(int64_t i) {
    if constexpr (kMethod == LPT_OPTIMIZER_METHOD_ADAM) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        update[j] = quotient_or_zero(load(first_to + i + j * kLanes), update[j] + c.epsilon);
      }
    }
  }

  // Computes the parameters of four vectors from element i on.
  [[gnu::always_inline]] inline void finish(int64_t i, const F32 (&updates)[4]) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int64_t at = i + j * kLanes;
      const F32 old = load(parameter + at);
      const F32 fresh =
          kIsStep ? c.decay * old + c.step_size * updates[j] : (old - c.decay * old) - c.step_size * updates[j];
      late_check = mul_add(fresh, broadcast(0.0f), late_check);
      store(parameter_to + at, fresh);
    }
  }

  [[gnu::always_inline]] inline void run(int64_t count) {
    begin(0);
    for (int64_t i = kQuad; i < count; i += kQuad) {
      divide(i - kQuad);
      const F32 updates[4] = {update[0], update[1], update[2], update[3]};
      begin(i);
      other(i - kQuad);
      finish(i - kQuad, updates);
    }
    divide(count - kQuad);
    other(count - kQuad);
    finish(count - kQuad, update);
  }

  const UpdateConstants c;
  const Other other;
  MomentArrays &first, &second;
  const float *gradient, *parameter;
  float *parameter_to, *first_to, *second_to;
  NextData next_gradient, next_parameter, next_compensation, next_first, next_second;
  F32 update[4] = {};
  I32 largest_first = broadcast_i32(0), largest_second = broadcast_i32(0);
  // NaN if an element is not finite. Parameters have a separate accumulator, because they are computed an iteration later.
  F32 check = broadcast(0.0f), late_check = broadcast(0.0f);
};

// Updates a unit and runs `other` in the same loop. AdamW is Adam with other constants. kIsStep: stores the amount to subtract
// from the parameter instead of the new parameter. `count` is a positive multiple of kGroup.
template <lpt_optimizer_method kMethod, Reading kFirst, Reading kSecond, bool kIsStep, typename Other>
[[gnu::always_inline]] inline void update_with(const UpdateConstants &constants, UpdateArrays &places, int64_t count,
                                               const Other &other) {
  UpdateLoop<kMethod, kFirst, kSecond, kIsStep, Other> loop = {constants,
                                                               other,
                                                               places.first,
                                                               places.second,
                                                               places.gradient,
                                                               places.parameter,
                                                               places.parameter_to,
                                                               places.first.to,
                                                               places.second.to,
                                                               places.next_gradient,
                                                               places.next_parameter,
                                                               places.next_compensation,
                                                               places.first.next,
                                                               places.second.next};
  loop.run(count);
  places.has_nan = has_any(is_nan(loop.check + loop.late_check));
}

template <lpt_optimizer_method kMethod, Reading kFirst, Reading kSecond, bool kIsStep>
[[gnu::noinline]] void update(const UpdateConstants &constants, UpdateArrays &places, int64_t count) {
  update_with<kMethod, kFirst, kSecond, kIsStep>(constants, places, count, NoOther{});
}

[[gnu::noinline]] void canonicalize_nans(float *numbers, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) store(numbers + i, with_default_nan(load(numbers + i)));
}

}  // namespace
}  // namespace lpt
