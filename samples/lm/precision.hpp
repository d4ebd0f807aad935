// Named precisions of a model: the recipe of its linear layers, and the state of its optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "handles.hpp"

namespace lm {

// Formats of matrices and their moments. Norm weights are always f32, because they are few and have no weight decay.
struct StateFormats {
  std::string name = "f32";
  lpt_format weight = LPT_FORMAT_F32;
  lpt_format first_moment = LPT_FORMAT_F32;
  lpt_format second_moment = LPT_FORMAT_F32;
  bool is_expanded = false;                   // both moments
  lpt_format compensation = LPT_FORMAT_NONE;  // of the rounding error of the weights
  lpt_rounding weight_rounding = LPT_ROUNDING_NEAREST_EVEN;
};

// What a run computes in bf16 at its end, or in f32. The last two also change the learning rates of these steps:
//   kQaf  backward GEMMs (arXiv 2505.19115): 40 steps of warm-up, then half a cosine
//   kFnt  all operands but the weights (arXiv 2112.10769): up for half of the steps, then down to zero
enum class Raised { kNothing, kForward, kBackward, kAll, kAllF32, kQaf, kFnt };

struct Precision {
  std::string recipe = "f32";
  std::string head_recipe = "f32";
  StateFormats state = {};
  lpt_optimizer_method method = LPT_OPTIMIZER_METHOD_ADAMW;
  lpt_swiglu_smoothing smoothing = LPT_SWIGLU_SMOOTHING_NONE;
  lpt_format activations = LPT_FORMAT_NONE;  // of the layers of a block, and their gradients; NONE: f32
  lpt_format stored = LPT_FORMAT_NONE;       // data that norms and gated units keep for backward; NONE: f32
  bool is_last_block_high = false;           // it uses the recipe of the head
  bool is_unit_scaled = false;       // weights start with deviation 1, GEMMs divide by the root of their columns
  Raised raised = Raised::kNothing;  // of the recipe of the blocks
  double dense_share = 0.0;  // fraction of the steps at the start in which blocks use f32 instead of their recipe
  double mask_decay = 0.0;   // of weights that a sparse recipe drops: times them, added to their gradients
};

// Throws Error for an unknown name. An empty state is that of the paper of the recipe; an empty method is AdamW.
Precision precision_of(const std::string &recipe, const std::string &state = "", const std::string &method = "");

// Returns the same model in f32, the reference for its gradients.
Precision exact(const Precision &precision);

// Throws Error for an unknown name: "nothing", "forward", "backward", "all", "all_f32", "qaf" or "fnt".
Raised raised_of(const std::string &name);

std::vector<std::string> recipe_names();
std::vector<std::string> state_names();
std::vector<std::string> method_names();

// Returns the recipe of the linear layers of a block, with the GEMMs of `raised` in high precision.
Recipe make_block_recipe(lpt_context *context, const Precision &precision, bool is_last_block);

}  // namespace lm
