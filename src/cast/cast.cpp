// Helper functions of casts on the CPU and on devices.
#include "src/cast/cast.hpp"

#include <algorithm>

namespace lpt {
Status without_block_scales(const MatrixView &target, MatrixView &out_inner) {
  out_inner = target;
  out_inner.block_scales = nullptr;
  out_inner.format.block_scale = LPT_FORMAT_NONE;
  out_inner.format.block_rows = out_inner.format.block_columns = 0;
  out_inner.format.id = LPT_FORMAT_NONE;
  return make_format(out_inner.format, out_inner.format.id);
}

void add_sums(const CastStatistics &from, CastStatistics &to) {
  to.elements += from.elements;
  to.nans += from.nans;
  to.clipped += from.clipped;
  to.underflows += from.underflows;
  to.amax = std::max(to.amax, from.amax);
  to.squares += from.squares;
  to.squared_errors += from.squared_errors;
}

}  // namespace lpt
