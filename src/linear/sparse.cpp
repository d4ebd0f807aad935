// N:M masks of the operands of a layer.
#include <cmath>
#include <cstring>

#include "src/base/blob.hpp"
#include "src/linear/parts.hpp"
#include "src/sparse/parts.hpp"

namespace lpt {
namespace {

lpt_sparse_options options_of(const SparseRule &rule, bool is_check_only) {
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  options.flags = is_check_only ? LPT_CHECK_ONLY : 0;
  options.kept = rule.kept;
  options.of = rule.of;
  options.rule = rule.rule;
  options.direction = rule.direction;
  options.solver = rule.solver;
  options.iterations = rule.iterations;
  options.sharpness = rule.sharpness;
  options.philox_rounds = rule.philox_rounds;
  return options;
}

size_t bits_bytes(const Linear &linear) {
  return static_cast<size_t>(linear.output_columns * mask_row_bytes(linear.input_columns));
}

// Packs a mask of bytes to bits.
void pack_bits(const MatrixView &mask, std::byte *bits) {
  const int64_t row_bytes = mask_row_bytes(mask.columns);
  for (int64_t row = 0; row < mask.rows; ++row) {
    const auto *from = static_cast<const uint8_t *>(mask.data) + row * mask.row_stride;
    auto *to = reinterpret_cast<uint8_t *>(bits) + row * row_bytes;
    std::memset(to, 0, static_cast<size_t>(row_bytes));
    for (int64_t c = 0; c < mask.columns; ++c) to[c / 8] = static_cast<uint8_t>(to[c / 8] | (from[c] != 0) << c % 8);
  }
}

void unpack_bits(const std::byte *bits, const MatrixView &mask) {
  const int64_t row_bytes = mask_row_bytes(mask.columns);
  for (int64_t row = 0; row < mask.rows; ++row) {
    const auto *from = reinterpret_cast<const uint8_t *>(bits) + row * row_bytes;
    auto *to = static_cast<uint8_t *>(mask.data) + row * mask.row_stride;
    for (int64_t c = 0; c < mask.columns; ++c) to[c] = from[c / 8] >> (c % 8) & 1;
  }
}

// Returns the least-squares factor of a masked weight m for the weight w, w·m / m·m; 1 if m is zero. Sums are f64, row by
// row.
float fitting_factor(const MatrixView &weight, const MatrixView &masked) {
  double gemms = 0.0;
  double squares = 0.0;
  for (int64_t row = 0; row < weight.rows; ++row) {
    const float *w = static_cast<const float *>(weight.data) + row * weight.row_stride;
    const float *m = static_cast<const float *>(masked.data) + row * masked.row_stride;
    for (int64_t c = 0; c < weight.columns; ++c) {
      gemms += static_cast<double>(w[c]) * static_cast<double>(m[c]);
      squares += static_cast<double>(m[c]) * static_cast<double>(m[c]);
    }
  }
  const double factor = gemms / squares;
  return std::isfinite(factor) && factor > 0.0 ? static_cast<float>(factor) : 1.0f;
}

void multiply_all(const MatrixView &matrix, float factor) {
  for (int64_t row = 0; row < matrix.rows; ++row) {
    float *numbers = static_cast<float *>(matrix.data) + row * matrix.row_stride;
    for (int64_t c = 0; c < matrix.columns; ++c) numbers[c] *= factor;
  }
}

// Returns whether the mask of the previous prepare is still valid. The caller counts the steps, so that a resumed run selects
// at the same steps as an uninterrupted one.
bool is_mask_kept(const Linear &linear, const SparseRule &rule, uint32_t step) {
  const SparseMask &mask = linear.weight.sparse;
  if (rule.interval == 1 || rule.rule != LPT_SPARSE_RULE_MAGNITUDE) return false;
  if (mask.bits == nullptr || rule != linear.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT]) return false;
  return step >= mask.step && step - mask.step < static_cast<uint32_t>(rule.interval);
}

// Selects a new mask for `numbers` (f32) and sets the other elements to zero.
Status select_new_mask(const Call &call, const Linear &linear, const SparseRule &rule, const MatrixView &numbers,
                       SparseMask &out_mask) {
  MatrixView mask;
  MatrixView masked;
  const Format bytes = format_of(LPT_FORMAT_UINT8);
  LPT_TRY(take_matrix(call.context, bytes, numbers.rows, numbers.columns, false, mask));
  LPT_TRY(take_matrix(call.context, numbers.format, numbers.rows, numbers.columns, false, masked));
  LPT_TRY(select_mask(call.context, options_of(rule, call.is_check_only), numbers, mask, masked));
  if (call.is_check_only) return {};
  LPT_TRY(allocate_bytes(call.context.allocator, bits_bytes(linear), out_mask.bits));
  pack_bits(mask, out_mask.bits.get());
  out_mask.step = call.options.random.step;
  if (rule.rule == LPT_SPARSE_RULE_SOFT_THRESHOLD) {
    const bool is_known =
        rule == linear.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT] && linear.weight.sparse.bits != nullptr;
    out_mask.factor = is_known ? linear.weight.sparse.factor : fitting_factor(numbers, masked);
    multiply_all(masked, out_mask.factor);
  }
  copy_matrix(masked, numbers);
  return {};
}

