// Access of reference kernels to the elements of a matrix, without its scales.
#pragma once

#include <cstring>

#include "src/formats/element.hpp"
#include "src/formats/view.hpp"

namespace lpt {

inline Element element_or_none(lpt_format plain) { return has_element(plain) ? element_of(plain) : Element{}; }

// f32 and f64 have no element: their values are loaded and stored directly.
struct Numbers {
  explicit Numbers(const MatrixView &matrix) : view(matrix), element(element_or_none(matrix.format.element)) {}
  int64_t index(int64_t row, int64_t column) const { return row * view.row_stride + column * view.column_stride; }

  float load(int64_t row, int64_t column) const {
    const int64_t at = index(row, column);
    if (view.format.element == LPT_FORMAT_F32) return static_cast<const float *>(view.data)[at];
    if (view.format.element == LPT_FORMAT_F64) return static_cast<float>(static_cast<const double *>(view.data)[at]);
    return decode(element, load_code(element, view.data, at));
  }
  void store(int64_t row, int64_t column, float value) const {
    const int64_t at = index(row, column);
    if (view.format.element == LPT_FORMAT_F32) {
      static_cast<float *>(view.data)[at] = value;
    } else if (view.format.element == LPT_FORMAT_F64) {
      static_cast<double *>(view.data)[at] = value;
    } else {
      store_code(element, view.data, at,
                 encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
    }
  }
  // Copies the code of an element of the same format, so that a NaN keeps its bits.
  void copy(const Numbers &source, int64_t row, int64_t column) const {
    const size_t bytes = static_cast<size_t>(row_bytes(view.format.element, 1));
    std::memmove(
        static_cast<std::byte *>(view.data) + static_cast<size_t>(index(row, column)) * bytes,
        static_cast<const std::byte *>(source.view.data) + static_cast<size_t>(source.index(row, column)) * bytes,
        bytes);
  }

  const MatrixView &view;
  Element element;
};

}  // namespace lpt
