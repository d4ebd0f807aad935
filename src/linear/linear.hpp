// A linear layer under a recipe.
#pragma once

#include <memory>

#include "src/cast/quantize.hpp"
#include "src/gemm/gemm.hpp"
#include "src/linear/recipe.hpp"
#include "src/ranks/comm.hpp"

namespace lpt {

// Which numbers of a weight stay, from one selection to the next.
struct SparseMask {
  std::shared_ptr<std::byte> bits;  // as masks of what was clipped; NULL: not selected yet
  uint32_t step = 0;                // at which it was selected
  float factor = 1.0f;              // of rule SOFT_THRESHOLD
};

// Memory of a layer.
struct Storage {
  std::shared_ptr<std::byte> memory;
  size_t bytes = 0;
};

// What prepare makes of a weight; replaced as a whole.
struct PreparedWeight {
  std::shared_ptr<const Allocator> allocator;  // of its storage on the CPU
  bool is_ready = false;
  bool is_f64 = false;  // the weight is f64, and so is what is saved as it comes
  // For the forward GEMM, output × input; for dgrad the same one, or one of its own, which is stored input × output
  // where it has block scales or a rotation: along the inner size.
  MatrixView forward, dgrad;
  Storage forward_storage, dgrad_storage;
  Storage mask;                         // of what the forward cast did not clip, where wgrad wants it
  lpt_random random = LPT_RANDOM_INIT;  // signs of the forward and the dgrad GEMM are drawn from it
  SparseMask sparse;
};

}  // namespace lpt

struct lpt_linear {
  lpt::HandleKind kind = lpt::HandleKind::kLinear;
  lpt_recipe recipe;
  std::unique_ptr<lpt_recipe> next_recipe;  // from the next prepare on; or NULL
  int64_t input_columns = 0;
  int64_t output_columns = 0;
  lpt::Device device;  // where its casts and scalers lie
  lpt::Scaler scalers[lpt::kOperandCount];
  lpt::PreparedWeight weight;
  bool is_watched = false;
  lpt::CastStatistics sums[lpt::kCastCount];  // of what its casts did while it is watched
};

namespace lpt {

using Linear = lpt_linear;

Status create_linear(const Context &context, const Recipe &recipe, const lpt_linear_shape &shape, Linear **out_linear);
size_t linear_saved_bytes(const Linear &linear, int64_t rows);
size_t linear_cast_bytes(const Linear &linear);
Status prepare_linear(Context &context, Linear &linear, const Tensor *weight, const lpt_linear_options &options);
Status forward_linear(Context &context, Linear &linear, const Tensor *input, const lpt_linear_options &options,
                      Tensor *saved, Tensor *output);
Status backward_linear(Context &context, Linear &linear, const Tensor *saved, const Tensor *output_gradient,
                       const lpt_linear_options &options, Tensor *input_gradient, Tensor *weight_gradient,
                       Tensor *bias_gradient);
Status share_amax(Context &context, Comm &comm, Linear *const *linears, int64_t count);
Status read_linear_mask(Context &context, const Linear &linear, Tensor *mask);
void set_next_recipe(Linear &linear, const Recipe &recipe);
Status watch_linear(Linear &linear, bool is_watched);
Status check_place(const Context &context, const Linear &linear);
Status check_ranks(const Linear &linear, const lpt_linear_options &options);
Status update_linears(Context &context, Linear *const *linears, int64_t count);

// The state; that of a device is waited for.
size_t linear_state_bytes(const Linear &linear);
Status save_linear(const Context &context, const Linear &linear, void *buffer, size_t buffer_bytes);
Status load_linear(const Context &context, Linear &linear, const void *buffer, size_t buffer_bytes);

}  // namespace lpt
