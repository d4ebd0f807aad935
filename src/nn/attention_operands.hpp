// Arguments of lpt_attention_forward() and lpt_attention_backward(): checks and derived values.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/call/context.hpp"
#include "src/call/operation.hpp"
#include "src/gemm/checks.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// An operand as batch × heads × positions × width.
struct Heads {
  const char *name;
  Tensor tensor;  // rank 4

  int64_t batch() const { return tensor.extents[0]; }
  int64_t heads() const { return tensor.extents[1]; }
  int64_t positions() const { return tensor.extents[2]; }
  int64_t width() const { return tensor.extents[3]; }
  int64_t count() const { return batch() * heads(); }
  lpt_format format() const { return tensor.format.id; }

  // Returns `positions` positions of one head.
  Status view(int64_t head, int64_t first, int64_t positions, MatrixView &out_view) const {
    Tensor matrix;
    LPT_TRY(matrix_at(tensor, name, head, matrix));
    LPT_TRY(matrix_of(matrix, name, out_view));
    out_view = cut_rows(out_view, first, positions);
    return {};
  }
};

// Adjacent batches whose queries attend to the first `keys` keys.
struct AttentionPart {
  int64_t first, batches, keys;
};

// The tensors of a call, and values that follow from its options.
struct Attention {
  Context &context;
  const lpt_attention_options &options;
  Heads query{}, key{}, value{};
  Heads mask{};          // no mask if the name is NULL; the strides of broadcast axes are 0
  Heads log_sums{};      // one column; not requested if the name is NULL
  Heads whole_output{};  // backward over some of the keys: the output over all of them, as log_sums; otherwise no name
  std::vector<AttentionPart> parts{};  // all batches

  bool is_check() const { return is_check_only(options.flags); }
  bool has_mask() const { return mask.name != nullptr; }
  bool has_log_sums() const { return log_sums.name != nullptr; }
  bool has_other_keys() const { return whole_output.name != nullptr; }
  int64_t group() const { return key.heads() == 0 ? 1 : query.heads() / key.heads(); }  // query heads per key head
  double scale() const {
    return options.scale != 0.0 ? options.scale
                                : 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(query.width(), 1)));
  }
  int64_t head_of(int64_t key_head, int64_t i) const { return key_head * group() + i; }
};

// Reads the operands and the tensors of the options. With is_stored, keys and values may be codes.
Status read_inputs(const Tensor *given_query, const Tensor *given_key, const Tensor *given_value, bool is_stored,
                   Attention &attention);

// Reads a tensor of wide floats, or of codes if is_stored is set.
Status read_heads(const Tensor *tensor, const char *name, bool needs_data, bool is_stored, const Device &device,
                  Heads &out);
// Reads the log of the sums, batch × heads × positions, as heads of one column.
struct LogSumsShape {
  int64_t batch, heads, positions;
};
Status read_log_sums(const Tensor *tensor, const char *name, bool needs_data, const Device &device,
                     const LogSumsShape &shape, Heads &out);
Status check_extents(const Heads &heads, const Tensor &given, int64_t batch, int64_t count, int64_t positions,
                     int64_t width);

// Rejects tensors whose address ranges, from the first to the last element, overlap. It also rejects interleaved views of one
// buffer.
Status check_no_overlap(const Heads &output, const Heads &input);

// Attention by GEMMs and row-wise softmax, for every format and device. The arguments are already checked.
struct AttentionGradientHeads {
  Heads query, key, value;
};
Status attention_forward_by_gemms(const Attention &attention, const Heads &output);
Status attention_backward_by_gemms(const Attention &attention, const Heads &output_gradient,
                                   const AttentionGradientHeads &gradients);

}  // namespace lpt
