// The reference kernels. They define every bit. The kernel for two f32 arrays has no format test in its loop.
#include <cmath>

#include "kernels/monitor/monitor.hpp"
#include "src/formats/element.hpp"
#include "src/formats/format.hpp"

namespace lpt {
namespace {

constexpr int kLanes = 8;

double number_at(lpt_format format, const void *data, int64_t index) {
  if (format == LPT_FORMAT_F32) return static_cast<double>(static_cast<const float *>(data)[index]);
  if (format == LPT_FORMAT_F64) return static_cast<const double *>(data)[index];
  return static_cast<double>(decode(element_of(format), static_cast<const uint16_t *>(data)[index]));
}

double sum_of_lanes(double (&lane)[kLanes]) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

template <typename Load>
void add_pairs(const PairSumsRequest &request, const Load &load) {
  double first_squares[kLanes] = {}, second_squares[kLanes] = {}, dots[kLanes] = {}, differences[kLanes] = {};
  PairSums &sums = *request.sums;
  sums = {};
  for (int64_t index = 0; index < request.count; ++index) {
    const double a = load(request.first_format, request.first, index);
    const double b = load(request.second_format, request.second, index);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++sums.nonfinite_count;
      continue;
    }
    const auto lane = static_cast<size_t>(index % kLanes);
    first_squares[lane] += a * a;
    second_squares[lane] += b * b;
    dots[lane] += a * b;
    differences[lane] += (a - b) * (a - b);
  }
  sums.first_squares = sum_of_lanes(first_squares);
  sums.second_squares = sum_of_lanes(second_squares);
  sums.dots = sum_of_lanes(dots);
  sums.squared_differences = sum_of_lanes(differences);
}

}  // namespace

void pair_sums_f32_ref(const PairSumsRequest &request) {
  add_pairs(request, [](lpt_format, const void *data, int64_t index) {
    return static_cast<double>(static_cast<const float *>(data)[index]);
  });
}

void pair_sums_any_ref(const PairSumsRequest &request) { add_pairs(request, number_at); }

}  // namespace lpt
