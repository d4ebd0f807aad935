// Reference kernels of cross entropy: any of f64, f32, f16, bf16, computed in f64.
#include <cmath>
#include <limits>

#include "kernels/activation/kernels.hpp"
#include "src/formats/element.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int64_t element_place(const MatrixView &view, int64_t row, int64_t column) {
  return row * view.row_stride + column * view.column_stride;
}

// A matrix format as a type, so that loops over columns do not test it.
struct Doubles {
  using Number = double;
  static double load(const Number &number) { return number; }
  static Number make(double value) { return value; }
};
struct Floats {
  using Number = float;
  static double load(const Number &number) { return static_cast<double>(number); }
  static Number make(double value) { return static_cast<float>(value); }
};
template <lpt_format kFormat>
struct Halves {
  using Number = uint16_t;
  static double load(const Number &number) { return static_cast<double>(decode(element_of(kFormat), number)); }
  // Rounds to f32 first, as all layers do.
  static Number make(double value) {
    return static_cast<uint16_t>(encode(element_of(kFormat), static_cast<float>(value), LPT_ROUNDING_NEAREST_EVEN,
                                        LPT_OVERFLOW_INFINITE, 0, 16));
  }
};

template <typename Body>
void with_format(lpt_format format, const Body &body) {
  if (format == LPT_FORMAT_F64) return body(Doubles());
  if (format == LPT_FORMAT_F32) return body(Floats());
  if (format == LPT_FORMAT_BF16) return body(Halves<LPT_FORMAT_BF16>());
  body(Halves<LPT_FORMAT_F16>());
}

template <typename Format>
RowSums sums_of(const MatrixView &logits, int64_t row, int64_t target) {
  const auto *const numbers = static_cast<const typename Format::Number *>(logits.data);
  const auto at = [&](int64_t column) { return Format::load(numbers[element_place(logits, row, column)]); };
  RowSums sums{-kInfinity, 0.0, 0.0, 0.0};
  for (int64_t c = 0; c < logits.columns; ++c) {
    const double x = at(c);
    sums.largest = x > sums.largest || x != x ? x : sums.largest;  // a NaN is kept, because no value exceeds it
    sums.all += x;
  }
  if (sums.largest > -kInfinity || sums.largest != sums.largest) {
    for (int64_t c = 0; c < logits.columns; ++c) sums.exponentials += exp_f64(at(c) - sums.largest);
  }
  if (target >= 0 && target < logits.columns) sums.target = at(target);
  return sums;
}

template <typename From, typename To>
void write_gradient(const CrossEntropyGradientRequest &request, int64_t row) {
  const auto *const from = static_cast<const typename From::Number *>(request.logits.data);
  auto *const to = static_cast<typename To::Number *>(request.gradient.data);
  const double factor = request.factors[row], log_sum = request.log_sums[row];
  for (int64_t c = 0; c < request.logits.columns; ++c) {
    const double x = From::load(from[element_place(request.logits, row, c)]);
    const double taken = request.off + (c == request.places[row] ? request.on : 0.0);
    double value = factor == 0.0 ? 0.0 : factor * (exp_f64(x - log_sum) - taken);
    if (value != value) value = std::numeric_limits<double>::quiet_NaN();
    to[element_place(request.gradient, row, c)] = To::make(value);
  }
}

}  // namespace

void cross_entropy_sums_any_ref(const CrossEntropySumsRequest &request) {
  with_format(request.logits.format.id, [&](auto format) {
    for (int64_t r = 0; r < request.logits.rows; ++r) {
      request.sums[r] = sums_of<decltype(format)>(request.logits, r, request.places[r]);
    }
  });
}

void cross_entropy_gradient_any_ref(const CrossEntropyGradientRequest &request) {
  with_format(request.logits.format.id, [&](auto from) {
    with_format(request.gradient.format.id, [&](auto to) {
      for (int64_t r = 0; r < request.logits.rows; ++r) write_gradient<decltype(from), decltype(to)>(request, r);
    });
  });
}

}  // namespace lpt
