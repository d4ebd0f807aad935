// The reference kernel. It defines every bit.
#include "kernels/hadamard/hadamard.hpp"
#include "src/formats/numbers.hpp"

namespace lpt {
namespace {

void rotate(float *numbers, int64_t size) {
  for (int64_t stride = 1; stride < size; stride *= 2) {
    for (int64_t i = 0; i < size; ++i) {
      if ((i & stride) != 0) continue;
      const float a = numbers[i];
      const float b = numbers[i + stride];
      numbers[i] = a + b;
      numbers[i + stride] = a - b;
    }
  }
  const float factor = hadamard_factor(size);
  for (int64_t i = 0; i < size && size > 1; ++i) numbers[i] *= factor;
}

void change_signs(const float *signs, int64_t begin, int64_t count, float *numbers) {
  for (int64_t i = 0; i < count && signs != nullptr; ++i) numbers[i] *= signs[begin + i];
}

}  // namespace

void hadamard_any_ref(const HadamardRequest &request) {
  const MatrixView &source = request.source;
  const Numbers from(source);
  const int64_t whole = request.size > 0 ? request.size : 1;
  for (int64_t row = 0; row < source.rows; ++row) {
    float *to = static_cast<float *>(request.target.data) + row * request.target.row_stride;
    int64_t size = whole;
    for (int64_t begin = 0; begin < source.columns; begin += size) {
      size = hadamard_group(size, source.columns - begin);
      float *const numbers = to + begin;
      for (int64_t i = 0; i < size; ++i) {
        float value = from.load(row, begin + i);
        if (request.row_factors != nullptr) value *= request.row_factors[row];
        if (request.factors != nullptr) value *= request.factors[begin + i];
        numbers[i] = value;
      }
      if (!request.is_inverse) change_signs(request.signs, begin, size, numbers);
      rotate(numbers, size);
      if (request.is_inverse) change_signs(request.signs, begin, size, numbers);
    }
  }
}

}  // namespace lpt
