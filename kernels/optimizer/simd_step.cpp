// SIMD kernel of optimizer steps. A request is processed in units that fit in the L1 cache. For each unit, the kernel decodes
// arrays that are not f32, computes the update, computes new scales and encodes the results. It prefetches some
// hundred elements ahead. The last elements are copied to a padded unit, so that no loop handles tails.
#include "kernels/optimizer/optimizer.hpp"
#include "kernels/optimizer/step_moment.hpp"

namespace lpt {
namespace {

constexpr int64_t kTail = 256;  // elements: the largest block

// Addresses of the first elements of a unit in each array.
struct UnitData {
  const uint8_t *gradient;
  uint8_t *first, *second, *parameter, *compensation;
};

// A moment with deferred codes of the previous unit. The writers below encode four vectors of it.
struct DeferredMoment {
  DeferredMoment(const Moment &given, const TreeLanes *tree_of_moment, const DeferredCodes &waiting)
      : moment(given), tree(tree_of_moment), codes(waiting), from(waiting.from), to(waiting.to) {}
  const Moment &moment;
  const TreeLanes *tree;
  const DeferredCodes &codes;
  const float *from;  // copied: the compiler assumes that stores to `to` can change `codes`
  uint8_t *to;
};

template <bool kIsSigned, bool kIsClamped>
struct GroupWriter {
  static constexpr Reading kReading = Reading::kCodes;
  [[gnu::always_inline]] static inline void write(const DeferredMoment &unit, int64_t i) {
    const F32 inverses = broadcast(unit.codes.inverses[i / kGroup]);
    store_nearest<kIsSigned, kIsClamped>(unit.moment.codes(), unit.from + i, inverses, unit.to + i);
  }
};

struct ExpandedWriter {
  static constexpr Reading kReading = Reading::kFloats;
  [[gnu::always_inline]] static inline void write(const DeferredMoment &unit, int64_t i) {
    unit.moment.store_expanded(unit.codes.expanded, i, unit.from, unit.to);
  }
};

template <bool kIsSigned>
struct TreeWriter {
  static constexpr Reading kReading = Reading::kFloats;
  [[gnu::always_inline]] static inline void write(const DeferredMoment &unit, int64_t i) {
    store_tree<kIsSigned, false>(*unit.tree, unit.moment.array(), unit.from + i, unit.codes.inverses[i / kGroup],
                                 unit.to + i);
  }
};

// Encodes the deferred codes of a unit during the update of the next unit.
template <typename First, typename Second>
struct DeferredEncoder {
  static constexpr bool kMayBeCoupled = false;
  [[gnu::always_inline]] inline void operator()(int64_t i) const {
    First::write(first, i);
    Second::write(second, i);
  }
  DeferredMoment first, second;
};

template <typename First, typename Second>
[[gnu::noinline]] void update_and_encode(const UpdateConstants &constants, UpdateArrays &places,
                                         const DeferredEncoder<First, Second> &codes) {
  update_with<LPT_OPTIMIZER_METHOD_ADAM, First::kReading, Second::kReading, false>(constants, places, kUnit, codes);
}

// Decoded values of a unit. Moments have two buffers, because deferred codes read the buffer of the previous unit.
struct UnitMemory {
  alignas(64) float first[2][kUnit], second[2][kUnit], gradient[kUnit], parameter[kUnit];
  alignas(64) float old[kUnit], change[kUnit], fresh[kUnit];  // for a compensated parameter
};

using Update = void (*)(const UpdateConstants &, UpdateArrays &, int64_t);

template <lpt_optimizer_method kMethod, bool kIsStep>
Update update_of(Reading first, Reading second) {
  constexpr Reading kFloats = Reading::kFloats, kCodes = Reading::kCodes;
  if constexpr (kMethod == LPT_OPTIMIZER_METHOD_SGD || kMethod == LPT_OPTIMIZER_METHOD_LION) {
    return first == kCodes ? update<kMethod, kCodes, Reading::kNot, kIsStep>
                           : update<kMethod, kFloats, Reading::kNot, kIsStep>;
  } else {
    if (first == kCodes) {
      return second == kCodes ? update<kMethod, kCodes, kCodes, kIsStep> : update<kMethod, kCodes, kFloats, kIsStep>;
    }
    return second == kCodes ? update<kMethod, kFloats, kCodes, kIsStep> : update<kMethod, kFloats, kFloats, kIsStep>;
  }
}

class StepLoop {
 public:
  explicit StepLoop(const StepRequest &request)
      : request_(request),
        constants_(request.constants),
        first_(request.first, false),
        second_(request.second, true),
        parameter_(request.parameter),
        compensation_(request.compensation),
        gradient_bytes_(bytes_of(request.gradient_format)),
        parameter_bytes_(bytes_of(request.parameter.element)),
        is_compensated_(request.compensation.data != nullptr),
        can_wait_(is_adam() && !is_compensated_ && !request.is_measure && first_.can_defer() && second_.can_defer() &&
                  request.first.underflow == LPT_OPTIMIZER_UNDERFLOW_ALLOWED && !constants_.is_coupled && is_alike()),
        update_(is_compensated_ ? chosen_update<true>() : chosen_update<false>()) {}

