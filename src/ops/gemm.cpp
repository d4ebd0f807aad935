#include "src/ops/gemm.hpp"

#include "src/ops/gemm_checks.hpp"
#include "src/ops/gemm_finish.hpp"
#include "src/ops/gemm_outliers.hpp"

namespace lpt {
namespace {

long long number(int64_t value) { return static_cast<long long>(value); }

Status check_live(const Tensor *tensor, const char *name) {
  if (tensor == nullptr) return invalid("%s is NULL: expected a tensor", name);
  return tensor->kind == HandleKind::kTensor ? Status() : invalid("%s is not a live tensor", name);
}

Status read_bias(const lpt_gemm_options &options, int64_t n, const MatrixView &c, Product &product) {
  if (options.bias == nullptr) return {};
  const lpt_format format = is_f64_product(product) ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  void *bias = nullptr;
  LPT_TRY(check_vector(options.bias, "bias", format, n, !is_check_only(options.flags), &bias));
  LPT_TRY(check_apart(c, "c", vector_view(format, bias, n), "bias"));
  product.bias = bias;
  return {};
}

bool do_axes_fold(const Tensor &tensor) {
  MatrixView view;
  return tensor.rank <= 2 || matrix_of(tensor, "", view).code() == LPT_OK;
}

// One matrix by one matrix. With `out_decision` it only tells what would be done.
Status multiply_one(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                    Product product, Tensor *c, Decision *out_decision) {
  const bool is_check = is_check_only(options.flags);
  product.is_a_transposed = options.is_a_transposed != 0;
  product.is_b_transposed = options.is_b_transposed != 0;
  LPT_TRY(check_operand(a, "a", !is_check, product.is_a_transposed, product.a));
  LPT_TRY(check_second_operand(b, !is_check, 0, product.is_b_transposed, product.b));
  ProductShape shape;
  LPT_TRY(check_inner_sizes(product, shape));
  Finish finish;
  const bool has_outliers = options.outlier_threshold > 0;
  LPT_TRY(begin_finish(context, options, c, shape.m, shape.n, has_outliers, finish));
  LPT_TRY(check_apart(finish.c_view, "c", product.a, "a"));
  LPT_TRY(check_apart(finish.c_view, "c", product.b, "b"));
  product.c = finish.is_direct ? finish.c_view : finish.target;
  LPT_TRY(read_bias(options, shape.n, finish.c_view, product));
  if (out_decision != nullptr) {
    LPT_TRY(decide_product(context, product, *out_decision));
    if (finish.target.data == nullptr && !finish.is_direct) {
      out_decision->workspace_bytes += static_cast<size_t>(shape.m * shape.n) * sizeof(float);
    }
    return end_finish(context, finish, true);
  }
  if (has_outliers) {
    LPT_TRY(multiply_with_outliers(context, product, static_cast<float>(options.outlier_threshold), is_check));
  } else {
    LPT_TRY(multiply_matrices(context, product, is_check));
  }
  return end_finish(context, finish, is_check);
}

// The matrices of a tensor, or the one of all.
Status operand_at(const Tensor *tensor, const char *name, int64_t index, bool needs_data, bool &is_transposed,
                  MatrixView &out_view) {
  if (tensor->layout == Layout::kPanels)
    return check_second_operand(tensor, needs_data, index, is_transposed, out_view);
  if (tensor->rank <= 2) return check_operand(tensor, name, needs_data, is_transposed, out_view);
  Tensor matrix;
  LPT_TRY(matrix_at(*tensor, name, index, matrix));
  return check_operand(&matrix, name, needs_data, is_transposed, out_view);
}

Status check_count(const Tensor *tensor, const char *name, int64_t count) {
  if (tensor->rank <= 2 || matrix_count(*tensor) == count) return {};
  return invalid("%s is %s, %lld matrices: expected %lld, as c", name, tensor_text(*tensor).c_str(),
                 number(matrix_count(*tensor)), number(count));
}

// The products of a batch: matrices of a, or one, by matrices of b, or one, each to a matrix of c.
Status multiply_batch(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                      const Product &common, Tensor *c) {
  const bool is_check = is_check_only(options.flags);
  if (options.outlier_threshold > 0) {
    return unsupported("outlier_threshold is %g: a batch takes 0", options.outlier_threshold);
  }
  const int64_t count = matrix_count(*c);
  LPT_TRY(check_count(a, "a", count));
  LPT_TRY(check_count(b, "b", count));
  const bool is_gated = options.activation == LPT_ACTIVATION_SWIGLU;
  const int64_t m = c->extents[c->rank - 2];
  const int64_t n = c->extents[c->rank - 1] * (is_gated ? 2 : 1);
  Finish finish;
  const bool is_plain = options.activation == LPT_ACTIVATION_NONE && options.residual == nullptr;
  const bool is_direct = is_plain && is_wide_float(c->format.id);
  if (!is_direct) LPT_TRY(begin_finish(context, options, c, count * m, n, false, finish));
  std::vector<Product> products(static_cast<size_t>(count), common);
  for (int64_t i = 0; i < count; ++i) {
    Product &product = products[static_cast<size_t>(i)];
    product.is_a_transposed = options.is_a_transposed != 0;
    product.is_b_transposed = options.is_b_transposed != 0;
    LPT_TRY(operand_at(a, "a", i, !is_check, product.is_a_transposed, product.a));
    LPT_TRY(operand_at(b, "b", i, !is_check, product.is_b_transposed, product.b));
    ProductShape shape;
    LPT_TRY(check_inner_sizes(product, shape));
    Tensor matrix;
    if (is_direct) LPT_TRY(matrix_at(*c, "c", i, matrix));
    if (is_direct) LPT_TRY(check_wide_matrix(&matrix, "c", !is_check, product.c));
    if (!is_direct) product.c = cut_rows(finish.target, i * m, m);
    LPT_TRY(check_shape(product.c, "c", shape.m, shape.n, "the product of a and b"));
    LPT_TRY(check_apart(product.c, "c", product.a, "a"));
    LPT_TRY(check_apart(product.c, "c", product.b, "b"));
    LPT_TRY(read_bias(options, shape.n, product.c, product));
  }
  LPT_TRY(multiply_many(context, products, is_check));
  return is_direct ? Status() : end_finish(context, finish, is_check);
}

}  // namespace

Status gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c) {
  Product common;
  LPT_TRY(check_gemm_options(options, common));
  LPT_TRY(check_live(a, "a"));
  LPT_TRY(check_live(b, "b"));
  LPT_TRY(check_live(c, "c"));
  // Leading axes of a alone are rows, if they fold into such.
  const bool is_batch = c->rank > 2 && (b->rank > 2 || (a->rank > 2 && options.is_a_transposed != 0) ||
                                        !do_axes_fold(*a) || !do_axes_fold(*c));
  return is_batch ? multiply_batch(context, a, b, options, common, c)
                  : multiply_one(context, a, b, options, common, c, nullptr);
}

Status gemm_planned(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                    const GemmRow *row, Tensor *c) {
  Product common;
  LPT_TRY(check_gemm_options(options, common));
  common.row = row;
  return multiply_one(context, a, b, options, common, c, nullptr);
}

Status decide_gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, const Tensor *c,
                   Decision &out_decision) {
  Product common;
  LPT_TRY(check_gemm_options(options, common));
  LPT_TRY(check_live(a, "a"));
  LPT_TRY(check_live(b, "b"));
  LPT_TRY(check_live(c, "c"));
  if (a->rank > 2 || b->rank > 2 || c->rank > 2) return unsupported("a plan is for matrices: a batch has no plan");
  if (options.outlier_threshold > 0) {
    return unsupported("outlier_threshold is %g: a plan takes 0", options.outlier_threshold);
  }
  // Nothing is written: only checks run.
  return multiply_one(context, a, b, options, common, const_cast<Tensor *>(c), &out_decision);
}

}  // namespace lpt
