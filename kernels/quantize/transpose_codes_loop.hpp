// Loop that transposes a matrix of codes square by square. Included by ISA files.
#pragma once

#include "kernels/quantize/kernels.hpp"

namespace lpt {
namespace {

// Source codes of one square. `stride` is the byte distance between rows.
struct CodeSquare {
  const uint8_t *from;
  int64_t stride;
  int64_t rows, columns;
};

// Destination of the transposed codes of a square.
struct TransposedPlace {
  uint8_t *to;
  int64_t stride;  // bytes
  bool is_streamed;
};

// Transposes squares of up to Isa::kRows × Isa::kColumns codes of 8 bits, or of 4 bits if kIsPacked.
template <typename Isa, bool kIsPacked>
void transpose_squares(const TransposeRequest &request) {
  constexpr int64_t kPerByte = kIsPacked ? 2 : 1;
  constexpr int64_t kNearRows = 256;  // each row of the target receives spans of this many codes
  const auto less = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const auto place_of = [](const MatrixView &view, int64_t row, int64_t column) {
    return static_cast<uint8_t *>(view.data) + (row * view.row_stride + column) / kPerByte;
  };
  const MatrixView &source = request.source;
  for (int64_t first = 0; first < source.rows; first += kNearRows) {
    for (int64_t column = 0; column < source.columns; column += Isa::kColumns) {
      for (int64_t row = first; row < less(first + kNearRows, source.rows); row += Isa::kRows) {
        Isa::template transpose<kIsPacked>(
            {place_of(source, row, column), source.row_stride / kPerByte, less(source.rows - row, Isa::kRows),
             less(source.columns - column, Isa::kColumns)},
            {place_of(request.target, column, row), request.target.row_stride / kPerByte, request.is_streamed});
      }
    }
  }
}

template <typename Isa>
void transpose_matrix(const TransposeRequest &request) {
  if (element_of(request.target.format.element).bits == 4) {
    transpose_squares<Isa, true>(request);
  } else {
    transpose_squares<Isa, false>(request);
  }
  transpose_scales(request.source, request.target);
}

}  // namespace
}  // namespace lpt
