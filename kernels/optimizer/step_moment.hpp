// Decoding and encoding of a moment of any kind. Included by simd_*.cpp.
#pragma once

#include "kernels/optimizer/step_expanded.hpp"
#include "kernels/optimizer/step_random.hpp"
#include "kernels/optimizer/step_tree.hpp"
#include "kernels/optimizer/step_update.hpp"

namespace lpt {
namespace {

inline bool is_byte(lpt_format element) {
  return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E4M3 || element == LPT_FORMAT_E5M2;
}

inline bool has_whole_scale(const StateArray &array) {
  return array.block == 0 && array.element != LPT_FORMAT_F32 && array.element != LPT_FORMAT_BF16;
}

inline bool is_drawing(const StateArray &array) {
  return array.element != LPT_FORMAT_F32 && !is_dynamic(array.element) &&
         (array.rounding == LPT_ROUNDING_STOCHASTIC || array.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC);
}

// One array of a request, with the constants of its encoding.
struct StateCursor {
  explicit StateCursor(const StateArray &given)
      : array(given),
        coding{element_layout(given.element), given.rounding, given.underflow, given.random.bits, nullptr},
        largest(decode(coding.layout, coding.layout.max_code)),
        is_drawn(is_drawing(given)),
        philox(philox_lanes(given.random)) {}

  uint8_t *at(uint8_t *base, int64_t i) const { return base + i * bytes_of(array.element); }

  // Returns the parameters for encoding `count` elements from `index` on. Random bits are drawn to `slab`, if necessary.
  Coding coding_at(int64_t index, int64_t count, RandomSlab &slab) const {
    Coding result = coding;
    if (is_drawn) result.random = draw_slab(array.random, philox, index, count, slab);
    return result;
  }

  const StateArray &array;
  Coding coding;
  float largest;
  bool is_drawn;
  PhiloxLanes philox;
};

// Deferred codes of a unit: their values and scales. They are encoded during the update of the next unit.
struct DeferredCodes {
  const float *from;
  uint8_t *to;
  float inverses[kUnitLanes];  // of the scales: one per 128 elements, for any block size
  ExpandedGroups expanded;
};

class Moment {
 public:
  Moment(const StateArray &array, bool is_second) : lane_(array), is_second_(is_second), reading_(reading_of(array)) {
    if (is_byte(array.element)) {
      numbers_ = byte_numbers(lane_.coding.layout);
      codes_ = byte_codes(lane_.coding.layout);
    }
    if (array.exponents != nullptr) {
      expanded_numbers_.reset(lane_.coding.layout);
      expanded_codes_.reset(lane_.coding.layout);
    }
  }

  Reading reading() const { return reading_; }
  const StateArray &array() const { return lane_.array; }
  int64_t bytes_each() const { return bytes_of(lane_.array.element); }

  // Sets `places` for a unit and decodes the moment to `scratch` if the update cannot read it in place. The first element of
  // the unit has index `index` in the array and address `data`. `tree` is NULL except for kDynamic. If is_kept, the update does
  // not write to `data`.
  void read(uint8_t *data, int64_t index, int64_t count, const TreeLanes *tree, float *scratch, bool is_kept,
            MomentArrays &places) {
    const StateArray &given = lane_.array;
    places.numbers = &numbers_;
    places.codes = data;
    places.to = scratch;
    places.floats = scratch;
    places.next = {};
    if (reading_ == Reading::kNot) return;
    const bool is_in_place = reading_ == Reading::kCodes || given.element == LPT_FORMAT_F32;
    places.next = is_in_place ? next_elements(data, bytes_each()) : next_unit(data, bytes_each());
    const int64_t first_block = given.block == 0 ? 0 : index / given.block;
    if (reading_ == Reading::kCodes) {
      for (int64_t group = 0; group * kGroup < count; ++group) {
        places.scales[group] = given.block == 0 ? given.scale : given.block_scales[first_block + group];
      }
    } else if (given.element == LPT_FORMAT_F32) {
      places.floats = reinterpret_cast<float *>(data);
      if (!is_kept) places.to = reinterpret_cast<float *>(data);
    } else if (given.block == 0) {
      load_scaled(given.element, data, given.scale, scratch, whole_quads(count));
    } else {
      for (int64_t at = 0; at < count; at += given.block) {
        const int64_t length = count - at < given.block ? count - at : given.block;
        const float scale = given.block_scales[first_block + at / given.block];
        if (tree != nullptr) {
          load_tree(*tree, data + at, scale, scratch + at, whole_quads(length));
        } else {
          expanded_numbers_.load(scale, given.exponents[first_block + at / given.block], data + at, scratch + at);
        }
      }
    }
  }

