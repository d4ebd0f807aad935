// Reference kernel of N:M masks, which defines every bit.
#include "kernels/sparse_mask/group.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"
#include "src/formats/numbers.hpp"

namespace lpt {
namespace {

float with_sign(float magnitude, float source) {
  return __builtin_bit_cast(float, magnitude_bits(magnitude) | (__builtin_bit_cast(uint32_t, source) & 0x80000000u));
}

void write_group(const SparseMaskRequest &request, const SparseGroup &group, int64_t row, int64_t begin, int count) {
  const Numbers source(request.source);
  const Numbers masked(request.masked);
  for (int i = 0; i < count; ++i) {
    const bool stays = (group.bits >> i & 1) != 0;
    const int64_t column = begin + i;
    if (request.mask.data != nullptr) {
      static_cast<uint8_t *>(request.mask.data)[row * request.mask.row_stride + column * request.mask.column_stride] =
          stays;
    }
    if (request.masked.data == nullptr) continue;
    const float value = source.load(row, column);
    const bool is_unchanged = stays && magnitude_bits(group.values[i]) == magnitude_bits(value);
    if (is_unchanged && request.masked.format.id == request.source.format.id) {
      masked.copy(source, row, column);
    } else {
      masked.store(row, column, stays ? with_sign(group.values[i], value) : 0.0f);
    }
  }
}

}  // namespace

void sparse_mask_any_ref(const SparseMaskRequest &request) {
  const Numbers source(request.source);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    for (int64_t begin = 0; begin < request.source.columns; begin += request.of) {
      const int64_t left = request.source.columns - begin;
      const int count = static_cast<int>(left < request.of ? left : request.of);
      float magnitudes[kLongestGroup];
      for (int i = 0; i < count; ++i) {
        magnitudes[i] = __builtin_bit_cast(float, magnitude_bits(source.load(row, begin + i)));
      }
      const uint64_t draw = request.first_draw + static_cast<uint64_t>(row) * request.row_draws +
                            static_cast<uint64_t>(begin / request.of) * request.group_draws;
      const bool is_twice = request.rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
      const auto word = [&](uint64_t i) { return random_word(request.random, is_twice ? 2 * draw + i : draw); };
      const float *importance = request.importance == nullptr ? nullptr : request.importance + begin;
      write_group(request, select_group(request.rule, magnitudes, importance, count, request.kept, word), row, begin,
                  count);
    }
  }
}

}  // namespace lpt
