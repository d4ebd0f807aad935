#include "kernels/reduce/signs.hpp"

namespace lpt {
namespace {

constexpr int64_t kLanes = 8;

float signed_scale(const uint8_t *signs, int64_t i, float scale) {
  return (signs[i / 8] >> (i % 8) & 1) != 0 ? scale : -scale;
}

}  // namespace

void add_numbers(const float *more, int64_t elements, float *numbers) {
  for (int64_t i = 0; i < elements; ++i) numbers[i] += more[i];
}

double squares_of(const float *numbers, int64_t elements) {
  double lanes[kLanes] = {};
  const int64_t whole = elements / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const auto number = static_cast<double>(numbers[i + lane]);
      lanes[lane] += number * number;
    }
  }
  for (int64_t i = whole; i < elements; ++i) {
    const auto number = static_cast<double>(numbers[i]);
    lanes[i - whole] += number * number;
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

void quantize_to_signs(float scale, int64_t elements, float *numbers, uint8_t *signs) {
  for (int64_t i = 0; i < elements; i += 8) {
    const int64_t count = elements - i < 8 ? elements - i : 8;
    uint8_t byte = 0;
    for (int64_t bit = 0; bit < count; ++bit) {
      const bool is_positive = numbers[i + bit] >= 0.0f;
      byte = static_cast<uint8_t>(byte | (is_positive ? 1 : 0) << bit);
      numbers[i + bit] -= is_positive ? scale : -scale;
    }
    signs[i / 8] = byte;
  }
}

void scale_signs(const uint8_t *signs, float scale, int64_t elements, float *numbers) {
  for (int64_t i = 0; i < elements; ++i) numbers[i] = signed_scale(signs, i, scale);
}

void add_signs(const uint8_t *signs, float scale, int64_t elements, float *numbers) {
  for (int64_t i = 0; i < elements; ++i) numbers[i] += signed_scale(signs, i, scale);
}

}  // namespace lpt