// Takes scratch in the format of the sums of a GEMM with `source`.
Status take_masked(const Call &call, const MatrixView &source, MatrixView &out_view) {
  const bool is_f64 = source.format.id == LPT_FORMAT_F64;
  return take_matrix(call.context, format_of(is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32), source.rows, source.columns,
                     false, out_view);
}

}  // namespace

Status mask_weight(const Call &call, const Linear &linear, const MatrixView &weight, SparseMask &out_mask,
                   MatrixView &out_view) {
  const SparseRule &rule = call.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT];
  out_view = weight;
  if (!rule.is_used()) return {};
  if (weight.format.id == LPT_FORMAT_F64) return unsupported("weight is f64: a recipe with sparse weights takes f32");
  LPT_TRY(take_matrix(call.context, format_of(LPT_FORMAT_F32), weight.rows, weight.columns, false, out_view));
  LPT_TRY(widen_matrix(call.context, weight, out_view, call.is_check_only));
  if (!is_mask_kept(linear, rule, call.options.random.step)) {
    return select_new_mask(call, linear, rule, out_view, out_mask);
  }
  out_mask = linear.weight.sparse;
  return apply_mask(call, out_mask.bits.get(), out_view);
}

Status mask_input(const Call &call, MatrixView &input) {
  const SparseRule &rule = call.recipe.sparsity[LPT_LINEAR_OPERAND_INPUT];
  if (!rule.is_used()) return {};
  MatrixView masked;
  LPT_TRY(take_masked(call, input, masked));
  LPT_TRY(select_mask(call.context, options_of(rule, call.is_check_only), input, {}, masked));
  input = masked;
  return {};
}

Status mask_gradient(const Call &call, const MatrixView &gradient, MatrixView &out_view) {
  const SparseRule &rule = call.recipe.sparsity[LPT_LINEAR_OPERAND_GRADIENT];
  out_view = gradient;
  if (!rule.is_used()) return {};
  if (call.options.first_row % rule.of != 0) {
    return invalid("first_row is %lld: expected a multiple of %d, the tokens of a group",
                   static_cast<long long>(call.options.first_row), rule.of);
  }
  LPT_TRY(take_masked(call, gradient, out_view));
  lpt_sparse_options options = options_of(rule, call.is_check_only);
  options.random = random_of(call.options, LPT_LINEAR_OPERAND_GRADIENT);
  options.random.offset = call.options.first_row * gradient.columns;
  options.random.row_stride = gradient.columns;
  return select_mask(call.context, options, gradient, {}, out_view);
}

Status read_linear_mask(Context &, const Linear &linear, Tensor *mask) {
  MatrixView view;
  if (!linear.recipe.sparsity[LPT_LINEAR_OPERAND_WEIGHT].is_used()) {
    return invalid("linear has dense weights: expected a recipe that makes them sparse");
  }
  if (!linear.weight.is_ready) {
    return invalid("linear has no weight yet: expected a call of lpt_linear_prepare() before");
  }
  LPT_TRY(check_mask(mask, "mask", true, view));
  LPT_TRY(check_shape(view, "mask", linear.output_columns, linear.input_columns, "the layer's weight"));
  unpack_bits(linear.weight.sparse.bits.get(), view);
  return {};
}

void write_sparse_mask(const Linear &linear, BlobWriter &writer) {
  const SparseMask &mask = linear.weight.sparse;
  writer.u32(mask.bits != nullptr ? 1 : 0);
  writer.u32(mask.step);
  writer.f32(mask.factor);
  if (mask.bits != nullptr) writer.bytes(mask.bits.get(), bits_bytes(linear));
}

Status read_sparse_mask(BlobReader &reader, const Linear &linear, SparseMask &out_mask) {
  const uint32_t count_of_masks = reader.u32();
  out_mask.step = reader.u32();
  out_mask.factor = reader.f32();
  if (!reader.is_ok() || count_of_masks > 1) return blob_mismatch("sparse masks", count_of_masks, 1);
  if (!(out_mask.factor > 0.0f) || !std::isfinite(out_mask.factor)) {
    return damaged_state(
        text("the factor of a sparse weight is %g: expected a number above 0", static_cast<double>(out_mask.factor)));
  }
  if (count_of_masks == 0) return {};
  const size_t count = bits_bytes(linear);
  if (reader.left_bytes() != count) {
    return blob_mismatch("bytes of the sparse mask", static_cast<long long>(reader.left_bytes()),
                         static_cast<long long>(count));
  }
  out_mask.bits = std::shared_ptr<std::byte>(new std::byte[count], std::default_delete<std::byte[]>());
  reader.bytes(out_mask.bits.get(), count);
  return {};
}

}  // namespace lpt
