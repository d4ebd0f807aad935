// Reference kernel of gradient norms: sums of squares. Compilers vectorize the loops over sixteen lanes of f64.
#include <algorithm>

#include "kernels/optimizer/optimizer.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

constexpr int64_t kLanes = 16;

struct Lanes {
  double sum[kLanes] = {};
  int64_t nonfinite[kLanes] = {};
};

inline float number_at(const float *gradient, int64_t index) { return gradient[index]; }
inline float number_at(const uint16_t *gradient, int64_t index) {
  return bits_float(static_cast<uint32_t>(gradient[index]) << 16);
}

// Adds the square of a finite element to a lane. Other elements are counted: x - x is 0 only if x is finite.
inline void add(Lanes &lanes, int64_t lane, float number) {
  const bool is_finite = number - number == 0.0f;
  const double wide = is_finite ? static_cast<double>(number) : 0.0;
  lanes.sum[lane] += wide * wide;
  lanes.nonfinite[lane] += is_finite ? 0 : 1;
}

template <typename Number>
void measure_block(const Number *gradient, int64_t count, double &out_sum, int64_t &nonfinite_count) {
  Lanes lanes;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) add(lanes, lane, number_at(gradient, i + lane));
  }
  for (int64_t lane = 0; i < count; ++lane, ++i) add(lanes, lane, number_at(gradient, i));
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t lane = 0; lane < width; ++lane) lanes.sum[lane] += lanes.sum[lane + width];
  }
  for (const int64_t count_of_lane : lanes.nonfinite) nonfinite_count += count_of_lane;
  out_sum = lanes.sum[0];
}

template <typename Number>
void measure(const NormRequest &request) {
  const auto *gradient = static_cast<const Number *>(request.gradient);
  const int64_t end = request.begin + request.count;
  for (int64_t begin = request.begin; begin < end; begin += kNormBlock) {
    measure_block(gradient + begin, std::min(kNormBlock, end - begin), request.sums[begin / kNormBlock],
                  *request.nonfinite_count);
  }
}

}  // namespace

void norm_any_ref(const NormRequest &request) {
  if (request.gradient_format == LPT_FORMAT_F32) return measure<float>(request);
  measure<uint16_t>(request);
}

}  // namespace lpt
