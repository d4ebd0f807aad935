// Reference kernel of EXAQ softmax, which defines the bits.
#include <cmath>
#include <limits>

#include "kernels/activation/exaq.hpp"
#include "kernels/activation/kernels.hpp"
#include "src/formats/element.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {
namespace {

float load(const MatrixView &view, int64_t row, int64_t column) {
  const int64_t index = row * view.row_stride + column * view.column_stride;
  if (view.format.id == LPT_FORMAT_F32) return static_cast<const float *>(view.data)[index];
  return decode(element_of(view.format.id), static_cast<const uint16_t *>(view.data)[index]);
}

void store(const MatrixView &view, int64_t row, int64_t column, float value) {
  const int64_t index = row * view.row_stride + column * view.column_stride;
  if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
  if (view.format.id == LPT_FORMAT_F32) {
    static_cast<float *>(view.data)[index] = value;
  } else {
    const Element element = element_of(view.format.id);
    static_cast<uint16_t *>(view.data)[index] =
        static_cast<uint16_t>(encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16));
  }
}

// State of a row, whose arguments are scale · (x - top). A NaN, or a `top` for which x - top is NaN, makes the output NaN.
struct ExaqRow {
  float top;
  bool has_nan;
};

ExaqRow find_exaq_row(const SoftmaxForwardRequest &request, int64_t row, const VisibleColumns &seen) {
  const bool is_flipped = request.scale < 0;
  ExaqRow found{is_flipped ? INFINITY : -INFINITY, false};
  for (int64_t column = seen.begin; column < seen.end; ++column) {
    const float x = load(request.input, row, column);
    found.has_nan = found.has_nan || std::isnan(x);
    if (is_flipped ? x < found.top : x > found.top) found.top = x;
  }
  return found;
}

}  // namespace

void softmax_exaq_ref(const SoftmaxExaqRequest &whole) {
  const SoftmaxForwardRequest &request = whole.softmax;
  const ExaqLevels levels = exaq_levels(whole.bits, whole.clip);
  const auto scale = static_cast<float>(request.scale);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const VisibleColumns seen = visible_columns(request, row);
    ExaqRow found = find_exaq_row(request, row, seen);
    const auto argument = [&](int64_t column) { return scale * (load(request.input, row, column) - found.top); };
    const bool is_empty = !found.has_nan && found.top == (request.scale < 0 ? INFINITY : -INFINITY);
    int64_t counts[kMostExaqLevels] = {};
    for (int64_t column = seen.begin; column < seen.end && !is_empty; ++column) {
      const float t = argument(column);
      found.has_nan = found.has_nan || std::isnan(t);
      counts[exaq_level(levels, t)] += t == -INFINITY ? 0 : 1;
    }
    float numbers[kMostExaqLevels];
    const double sum = exaq_outputs(levels, counts, found.has_nan, numbers);
    for (int64_t column = 0; column < request.input.columns; ++column) {
      const bool is_seen = column >= seen.begin && column < seen.end && !is_empty;
      const float t = is_seen ? argument(column) : -INFINITY;
      const float number = numbers[exaq_level(levels, t)];
      store(request.output, row, column, !is_seen ? 0.0f : t == -INFINITY && !found.has_nan ? 0.0f : number);
    }
    if (request.log_sums == nullptr) continue;
    const double log_sum = static_cast<double>(scale) * static_cast<double>(found.top) + log_f64(sum);
    static_cast<float *>(request.log_sums)[row] = is_empty ? -INFINITY : static_cast<float>(log_sum);
  }
}

}  // namespace lpt
