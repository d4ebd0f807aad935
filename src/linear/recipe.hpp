// Recipes: the casts of the operands of a linear layer's three GEMMs, and the options of the GEMMs.
#pragma once

#include "src/call/context.hpp"
#include "src/cast/scaler.hpp"

namespace lpt {

constexpr int kCastCount = 6;     // lpt_linear_cast_values
constexpr int kOperandCount = 3;  // lpt_linear_operand_values
constexpr int kGemmCount = 3;     // lpt_linear_gemm_values

// The cast of one operand of one GEMM; format NONE: no cast.
struct CastRule {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_overflow overflow = LPT_OVERFLOW_SATURATE;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  int32_t stochastic_bits = 16;
  int32_t philox_rounds = 7;

  bool operator==(const CastRule &) const = default;
};

// The options of one GEMM: lpt_linear_gemm_options.
struct GemmRule {
  int32_t hadamard_size = 0;
  lpt_hadamard_signs hadamard_signs = LPT_HADAMARD_SIGNS_NONE;
  lpt_hadamard_axis hadamard_axis = LPT_HADAMARD_AXIS_INNER;
  lpt_linear_source source = LPT_LINEAR_SOURCE_PLAIN;
  int32_t draws = 1;
  int32_t parts = 1;
  lpt_linear_output_scale output_scale = LPT_LINEAR_OUTPUT_SCALE_NONE;
  bool may_accumulate_fast = false;

  bool is_rotated() const { return hadamard_size != 0 && hadamard_axis == LPT_HADAMARD_AXIS_INNER; }
  bool is_rotated_along_rows() const { return hadamard_size != 0 && hadamard_axis == LPT_HADAMARD_AXIS_ROWS; }
};

// The elements of an operand that are kept: the members of lpt_sparse_options that are not specific to a call. kept is 0 for
// a dense operand.
struct SparseRule {
  int32_t kept = 0;
  int32_t of = 0;
  lpt_sparse_rule rule = LPT_SPARSE_RULE_MAGNITUDE;
  lpt_sparse_direction direction = LPT_SPARSE_DIRECTION_ROW;
  lpt_sparse_solver solver = LPT_SPARSE_SOLVER_AUTO;
  int32_t iterations = 0;
  double sharpness = 0.0;
  int32_t philox_rounds = 7;
  int32_t interval = 1;  // steps between selections

  bool is_used() const { return kept != 0; }
  bool operator==(const SparseRule &) const = default;
};

}  // namespace lpt

struct lpt_recipe {
  lpt::HandleKind kind = lpt::HandleKind::kRecipe;
  lpt::CastRule casts[lpt::kCastCount];
  lpt::GemmRule gemms[lpt::kGemmCount];
  lpt_scaler_options scalers[lpt::kOperandCount] = {LPT_SCALER_OPTIONS_INIT, LPT_SCALER_OPTIONS_INIT,
                                                    LPT_SCALER_OPTIONS_INIT};
  lpt::SparseRule sparsity[lpt::kOperandCount];
  bool is_for_device = false;  // layer on a device: 8-bit operands of GEMMs are stored along the inner size
};

namespace lpt {

using Recipe = lpt_recipe;

Status make_recipe(const char *name, Recipe &out_recipe);
int64_t recipe_count();
const char *recipe_name(int64_t index);  // nullptr if no recipe has this index

Status set_recipe_cast(Recipe &recipe, lpt_linear_cast cast, lpt_format format, const lpt_quantize_options &options);
Status set_recipe_gemm(Recipe &recipe, lpt_linear_gemm gemm, const lpt_linear_gemm_options &options);
Status set_recipe_sparsity(Recipe &recipe, lpt_linear_operand operand, const lpt_sparse_options *options,
                           int32_t interval);
Status raise_recipe(Recipe &recipe, lpt_linear_gemm gemm, lpt_format format);

}  // namespace lpt
