// What prepare, forward and backward of a linear layer share: operands, rotations, masks, and what is saved.
#pragma once

#include <optional>

#include "kernels/linear/signs.hpp"
#include "src/linear/linear.hpp"
#include "src/parallel/pending_reductions.hpp"

namespace lpt {

// One call of a layer.
struct Call {
  Context &context;
  const Recipe &recipe;
  Scaler *scalers;
  const lpt_linear_options &options;
  bool is_check_only;
  CastStatistics *sums;  // of each cast, added to; or NULL

  const CastRule &cast(lpt_linear_cast which) const { return recipe.casts[which]; }
  const GemmRule &gemm(lpt_linear_gemm which) const { return recipe.gemms[which]; }
};

// Where a call of the layer counts; NULL if it is not watched.
inline CastStatistics *watched_sums(Linear &linear) { return linear.is_watched ? linear.sums : nullptr; }

Status check_call(const Context &context, const Linear &linear, const lpt_linear_options &options, bool needs_prepared);

// ---- ranks.cpp: layers that ranks share

// With a comm, a SuppressProgress.
class SilenceOfRanks {
 public:
  explicit SilenceOfRanks(const Call &call) {
    if (call.options.comm != nullptr) silence_.emplace(call.context);
  }

 private:
  std::optional<SuppressProgress> silence_;
};

// The random numbers of casts of an operand: ranks draw apart for what only one of them has.
lpt_random random_of(const lpt_linear_options &options, lpt_linear_operand operand);

// The inner size of the forward GEMM over all ranks.
double inner_columns(const Call &call, const Linear &linear);

// The forward GEMM and what ranks make of it.
Status multiply_over_ranks(const Call &call, const GemmCall &gemm);

// The output's gradient as the layer's own backward takes it: itself, or joined with that of the other ranks, in scratch.
Status join_gradient(const Call &call, const MatrixView &gradient, MatrixView &out_view);

// Begins the sum over ranks of the input's gradient, in place; NULL: there is none to make.
Status begin_sum(const Call &call, const MatrixView &gradient, std::unique_ptr<PendingReductions> &out_flight);

struct Rotation;

// ---- work.cpp: memory and work, where the context works

const Device &device_of(const Call &call);
bool is_on_device(const Call &call);

// Rejects what a device has no work for, before any is queued.
Status check_served(const Call &call);

// Runs body(call). On a device as a check first, so that a rejection leaves nothing queued.
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

// As take_matrix(), cast_matrix(), dequantize_matrix(), widen_matrix(), rotate_matrix() and run_gemm().
Status take_view(const Call &call, const Format &format, int64_t rows, int64_t columns, MatrixView &out_view);
Status cast_view(const Call &call, const MatrixView &source, const MatrixView &target, const Cast &cast);
Status decode_view(const Call &call, const MatrixView &source, const MatrixView &target);
Status widen_view(const Call &call, const MatrixView &source, const MatrixView &target);
Status rotate_view(const Call &call, const MatrixView &source, const MatrixView &target, const Rotation &rotation);
Status multiply_views(const Call &call, const GemmCall &gemm);

// What a format's scales are worth where they are given: ones.
Status write_unit_scales(const Call &call, const MatrixView &view);

// On a device: target += factor · source, which is f32.
Status add_on_device(const Call &call, const MatrixView &source, float factor, const MatrixView &target);

// A row of ones in scratch, in a format that multiplies with `beside`.
Status take_ones(const Call &call, lpt_format beside, int64_t count, MatrixView &out_ones);

// ---- rotate.cpp: rotations and masks, in f32 scratch

// A rotation of the columns of a matrix; size 0: none.
struct Rotation {
  int32_t size = 0;
  const float *signs = nullptr;  // one for each column
  bool is_inverse = false;
};

// The rotation of `columns` columns that a GEMM has, with signs from `random`; on a device from `seed`, if it is not NULL.
Status make_rotation(const Call &call, lpt_linear_gemm gemm, const lpt_random &random, const SignSeed *seed,
                     int64_t columns, Rotation &out_rotation);

// Masks: a bit for each element, rows on whole bytes, lowest bit first; 1: the cast did not clip it.
constexpr int64_t mask_row_bytes(int64_t columns) { return (columns + 7) / 8; }
Status write_mask(const Call &call, const MatrixView &numbers, const MatrixView &codes, std::byte *mask);
Status apply_mask(const Call &call, const std::byte *mask, const MatrixView &numbers);

// What is done to a gradient after its GEMM.
struct GradientEpilogue {
  Rotation rows;                    // a rotation of its rows is undone
  const std::byte *mask = nullptr;  // then what was clipped becomes zero
  bool has_mask = false;
  Rotation columns;  // then the forward rotation is undone

