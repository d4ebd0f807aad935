// A product and the reduction of its shared columns, which are computed first and fly while the private ones are computed.
#include "src/ops/device_gemm.hpp"
#include "src/ops/flight.hpp"
#include "src/ops/gemm_checks.hpp"
#include "src/ops/partial.hpp"

namespace lpt {
namespace {

Status multiply_here(Context &context, const Product &product, bool is_check_only) {
  if (context.queue.device().is_cpu()) return multiply_matrices(context, product, is_check_only);
  return multiply_on_device(context, product, is_check_only, nullptr);
}

// What would be refused later is refused before other ranks hear of it.
Status check_product(Context &context, const Product &product) {
  const size_t told = context.choices.size();
  LPT_TRY(multiply_here(context, product, true));
  context.choices.resize(told);
  return {};
}

// What every rank would add.
Status check_addends(const lpt_gemm_options &options) {
  const char *const name = options.bias != nullptr                           ? "bias"
                           : options.residual != nullptr                     ? "residual"
                           : options.beta != 0                               ? "beta"
                           : options.activation != LPT_ACTIVATION_NONE       ? "activation"
                           : options.quantize != nullptr                     ? "quantize"
                           : options.outlier_threshold != 0                  ? "outlier_threshold"
                           : (options.flags & ~LPT_GEMM_PORTABLE_ORDER) != 0 ? "flags"
                                                                             : nullptr;
  if (name == nullptr) return {};
  return unsupported(
      "%s is set: products that ranks add up take alpha, transposes, arithmetic and LPT_GEMM_PORTABLE_ORDER", name);
}

Status make_product(const Device &device, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, Tensor *c,
                    Product &product) {
  LPT_TRY(check_gemm_options(options, product));
  LPT_TRY(check_addends(options));
  product.is_a_transposed = options.is_a_transposed != 0;
  product.is_b_transposed = options.is_b_transposed != 0;
  LPT_TRY(check_operand(a, "a", true, product.is_a_transposed, product.a, device));
  LPT_TRY(check_second_operand(b, true, product.is_b_transposed, product.b, device));
  LPT_TRY(check_wide_matrix(c, "c", true, product.c, device));
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
  LPT_TRY(prepare_partial(context, plan, LPT_PARTIAL_PASS_FORWARD, rows, rows, part, device));
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

// Whether a column of c begins with a block of b's scales, and on a byte of its codes.
bool can_begin(const Product &product, int64_t column) {
  const MatrixView &b = product.b;
  const int64_t block = product.is_b_transposed ? b.format.block_rows : b.format.block_columns;
  const int64_t offset = column * (product.is_b_transposed ? b.row_stride : b.column_stride);
  const bool has_blocks = b.format.has_block_scale() && block != LPT_BLOCK_EXTENT_FULL;
  return offset % 8 == 0 && (!has_blocks || column % block == 0);
}

Product cut_product(const Product &whole, int64_t begin, int64_t count) {
  Product part = whole;
  part.b = whole.is_b_transposed ? cut_rows(whole.b, begin, count) : cut_columns(whole.b, begin, count);
  part.c = cut_columns(whole.c, begin, count);
  return part;
}

// The product of the shared columns, and that of the others; or one of all, where the device takes them together only.
std::vector<Product> parts_of(Context &context, const Product &product, int64_t shared) {
  if (shared == product.c.columns || !can_begin(product, shared)) return {product};
  const std::vector<Product> parts = {cut_product(product, 0, shared),
                                      cut_product(product, shared, product.c.columns - shared)};
  for (const Product &part : parts) {
    if (!check_product(context, part).is_ok()) return {product};
  }
  return parts;
}

// The comm's stream reduces the shared columns behind their product, while that of the others runs on the context's.
Status multiply_on_two_streams(Context &context, Comm &comm, const PartialPlan &plan, const Product &product,
                               const Partial &partial) {
  const std::vector<Product> parts = parts_of(context, product, plan.shared);
  Flight flight(context, comm);
  LPT_TRY(multiply_here(context, parts.front(), false));
  LPT_TRY(flight.begin(partial.reducing));
  if (parts.size() > 1) LPT_TRY(multiply_here(context, parts.back(), false));
  LPT_TRY(scale_private(context, plan, partial));
  return flight.end();
}

}  // namespace

Status multiply_partially(Context &context, Comm &comm, const PartialPlan &plan, const Product &product) {
  LPT_TRY(check_works_on(context, device_of(comm)));
  LPT_TRY(check_partial_comm(plan, comm));
  if (product.c.columns != plan.hidden) {
    return invalid("c has %lld columns: expected %lld, as the plan", number(product.c.columns), number(plan.hidden));
  }
  Partial partial{};
  LPT_TRY(prepare_partial(context, plan, LPT_PARTIAL_PASS_FORWARD, product.c, product.c, partial, device_of(comm)));
  LPT_TRY(check_product(context, product));
  const Silence silence(context);
  if (plan.shared == 0) {
    LPT_TRY(multiply_here(context, product, false));
    return scale_private(context, plan, partial);
  }
  if (!context.queue.device().is_cpu()) return multiply_on_two_streams(context, comm, plan, product, partial);
  return multiply_in_flight(context, comm, plan, product, partial);
}

Status partial_gemm(Context &context, Comm &comm, const PartialPlan &plan, const Tensor *a, const Tensor *b,
                    const lpt_gemm_options &options, Tensor *c) {
  Product product;
  LPT_TRY(make_product(device_of(comm), a, b, options, c, product));
  return multiply_partially(context, comm, plan, product);
}

}  // namespace lpt
