// Reference kernels for existing masks: application, decay, and absorption of pruned elements.
#include "kernels/sparse_mask/sparse_mask.hpp"
#include "src/formats/numbers.hpp"

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

namespace {

// Returns the value that is added to each kept element of a group.
float absorbed_share(const MaskAbsorbRequest &request, const Numbers &source, int64_t row, int64_t begin, int64_t end) {
  float sum = 0.0f;
  int kept = 0;
  for (int64_t column = begin; column < end; ++column) {
    if (stays(request.mask, row, column)) {
      ++kept;
    } else {
      sum += source.load(row, column);
    }
  }
  return kept == 0 ? 0.0f : sum / static_cast<float>(kept);
}

}  // namespace

void mask_absorb_any_ref(const MaskAbsorbRequest &request) {
  const Numbers source(request.source);
  const Numbers target(request.target);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    for (int64_t begin = 0; begin < request.source.columns; begin += request.of) {
      const int64_t left = request.source.columns - begin;
      const int64_t end = begin + (left < request.of ? left : request.of);
      const float share = absorbed_share(request, source, row, begin, end);
      for (int64_t column = begin; column < end; ++column) {
        const bool is_kept = stays(request.mask, row, column);
        target.store(row, column, is_kept ? source.load(row, column) + share : 0.0f);
      }
    }
  }
}

}  // namespace lpt