  // Encodes the results of the update to `data` and stores their scales.
  void write(uint8_t *data, int64_t index, int64_t count, const TreeLanes *tree, bool has_nan,
             const MomentArrays &places) const {
    const StateArray &given = lane_.array;
    if (reading_ == Reading::kNot) return;
    if (given.element == LPT_FORMAT_F32) {
      if (has_nan) canonicalize_nans(places.to, count);
      return;
    }
    if (is_fast_groups() && !has_nan && !has_special(places, count)) {
      return write_groups(data, index, count, places);
    }
    if (is_fast_whole() && !has_nan && !has_special(places, count)) {
      const auto store =
          given.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP ? store_saturated<true> : store_saturated<false>;
      return store(codes_, places.to, given.inverse_scale, data, whole_quads(count));
    }
    if (given.exponents != nullptr && is_nearest()) return write_expanded(data, index, count, places.to);
    RandomSlab slab;
    Coding coding = lane_.coding_at(index, count, slab);
    if (given.block == 0) {
      return store_codes(coding, places.to, places.to, given.inverse_scale, data, whole_quads(count));
    }
    const uint8_t *random = coding.random;
    for (int64_t at = 0; at < count; at += given.block) {
      const int64_t length = count - at < given.block ? count - at : given.block;
      const int64_t block = (index + at) / given.block;
      if (random != nullptr) coding.random = random + at * (coding.random_bits / 8);
      if (tree != nullptr) {
        given.block_scales[block] = store_tree_block(*tree, given, places.to + at, data + at, index + at, length);
      } else {
        write_block(coding, data + at, block, length, places.to + at);
      }
    }
  }

  // Returns whether store_group_scales() and store_nearest() suffice for groups without infinities and NaN.
  bool is_fast_groups() const {
    return reading_ == Reading::kCodes && lane_.array.block != 0 && lane_.array.rounding == LPT_ROUNDING_NEAREST_EVEN &&
           lane_.array.underflow != LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC;
  }

  static bool has_special(const MomentArrays &places, int64_t count) {
    uint32_t largest = 0;
    for (int64_t group = 0; group * kGroup < count; ++group) {
      const auto bits = static_cast<uint32_t>(places.largest[group]);
      largest = bits > largest ? bits : largest;
    }
    return largest >= static_cast<uint32_t>(kInfinity);
  }

  // Returns whether the codes of full units can be deferred, provided that settle() returns true.
  bool can_defer() const { return lane_.array.block != 0 && is_nearest(); }

  // Stores the scales of a full unit, whose has_nan must be false, and prepares its deferred codes. Returns false if the codes
  // cannot be deferred: write() then encodes the unit.
  bool settle(uint8_t *data, int64_t index, const TreeLanes *tree, const MomentArrays &places,
              DeferredCodes &waiting) const {
    const StateArray &given = lane_.array;
    waiting.from = places.to;
    waiting.to = data;
    if (reading_ == Reading::kCodes) {
      if (has_special(places, kUnit)) return false;
      store_group_scales(index, kUnit, places, waiting.inverses);
      return true;
    }
    if (tree == nullptr) {
      measure_expanded(places.to, kUnit, waiting.expanded);
      if (!expanded_codes_.prepare(waiting.expanded)) return false;
      for (int64_t group = 0; group < kUnitGroups; ++group) store_group_state(waiting.expanded, group, index);
      return true;
    }
    for (int64_t at = 0; at < kUnit; at += given.block) {
      const TreeScale scale = tree_scale(*tree, block_magnitudes(places.to + at, given.block));
      if (scale.has_lost && given.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP) return false;
      given.block_scales[(index + at) / given.block] = scale.scale;
      for (int64_t i = at; i < at + given.block; i += kGroup) waiting.inverses[i / kGroup] = scale.inverse;
    }
    return true;
  }

  // Stores the codes of four vectors of a unit, from element i on.
  [[gnu::always_inline]] void store_expanded(const ExpandedGroups &groups, int64_t i, const float *from,
                                             uint8_t *to) const {
    if (expanded_codes_.store(groups, i, from, to)) [[likely]]
      return;
    const auto sixteenths = static_cast<uint16_t>(groups.sixteenths[i / kGroup]);
    write_powers(lane_.coding, to + i, kQuad, from + i,
                 make_expansion(lane_.largest, groups.amax[i / kGroup], sixteenths), true);
  }

  const ByteCodes &codes() const { return codes_; }

 private:
  static Reading reading_of(const StateArray &array) {
    if (array.data == nullptr) return Reading::kNot;
    return is_byte(array.element) && array.exponents == nullptr ? Reading::kCodes : Reading::kFloats;
  }

  // Computes and stores the scales of groups from the magnitudes in `places`. Writes their inverses to `inverses`.
  void store_group_scales(int64_t index, int64_t count, const MomentArrays &places, float *inverses) const {
    float amax[kUnitLanes] = {}, scales[kUnitLanes];
    memcpy(amax, places.largest, static_cast<size_t>((count + kGroup - 1) / kGroup * 4));
    find_scales(amax, lane_.largest, scales, inverses);
    float *const kept = lane_.array.block_scales + index / kGroup;
    for (int64_t group = 0; group * kGroup < count; ++group) kept[group] = scales[group];
  }