  void run(const TreeLanes *first_tree, const TreeLanes *second_tree) {
    first_tree_ = first_tree;
    second_tree_ = second_tree;
    const int64_t end = request_.begin + request_.count;
    const int64_t whole_end = end - request_.count % kTail;
    const int64_t length = is_in_place() ? whole_end - request_.begin : kUnit;
    for (int64_t index = request_.begin; index < whole_end; index += length) {
      run_unit(data_at(index), index, whole_end - index < length ? whole_end - index : length);
    }
    write_deferred(nullptr);
    if (whole_end < end) run_tail(whole_end, end - whole_end);
  }

 private:
  template <bool kIsStep>
  Update chosen_update() const {
    const Reading first = first_.reading(), second = second_.reading();
    if (request_.method == LPT_OPTIMIZER_METHOD_SGD) return update_of<LPT_OPTIMIZER_METHOD_SGD, kIsStep>(first, second);
    if (request_.method == LPT_OPTIMIZER_METHOD_LION)
      return update_of<LPT_OPTIMIZER_METHOD_LION, kIsStep>(first, second);
    return update_of<LPT_OPTIMIZER_METHOD_ADAM, kIsStep>(first, second);
  }

  bool is_adam() const {
    return request_.method == LPT_OPTIMIZER_METHOD_ADAMW || request_.method == LPT_OPTIMIZER_METHOD_ADAM;
  }

  // Returns whether all arrays are read and written in place, without UnitMemory.
  bool is_in_place() const {
    const auto is_f32 = [](const StateArray &array) { return array.element == LPT_FORMAT_F32; };
    return !request_.is_measure && gradient_bytes_ == 4 && is_f32(request_.parameter) && is_f32(request_.first) &&
           is_f32(request_.second);
  }

  static uint8_t *place(void *data, int64_t bytes) { return static_cast<uint8_t *>(data) + bytes; }

  UnitData data_at(int64_t index) const {
    return {static_cast<const uint8_t *>(request_.gradient) + index * gradient_bytes_,
            place(request_.first.data, index * first_.bytes_each()),
            place(request_.second.data, index * second_.bytes_each()),
            place(request_.parameter.data, index * parameter_bytes_), place(request_.compensation.data, 2 * index)};
  }

  // Runs the last elements in padded copies. The padding decodes to zero: it changes no magnitude and is not copied back.
  void run_tail(int64_t index, int64_t count) {
    alignas(64) uint8_t gradient[4 * kTail] = {}, parameter[4 * kTail] = {}, compensation[2 * kTail] = {};
    alignas(64) uint8_t first[4 * kTail], second[4 * kTail];
    memset(first, request_.first.element == kDynamicSigned ? kSignedTree.zero : 0, sizeof first);
    memset(second, request_.second.element == kDynamicSigned ? kSignedTree.zero : 0, sizeof second);
    const UnitData whole = data_at(index);
    const UnitData tail = {gradient, first, second, parameter, compensation};
    const struct {
      uint8_t *copy, *original;
      int64_t bytes;
    } arrays[] = {{first, whole.first, request_.first.data == nullptr ? 0 : count * first_.bytes_each()},
                  {second, whole.second, request_.second.data == nullptr ? 0 : count * second_.bytes_each()},
                  {parameter, whole.parameter, count * parameter_bytes_},
                  {compensation, whole.compensation, is_compensated_ ? 2 * count : 0}};
    memcpy(gradient, whole.gradient, static_cast<size_t>(count * gradient_bytes_));
    for (const auto &array : arrays) {
      if (array.bytes > 0) memcpy(array.copy, array.original, static_cast<size_t>(array.bytes));
    }
    run_unit(tail, index, count);
    for (const auto &array : arrays) {
      if (array.bytes > 0 && !request_.is_measure) {
        memcpy(array.original, array.copy, static_cast<size_t>(array.bytes));
      }
    }
  }

