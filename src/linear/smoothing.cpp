// Smoothing of a prepared layer: w is multiplied by factors of its columns before its casts, and x is divided by them. The GEMM
// x · wᵀ does not change, and each operand has any format and rotation. Backward multiplies dw by the factors and divides dx.
#include "src/formats/block_scale.hpp"
#include "src/linear/parts.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status scale_columns(const Call &call, const float *factors, MatrixView &view) {
  const MatrixView source = view;
  LPT_TRY(take_view(call, format_of(LPT_FORMAT_F32), source.rows, source.columns, view));
  return rotate_view(call, source, view, Rotation{.factors = factors});
}

}  // namespace

const float *column_factors(const Linear &linear) {
  return reinterpret_cast<const float *>(linear.weight.factors.memory.get());
}

const float *inverse_column_factors(const Linear &linear) {
  const float *const factors = column_factors(linear);
  return factors == nullptr ? nullptr : factors + linear.input_columns;
}

Status smooth_weight(const Call &call, MatrixView &view, PreparedWeight &weight) {
  const Tensor *const tensor = call.options.input_smoothing;
  if (tensor == nullptr) return {};
  const int64_t columns = view.columns;
  void *codes = nullptr;
  LPT_TRY(check_vector(tensor, "input_smoothing", LPT_FORMAT_E8M0FNU, columns, !call.is_check_only, &codes));
  if (view.format.id == LPT_FORMAT_F64) {
    return unsupported("weight is f64: expected f32, bf16, f16 or what is decoded to them, with input_smoothing");
  }
  if (!call.is_check_only) {
    LPT_TRY(allocate_storage(call, 2 * static_cast<size_t>(columns) * sizeof(float), weight.factors));
    auto *const factors = reinterpret_cast<float *>(weight.factors.memory.get());
    for (int64_t c = 0; c < columns; ++c) {
      factors[c] = block_scale_value(LPT_FORMAT_E8M0FNU, static_cast<const uint8_t *>(codes)[c]);
      factors[columns + c] = 1.0f / factors[c];  // exact: a power of two
    }
  }
  return scale_columns(call, reinterpret_cast<const float *>(weight.factors.memory.get()), view);
}

Status smooth_input(const Call &call, const Linear &linear, MatrixView &input) {
  const float *const inverses = inverse_column_factors(linear);
  return inverses == nullptr ? Status() : scale_columns(call, inverses, input);
}

}  // namespace lpt
