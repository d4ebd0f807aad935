// A product and the reduction of its shared columns, which are computed first and fly while the private ones are computed.
#include "src/ops/flight.hpp"
#include "src/ops/gemm_checks.hpp"
#include "src/ops/partial.hpp"

namespace lpt {
namespace {

// What would be refused later is refused before other ranks hear of it.
Status check_product(Context &context, const Product &product) {
  const size_t told = context.choices.size();
  LPT_TRY(multiply_matrices(context, product, true));
  context.choices.resize(told);
  return {};
}

// What every rank would add.
Status check_addends(const lpt_gemm_options &options) {
  const char *const name = options.bias != nullptr                      ? "bias"
                           : options.residual != nullptr                ? "residual"
                           : options.beta != 0                          ? "beta"
                           : options.activation != LPT_ACTIVATION_NONE  ? "activation"
                           : options.quantize != nullptr                ? "quantize"
                           : options.outlier_threshold != 0             ? "outlier_threshold"
                           : (options.flags & ~LPT_PORTABLE_ORDER) != 0 ? "flags"
                                                                        : nullptr;
  if (name == nullptr) return {};
  return unsupported("%s is set: products that ranks add up take alpha, transposes, arithmetic and LPT_PORTABLE_ORDER",
                     name);
}

Status make_product(const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c, Product &product) {
  LPT_TRY(check_gemm_options(options, product));
  LPT_TRY(check_addends(options));
  product.is_a_transposed = options.is_a_transposed != 0;
  product.is_b_transposed = options.is_b_transposed != 0;
  LPT_TRY(check_operand(a, "a", true, product.is_a_transposed, product.a));
  LPT_TRY(check_second_operand(b, true, product.is_b_transposed, product.b));
  LPT_TRY(check_wide_matrix(c, "c", true, product.c));
  ProductShape shape;
  LPT_TRY(check_inner_sizes(product, shape));
  LPT_TRY(check_shape(product.c, "c", shape.m, shape.n, "the product of a and b"));
  LPT_TRY(check_apart(product.c, "c", product.a, "a"));
  return check_apart(product.c, "c", product.b, "b");
}

// The reduction of some rows. Its shares are theirs.
Status prepare_rows(Context &context, const PartialPlan &plan, const Device &device, const MatrixView &c, int64_t begin,
                    int64_t count, ChosenReducing &out_reducing) {
  const MatrixView rows = cut_rows(c, begin, count);
  const size_t told = context.choices.size();
  Partial part{};
  LPT_TRY(prepare_partial(context, plan, LPT_PASS_FORWARD, rows, rows, part, device));
  context.choices.resize(told);
  out_reducing = part.reducing;
  return {};
}

// Shares of chunks are cast in other runs than those of the whole: what travels in few bits travels at once.
Status multiply_in_flight(Context &context, Comm &comm, const PartialPlan &plan, const Product &product,
                          const Partial &partial) {
  int64_t rows = product.c.rows;
  if (partial.reducing.way == Way::kPlain) {
    LPT_TRY(find_chunk_rows(plan, product.c.rows, product.c.format.id, rows));
  }
  Flight flight(context, comm);
  LPT_TRY(multiply_in_pieces(context, product, plan.shared, rows, [&](int64_t begin, int64_t count) -> Status {
    ChosenReducing reducing = partial.reducing;
    if (count < product.c.rows) {
      LPT_TRY(prepare_rows(context, plan, partial.device, product.c, begin, count, reducing));
    }
    return flight.begin(reducing, begin + count >= product.c.rows);
  }));
  LPT_TRY(scale_private(context, plan, partial));
  return flight.end();
}

}  // namespace

Status multiply_partially(Context &context, Comm &comm, const PartialPlan &plan, const Product &product) {
  LPT_TRY(check_on_processors(comm));
  LPT_TRY(check_partial_comm(plan, comm));
  if (product.c.columns != plan.hidden) {
    return invalid("c has %lld columns: expected %lld, as the plan", number(product.c.columns), number(plan.hidden));
  }
  Partial partial{};
  LPT_TRY(prepare_partial(context, plan, LPT_PASS_FORWARD, product.c, product.c, partial, device_of(comm)));
  LPT_TRY(check_product(context, product));
  const Silence silence(context);
  if (plan.shared == 0) {
    LPT_TRY(multiply_matrices(context, product, false));
    return scale_private(context, plan, partial);
  }
  return multiply_in_flight(context, comm, plan, product, partial);
}

Status partial_gemm(Context &context, Comm &comm, const PartialPlan &plan, const Tensor *a, const Tensor *b,
                    const lpt_gemm_options &options, Tensor *c) {
  Product product;
  LPT_TRY(make_product(a, b, options, c, product));
  return multiply_partially(context, comm, plan, product);
}

}  // namespace lpt
