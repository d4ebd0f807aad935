// The reference kernel. It defines every bit.
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/reduce/reduce.hpp"
#include "src/formats/element.hpp"
#include "src/formats/numbers.hpp"

namespace lpt {
namespace {

template <typename Number>
Number number_at(const void *data, int64_t index) {
  Number number;
  std::memcpy(&number, static_cast<const std::byte *>(data) + index * static_cast<int64_t>(sizeof number),
              sizeof number);
  return number;
}

template <typename Number>
void place_number(void *data, int64_t index, Number number) {
  std::memcpy(static_cast<std::byte *>(data) + index * static_cast<int64_t>(sizeof number), &number, sizeof number);
}

// Codes are read and written as bytes, so that any alignment is supported.
float load(lpt_format format, const Element &element, const void *data, int64_t index) {
  return format == LPT_FORMAT_F32 ? number_at<float>(data, index) : decode(element, load_code(element, data, index));
}

void store(lpt_format format, const Element &element, void *data, int64_t index, float number) {
  if (format == LPT_FORMAT_F32) return place_number(data, index, number);
  store_code(element, data, index, encode(element, number, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
}

template <typename Number>
Number maximum_of(Number a, Number b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Number>::quiet_NaN();
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

template <typename Number>
Number joined(Reduction reduction, Number a, Number b) {
  if (reduction == Reduction::kMaximum) return maximum_of(a, b);
  if (reduction == Reduction::kMinimum) return -maximum_of(-a, -b);
  return a + b;
}

template <typename Number>
Number finished(const ReduceRequest &request, Number number) {
  if (request.reduction == Reduction::kAverage) number = number / static_cast<Number>(request.source_count);
  number = number * static_cast<Number>(request.factor);
  return std::isnan(number) ? std::numeric_limits<Number>::quiet_NaN() : number;
}

template <typename Number, typename Load, typename Store>
void reduce(const ReduceRequest &request, const Load &load_one, const Store &store_one) {
  for (int64_t i = 0; i < request.elements; ++i) {
    Number number = load_one(request.sources[0], i);
    for (int32_t source = 1; source < request.source_count; ++source) {
      number = joined(request.reduction, number, load_one(request.sources[source], i));
    }
    number = finished(request, number);
    for (int32_t target = 0; target < request.target_count; ++target) store_one(request.targets[target], i, number);
  }
}

}  // namespace

void reduce_ref(const ReduceRequest &request) {
  if (request.format == LPT_FORMAT_F64) return reduce<double>(request, number_at<double>, place_number<double>);
  const Element from = element_or_none(request.format), to = element_or_none(request.target_format);
  reduce<float>(
      request, [&](const void *data, int64_t index) { return load(request.format, from, data, index); },
      [&](void *data, int64_t index, float number) { store(request.target_format, to, data, index, number); });
}

}  // namespace lpt
