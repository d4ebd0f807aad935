// SIMD kernels of EXAQ softmax.
#include <algorithm>

#include "kernels/activation/exaq.hpp"
#include "kernels/activation/softmax_rows.hpp"

namespace lpt {
namespace {

// A float whose low four bits are the level: the level plus a bias.
constexpr float kBias = ExpConstants::kRoundBias;

// Counts of 4, 8 or 16 levels in each lane. Four levels have a byte each. More levels have four bits each, and widen() adds
// them to bytes.
template <int kLevels>
struct LevelCounts {
  static constexpr int kFieldBits = kLevels == 4 ? 8 : 4, kFields = 32 / kFieldBits, kWords = kLevels / kFields;
  static constexpr int64_t kMostVectors = (1 << kFieldBits) - 1;                       // until a field is full
  static constexpr int64_t kMostWidenings = kFieldBits == 8 ? 1 : 255 / kMostVectors;  // until a byte is full

  Table16 increments[kWords];
  U32 words[kWords] = {};
  U32 bytes[kLevels / 4] = {};

  LevelCounts() {
    for (int g = 0; g < kWords; ++g) {
      uint32_t bits[16] = {};
      for (int field = 0; field < kFields; ++field) bits[kFields * g + field] = 1u << kFieldBits * field;
      float numbers[16];
      __builtin_memcpy(numbers, bits, sizeof numbers);
      increments[g] = load_table(numbers);
    }
  }

  // Entries beyond 8 levels are 0, so that lanes without a level count nothing.
  [[gnu::always_inline]] void add(F32 levels, Mask is_counted) {
    for (int g = 0; g < kWords; ++g) {
      const F32 counts = at(increments[g], u32_of(levels));
      words[g] += u32_of(kLevels == 16 ? select(is_counted, counts, broadcast(0.0f)) : counts);
    }
  }

  [[gnu::always_inline]] void widen() {
    for (int g = 0; g < kWords; ++g) {
      if constexpr (kFieldBits == 8) {
        bytes[g] += words[g];
      } else {
        bytes[2 * g] += words[g] & 0x0F0F0F0Fu;
        bytes[2 * g + 1] += (words[g] >> 4) & 0x0F0F0F0Fu;
      }
      words[g] = U32{};
    }
  }

  // Adds the counts to those of the levels. Sums of bytes over lanes fit in fields of 16 bits.
  void flush(int64_t *counts) {
    for (int b = 0; b < kLevels / 4; ++b) {
      const uint32_t even = lane_sum(bytes[b] & 0x00FF00FFu), odd = lane_sum((bytes[b] >> 8) & 0x00FF00FFu);
      constexpr int kStep = 8 / kFieldBits;  // between levels of adjacent bytes
      int64_t *const first = counts + (kStep == 1 ? 4 * b : b / 2 * 8 + b % 2);
      first[0] += even & 0xFFFF;
      first[kStep] += odd & 0xFFFF;
      first[2 * kStep] += even >> 16;
      first[3 * kStep] += odd >> 16;
      bytes[b] = U32{};
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

template <bool kIsF32, int kLevels>
void softmax_exaq(const SoftmaxExaqRequest &whole) {
  const SoftmaxForwardRequest &request = whole.softmax;
  const ExaqLevels levels = exaq_levels(whole.bits, whole.clip);
  const float scale = static_cast<float>(request.scale);
  const F32 lowest = broadcast(-__builtin_inff()), zero = broadcast(0.0f);
  // In place of a level, for an argument of minus infinity. It selects an entry of 0 if there are at most 8 levels.
  const F32 no_level = broadcast(kLevels < 16 ? kBias + 8.0f : 0.0f);
  using Counts = LevelCounts<kLevels>;
  Counts words;
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
    constexpr int64_t kStep = Counts::kMostVectors * kLanes;
    int64_t widenings = 0;
    for (int64_t begin = seen.begin; begin < seen.end; begin += kStep) {
      for_columns(begin, std::min(begin + kStep, seen.end), [&](int64_t column, ActiveLanes columns) {
        Mask is_counted;
        const F32 level = level_at(column, columns, is_counted);
        words.add(level, is_counted);
        if (is_kept) store(floats_at(outputs, column), columns, level);
      });
      words.widen();
      if (++widenings % Counts::kMostWidenings == 0 || begin + kStep >= seen.end) words.flush(counts);
    }
    float numbers[kMostExaqLevels] = {};
    const double sum = exaq_outputs(levels, counts, has_nan, numbers);
    const Table16 table = load_table(numbers);
    for_columns(seen.begin, seen.end, [&](int64_t column, ActiveLanes columns) {
      Mask is_counted;
      const F32 level = is_kept ? load(floats_at(outputs, column), columns) : level_at(column, columns, is_counted);
      F32 number = at(table, u32_of(level));
      if (kLevels == 16) number = select(is_greater(level, zero), number, zero);
      if (has_nan) number = broadcast(numbers[0]);
      kIsF32 ? store(floats_at(outputs, column), columns, number) : store_row<false>(outputs, column, columns, number);
    });
    clear_hidden<kIsF32>(outputs, seen, request.input.columns);
    write_log_sum(request, row, top, sum);
  }
}

template <int kLevels>
void run_softmax_exaq(const SoftmaxExaqRequest &request) {
  const bool all = is_f32(request.softmax.input) && is_f32(request.softmax.output);
  all ? softmax_exaq<true, kLevels>(request) : softmax_exaq<false, kLevels>(request);
}

}  // namespace

void LPT_KERNEL(softmax_exaq)(const SoftmaxExaqRequest &request) {
  switch (request.bits) {
    case 2:
      return run_softmax_exaq<4>(request);
    case 3:
      return run_softmax_exaq<8>(request);
    default:
      return run_softmax_exaq<16>(request);
  }
}

}  // namespace lpt
