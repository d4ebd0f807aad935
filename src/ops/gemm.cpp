#include "src/ops/gemm.hpp"

#include "src/ops/device_gemm.hpp"
#include "src/ops/gemm_cast.hpp"
#include "src/ops/gemm_checks.hpp"
#include "src/ops/gemm_finish.hpp"
#include "src/ops/gemm_outliers.hpp"

namespace lpt {
namespace {

// What every call of one product or a batch begins with.
Status check_call(const Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                  const Tensor *c, Product &out_common) {
  const Device &device = context.queue.device();
  LPT_TRY(check_gemm_options(options, out_common));
  LPT_TRY(check_tensor(a, "a", device));
  LPT_TRY(check_tensor(b, "b", device));
  LPT_TRY(check_tensor(c, "c", device));
  return device.is_cpu() ? Status() : check_no_outliers(options, "a product on a GPU");
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
  const Device &device = context.queue.device();
  LPT_TRY(check_operand(a, "a", !is_check, product.is_a_transposed, product.a, device));
  LPT_TRY(check_second_operand(b, !is_check, product.is_b_transposed, product.b, device));
  ProductShape shape;
  LPT_TRY(check_inner_sizes(product, shape));
  Finish finish;
  const bool has_outliers = options.outlier_threshold > 0;
  LPT_TRY(begin_finish(context, options, c, shape.m, shape.n, has_outliers, finish));
  LPT_TRY(check_apart(finish.c_view, "c", product.a, "a"));
  LPT_TRY(check_apart(finish.c_view, "c", product.b, "b"));
  product.c = finish.is_direct ? finish.c_view : finish.target;
  MatrixView bias;
  LPT_TRY(check_bias(options, product, 1, shape.n, finish.c_view, bias, device));
  product.bias = bias.data;
  size_t cast_bytes = 0;
  LPT_TRY(cast_first_operand(context, options, product.a, cast_bytes));
  if (out_decision != nullptr) {
    LPT_TRY(device.is_cpu() ? decide_product(context, product, *out_decision)
                            : multiply_on_device(context, product, true, out_decision));
    out_decision->workspace_bytes += finish.target_bytes + cast_bytes;
    return end_finish(context, finish, true);
  }
  if (has_outliers) {
    if (product.a.layout == Layout::kSparse || product.b.layout == Layout::kSparse) {
      LPT_TRY(check_no_outliers(options, "a product of a sparse matrix"));
    }
    LPT_TRY(multiply_with_outliers(context, product, static_cast<float>(options.outlier_threshold), is_check));
  } else {
    LPT_TRY(device.is_cpu() ? multiply_matrices(context, product, is_check)
                            : multiply_on_device(context, product, is_check, nullptr));
  }
  return end_finish(context, finish, is_check);
}

Status check_count(const Tensor *tensor, const char *name, int64_t count) {
  if (tensor->rank <= 2 || matrix_count(*tensor) == count) return {};
  return invalid("%s is %s, %lld matrices: expected %lld, as c", name, tensor_text(*tensor).c_str(),
                 number(matrix_count(*tensor)), number(count));
}

// A batch on its way: where its results go, and what no operand may meet.
struct Batch {
  int64_t m;      // of one product
  Finish finish;  // of all products together, save where they write c themselves
  MatrixView whole;
  bool is_whole;  // c lies in one, matrix behind matrix
};

// Where the product at `index` writes.
Status result_at(const Tensor &c, const Batch &batch, int64_t index, bool needs_data, MatrixView &out_view) {
  if (!batch.finish.is_direct) {
    out_view = cut_rows(batch.finish.target, index * batch.m, batch.m);
    return {};
  }
  Tensor matrix;
  LPT_TRY(matrix_at(c, "c", index, matrix));
  return check_wide_matrix(&matrix, "c", needs_data, out_view, c.device);
}

// The product at `index` of a batch.
Status product_at(const Tensor &a, const Tensor &b, const lpt_gemm_options &options, const Tensor &c,
                  const Batch &batch, int64_t index, Product &product) {
  const bool needs_data = !is_check_only(options.flags);
  const Device &device = c.device;  // the context's, as check_call() found
  product.is_a_transposed = options.is_a_transposed != 0;
  product.is_b_transposed = options.is_b_transposed != 0;
  LPT_TRY(check_operand_at(a, "a", index, needs_data, product.is_a_transposed, product.a, device));
  LPT_TRY(check_second_operand_at(b, index, needs_data, product.is_b_transposed, product.b, device));
  ProductShape shape;
  LPT_TRY(check_inner_sizes(product, shape));
  LPT_TRY(result_at(c, batch, index, needs_data, product.c));
  LPT_TRY(check_shape(product.c, "c", shape.m, shape.n, "the product of a and b"));
  const MatrixView &written = batch.is_whole ? batch.whole : product.c;
  LPT_TRY(check_apart(written, "c", product.a, "a"));
  LPT_TRY(check_apart(written, "c", product.b, "b"));
  MatrixView bias;
  LPT_TRY(check_bias(options, product, 1, shape.n, written, bias, device));
  product.bias = bias.data;
  return {};
}

// One matrix of a for all products is cast once. The explanation has the cast of the first one.
Status cast_first_operands(Context &context, const lpt_gemm_options &options, std::vector<Product> &products) {
  const void *last = nullptr;
  MatrixView cast;
  for (size_t i = 0; i < products.size(); ++i) {
    MatrixView &a = products[i].a;
    if (i == 0 || a.data != last) {
      last = a.data;
      cast = a;
      size_t bytes = 0;
      const size_t explained = context.choices.size();
      LPT_TRY(cast_first_operand(context, options, cast, bytes));
      if (i > 0) context.choices.resize(explained);
    }
    a = cast;
  }
  return {};
}

// The products of a batch: matrices of a, or one, by matrices of b, or one, each to a matrix of c.
Status multiply_batch(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                      const Product &common, Tensor *c) {
  const bool is_check = is_check_only(options.flags);
  LPT_TRY(check_no_outliers(options, "a batch"));
  const int64_t count = matrix_count(*c);
  LPT_TRY(check_count(a, "a", count));
  LPT_TRY(check_count(b, "b", count));
  const bool is_gated = options.activation == LPT_ACTIVATION_SWIGLU;
  const int64_t n = c->extents[c->rank - 1] * (is_gated ? 2 : 1);
  Batch batch{};
  batch.m = c->extents[c->rank - 2];
  batch.is_whole = matrix_of(*c, "c", batch.whole).is_ok();
  LPT_TRY(check_finish(options, *c, false, batch.finish.is_direct));
  if (!batch.finish.is_direct) LPT_TRY(begin_finish(context, options, c, count * batch.m, n, false, batch.finish));
  std::vector<Product> products(static_cast<size_t>(count), common);
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(product_at(*a, *b, options, *c, batch, i, products[static_cast<size_t>(i)]));
  }
  LPT_TRY(cast_first_operands(context, options, products));
  LPT_TRY(run_products(context, products, is_check));
  return end_finish(context, batch.finish, is_check);
}

}  // namespace