  bool is_nearest() const {
    return lane_.array.rounding == LPT_ROUNDING_NEAREST_EVEN &&
           lane_.array.underflow != LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC;
  }

  // Returns the same as is_fast_groups(), for an array with one scale. The scale may be too small, so that values have to be
  // saturated.
  bool is_fast_whole() const { return reading_ == Reading::kCodes && lane_.array.block == 0 && is_nearest(); }

  template <bool kIsClamped>
  static void store_saturated(const ByteCodes &codes, const float *from, float inverse, uint8_t *to, int64_t count) {
    const ByteCodes lanes = codes;
    const F32 inverses = broadcast(inverse);
    for (int64_t i = 0; i < count; i += kQuad) {
      store_nearest<true, kIsClamped, true>(lanes, from + i, inverses, to + i);
    }
  }

  void write_groups(uint8_t *data, int64_t index, int64_t count, const MomentArrays &places) const {
    float inverses[kUnitLanes];
    store_group_scales(index, count, places, inverses);
    const bool is_clamped = lane_.array.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP;
    const auto store = is_second_ ? (is_clamped ? store_groups<false, true> : store_groups<false, false>)
                                  : (is_clamped ? store_groups<true, true> : store_groups<true, false>);
    store(codes_, places.to, inverses, data, count);
  }

  template <bool kIsSigned, bool kIsClamped>
  static void store_groups(const ByteCodes &codes, const float *from, const float *inverses, uint8_t *to,
                           int64_t count) {
    const ByteCodes lanes = codes;
    for (int64_t i = 0; i < count; i += kQuad) {
      store_nearest<kIsSigned, kIsClamped>(lanes, from + i, broadcast(inverses[i / kGroup]), to + i);
    }
  }

  void write_block(const Coding &coding, uint8_t *data, int64_t block, int64_t count, const float *values) const {
    const StateArray &given = lane_.array;
    const int64_t padded = whole_quads(count);
    const BlockMagnitudes found = block_magnitudes(values, padded);
    if (given.exponents == nullptr) {
      const float scale = found.amax == 0.0f ? 1.0f : clamp_scale(found.amax / lane_.largest);
      given.block_scales[block] = scale;
      return store_codes(coding, values, values, inverse_scale(scale), data, padded);
    }
    const float amax = found.amax == 0.0f ? 1.0f : found.amax;
    given.block_scales[block] = amax;
    given.exponents[block] = expansion_exponent(lane_.largest, found.amax, found.least);
    write_powers(coding, data, padded, values, make_expansion(lane_.largest, amax, given.exponents[block]),
                 is_nearest() && !found.is_special);
  }

  [[gnu::noinline]] void write_powers(const Coding &coding, uint8_t *data, int64_t count, const float *values,
                                      const Expansion &expansion, bool is_fast_groups) const {
    float stretched[kGroup];
    expand(expansion, values, stretched, count);
    if (!is_fast_groups) return store_codes(coding, values, stretched, 1.0f, data, count);
    const bool is_clamped = lane_.array.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP;
    const auto store = is_clamped ? store_saturated<true> : store_saturated<false>;
    store(codes_, stretched, 1.0f, data, count);
  }

  void measure_expanded(const float *values, int64_t count, ExpandedGroups &groups) const {
    for (int64_t group = 0; group < kUnitLanes; ++group) {
      BlockMagnitudes found = {};
      if (group * kGroup < count) found = block_magnitudes(values + group * kGroup, kGroup);
      groups.amax[group] = found.amax == 0.0f ? 1.0f : found.amax;
      groups.least[group] = found.amax == 0.0f ? 1.0f : found.least;
      groups.is_special[group] = found.is_special ? 1 : 0;
    }
  }

  // Stores the scale and the exponent of a group. `index` is that of the first element of the unit.
  void store_group_state(const ExpandedGroups &groups, int64_t group, int64_t index) const {
    lane_.array.block_scales[index / kGroup + group] = groups.amax[group];
    lane_.array.exponents[index / kGroup + group] = static_cast<uint16_t>(groups.sixteenths[group]);
  }

  void write_expanded(uint8_t *data, int64_t index, int64_t count, const float *values) const {
    ExpandedGroups groups;
    measure_expanded(values, count, groups);
    expanded_codes_.prepare(groups);
    for (int64_t group = 0; group * kGroup < count; ++group) {
      const int64_t begin = group * kGroup;
      if (groups.is_fit[group] == 0) {
        write_block(lane_.coding, data + begin, index / kGroup + group, kGroup, values + begin);
        continue;
      }
      store_group_state(groups, group, index);
      for (int64_t i = begin; i < begin + kGroup; i += kQuad) store_expanded(groups, i, values, data);
    }
  }

  StateCursor lane_;
  bool is_second_;
  Reading reading_;
  ByteNumbers numbers_;
  ByteCodes codes_;
  ExpandedNumbers expanded_numbers_;
  ExpandedCodes expanded_codes_;
};

}  // namespace
}  // namespace lpt
