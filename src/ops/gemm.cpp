#include "src/ops/gemm.hpp"

#include <cassert>
#include <cmath>
#include <functional>

#include "kernels/gemm/gemm.hpp"

namespace lpt {
namespace {

// An operand as rows and columns; columns that are adjacent instead of rows make it a transposed one.
Status check_operand(const Tensor *tensor, const char *name, bool needs_data, bool &is_transposed,
                     MatrixView &out_view) {
  if (tensor == nullptr) return invalid("%s is NULL: expected a tensor", name);
  if (tensor->kind != HandleKind::kTensor) return invalid("%s is not a live tensor", name);
  MatrixView view;
  LPT_TRY(matrix_of(*tensor, name, view));
  if (view.column_stride != 1 && view.row_stride == 1 && view.format.is_plain()) {
    out_view = view;
    out_view.rows = view.columns;
    out_view.columns = view.rows;
    out_view.row_stride = view.column_stride;
    out_view.column_stride = 1;
    is_transposed = !is_transposed;
    if (needs_data && view.data == nullptr) return invalid("%s has no data: only LPT_CHECK_ONLY takes that", name);
  } else {
    LPT_TRY(check_matrix(tensor, name, needs_data, out_view));
  }
  if (view.format.element == LPT_FORMAT_UINT8) return unsupported("%s is uint8: it holds bytes, not numbers", name);
  return {};
}

// Some rows and columns of the result.
struct Area {
  int64_t row, column, rows, columns;
};

// An area cut into a grid of parts.
struct Grid {
  int64_t rows, columns;  // parts
  int64_t row_length, column_length;