Status gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c) {
  Product common;
  LPT_TRY(check_call(context, a, b, options, c, common));
  // Leading axes of a alone are rows, if they fold into such.
  const bool is_batch = c->rank > 2 && (b->rank > 2 || (a->rank > 2 && options.is_a_transposed != 0) ||
                                        !do_axes_fold(*a) || !do_axes_fold(*c));
  return is_batch ? multiply_batch(context, a, b, options, common, c)
                  : multiply_one(context, a, b, options, common, c, nullptr);
}

Status gemm_planned(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options,
                    const GemmRow *row, Tensor *c) {
  Product common;
  LPT_TRY(check_call(context, a, b, options, c, common));
  common.row = row;
  return multiply_one(context, a, b, options, common, c, nullptr);
}

Status decide_gemm(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, const Tensor *c,
                   Decision &out_decision) {
  Product common;
  LPT_TRY(check_call(context, a, b, options, c, common));
  if (a->rank > 2 || b->rank > 2 || c->rank > 2) return unsupported("a plan is for matrices: a batch has no plan");
  LPT_TRY(check_no_outliers(options, "a plan"));
  // Nothing is written: only checks run.
  return multiply_one(context, a, b, options, common, const_cast<Tensor *>(c), &out_decision);
}

}  // namespace lpt
