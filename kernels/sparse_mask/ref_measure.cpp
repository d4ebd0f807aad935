// Statistics of a selection, in f64.
#include "kernels/sparse_mask/group.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"
#include "src/formats/numbers.hpp"

namespace lpt {
namespace {

// Returns the expected squared error: Σ (x · output(x) - x²) over the elements that are kept with a probability below 1.
double variance_of(lpt_sparse_rule rule, const float *magnitudes, int count, int kept) {
  double variance = 0.0;
  if (rule == LPT_SPARSE_RULE_MVUE) {
    const SparseShares shares = share_places(magnitudes, count, kept);
    const float step = shares.draws > 0 ? shares.total / static_cast<float>(shares.draws) : 0.0f;
    for (int i = 0; i < count; ++i) {
      const double number = shares.left[i];
      variance += number * (static_cast<double>(step) - number);
    }
  }
  if (rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS && count_positive(magnitudes, count) > 2) {
    for (int i = 0; i < count; ++i) {
      const double number = magnitudes[i];
      if (number > 0.0) variance += number * (static_cast<double>(two_draws_value(magnitudes, count, i)) - number);
    }
  }
  return variance;
}

void measure_group(const SparseMeasureRequest &request, const Numbers &source, int64_t row, int64_t begin,
                   SparseSums &sums) {
  const int64_t left = request.source.columns - begin;
  const int count = static_cast<int>(left < request.of ? left : request.of);
  const auto *mask = static_cast<const uint8_t *>(request.mask.data) + row * request.mask.row_stride;
  float magnitudes[kLongestGroup];
  for (int i = 0; i < count; ++i) {
    magnitudes[i] = __builtin_bit_cast(float, magnitude_bits(source.load(row, begin + i)));
    const bool stays = mask[(begin + i) * request.mask.column_stride] != 0;
    sums.kept += stays;
    if (!(magnitudes[i] < __builtin_inff())) continue;
    const double square = static_cast<double>(magnitudes[i]) * static_cast<double>(magnitudes[i]);
    sums.energy += square;
    if (stays) sums.kept_energy += square;
  }
  if (is_special_group(magnitudes, count)) {
    ++sums.special_groups;
  } else {
    sums.variance += variance_of(request.rule, magnitudes, count, request.kept);
  }
}

}  // namespace

void sparse_measure_any_ref(const SparseMeasureRequest &request) {
  const Numbers source(request.source);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    SparseSums sums;
    for (int64_t begin = 0; begin < request.source.columns; begin += request.of) {
      measure_group(request, source, row, begin, sums);
    }
    request.sums[row] = sums;
  }
}

}  // namespace lpt
