#include "src/ops/gemm.hpp"

#include <cmath>

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

// Cuts the product into a grid of parts: enough for the threads, each as square as the units allow, since a part packs
// its share of a and b anew.
struct Grid {
  int64_t rows, columns;  // parts
  int64_t row_length, column_length;
};

Grid make_grid(const Context &context, int64_t m, int64_t n, int64_t k) {
  const int64_t row_units = (m + kGemmRowUnit - 1) / kGemmRowUnit;
  const int64_t column_units = (n + kGemmColumnUnit - 1) / kGemmColumnUnit;
  int64_t wanted = width_of(context);
  constexpr int64_t kLeastWork = 1 << 18;  // multiply-adds that are worth a thread
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (work < static_cast<double>(wanted * kLeastWork))
    wanted = std::max<int64_t>(1, static_cast<int64_t>(work / kLeastWork));
  int64_t best_rows = 1;
  double best_cost = INFINITY;
  for (int64_t rows = 1; rows <= wanted; ++rows) {
    const int64_t columns = (wanted + rows - 1) / rows;
    const int64_t row_length = (row_units + rows - 1) / rows * kGemmRowUnit;
    const int64_t column_length = (column_units + columns - 1) / columns * kGemmColumnUnit;
    // The longest part decides: its multiply-adds, and what it packs, worth some 32 of them an element.
    const double cost = static_cast<double>(row_length) * static_cast<double>(column_length) +
                        32.0 * static_cast<double>(row_length + column_length);
    if (cost < best_cost) {
      best_cost = cost;
      best_rows = rows;
    }
  }
  const int64_t columns = (wanted + best_rows - 1) / best_rows;
  Grid grid{};
  grid.row_length = std::max<int64_t>(1, (row_units + best_rows - 1) / best_rows) * kGemmRowUnit;
  grid.column_length = std::max<int64_t>(1, (column_units + columns - 1) / columns) * kGemmColumnUnit;
  grid.rows = (m + grid.row_length - 1) / grid.row_length;
  grid.columns = (n + grid.column_length - 1) / grid.column_length;
  return grid;
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
  const Grid grid = make_grid(context, whole.m, whole.n, whole.k);
  std::vector<GemmRequest> parts;
  for (int64_t r = 0; r < grid.rows; ++r) {
    for (int64_t c = 0; c < grid.columns; ++c) {
      GemmRequest part = whole;
      part.first_row = r * grid.row_length;
      part.first_column = c * grid.column_length;
      part.m = std::min(grid.row_length, whole.m - part.first_row);
      part.n = std::min(grid.column_length, whole.n - part.first_column);
      LPT_TRY(context.arena->take(row->scratch_bytes(part), &part.scratch));
      parts.push_back(part);
    }
  }
  parallel_for(context, static_cast<int64_t>(parts.size()),
               [&](int64_t i) { row->run(parts[static_cast<size_t>(i)]); });
  return {};
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
  LPT_TRY(check_matrix(c, "c", needs_data, product.c));
  LPT_TRY(check_wide_float(product.c, "c"));
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
