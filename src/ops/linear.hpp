// A linear layer under a recipe.
#pragma once

#include <string>

#include "src/ops/gemm.hpp"
#include "src/ops/quantize.hpp"

namespace lpt {

constexpr int kCastCount = 6;     // lpt_cast_values
constexpr int kOperandCount = 3;  // lpt_operand_values

// How one operand of one product is cast; NONE: it is used as it comes.
struct CastRule {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_overflow overflow = LPT_OVERFLOW_SATURATE;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  int32_t stochastic_bits = 16;
  int32_t philox_rounds = 7;

  bool operator==(const CastRule &) const = default;
};

}  // namespace lpt

struct lpt_recipe {
  lpt::HandleKind kind = lpt::HandleKind::kRecipe;
  lpt::CastRule casts[lpt::kCastCount];
  lpt_scaler_options scalers[lpt::kOperandCount] = {LPT_SCALER_OPTIONS_INIT, LPT_SCALER_OPTIONS_INIT,
                                                    LPT_SCALER_OPTIONS_INIT};
};

struct lpt_linear {
  lpt::HandleKind kind = lpt::HandleKind::kLinear;
  lpt_recipe recipe;
  int64_t input_columns = 0;
  int64_t output_columns = 0;
  lpt::Scaler scalers[lpt::kOperandCount];
  bool is_prepared = false;
  bool is_f64 = false;  // the weight is f64, and so is what is saved as it comes
  // The weight for the forward product, output × input, and for dgrad: the same one, or a cast of its own, stored
  // input × output when it has block scales, so that blocks run along the inner size.
  lpt::MatrixView forward_weight, dgrad_weight;
  std::shared_ptr<std::byte> forward_storage, dgrad_storage;
};

namespace lpt {

using Recipe = lpt_recipe;
using Linear = lpt_linear;

Status make_recipe(const char *name, Recipe &out_recipe);
Status set_recipe_cast(Recipe &recipe, lpt_cast cast, lpt_format format, const lpt_quantize_options &options);

Status create_linear(const Recipe &recipe, const lpt_linear_shape &shape, Linear **out_linear);
size_t linear_saved_bytes(const Linear &linear, int64_t rows);
size_t linear_cast_bytes(const Linear &linear);
Status prepare_linear(Context &context, Linear &linear, const Tensor *weight, const lpt_linear_options &options);
Status forward_linear(Context &context, Linear &linear, const Tensor *input, const lpt_linear_options &options,
                      Tensor *saved, Tensor *output);
Status backward_linear(Context &context, Linear &linear, const Tensor *saved, const Tensor *output_gradient,
                       const lpt_linear_options &options, Tensor *input_gradient, Tensor *weight_gradient,
                       Tensor *bias_gradient);
void write_linear(const Linear &linear, BlobWriter &writer);
Status load_linear(Linear &linear, const void *buffer, size_t buffer_bytes);

}  // namespace lpt
