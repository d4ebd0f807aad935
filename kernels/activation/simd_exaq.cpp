// SIMD kernels of EXAQ softmax.
#include <algorithm>

#include "kernels/activation/exaq.hpp"
#include "kernels/activation/softmax_rows.hpp"

namespace lpt {
namespace {

// A float whose low four bits are the level: the level plus a bias.
constexpr float kBias = ExpConstants::kRoundBias;

// Counts of 4 · kWords levels. Bytes of words[g] count levels 4g to 4g + 3 in each lane.
template <int kWords>
struct LevelCounts {
  static constexpr int64_t kMostVectors = 255;  // until a byte is full

  Table16 increments[kWords];
  U32 words[kWords] = {};

  LevelCounts() {
    for (int g = 0; g < kWords; ++g) {
      uint32_t bits[16] = {};
      for (int byte = 0; byte < 4; ++byte) bits[4 * g + byte] = 1u << 8 * byte;
      float numbers[16];
      __builtin_memcpy(numbers, bits, sizeof numbers);
      increments[g] = load_table(numbers);
    }
  }

  [[gnu::always_inline]] void add(F32 levels, Mask is_counted) {
    for (int g = 0; g < kWords; ++g) {
      words[g] += u32_of(select(is_counted, at(increments[g], u32_of(levels)), broadcast(0.0f)));
    }
  }

  // Adds the counts to those of the levels.
  void flush(int64_t *counts) {
    for (int g = 0; g < kWords; ++g) {
      // Sums of bytes over lanes fit in fields of 16 bits.
      const uint32_t even = lane_sum(words[g] & 0x00FF00FFu), odd = lane_sum((words[g] >> 8) & 0x00FF00FFu);
      counts[4 * g] += even & 0xFFFF;
      counts[4 * g + 1] += odd & 0xFFFF;
      counts[4 * g + 2] += even >> 16;
      counts[4 * g + 3] += odd >> 16;
      words[g] = U32{};
    }
  }

  static uint32_t lane_sum(U32 values) {
    uint32_t lanes[kLanes], sum = 0;
    __builtin_memcpy(lanes, &values, sizeof lanes);
    for (const uint32_t lane : lanes) sum += lane;
    return sum;
  }
};

// The arguments of one row: scale · (x - top), and their levels.
struct ExaqArguments {
  F32 scale, top, units, last;

  [[gnu::always_inline]] F32 of(F32 x) const { return scale * (x - top); }
  // Arguments are at most 0.
  [[gnu::always_inline]] F32 level_of(F32 argument) const {
    return max(mul_add(argument, units, last), broadcast(0.0f)) + broadcast(kBias);
  }
};

template <bool kIsF32, int kWords>
void softmax_exaq(const SoftmaxExaqRequest &whole) {
  const SoftmaxForwardRequest &request = whole.softmax;
  const ExaqLevels levels = exaq_levels(whole.bits, whole.clip);
  const float scale = static_cast<float>(request.scale);
  const F32 lowest = broadcast(-__builtin_inff()), zero = broadcast(0.0f);
  // In place of a level, for an argument of minus infinity. It selects an entry of 0 if there are at most 8 levels.
  const F32 no_level = broadcast(kWords < 4 ? kBias + 8.0f : 0.0f);
  LevelCounts<kWords> words;
  for (int64_t row = 0; row < request.input.rows; ++row) {
    VisibleColumns seen = visible_columns(request, row);
    const RowSource inputs = line_of(request.input, row), outputs = line_of(request.output, row);
    // The output buffer stores the levels if its format is f32.
    const bool is_kept = kIsF32 || outputs.format == LPT_FORMAT_F32;
    const RowTop top = find_top<kIsF32>(inputs, seen, scale);
    if (top.is_empty) seen = {};
    // x - top is NaN where both are infinite. No other argument is NaN, as the scale is not 0.
    const bool has_nan = top.has_nan || (!top.is_empty && __builtin_isinf(top.x));
    const ExaqArguments arguments{broadcast(scale), broadcast(top.x), broadcast(levels.units),
                                  broadcast(static_cast<float>(levels.last))};
    const auto level_at = [&](int64_t column, ActiveLanes columns, Mask &is_counted) {
      const F32 argument = arguments.of(load_row<kIsF32>(inputs, column, columns));
      is_counted = is_greater(select_active(columns, argument, lowest), lowest);
      return select(is_counted, arguments.level_of(argument), no_level);
    };

    int64_t counts[kMostExaqLevels] = {};
    constexpr int64_t kStep = LevelCounts<kWords>::kMostVectors * kLanes;
    for (int64_t begin = seen.begin; begin < seen.end; begin += kStep) {
      for_columns(begin, std::min(begin + kStep, seen.end), [&](int64_t column, ActiveLanes columns) {
        Mask is_counted;
        const F32 level = level_at(column, columns, is_counted);
        words.add(level, is_counted);
        if (is_kept) store(floats_at(outputs, column), columns, level);
      });
      words.flush(counts);
    }
    float numbers[kMostExaqLevels] = {};
    const double sum = exaq_outputs(levels, counts, has_nan, numbers);
    const Table16 table = load_table(numbers);
    for_columns(seen.begin, seen.end, [&](int64_t column, ActiveLanes columns) {
      Mask is_counted;
      const F32 level = is_kept ? load(floats_at(outputs, column), columns) : level_at(column, columns, is_counted);
      F32 number = at(table, u32_of(level));
      if (kWords == 4) number = select(is_greater(level, zero), number, zero);
      if (has_nan) number = broadcast(numbers[0]);
      kIsF32 ? store(floats_at(outputs, column), columns, number) : store_row<false>(outputs, column, columns, number);
    });
    clear_hidden<kIsF32>(outputs, seen, request.input.columns);
    write_log_sum(request, row, top, sum);
  }
}

template <int kWords>
void run_softmax_exaq(const SoftmaxExaqRequest &request) {
  const bool all = is_f32(request.softmax.input) && is_f32(request.softmax.output);
  all ? softmax_exaq<true, kWords>(request) : softmax_exaq<false, kWords>(request);
}

}  // namespace

void LPT_KERNEL(softmax_exaq)(const SoftmaxExaqRequest &request) {
  switch (request.bits) {
    case 2:
      return run_softmax_exaq<1>(request);
    case 3:
      return run_softmax_exaq<2>(request);
    default:
      return run_softmax_exaq<4>(request);
  }
}

}  // namespace lpt
