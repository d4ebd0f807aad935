// How a model computes and keeps its numbers, by name: the recipe of its linear layers, and the state of its optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "handles.hpp"

namespace lm {

// In which formats matrices and their moments are kept. Norm weights are always f32: there are few of them, and no weight
// decay holds them back.
struct StateFormats {
  std::string name = "f32";
  lpt_format weight = LPT_FORMAT_F32;
  lpt_format first_moment = LPT_FORMAT_F32;
  lpt_format second_moment = LPT_FORMAT_F32;
  bool is_expanded = false;                   // both moments
  lpt_format compensation = LPT_FORMAT_NONE;  // of what the weights' rounding lost
  lpt_rounding weight_rounding = LPT_ROUNDING_NEAREST_EVEN;
};

// Which GEMMs a run raises to high precision at its end.
enum class Raised { kNothing, kForward, kBackward, kAll };

struct Precision {
  std::string recipe = "f32";
  std::string head_recipe = "f32";
  StateFormats state = {};
  lpt_optimizer_method method = LPT_OPTIMIZER_METHOD_ADAMW;
  lpt_swiglu_smoothing smoothing = LPT_SWIGLU_SMOOTHING_NONE;
  lpt_format attention = LPT_FORMAT_NONE;  // of queries, keys, values and their gradients; NONE: f32
  lpt_format stored = LPT_FORMAT_NONE;     // what norms and gated units keep for backward; NONE: f32
  bool is_last_block_high = false;         // it takes the head's recipe
  bool is_unit_scaled = false;             // weights begin with deviation 1, GEMMs divide by the root of their columns
  Raised raised = Raised::kNothing;        // of the blocks' recipe
  double dense_share = 0.0;                // of the steps that blocks begin with in f32, before their recipe
  double mask_decay = 0.0;  // of weights that a sparse recipe drops: times them, added to their gradients
};

// Throws Error for an unknown name. An empty state is the one that the recipe's paper keeps; an empty method AdamW.
Precision precision_of(const std::string &recipe, const std::string &state = "", const std::string &method = "");

// The same model in f32 throughout: what its gradients are measured against.
Precision exact(const Precision &precision);

// Throws Error for an unknown name: "nothing", "forward", "backward" or "all".
Raised raised_of(const std::string &name);

std::vector<std::string> recipe_names();
std::vector<std::string> state_names();
std::vector<std::string> method_names();

// The recipe of a block's linear layers, with its GEMMs raised.
Recipe make_block_recipe(lpt_context *context, const Precision &precision, bool is_last_block);

}  // namespace lm
