#include "src/ops/gemm_outliers.hpp"

#include <cmath>
#include <cstring>

#include "src/ops/cast.hpp"
#include "src/ops/weights.hpp"

namespace lpt {
namespace {

Status take(Context &context, const Format &format, int64_t rows, int64_t columns, MatrixView &out_view) {
  std::byte *memory = nullptr;
  LPT_TRY(context.arena->take(lay_out_matrix(format, rows, columns, nullptr, out_view), &memory));
  lay_out_matrix(format, rows, columns, memory, out_view);
  return {};
}

Status take_f32(Context &context, int64_t rows, int64_t columns, MatrixView &out_view) {
  Format format;
  find_format(LPT_FORMAT_F32, format);
  return take(context, format, rows, columns, out_view);
}

float *row_of(const MatrixView &view, int64_t row) { return static_cast<float *>(view.data) + row * view.row_stride; }

std::vector<int64_t> find_outliers(const MatrixView &a, float threshold) {
  std::vector<bool> is_outlier(static_cast<size_t>(a.columns), false);
  for (int64_t i = 0; i < a.rows; ++i) {
    const float *const row = row_of(a, i);
    for (int64_t p = 0; p < a.columns; ++p) {
      if (std::fabs(row[p]) >= threshold) is_outlier[static_cast<size_t>(p)] = true;
    }
  }
  std::vector<int64_t> outliers;
  for (int64_t p = 0; p < a.columns; ++p) {
    if (is_outlier[static_cast<size_t>(p)]) outliers.push_back(p);
  }
  return outliers;
}

// Moves the columns of outliers to a matrix of their own, and leaves zeros.
void move_columns(const MatrixView &a, const std::vector<int64_t> &outliers, const MatrixView &aside) {
  for (int64_t i = 0; i < a.rows; ++i) {
    float *const from = row_of(a, i);
    float *const to = row_of(aside, i);
    for (size_t o = 0; o < outliers.size(); ++o) {
      to[o] = from[outliers[o]];
      from[outliers[o]] = 0;
    }
  }
}

// The rows of k × n that meet outliers, decoded, as n × outliers: some lanes at a time, so that b is never decoded whole.
Status decode_lanes(Context &context, const Product &product, const std::vector<int64_t> &outliers,
                    const MatrixView &aside) {
  constexpr int64_t kLanes = 64;
  MatrixView rows = product.b;
  if (rows.layout == Layout::kPanels) {
    const MatrixView panels = rows;
    std::byte *memory = nullptr;
    LPT_TRY(context.arena->take(lay_out_unpacked(panels, nullptr, rows), &memory));
    lay_out_unpacked(panels, memory, rows);
    unpack_panels(context, panels, rows);
  }
  const int64_t lanes = product.is_b_transposed ? rows.rows : rows.columns;
  const int64_t k = product.is_b_transposed ? rows.columns : rows.rows;
  if (!product.is_b_transposed) {
    MatrixView decoded;
    LPT_TRY(take_f32(context, k, lanes, decoded));
    LPT_TRY(dequantize_matrix(context, rows, decoded, false));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      for (size_t o = 0; o < outliers.size(); ++o) row_of(aside, lane)[o] = row_of(decoded, outliers[o])[lane];
    }
    return {};
  }
  MatrixView decoded;
  LPT_TRY(take_f32(context, kLanes, k, decoded));
  const int64_t height =
      rows.format.has_block_scale() && rows.format.block_rows != LPT_WHOLE ? rows.format.block_rows : 1;
  const int64_t step = height > kLanes ? lanes : kLanes;
  if (step == lanes) LPT_TRY(take_f32(context, lanes, k, decoded));
  for (int64_t first = 0; first < lanes; first += step) {
    const int64_t count = std::min(step, lanes - first);
    LPT_TRY(widen_matrix(context, cut_rows(rows, first, count), cut_rows(decoded, 0, count), false));
    for (int64_t lane = 0; lane < count; ++lane) {
      for (size_t o = 0; o < outliers.size(); ++o) row_of(aside, first + lane)[o] = row_of(decoded, lane)[outliers[o]];
    }
  }
  return {};
}

}  // namespace

Status multiply_with_outliers(Context &context, const Product &product, float threshold, bool is_check_only) {
  const MatrixView &a = product.a;
  if (!is_wide_float(a.format.id) || a.format.id == LPT_FORMAT_F64) {
    return unsupported("a is %s and outlier_threshold is %g: expected f32, bf16 or f16",
                       format_name(a.format.id).c_str(), static_cast<double>(threshold));
  }
  if (product.is_a_transposed) return unsupported("a is transposed: with outlier_threshold it is stored m × k");
  Format int8_row;
  find_format(LPT_FORMAT_INT8_ROW, int8_row);
  Product inner = product;
  if (is_check_only) {
    lay_out_matrix(int8_row, a.rows, a.columns, nullptr, inner.a);
    return multiply_matrices(context, inner, true);
  }
  MatrixView numbers;
  LPT_TRY(take_f32(context, a.rows, a.columns, numbers));
  LPT_TRY(widen_matrix(context, a, numbers, false));
  const std::vector<int64_t> outliers = find_outliers(numbers, threshold);
  MatrixView aside;
  const auto count = static_cast<int64_t>(outliers.size());
  LPT_TRY(take_f32(context, a.rows, count, aside));
  move_columns(numbers, outliers, aside);
  LPT_TRY(take(context, int8_row, a.rows, a.columns, inner.a));
  LPT_TRY(cast_matrix(context, numbers, inner.a, Cast{}, false));
  LPT_TRY(multiply_matrices(context, inner, false));
  if (outliers.empty()) return {};
  Product outer;
  outer.a = aside;
  outer.is_b_transposed = true;
  LPT_TRY(take_f32(context, product.c.columns, count, outer.b));
  LPT_TRY(decode_lanes(context, product, outliers, outer.b));
  outer.c = product.c;
  outer.alpha = product.alpha;
  outer.beta = 1.0;
  outer.is_portable = product.is_portable;
  return multiply_matrices(context, outer, false);
}

}  // namespace lpt
