#include "src/gemm/checks.hpp"

#include <cmath>

#include "src/tensor/checks.hpp"
#include "src/tensor/packed.hpp"
#include "src/tensor/sparse_matrix.hpp"

namespace lpt {
namespace {

// The valid range of lpt_gemm_emulation.bits; `most` is 0 if the arithmetic has no bits.
struct BitRange {
  int32_t least, most;
};

BitRange bits_of(lpt_gemm_arithmetic arithmetic) {
  if (arithmetic == LPT_GEMM_ARITHMETIC_L_MUL) return {1, 23};
  if (arithmetic == LPT_GEMM_ARITHMETIC_TENSOR_CORE) return {10, 24};
  return {0, 0};
}

// Checks the emulation. Each kernel checks the formats that it emulates.
Status check_emulation(const lpt_gemm_emulation &emulation) {
  LPT_TRY(check_choice("emulation->arithmetic", emulation.arithmetic, LPT_GEMM_ARITHMETIC_TENSOR_CORE));
  const BitRange range = bits_of(emulation.arithmetic);
  const int32_t bits = emulation.bits;
  if (bits == 0 || (range.most != 0 && bits >= range.least && bits <= range.most)) return {};
  if (range.most == 0) {
    return invalid("emulation->bits is %d: expected 0 with arithmetic %d", bits, emulation.arithmetic);
  }
  return invalid("emulation->bits is %d: expected 0, or %d to %d with arithmetic %d", bits, range.least, range.most,
                 emulation.arithmetic);
}

// Returns one matrix of packed weights.
Status check_panels(const Tensor &tensor, int64_t expert, bool is_transposed, MatrixView &out_view) {
  if (!is_transposed) {
    return invalid("b is packed weights, %s: expected is_b_transposed 1", tensor_text(tensor).c_str());
  }
  out_view = panels_of(tensor, expert);
  return {};
}

}  // namespace

Status check_gemm_options(const lpt_gemm_options &options, GemmCall &out_gemm) {
  constexpr lpt_flags known =
      LPT_CHECK_ONLY | LPT_GEMM_PORTABLE_ORDER | LPT_GEMM_CAST_A_TO_BF16 | LPT_GEMM_FAST_ACCUMULATE;
  LPT_TRY(check_flags("flags", options.flags, known));
  LPT_TRY(check_choice("is_a_transposed", options.is_a_transposed, 1));
  LPT_TRY(check_choice("is_b_transposed", options.is_b_transposed, 1));
  LPT_TRY(check_choice("activation", options.activation, LPT_ACTIVATION_SWIGLU));
  if (options.emulation != nullptr) LPT_TRY(check_emulation(*options.emulation));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  if (!std::isfinite(options.alpha)) return invalid("alpha is %g: expected a finite number", options.alpha);
  if (!std::isfinite(options.beta)) return invalid("beta is %g: expected a finite number", options.beta);
  if (!(options.outlier_threshold >= 0) || std::isinf(options.outlier_threshold)) {
    return invalid("outlier_threshold is %g: expected 0, or a positive number", options.outlier_threshold);
  }
  out_gemm.alpha = options.alpha;
  out_gemm.beta = options.beta;
  out_gemm.is_portable = (options.flags & LPT_GEMM_PORTABLE_ORDER) != 0;
  out_gemm.may_accumulate_fast = (options.flags & LPT_GEMM_FAST_ACCUMULATE) != 0;
  if (options.emulation != nullptr) {
    out_gemm.arithmetic = options.emulation->arithmetic;
    out_gemm.arithmetic_bits = options.emulation->bits;
  }
  return {};
}

Status check_no_outliers(const lpt_gemm_options &options, const char *call) {
  if (!(options.outlier_threshold > 0)) return {};
  return unsupported("outlier_threshold is %g: %s takes 0", options.outlier_threshold, call);
}

Status check_operand(const Tensor *tensor, const char *name, bool needs_data, bool &is_transposed, MatrixView &out_view,
                     const Device &device) {
  LPT_TRY(check_tensor(tensor, name, device));
  if (tensor->format.is_sparse) return check_sparse_matrix(tensor, name, needs_data, out_view, device);
  const bool has_adjacent_columns = tensor->rank == 0 || tensor->strides[tensor->rank - 1] == 1;
  MatrixView view;
  if (!has_adjacent_columns) LPT_TRY(matrix_of(*tensor, name, view));
  if (!has_adjacent_columns && view.column_stride != 1 && view.row_stride == 1 && view.format.is_plain()) {
    out_view = view;
    std::swap(out_view.rows, out_view.columns);
    std::swap(out_view.row_stride, out_view.column_stride);
    is_transposed = !is_transposed;
    if (needs_data && view.data == nullptr) return invalid("%s has no data: only LPT_CHECK_ONLY takes that", name);
  } else {
    LPT_TRY(check_matrix(tensor, name, needs_data, out_view, device));
  }
  return check_holds_numbers(out_view.format.id, name);
}

Status check_second_operand(const Tensor *tensor, bool needs_data, bool &is_transposed, MatrixView &out_view,
                            const Device &device) {
  LPT_TRY(check_tensor(tensor, "b", device));
  if (!is_packed(tensor->layout)) return check_operand(tensor, "b", needs_data, is_transposed, out_view, device);
  if (tensor->rank != 2) {
    return invalid("b is packed weights, %s: expected n x k", tensor_text(*tensor).c_str());
  }
  return check_panels(*tensor, 0, is_transposed, out_view);
}

Status check_operand_at(const Tensor &tensor, const char *name, int64_t index, bool needs_data, bool &is_transposed,
                        MatrixView &out_view, const Device &device) {
  if (tensor.rank <= 2) return check_operand(&tensor, name, needs_data, is_transposed, out_view, device);
  Tensor matrix;
  LPT_TRY(matrix_at(tensor, name, index, matrix));
  return check_operand(&matrix, name, needs_data, is_transposed, out_view, device);
}

Status check_second_operand_at(const Tensor &tensor, int64_t index, bool needs_data, bool &is_transposed,
                               MatrixView &out_view, const Device &device) {
  if (!is_packed(tensor.layout)) {
    return check_operand_at(tensor, "b", index, needs_data, is_transposed, out_view, device);
  }
  return check_panels(tensor, tensor.rank == 2 ? 0 : index, is_transposed, out_view);
}

Status check_inner_sizes(const GemmCall &call, GemmShape &out_shape) {
  const MatrixView &a = call.a, &b = call.b;
  out_shape.m = call.is_a_transposed ? a.columns : a.rows;
  out_shape.k = call.is_a_transposed ? a.rows : a.columns;
  out_shape.n = call.is_b_transposed ? b.rows : b.columns;
  const int64_t b_k = call.is_b_transposed ? b.columns : b.rows;
  if (out_shape.k == b_k) return {};
  const char *const hint = out_shape.k != (call.is_b_transposed ? b.rows : b.columns) ? ""
                           : call.is_b_transposed ? "; they agree if b is not transposed"
                                                  : "; they agree if b is transposed";
  return invalid("inner sizes differ: a is %lld x %lld %s%s, b is %lld x %lld %s%s%s", number(a.rows),
                 number(a.columns), format_name(a.format.id).c_str(), call.is_a_transposed ? " transposed" : "",
                 number(b.rows), number(b.columns), format_name(b.format.id).c_str(),
                 call.is_b_transposed ? " transposed" : "", hint);
}

Status check_bias(const lpt_gemm_options &options, const GemmCall &call, int64_t count, int64_t n, const MatrixView &c,
                  MatrixView &out_bias, const Device &device) {
  out_bias = MatrixView();
  if (options.bias == nullptr) return {};
  LPT_TRY(check_matrix(options.bias, "bias", !is_check_only(options.flags), out_bias, device));
  if (out_bias.columns != n || (out_bias.rows != 1 && out_bias.rows != count)) {
    const std::string rows = count == 1 ? "" : text(", or %lld x %lld", number(count), number(n));
    return invalid("bias is %s: expected a vector of %lld%s", tensor_text(*options.bias).c_str(), number(n),
                   rows.c_str());
  }
  const lpt_format format = is_f64_gemm(call) ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  if (out_bias.format.id != format) {
    return invalid("bias is %s: expected %s", format_name(out_bias.format.id).c_str(), format_name(format).c_str());
  }
  return check_no_overlap(c, "c", out_bias, "bias");
}

int64_t matrix_count(const Tensor &tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i + 2 < tensor.rank; ++i) count *= tensor.extents[i];
  return count;
}

