// Types and functions that prepare, forward and backward of a linear layer share: operands, rotations, masks, and the saved
// input.
#pragma once

#include <optional>

#include "kernels/linear/signs.hpp"
#include "src/linear/linear.hpp"
#include "src/parallel/pending_reductions.hpp"

namespace lpt {

// The arguments of one call of a layer.
struct Call {
  Context &context;
  const Recipe &recipe;
  Scaler *scalers;
  const lpt_linear_options &options;
  bool is_check_only;
  CastStatistics *sums;  // NULL, or the statistics of each cast, which calls add to

  const CastRule &cast(lpt_linear_cast which) const { return recipe.casts[which]; }
  const GemmRule &gemm(lpt_linear_gemm which) const { return recipe.gemms[which]; }
};

// Returns the statistics that a call of the layer adds to; NULL if the layer is not watched.
inline CastStatistics *watched_sums(Linear &linear) { return linear.is_watched ? linear.sums : nullptr; }

Status check_call(const Context &context, const Linear &linear, const lpt_linear_options &options, bool needs_prepared);

// ranks.cpp: layers that are divided over ranks.

// Suppresses progress reports for the duration of a call with a comm.
class SuppressRankProgress {
 public:
  explicit SuppressRankProgress(const Call &call) {
    if (call.options.comm != nullptr) silence_.emplace(call.context);
  }

 private:
  std::optional<SuppressProgress> silence_;
};

// Returns the random source of the casts of an operand. Ranks draw different bits for operands that only one of them has.
lpt_random random_of(const lpt_linear_options &options, lpt_linear_operand operand);

// Returns the inner size of the forward GEMM over all ranks.
double inner_columns(const Call &call, const Linear &linear);

// Runs the forward GEMM and sums its output over ranks.
Status multiply_over_ranks(const Call &call, const GemmCall &gemm);

// Returns the gradient of the output for the local backward pass: `gradient`, or in scratch the gradient joined over ranks.
Status join_gradient(const Call &call, const MatrixView &gradient, MatrixView &out_view);

// Begins the in-place sum over ranks of the gradient of the input. `out_flight` is NULL if no sum is needed.
Status begin_sum(const Call &call, const MatrixView &gradient, std::unique_ptr<PendingReductions> &out_flight);

struct Rotation;

// work.cpp: memory and operations on the device of the context.

const Device &device_of(const Call &call);
bool is_on_device(const Call &call);

// Rejects options that layers on a device do not support, before any work is queued.
Status check_supported(const Call &call);

// Runs body(call). On a device it runs a check first, so that a rejected call queues no work.
template <typename Body>
Status run_call(const Call &call, const Body &body) {
  if (is_on_device(call) && !call.is_check_only) {
    Call check = call;
    check.is_check_only = true;
    LPT_TRY(body(check));
    call.context.choices.clear();
  }
  return body(call);
}

// Allocates memory of the layer. The CPU reuses spare memory of the context. A device reuses the memory of the previous
// weight if the sizes match, because freeing it waits for the device.
Status allocate_storage(const Call &call, size_t bytes, Storage &storage);

// Wrappers of take_matrix(), cast_matrix(), dequantize_matrix(), widen_matrix(), rotate_matrix() and run_gemm().
Status take_view(const Call &call, const Format &format, int64_t rows, int64_t columns, MatrixView &out_view);
Status cast_view(const Call &call, const MatrixView &source, const MatrixView &target, const Cast &cast);
Status decode_view(const Call &call, const MatrixView &source, const MatrixView &target);
Status widen_view(const Call &call, const MatrixView &source, const MatrixView &target);
Status rotate_view(const Call &call, const MatrixView &source, const MatrixView &target, const Rotation &rotation);
Status multiply_views(const Call &call, const GemmCall &gemm);

// Sets the scales of a view to 1, for the rule FIXED.
Status write_unit_scales(const Call &call, const MatrixView &view);

// Computes target += factor · source on a device. `source` is f32.
Status add_on_device(const Call &call, const MatrixView &source, float factor, const MatrixView &target);

// Takes a row of ones in scratch, in a format that GEMMs multiply with `beside`.
Status take_ones(const Call &call, lpt_format beside, int64_t count, MatrixView &out_ones);

// rotate.cpp: rotations and masks, in f32 scratch.

// A rotation of the columns of a matrix; size 0: none. Columns are multiplied by their factors first.
struct Rotation {
  int32_t size = 0;
  const float *signs = nullptr;  // one for each column
  bool is_inverse = false;
  const float *factors = nullptr;  // NULL, or one for each column
};

// Creates the rotation of `columns` columns for a GEMM, with signs from `random`. On a device the signs are drawn from `seed`
// unless it is NULL.
Status make_rotation(const Call &call, lpt_linear_gemm gemm, const lpt_random &random, const SignSeed *seed,
                     int64_t columns, Rotation &out_rotation);

// Masks have one bit per element, rows that begin on a byte, and the lowest bit first. A bit is 1 if the cast did not clip
// the element.
constexpr int64_t mask_row_bytes(int64_t columns) { return (columns + 7) / 8; }
Status write_mask(const Call &call, const MatrixView &numbers, const MatrixView &codes, std::byte *mask);
Status apply_mask(const Call &call, const std::byte *mask, const MatrixView &numbers);

// Operations on a gradient after its GEMM, in the order of the members.
struct GradientEpilogue {
  Rotation rows;                    // first: the inverse rotation of its rows
  const std::byte *mask = nullptr;  // second: elements that were clipped become zero
  bool has_mask = false;
  Rotation columns;                // third: the inverse of the forward rotation
  const float *factors = nullptr;  // fourth: columns are multiplied by them