  bool is_needed() const { return rows.size != 0 || has_mask || columns.size != 0; }
};

// Does all of it to `gemm` in f32 scratch, and writes it to `target`, or adds it.
Status apply_gradient_epilogue(const Call &call, const GradientEpilogue &epilogue, const MatrixView &gemm,
                               bool is_added, const MatrixView &target);

// ---- sparse.cpp: N:M masks

// The weight as its GEMMs take it: itself, or masked in f32 scratch. The mask is `linear`'s, or a new one.
Status mask_weight(const Call &call, const Linear &linear, const MatrixView &weight, SparseMask &out_mask,
                   MatrixView &out_view);

// The output gradient as wgrad takes it: itself, or masked in scratch.
Status mask_gradient(const Call &call, const MatrixView &gradient, MatrixView &out_view);

void write_sparse_mask(const Linear &linear, BlobWriter &writer);
Status read_sparse_mask(BlobReader &reader, const Linear &linear, SparseMask &out_mask);

// ---- operand.cpp: casts

Format format_of(lpt_format id);
bool is_tensor_scaled(const Format &format);

// The same element with one more e8m0fnu factor per column: what a smoothed input decodes by.
Format with_column_factors(const Format &format);

// Whether the inner size of this cast's GEMM runs along the rows of x, w or dy.
bool is_inner_along_rows(lpt_linear_cast which);

// Whether a cast is stored columns × rows of its source: blocks and rotations run along the GEMM's inner size, and so do the
// bytes that a device multiplies.
bool is_stored_transposed(const Recipe &recipe, lpt_linear_cast which);

// True if dgrad multiplies the forward GEMM's weight, codes and all.
bool is_weight_shared(const Recipe &recipe);

// True if wgrad multiplies what forward saved of its own GEMM, codes and all.
bool is_input_kept(const Recipe &recipe);

// True if one cast of the input serves the forward GEMM and what is saved.
bool is_input_shared(const Recipe &recipe);

// Whether a backward GEMM's gradient is masked by what the forward cast of x (dgrad) or of w (wgrad) clipped.
bool is_clipped(const Recipe &recipe, lpt_linear_gemm gemm);

// A matrix and whether it is stored with rows and columns changed.
struct Operand {
  MatrixView view;
  bool is_transposed = false;
};

// What a cast reads: `source` itself, or its rotation in scratch. With `is_f32` always f32 in the cast's orientation.
Status make_source(const Call &call, lpt_linear_cast which, const MatrixView &source, const Rotation &rotation,
                   bool is_f32, Operand &out_source);

// Where a cast of `source` goes: format and orientation, without memory.
Operand shape_cast(const Call &call, lpt_linear_cast which, const Operand &source, bool is_smoothed);

// What tells casts of one operand apart.
struct Draw {
  int32_t index = 0;           // of stochastic casts
  bool is_rest = false;        // the second of two parts: its scale is of the moment
  bool is_first_part = false;  // of two: to nearest
  const uint8_t *smoothing = nullptr;
};

// Casts into `target`. `columns` are those of x, w or dy.
Status cast_operand(const Call &call, lpt_linear_cast which, const Operand &source, int64_t columns, const Draw &draw,
                    const Operand &target);

// The operand of a GEMM: `source` as it comes, or its cast in scratch.
Status make_operand(const Call &call, lpt_linear_cast which, const MatrixView &source, const Rotation &rotation,
                    const uint8_t *smoothing, Operand &out_operand);

// ---- gradient.cpp

// True if one cast of dy serves both backward GEMMs.
bool is_gradient_shared(const Recipe &recipe);

// A GEMM whose left operand is the sum of casts of dy; `operand` holds the last of them, or the one that another GEMM
// made before.
struct GradientGemm {
  lpt_linear_gemm which;
  GemmCall gemm;  // b, c, alpha and beta
  Operand operand;
};

// c = alpha · dy · b, or of dyᵀ, with dy cast as the recipe says, then what ends it.
Status multiply_gradient(const Call &call, const MatrixView &dy, const Rotation &rotation,
                         const GradientEpilogue &epilogue, GradientGemm &gradient);

// ---- saved.cpp

// What forward leaves for backward begins with this, so that a wrong or unwritten buffer is reported from a right one.
struct SavedHeader {
  uint32_t magic;
  uint32_t is_smoothed;
  int64_t rows;
  int64_t input_columns;
  int64_t format;
  SignSeed seed;  // wgrad's signs are drawn from it
};

// The cast that is saved: wgrad's own, or forward's where wgrad begins with it.
lpt_linear_cast saved_cast(const Recipe &recipe);

// What is saved, inside the caller's vector.
struct Saved {
  Operand input;
  std::byte *mask = nullptr;
  size_t bytes = 0;
};
Saved lay_out_saved(const Linear &linear, int64_t rows, bool is_smoothed, std::byte *memory);

// Whether forward of this layer saved an input of as many rows; an error names the output gradient. On the CPU.
Status check_saved_rows(const Tensor *saved, const Linear &linear, int64_t rows);

Status check_saved(const Tensor *saved, const Linear &linear, int64_t rows, bool needs_data, std::byte **out_memory);
void clear_saved_header(std::byte *memory);
Status write_saved_header(const Call &call, const Linear &linear, int64_t rows, bool is_smoothed, std::byte *memory);

// Where forward has written the seed.
const SignSeed *saved_seed(const std::byte *memory);

Status read_saved_header(const std::byte *memory, const Linear &linear, int64_t rows, SavedHeader &out_header);

}  // namespace lpt
