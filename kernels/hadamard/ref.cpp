// The plain row: it decides every bit.
#include "kernels/hadamard/rows.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

float load(const MatrixView &view, const Element &element, int64_t row, int64_t column) {
  const int64_t index = row * view.row_stride + column * view.column_stride;
  if (view.format.element == LPT_FORMAT_F32) return static_cast<const float *>(view.data)[index];
  if (view.format.element == LPT_FORMAT_F64) return static_cast<float>(static_cast<const double *>(view.data)[index]);
  return decode(element, load_code(element, view.data, index));
}

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
  const lpt_format plain = source.format.element;
  const Element element = has_element(plain) ? element_of(plain) : Element{};
  const int64_t whole = request.size > 0 ? request.size : 1;
  for (int64_t row = 0; row < source.rows; ++row) {
    float *to = static_cast<float *>(request.target.data) + row * request.target.row_stride;
    int64_t size = whole;
    for (int64_t begin = 0; begin < source.columns; begin += size) {
      size = hadamard_group(size, source.columns - begin);
      float numbers[128];
      for (int64_t i = 0; i < size; ++i) {
        float value = load(source, element, row, begin + i);
        if (request.row_factors != nullptr) value *= request.row_factors[row];
        if (request.factors != nullptr) value *= request.factors[begin + i];
        numbers[i] = value;
      }
      if (!request.is_inverse) change_signs(request.signs, begin, size, numbers);
      rotate(numbers, size);
      if (request.is_inverse) change_signs(request.signs, begin, size, numbers);
      for (int64_t i = 0; i < size; ++i) to[begin + i] = numbers[i];
    }
  }
}

}  // namespace lpt