  // Runs `count` elements. The arrays have space for full groups, and the elements after `count` decode to zero.
  void run_unit(const UnitData &data, int64_t index, int64_t count) {
    const int64_t padded = (count + kGroup - 1) / kGroup * kGroup;
    UpdateArrays places;
    const bool is_measure = request_.is_measure;
    first_.read(data.first, index, padded, first_tree_, memory_.first[slot_], is_measure, places.first);
    second_.read(data.second, index, padded, second_tree_, memory_.second[slot_], is_measure, places.second);
    places.gradient = reinterpret_cast<const float *>(data.gradient);
    places.next_gradient = next_elements(data.gradient, gradient_bytes_);
    if (gradient_bytes_ == 2) {
      load_scaled(LPT_FORMAT_BF16, data.gradient, 1.0f, memory_.gradient, padded);
      places.gradient = memory_.gradient;
      places.next_gradient = next_unit(data.gradient, gradient_bytes_);
    }
    places.parameter = reinterpret_cast<const float *>(data.parameter);
    places.parameter_to = is_measure ? memory_.parameter : reinterpret_cast<float *>(data.parameter);
    places.next_parameter = next_elements(data.parameter, parameter_bytes_);
    if (parameter_bytes_ == 2) {
      load_scaled(request_.parameter.element, data.parameter, request_.parameter.scale, memory_.parameter, padded);
      places.parameter = places.parameter_to = memory_.parameter;
      places.next_parameter = next_unit(data.parameter, parameter_bytes_);
    }
    places.next_compensation = is_compensated_ ? next_unit(data.compensation, 2) : NextData{};
    if (has_deferred_ && count == kUnit) {
      write_deferred(&places);
    } else {
      write_deferred(nullptr);
      update_(constants_, places, padded);
    }
    clear_padding(places, count, padded);
    raise(places, padded);
    if (is_measure) return;
    has_deferred_ = can_wait_ && count == kUnit && !places.has_nan &&
                    first_.settle(data.first, index, first_tree_, places.first, first_deferred_) &&
                    second_.settle(data.second, index, second_tree_, places.second, second_deferred_);
    if (has_deferred_) {
      slot_ = 1 - slot_;
    } else {
      first_.write(data.first, index, count, first_tree_, places.has_nan, places.first);
      second_.write(data.second, index, count, second_tree_, places.has_nan, places.second);
    }
    write_parameter(data, index, padded, places);
  }

  // Deferred codes.

  // Returns whether both moments are of one kind. write_deferred() supports no other combinations.
  bool is_alike() const {
    const StateArray &first = request_.first, &second = request_.second;
    if (is_dynamic(first.element)) return first.element == kDynamicSigned && second.element == kDynamicUnsigned;
    return !is_dynamic(second.element) && (first.exponents == nullptr) == (second.exponents == nullptr);
  }

  template <typename First, typename Second>
  void write_waiting_as(UpdateArrays *places) {
    const DeferredEncoder<First, Second> codes = {DeferredMoment(first_, first_tree_, first_deferred_),
                                                  DeferredMoment(second_, second_tree_, second_deferred_)};
    if (places != nullptr) return update_and_encode(constants_, *places, codes);
    for (int64_t i = 0; i < kUnit; i += kQuad) codes(i);
  }

