// A linear layer with a recipe.
#pragma once

#include <memory>

#include "src/cast/quantize.hpp"
#include "src/gemm/gemm.hpp"
#include "src/linear/recipe.hpp"
#include "src/ranks/comm.hpp"

namespace lpt {

// The elements of a weight that an N:M selection keeps until the next selection.
struct SparseMask {
  std::shared_ptr<std::byte> bits;  // bits as in write_mask(); NULL: not selected
  uint32_t step = 0;                // step of the selection
  float factor = 1.0f;              // for rule SOFT_THRESHOLD
};

// Memory of a layer.
struct Storage {
  std::shared_ptr<std::byte> memory;
  size_t bytes = 0;
};

// The result of prepare for one weight. prepare replaces it completely.
struct PreparedWeight {
  std::shared_ptr<const Allocator> allocator;  // of the storage on the CPU
  bool is_ready = false;
  bool is_f64 = false;  // the weight is f64; so is a saved input without a cast
  // `forward` is output × input. `dgrad` is the same view or a separate cast. It is stored input × output, along the inner
  // size, if it has block scales or a rotation.
  MatrixView forward, dgrad;
  Storage forward_storage, dgrad_storage;
  Storage mask;                         // elements that the forward cast did not clip, if wgrad needs them
  Storage factors;                      // with input smoothing: f32 factors of the input columns, then their inverses
  lpt_random random = LPT_RANDOM_INIT;  // source of the signs of the forward and dgrad GEMMs
  SparseMask sparse;
};

}  // namespace lpt

struct lpt_linear {
  lpt::HandleKind kind = lpt::HandleKind::kLinear;
  lpt_recipe recipe;
  std::unique_ptr<lpt_recipe> next_recipe;  // NULL, or the recipe from the next prepare on
  int64_t input_columns = 0;
  int64_t output_columns = 0;
  lpt::Device device;  // device of its casts and scalers
  lpt::Scaler scalers[lpt::kOperandCount];
  lpt::PreparedWeight weight;
  bool is_watched = false;
  lpt::CastStatistics sums[lpt::kCastCount];  // statistics of its casts while the layer is watched
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

// State of the layer. For a device, the functions wait.
size_t linear_state_bytes(const Linear &linear);
Status save_linear(const Context &context, const Linear &linear, void *buffer, size_t buffer_bytes);
Status load_linear(const Context &context, Linear &linear, const void *buffer, size_t buffer_bytes);

}  // namespace lpt
