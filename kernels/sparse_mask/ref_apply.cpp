// The plain rows of masks that are there already: applied, and as decay.
#include "kernels/sparse_mask/numbers.hpp"
#include "kernels/sparse_mask/rows.hpp"

namespace lpt {
namespace {

bool stays(const MatrixView &mask, int64_t row, int64_t column) {
  return static_cast<const uint8_t *>(mask.data)[row * mask.row_stride + column * mask.column_stride] != 0;
}

}  // namespace

void mask_apply_any_ref(const MaskApplyRequest &request) {
  const Numbers source(request.source);
  const Numbers target(request.target);
  const bool is_same = request.source.format.id == request.target.format.id;
  for (int64_t row = 0; row < request.source.rows; ++row) {
    for (int64_t column = 0; column < request.source.columns; ++column) {
      if (!stays(request.mask, row, column)) {
        target.store(row, column, 0.0f);
      } else if (is_same) {
        target.copy(source, row, column);
      } else {
        target.store(row, column, source.load(row, column));
      }
    }
  }
}

void mask_decay_any_ref(const MaskDecayRequest &request) {
  const Numbers weight(request.weight);
  const Numbers gradient(request.gradient);
  for (int64_t row = 0; row < request.weight.rows; ++row) {
    for (int64_t column = 0; column < request.weight.columns; ++column) {
      if (stays(request.mask, row, column)) continue;
      const float change = request.rate * weight.load(row, column);
      gradient.store(row, column, gradient.load(row, column) + change);
    }
  }
}

}  // namespace lpt