  // Encodes the deferred codes, and updates the unit of `places` in the same loop if it is not NULL.
  void write_deferred(UpdateArrays *places) {
    if (!has_deferred_) return;
    has_deferred_ = false;
    if (first_tree_ != nullptr) {
      write_waiting_as<TreeWriter<true>, TreeWriter<false>>(places);
    } else if (request_.first.exponents != nullptr) {
      write_waiting_as<ExpandedWriter, ExpandedWriter>(places);
    } else if (request_.second.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP) {
      write_waiting_as<GroupWriter<true, false>, GroupWriter<false, true>>(places);
    } else {
      write_waiting_as<GroupWriter<true, false>, GroupWriter<false, false>>(places);
    }
  }

  // Clears the padding of a unit. A NaN scale changes its zeros to NaN.
  void clear_padding(UpdateArrays &places, int64_t count, int64_t padded) const {
    for (int64_t i = count; i < padded; ++i) {
      places.first.to[i] = 0.0f;
      places.parameter_to[i] = 0.0f;
      if (second_.reading() != Reading::kNot) places.second.to[i] = 0.0f;
    }
  }

  void raise(const UpdateArrays &places, int64_t count) const {
    if (request_.amax == nullptr) return;
    raise(request_.first, places.first.to, count, request_.amax[0]);
    raise(request_.second, places.second.to, count, request_.amax[1]);
    raise(request_.parameter, places.parameter_to, count, request_.amax[2]);
  }

  static void raise(const StateArray &array, const float *numbers, int64_t count, float &amax) {
    if (array.data == nullptr || !has_whole_scale(array)) return;
    const float found = block_magnitudes(numbers, count).amax;
    if (found > amax) amax = found;
  }

  void write_parameter(const UnitData &data, int64_t index, int64_t count, UpdateArrays &places) {
    if (parameter_bytes_ == 4) {
      if (places.has_nan) canonicalize_nans(places.parameter_to, count);
      return;
    }
    RandomSlab slab;
    const Coding coding = parameter_.coding_at(index, count, slab);
    if (!is_compensated_) {
      return store_codes(coding, places.parameter_to, places.parameter_to, request_.parameter.inverse_scale,
                         data.parameter, count);
    }
    write_compensated(data, coding, count, places.parameter_to);
  }

  // Updates a compensated parameter. `steps` are the amounts to subtract: decay · p + step_size · u.
  void write_compensated(const UnitData &data, const Coding &coding, int64_t count, const float *steps) {
    float *const old = memory_.old, *const change = memory_.change, *const fresh = memory_.fresh;
    load_scaled(LPT_FORMAT_BF16, data.parameter, 1.0f, old, count);
    load_scaled(LPT_FORMAT_BF16, data.compensation, 1.0f, change, count);
    for (int64_t i = 0; i < count; i += kLanes) {
      const F32 d = load(change + i) - load(steps + i);
      store(change + i, d);
      store(fresh + i, load(old + i) + d);
    }
    store_codes(coding, fresh, fresh, 1.0f, data.parameter, count);
    load_scaled(LPT_FORMAT_BF16, data.parameter, 1.0f, fresh, count);
    for (int64_t i = 0; i < count; i += kLanes) {
      store(change + i, load(change + i) - (load(fresh + i) - load(old + i)));
    }
    store_codes(compensation_.coding, change, change, 1.0f, data.compensation, count);
  }

  const StepRequest &request_;
  UpdateConstants constants_;
  Moment first_, second_;
  StateCursor parameter_, compensation_;
  int64_t gradient_bytes_, parameter_bytes_;
  bool is_compensated_, can_wait_;
  Update update_;
  const TreeLanes *first_tree_ = nullptr, *second_tree_ = nullptr;
  bool has_deferred_ = false;
  int64_t slot_ = 0;
  DeferredCodes first_deferred_, second_deferred_;
  UnitMemory memory_;
};

}  // namespace

void LPT_KERNEL(step)(const StepRequest &request) {
  StepLoop walk(request);
  const bool is_first = is_dynamic(request.first.element), is_second = is_dynamic(request.second.element);
  if (!is_first && !is_second) return walk.run(nullptr, nullptr);
  const TreeLanes first(request.first.element == kDynamicSigned);
  const TreeLanes second(request.second.element == kDynamicSigned);
  walk.run(is_first ? &first : nullptr, is_second ? &second : nullptr);
}

}  // namespace lpt
