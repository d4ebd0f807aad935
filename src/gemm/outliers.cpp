#include "src/gemm/outliers.hpp"

#include <cmath>

#include "src/cast/cast.hpp"
#include "src/weights/weights.hpp"

namespace lpt {
namespace {

Status take_f32(Context &context, int64_t rows, int64_t columns, MatrixView &out_view) {
  return take_matrix(context, LPT_FORMAT_F32, rows, columns, false, out_view);
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

// Moves the columns with outliers to another matrix and replaces them by zeros.
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

// Decodes columns of b (n × k), some rows at a time, so that b is never decoded completely. The rows of a step are in one
// block of scales or are complete blocks, whose heights are powers of two.
Status decode_columns(Context &context, const MatrixView &b, const std::vector<int64_t> &outliers,
                      const MatrixView &aside) {
  const int64_t step = std::min<int64_t>(64, b.rows);
  MatrixView decoded;
  LPT_TRY(take_f32(context, step, b.columns, decoded));
  for (int64_t first = 0; first < b.rows; first += step) {
    const int64_t count = std::min(step, b.rows - first);
    LPT_TRY(widen_matrix(context, cut_rows(b, first, count), cut_rows(decoded, 0, count), false));
    for (int64_t lane = 0; lane < count; ++lane) {
      for (size_t o = 0; o < outliers.size(); ++o) row_of(aside, first + lane)[o] = row_of(decoded, lane)[outliers[o]];
    }
  }
  return {};
}

// Decodes rows of b (k × n) and transposes them.
Status decode_rows(Context &context, const MatrixView &b, const std::vector<int64_t> &outliers,
                   const MatrixView &aside) {
  MatrixView decoded;
  LPT_TRY(take_f32(context, 1, b.columns, decoded));
  for (size_t o = 0; o < outliers.size(); ++o) {
    LPT_TRY(widen_matrix(context, cut_rows(b, outliers[o], 1), decoded, false));
    for (int64_t lane = 0; lane < b.columns; ++lane) row_of(aside, lane)[o] = row_of(decoded, 0)[lane];
  }
  return {};
}

// Decodes the columns of b at the indices of outliers. The result is n × outliers.
Status decode_outliers(Context &context, const GemmCall &call, const std::vector<int64_t> &outliers,
                       const MatrixView &aside) {
  if (!call.is_b_transposed) return decode_rows(context, call.b, outliers, aside);
  if (!is_packed(call.b.layout)) return decode_columns(context, call.b, outliers, aside);
  MatrixView rows;
  LPT_TRY(take_unpacked(context, call.b, false, rows));
  return decode_columns(context, rows, outliers, aside);
}

}  // namespace

Status multiply_with_outliers(Context &context, const GemmCall &call, float threshold, bool is_check_only) {
  const MatrixView &a = call.a;
  if (!is_wide_float(a.format.id) || a.format.id == LPT_FORMAT_F64) {
    return unsupported("a is %s and outlier_threshold is %g: expected f32, bf16 or f16",
                       format_name(a.format.id).c_str(), static_cast<double>(threshold));
  }
  if (call.is_a_transposed) return unsupported("a is transposed: with outlier_threshold it is stored m x k");
  GemmCall inner = call;
  LPT_TRY(take_matrix(context, LPT_FORMAT_INT8_ROW, a.rows, a.columns, is_check_only, inner.a));
  if (is_check_only) return run_gemm(context, inner, true);
  MatrixView numbers;
  LPT_TRY(take_f32(context, a.rows, a.columns, numbers));
  LPT_TRY(widen_matrix(context, a, numbers, false));
  const std::vector<int64_t> outliers = find_outliers(numbers, threshold);
  MatrixView aside;
  const auto count = static_cast<int64_t>(outliers.size());
  LPT_TRY(take_f32(context, a.rows, count, aside));
  move_columns(numbers, outliers, aside);
  LPT_TRY(cast_matrix(context, numbers, inner.a, Cast{}, false));
  LPT_TRY(run_gemm(context, inner, false));
  if (outliers.empty()) return {};
  GemmCall outer;
  outer.a = aside;
  outer.is_b_transposed = true;
  LPT_TRY(take_f32(context, call.c.columns, count, outer.b));
  LPT_TRY(decode_outliers(context, call, outliers, outer.b));
  outer.c = call.c;
  outer.alpha = call.alpha;
  outer.beta = 1.0;
  outer.is_portable = call.is_portable;
  return run_gemm(context, outer, false);
}

}  // namespace lpt
