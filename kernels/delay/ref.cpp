// The reference kernels. They define every bit.
#include "kernels/delay/delay.hpp"
#include "src/formats/element.hpp"
#include "src/formats/format.hpp"
#include "src/formats/numbers.hpp"

namespace lpt {
namespace {

constexpr int64_t kLanes = 8;

// The elements of one operand.
struct Operand {
  Operand(lpt_format plain, const void *values) : format(plain), element(element_or_none(plain)), data(values) {}

  double operator[](int64_t index) const {
    if (format == LPT_FORMAT_F32) return static_cast<double>(static_cast<const float *>(data)[index]);
    if (format == LPT_FORMAT_F64) return static_cast<const double *>(data)[index];
    return static_cast<double>(decode(element, static_cast<const uint16_t *>(data)[index]));
  }

  lpt_format format;
  Element element;
  const void *data;
};

void store_number(const Operand &operand, void *data, int64_t index, double number) {
  if (operand.format == LPT_FORMAT_F32) {
    static_cast<float *>(data)[index] = static_cast<float>(number);
  } else if (operand.format == LPT_FORMAT_F64) {
    static_cast<double *>(data)[index] = number;
  } else {
    store_code(
        operand.element, data, index,
        encode(operand.element, static_cast<float>(number), LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
  }
}

// The operands of a request, and the correction of one element.
struct Operands {
  explicit Operands(const DelayRequest &request)
      : own(request.own_format, request.own),
        mean(request.mean_format, request.mean),
        gradient(request.gradient_format, request.gradient) {}

  double correction(int64_t index) const {
    const double g = gradient[index];
    return (g * g) * (mean[index] - own[index]);
  }

  Operand own, mean, gradient;
};

double sum_of_lanes(double (&lane)[kLanes]) {
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

}  // namespace

void delay_sums_ref(const DelayRequest &request) {
  const Operands operands(request);
  double gradients[kLanes] = {}, corrections[kLanes] = {};
  for (int64_t i = 0; i < request.count; ++i) {
    const double gradient = operands.gradient[i], correction = operands.correction(i);
    gradients[i % kLanes] += gradient * gradient;
    corrections[i % kLanes] += correction * correction;
  }
  *request.sums = {sum_of_lanes(gradients), sum_of_lanes(corrections)};
}

void delay_apply_ref(const DelayRequest &request) {
  const Operands operands(request);
  for (int64_t i = 0; i < request.count; ++i) {
    store_number(operands.gradient, request.gradient, i,
                 operands.gradient[i] + request.factor * operands.correction(i));
  }
}

}  // namespace lpt