Status matrix_at(const Tensor &tensor, const char *name, int64_t index, Tensor &out_matrix) {
  const int32_t lead = tensor.rank - 2;
  int64_t offset = 0;
  int64_t rest = index;
  for (int32_t i = lead - 1; i >= 0; --i) {
    offset += rest % tensor.extents[i] * tensor.strides[i];
    rest /= tensor.extents[i];
  }
  out_matrix = tensor;
  out_matrix.rank = 2;
  for (int32_t i = 0; i < 2; ++i) {
    out_matrix.extents[i] = tensor.extents[lead + i];
    out_matrix.strides[i] = tensor.strides[lead + i];
  }
  const Packing packing = packing_of(tensor.format.element);
  if (tensor.data != nullptr) {
    out_matrix.data = static_cast<std::byte *>(tensor.data) + offset / packing.elements * packing.bytes;
  }
  if (!tensor.format.has_block_scale() || tensor.format.block_rows == LPT_BLOCK_EXTENT_FULL) return {};
  const int64_t rows = tensor.extents[lead];
  if (rows % tensor.format.block_rows != 0) {
    return unsupported("%s is %s: blocks of scales of %d rows span matrices", name, tensor_text(tensor).c_str(),
                       tensor.format.block_rows);
  }
  const int64_t block = index * (rows / tensor.format.block_rows) * tensor.block_scale_stride;
  if (tensor.block_scales != nullptr) {
    out_matrix.block_scales =
        static_cast<std::byte *>(tensor.block_scales) + block * (element_bits(tensor.format.block_scale) / 8);
  }
  if (tensor.zero_points != nullptr) out_matrix.zero_points = tensor.zero_points + block;
  return {};
}

}  // namespace lpt