  bool is_needed() const { return rows.size != 0 || has_mask || columns.size != 0 || factors != nullptr; }
};

// Applies the epilogue to `gemm` in f32 scratch. Stores the result in `target`, or adds it to `target`.
Status apply_gradient_epilogue(const Call &call, const GradientEpilogue &epilogue, const MatrixView &gemm,
                               bool is_added, const MatrixView &target);

// smoothing.cpp: factors of input columns, which prepare folds into the weight.

// Reads the factors of prepare, and multiplies the columns of the weight by them in f32 scratch.
Status smooth_weight(const Call &call, MatrixView &view, PreparedWeight &weight);

// Divides the columns of the input by the factors of the weight in f32 scratch.
Status smooth_input(const Call &call, const Linear &linear, MatrixView &input);

// Returns the factors of the columns of the weight, or their inverses; NULL without smoothing.
const float *column_factors(const Linear &linear);
const float *inverse_column_factors(const Linear &linear);

// sparse.cpp: N:M masks.

// Returns the weight for its GEMMs: `weight`, or a masked copy in f32 scratch. `out_mask` is the mask of `linear` or a new
// selection.
Status mask_weight(const Call &call, const Linear &linear, const MatrixView &weight, SparseMask &out_mask,
                   MatrixView &out_view);

// Replaces the input by a masked copy in scratch if the recipe makes it sparse.
Status mask_input(const Call &call, MatrixView &input);

// Returns the output gradient for wgrad: `gradient`, or a masked copy in scratch.
Status mask_gradient(const Call &call, const MatrixView &gradient, MatrixView &out_view);

void write_sparse_mask(const Linear &linear, BlobWriter &writer);
Status read_sparse_mask(BlobReader &reader, const Linear &linear, SparseMask &out_mask);

// operand.cpp: casts.

Format format_of(lpt_format id);
bool is_tensor_scaled(const Format &format);

// Returns the format with an additional e8m0fnu factor per column, which decodes a smoothed input.
Format with_column_factors(const Format &format);

// Returns whether the inner size of the GEMM of this cast is along the rows of x, w or dy.
bool is_inner_along_rows(lpt_linear_cast which);

// Returns whether a cast is stored as columns × rows of its source. Blocks and rotations are along the inner size of the
// GEMM, and so are 8-bit operands on a device.
bool is_stored_transposed(const Recipe &recipe, lpt_linear_cast which);

// Returns whether dgrad multiplies the weight of the forward GEMM with the same codes.
bool is_weight_shared(const Recipe &recipe);

// Returns whether wgrad multiplies the saved input of the forward GEMM with the same codes.
bool is_input_kept(const Recipe &recipe);

// Returns whether the forward GEMM and the saved input share one cast.
bool is_input_shared(const Recipe &recipe);

// Returns whether the gradient of a backward GEMM is masked where the forward cast of x (dgrad) or w (wgrad) clipped.
bool is_clipped(const Recipe &recipe, lpt_linear_gemm gemm);

// A matrix, and whether it is stored transposed.
struct Operand {
  MatrixView view;
  bool is_transposed = false;
};

// Returns the source of a cast: `source`, or its rotation in scratch. With `is_f32` the result is f32 in the orientation of
// the cast.
Status make_source(const Call &call, lpt_linear_cast which, const MatrixView &source, const Rotation &rotation,
                   bool is_f32, Operand &out_source);

// Returns the target of a cast of `source`: format, shape and orientation, without memory.
Operand shape_cast(const Call &call, lpt_linear_cast which, const Operand &source, bool is_smoothed);

// Properties that distinguish the casts of one operand.
struct Draw {
  int32_t index = 0;           // of stochastic casts
  bool is_rest = false;        // second of two parts; its scale is computed from its amax, without a scaler
  bool is_first_part = false;  // first of two parts; rounded to nearest
  const uint8_t *smoothing = nullptr;
};

// Casts to `target`. `columns` is the number of columns of x, w or dy.
Status cast_operand(const Call &call, lpt_linear_cast which, const Operand &source, int64_t columns, const Draw &draw,
                    const Operand &target);

// Returns the operand of a GEMM: `source` without a cast, or its cast in scratch.
Status make_operand(const Call &call, lpt_linear_cast which, const MatrixView &source, const Rotation &rotation,
                    const uint8_t *smoothing, Operand &out_operand);

// gradient.cpp: backward GEMMs.

// Returns whether both backward GEMMs share one cast of dy.
bool is_gradient_shared(const Recipe &recipe);

// A GEMM whose left operand is a sum of casts of dy. `operand` is the last of these casts. If it is set before the call, the
// GEMM uses it: it is the shared cast of the other backward GEMM.
struct GradientGemm {
  lpt_linear_gemm which;
  GemmCall gemm;  // b, c, alpha and beta
  Operand operand;
};

// Computes c = alpha · dy · b, or with dyᵀ, and applies the epilogue. dy is cast by the recipe.
Status multiply_gradient(const Call &call, const MatrixView &dy, const Rotation &rotation,
                         const GradientEpilogue &epilogue, GradientGemm &gradient);

// saved.cpp: the saved input.

// The first bytes of the saved input. They identify buffers that forward did not write for this layer.
struct SavedHeader {
  uint32_t magic;
  uint32_t is_smoothed;
  int64_t rows;
  int64_t input_columns;
  int64_t format;
  SignSeed seed;  // source of the signs of wgrad
};

// Returns the cast that is saved: that of wgrad, or that of the forward GEMM if wgrad is computed from it.
lpt_linear_cast saved_cast(const Recipe &recipe);

// The saved input in the vector of the caller.
struct Saved {
  Operand input;
  std::byte *mask = nullptr;
  size_t bytes = 0;
};
Saved lay_out_saved(const Linear &linear, int64_t rows, bool is_smoothed, std::byte *memory);

// CPU: rejects an output gradient whose number of rows differs from that of the input that forward saved.
Status check_saved_rows(const Tensor *saved, const Linear &linear, int64_t rows);

Status check_saved(const Tensor *saved, const Linear &linear, int64_t rows, bool needs_data, std::byte **out_memory);
void clear_saved_header(std::byte *memory);
Status write_saved_header(const Call &call, const Linear &linear, int64_t rows, bool is_smoothed, std::byte *memory);

// Returns the seed that forward wrote.
const SignSeed *saved_seed(const std::byte *memory);

Status read_saved_header(const std::byte *memory, const Linear &linear, int64_t rows, SavedHeader &out_header);

}  // namespace lpt