  int64_t count() const { return rows * columns; }
};

// Cuts an area into `wanted` parts or fewer, each as square as the units allow, since a part packs its share of a and b
// anew.
Grid make_grid(const Area &area, int64_t wanted) {
  const int64_t row_units = (area.rows + kGemmRowUnit - 1) / kGemmRowUnit;
  const int64_t column_units = (area.columns + kGemmColumnUnit - 1) / kGemmColumnUnit;
  Grid grid{};
  double best_cost = INFINITY;
  for (int64_t rows = 1; rows <= wanted; ++rows) {
    const int64_t columns = wanted / rows;
    const int64_t row_length = (row_units + rows - 1) / rows * kGemmRowUnit;
    const int64_t column_length = (column_units + columns - 1) / columns * kGemmColumnUnit;
    // The longest part decides: its multiply-adds, and what it packs, worth some 32 of them an element.
    const double cost = static_cast<double>(row_length) * static_cast<double>(column_length) +
                        32.0 * static_cast<double>(row_length + column_length);
    if (cost >= best_cost) continue;
    best_cost = cost;
    grid = {(area.rows + row_length - 1) / row_length, (area.columns + column_length - 1) / column_length, row_length,
            column_length};
  }
  return grid;
}

// The part at a place of the grid that an area is cut into. The last ones of a row or a column may be smaller, or
// nothing where the grid is that of a larger area.
Area cut(const Area &area, const Grid &grid, int64_t index) {
  const int64_t row = index / grid.columns * grid.row_length;
  const int64_t column = index % grid.columns * grid.column_length;
  return {area.row + row, area.column + column, std::min(grid.row_length, area.rows - row),
          std::min(grid.column_length, area.columns - column)};
}

GemmRequest cut(const GemmRequest &whole, const Area &area) {
  GemmRequest part = whole;
  part.first_row = area.row;
  part.first_column = area.column;
  part.m = area.rows;
  part.n = area.columns;
  return part;
}

// How many threads are worth their waking.
int64_t threads_for(const Context &context, const Area &area, int64_t k) {
  constexpr double kLeastWork = 1 << 18;  // multiply-adds
  const double work = static_cast<double>(area.rows) * static_cast<double>(area.columns) * static_cast<double>(k);
  return static_cast<int64_t>(std::clamp(work / kLeastWork, 1.0, static_cast<double>(width_of(context))));
}

// In how many steps a product runs: one, if nobody wants to know how far it has come. A step packs its share of a and b
// anew, so it has many elements.
int64_t steps_for(const Context &context, const Area &area) {
  constexpr int64_t kReportedElements = 1 << 19;
  constexpr int64_t kMostReports = 100;
  if (context.progress == nullptr) return 1;
  return std::clamp<int64_t>(area.rows * area.columns / kReportedElements, 1, kMostReports);
}

// Multiplies step by step, each of them shared among the threads. The first step is the largest, and so is its first
// part: all are cut alike and get scratch of its size.
Status run_product(Context &context, const GemmRow &row, const GemmRequest &whole) {
  const Area all{0, 0, whole.m, whole.n};
  const Grid steps = make_grid(all, steps_for(context, all));
  const Area first = cut(all, steps, 0);
  const Grid parts = make_grid(first, threads_for(context, first, whole.k));
  const size_t wanted = row.scratch_bytes(cut(whole, cut(first, parts, 0)));
  const size_t scratch_bytes = (wanted + kAlignment - 1) / kAlignment * kAlignment;
  std::byte *scratch = nullptr;
  LPT_TRY(context.arena->take(static_cast<size_t>(parts.count()) * scratch_bytes, &scratch));
  int64_t done = 0;
  for (int64_t s = 0; s < steps.count(); ++s) {
    const Area step = cut(all, steps, s);
    const auto run_part = [&](int64_t i) {
      const Area area = cut(step, parts, i);
      if (area.rows <= 0 || area.columns <= 0) return;
      GemmRequest part = cut(whole, area);
      assert(row.scratch_bytes(part) <= scratch_bytes);
      part.scratch = scratch + static_cast<size_t>(i) * scratch_bytes;
      row.run(part);
    };
    parallel_for(context, parts.count(), std::cref(run_part));  // by reference: nothing is allocated
    done += step.rows * step.columns;
    if (context.progress == nullptr) continue;
    const int64_t work = all.rows * all.columns;
    if (context.progress(context.progress_user, done, work) != 0) return cancelled(done, work);
  }
  return {};
}

}  // namespace

bool is_f64_product(const Product &product) {
  return product.a.format.id == LPT_FORMAT_F64 || product.b.format.id == LPT_FORMAT_F64 ||
         product.c.format.id == LPT_FORMAT_F64;
}

Status multiply_matrices(Context &context, const Product &product, bool is_check_only) {
  GemmRequest whole{};
  whole.a = product.a;
  whole.b = product.b;
  whole.c = product.c;
  whole.is_a_transposed = product.is_a_transposed;
  whole.is_b_transposed = product.is_b_transposed;
  whole.m = product.c.rows;
  whole.n = product.c.columns;
  whole.k = product.is_a_transposed ? product.a.rows : product.a.columns;
  whole.alpha = product.alpha;
  whole.beta = product.beta;
  whole.bias = product.bias;
  whole.is_f64 = is_f64_product(product);
  const GemmRow *row = nullptr;
  LPT_TRY(choose(context, "gemm", gemm_kernels(), whole,
                 {product.a.format.id, product.b.format.id, product.c.format.id}, &row));
  if (is_check_only || whole.m == 0 || whole.n == 0) return {};
  const double flops = 2.0 * static_cast<double>(whole.m) * static_cast<double>(whole.n) * static_cast<double>(whole.k);
  const Measure measure(context, "gemm", row->name,
                        view_bytes(product.a) + view_bytes(product.b) + view_bytes(product.c), flops);
  return run_product(context, *row, whole);
}

Status gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c) {
  const bool needs_data = !is_check_only(options.flags);
  Product product;
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("is_a_transposed", options.is_a_transposed, 1));
  LPT_TRY(check_choice("is_b_transposed", options.is_b_transposed, 1));
  product.is_a_transposed = options.is_a_transposed != 0;
  product.is_b_transposed = options.is_b_transposed != 0;
  LPT_TRY(check_operand(a, "a", needs_data, product.is_a_transposed, product.a));
  LPT_TRY(check_operand(b, "b", needs_data, product.is_b_transposed, product.b));
  LPT_TRY(check_wide_matrix(c, "c", needs_data, product.c));
  if (!std::isfinite(options.alpha)) return invalid("alpha is %g: expected a finite number", options.alpha);
  if (!std::isfinite(options.beta)) return invalid("beta is %g: expected a finite number", options.beta);
  product.alpha = options.alpha;
  product.beta = options.beta;
  const int64_t m = product.is_a_transposed ? product.a.columns : product.a.rows;
  const int64_t k = product.is_a_transposed ? product.a.rows : product.a.columns;
  const int64_t b_k = product.is_b_transposed ? product.b.columns : product.b.rows;
  const int64_t n = product.is_b_transposed ? product.b.rows : product.b.columns;
  if (k != b_k) {
    return invalid("inner sizes differ: a is %s%s, b is %s%s", tensor_text(*a).c_str(),
                   options.is_a_transposed != 0 ? " transposed" : "", tensor_text(*b).c_str(),
                   options.is_b_transposed != 0 ? " transposed" : "");
  }
  LPT_TRY(check_shape(product.c, "c", m, n, "the product of a and b"));
  LPT_TRY(check_apart(product.c, "c", product.a, "a"));
  LPT_TRY(check_apart(product.c, "c", product.b, "b"));
  if (options.bias != nullptr) {
    const lpt_format format = is_f64_product(product) ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
    void *bias = nullptr;
    LPT_TRY(check_vector(options.bias, "bias", format, n, needs_data, &bias));
    LPT_TRY(check_apart(product.c, "c", vector_view(format, bias, n), "bias"));
    product.bias = bias;
  }
  return multiply_matrices(context, product, !needs_data);
}

}  // namespace lpt
