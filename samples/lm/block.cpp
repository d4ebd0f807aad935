#include "block.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace lm {

namespace {

// Returns the initial gain of weights whose output is added to the residual stream. It decreases with the number of blocks.
double joining_gain(const ModelShape &shape) { return 1.0 / std::sqrt(2.0 * static_cast<double>(shape.layers)); }

lpt_swiglu_options swiglu_options(lpt_swiglu_smoothing smoothing) {
  lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
  options.smoothing = smoothing;
  return options;
}

// Gate and up columns of a matrix of both, or their gradients.
struct GateUp {
  Tensor gate, up;

  GateUp(lpt_context *context, const lpt_tensor *matrix) {
    const int64_t rows = lpt_tensor_extent(matrix, 0), hidden = lpt_tensor_extent(matrix, 1) / 2;
    gate = matrix_view(context, matrix, 0, 0, rows, hidden);
    up = matrix_view(context, matrix, 0, hidden, rows, hidden);
  }
};

}  // namespace

template <typename T>
size_t BlockActivations<T>::bytes(lpt_context *context) const {
  size_t sum = 0;
  for (const lpt_tensor *tensor :
       {qkv.get(), attended.get(), log_sums.get(), attention_rms.tensor(), gated_rms.tensor(), qkv_saved.get(),
        output_saved.get(), gate_up_saved.get(), down_saved.get(), input.get(), middle.get()}) {
    sum += tensor_bytes(context, tensor);
  }
  if (gate_up) {
    return sum + tensor_bytes(context, gate_up.get());
  }
  return sum + tensor_bytes(context, gate.get()) + tensor_bytes(context, up.get());
}

template <typename T>
BlockScratch<T>::BlockScratch(lpt_context *context, const ModelShape &shape, const ModelShape &part,
                              const Precision &precision, int64_t rows)
    : normed(make_tensor(context, activation_format<T>(precision), rows, shape.width)),
      projected(context, rows, shape.width),
      gated(make_tensor(context, activation_format<T>(precision), rows, part.hidden)),
      attended_gradient(make_tensor(context, activation_format<T>(precision), rows, part.width)),
      qkv_gradient(make_tensor(context, activation_format<T>(precision), rows, 3 * part.width)),
      gate_up_gradient(make_tensor(context, activation_format<T>(precision), rows, 2 * part.hidden)),
      smoothing(make_tensor(context, LPT_FORMAT_E8M0FNU, 1, part.hidden)) {
  if (stored_format<T>(precision) == kFormatOf<T>) {
    return;
  }
  input = Matrix<T>(context, rows, shape.width);
  middle = Matrix<T>(context, rows, shape.width);
  gate_up = make_tensor(context, activation_format<T>(precision), rows, 2 * part.hidden);
}

template <typename T>
Block<T>::Block(lpt_context *context, const ModelShape &shape, const Precision &precision, const lpt_recipe *recipe,
                int64_t index, ParameterList &parameters, const Parallel &parallel)
    : shape_(shape),
      ranks_(parallel.tensor),
      part_(shape.part(ranks_ == nullptr ? 1 : ranks_->ranks())),
      index_(index),
      is_unit_scaled_(precision.is_unit_scaled),
      stored_(stored_format<T>(precision)),
      activation_format_(activation_format<T>(precision)),
      smoothing_(precision.smoothing),
      attention_norm_(parameters.norm(context, fmt::format("block{}.attention_norm", index), shape.width)),
      gated_norm_(parameters.norm(context, fmt::format("block{}.gated_norm", index), shape.width)),
      qkv_(context, recipe, matrix(context, parameters, "qkv", 3 * shape.width, shape.width, 1.0, rows_slice(3)),
           ranks_, LPT_LINEAR_PARALLEL_COLUMNS),
      output_(context, recipe,
              matrix(context, parameters, "output", shape.width, shape.width, joining_gain(shape), columns_slice()),
              ranks_, LPT_LINEAR_PARALLEL_ROWS),
      gate_up_(context, recipe,
               matrix(context, parameters, "gate_up", 2 * shape.hidden, shape.width, 1.0, rows_slice(2)), ranks_,
               LPT_LINEAR_PARALLEL_COLUMNS),
      down_(context, recipe,
            matrix(context, parameters, "down", shape.width, shape.hidden, joining_gain(shape), columns_slice()),
            ranks_, LPT_LINEAR_PARALLEL_ROWS),
      attention_(context, part_, parallel.sequence) {}

template <typename T>
Parameter *Block<T>::matrix(lpt_context *context, ParameterList &parameters, const char *name, int64_t rows,
                            int64_t columns, double gain, const Slice &slice) const {
  return parameters.matrix(context, fmt::format("block{}.{}", index_, name), rows, columns, gain, is_unit_scaled_,
                           slice);
}

// A column-parallel layer: each rank has rows of every section of the weight.
template <typename T>
Slice Block<T>::rows_slice(int64_t sections) const {
  return ranks_ == nullptr ? Slice{} : Slice{.rank = ranks_->rank(), .ranks = ranks_->ranks(), .sections = sections};
}

// A row-parallel layer: each rank has columns of the weight, and a partial sum of every output.
template <typename T>
Slice Block<T>::columns_slice() const {
  return ranks_ == nullptr ? Slice{} : Slice{.rank = ranks_->rank(), .ranks = ranks_->ranks(), .is_of_columns = true};
}

template <typename T>
BlockActivations<T> Block<T>::make_activations(lpt_context *context, int64_t rows) const {
  Tensor gate_up, gate, up;
  if (stored_ == kFormatOf<T>) {
    gate_up = make_tensor(context, activation_format_, rows, 2 * part_.hidden);
    GateUp columns(context, gate_up.get());
    gate = std::move(columns.gate);
    up = std::move(columns.up);
  } else {
    gate = make_tensor(context, stored_, rows, part_.hidden);
    up = make_tensor(context, stored_, rows, part_.hidden);
  }
  return {.qkv = make_tensor(context, activation_format_, rows, 3 * part_.width),
          .attended = make_tensor(context, activation_format_, rows, part_.width),
          .log_sums = attention_.make_log_sums(context, activation_format_, rows),
          .attention_rms = Matrix<T>(context, 1, rows),
          .gated_rms = Matrix<T>(context, 1, rows),
          .qkv_saved = qkv_.make_saved(context, rows),
          .output_saved = output_.make_saved(context, rows),
          .gate_up_saved = gate_up_.make_saved(context, rows),
          .down_saved = down_.make_saved(context, rows),
          .input = make_tensor(context, stored_, rows, shape_.width),
          .middle = make_tensor(context, stored_, rows, shape_.width),
          .gate_up = std::move(gate_up),
          .gate = std::move(gate),
          .up = std::move(up)};
}

template <typename T>
lpt_swiglu_alignment_info Block<T>::alignment(lpt_context *context) const {
  const Parameter &gate_up = gate_up_.weight();
  const int64_t hidden = gate_up.rows / 2;
  const Matrix<float> weight(context, gate_up.rows, gate_up.columns);
  check(context, lpt_dequantize(context, gate_up.value.get(), nullptr, weight.tensor()));
  const Tensor gate = matrix_view(context, weight.tensor(), 0, 0, hidden, gate_up.columns);
  const Tensor up = matrix_view(context, weight.tensor(), hidden, 0, hidden, gate_up.columns);
  lpt_swiglu_alignment_info values = LPT_SWIGLU_ALIGNMENT_INFO_INIT;
  check(context, lpt_swiglu_alignment(context, gate.get(), up.get(), nullptr, &values));
  return values;
}

template <typename T>
lpt_tensor *Block<T>::input(const BlockActivations<T> &kept, const BlockScratch<T> &scratch) const {
  return stored_ == kFormatOf<T> ? kept.input.get() : scratch.input.tensor();
}

template <typename T>
const lpt_tensor *Block<T>::forward(lpt_context *context, const lpt_tensor *residual, const Pass &pass,
                                    BlockActivations<T> &kept, BlockScratch<T> &scratch) {
  const bool is_direct = stored_ == kFormatOf<T>;
  const auto keep = [&](const lpt_tensor *numbers, const Tensor &place) {
    if (pass.is_training && !is_direct) {
      check(context, lpt_quantize(context, numbers, nullptr, place.get(), nullptr));
    }
  };
  lpt_tensor *stream = input(kept, scratch);
  if (residual == nullptr) {
    check(context, lpt_rmsnorm_forward(context, stream, attention_norm_->value.get(), nullptr, scratch.normed.get(),
                                       kept.attention_rms.tensor()));
  } else {
    check(context, lpt_rmsnorm_forward_sum(context, residual, scratch.projected.tensor(), attention_norm_->value.get(),
                                           nullptr, stream, scratch.normed.get(), kept.attention_rms.tensor()));
  }
  keep(stream, kept.input);
  qkv_.forward(context, scratch.normed.get(), nullptr, pass, kept.qkv_saved.get(), kept.qkv.get());
  attention_.forward(context, kept.qkv.get(), kept.attended.get(), kept.log_sums.get());
  output_.forward(context, kept.attended.get(), nullptr, pass, kept.output_saved.get(), scratch.projected.tensor());

  lpt_tensor *middle = is_direct ? kept.middle.get() : scratch.middle.tensor();
  check(context, lpt_rmsnorm_forward_sum(context, stream, scratch.projected.tensor(), gated_norm_->value.get(), nullptr,
                                         middle, scratch.normed.get(), kept.gated_rms.tensor()));
  keep(middle, kept.middle);
  const Tensor &gate_up = is_direct ? kept.gate_up : scratch.gate_up;
  gate_up_.forward(context, scratch.normed.get(), nullptr, pass, kept.gate_up_saved.get(), gate_up.get());
  const GateUp columns(context, gate_up.get());
  keep(columns.gate.get(), kept.gate);
  keep(columns.up.get(), kept.up);
  const lpt_swiglu_options swiglu = swiglu_options(smoothing_);
  lpt_tensor *smoothing = smoothing_ == LPT_SWIGLU_SMOOTHING_NONE ? nullptr : scratch.smoothing.get();
  check(context,
        lpt_swiglu_forward(context, columns.gate.get(), columns.up.get(), &swiglu, scratch.gated.get(), smoothing));
  down_.forward(context, scratch.gated.get(), smoothing, pass, kept.down_saved.get(), scratch.projected.tensor());
  return middle;
}

template <typename T>
void Block<T>::backward(lpt_context *context, const Pass &pass, BlockActivations<T> &kept, BlockScratch<T> &scratch,
                        const Matrix<T> &gradient) {
  down_.backward(context, kept.down_saved.get(), gradient.tensor(), pass, scratch.gated.get());
  const GateUp gradients(context, scratch.gate_up_gradient.get());
  check(context, lpt_swiglu_backward(context, kept.gate.get(), kept.up.get(), scratch.gated.get(), nullptr,
                                     gradients.gate.get(), gradients.up.get()));
  gate_up_.backward(context, kept.gate_up_saved.get(), scratch.gate_up_gradient.get(), pass, scratch.normed.get());
  norm_backward(context, kept.middle.get(), *gated_norm_, kept.gated_rms, pass, scratch, gradient);

  output_.backward(context, kept.output_saved.get(), gradient.tensor(), pass, scratch.attended_gradient.get());
  attention_.backward(context, kept.qkv.get(), kept.attended.get(), kept.log_sums.get(),
                      scratch.attended_gradient.get(), scratch.qkv_gradient.get());
  qkv_.backward(context, kept.qkv_saved.get(), scratch.qkv_gradient.get(), pass, scratch.normed.get());
  norm_backward(context, kept.input.get(), *attention_norm_, kept.attention_rms, pass, scratch, gradient);
}

// Propagates the gradient in scratch.normed through a norm, and adds the result to the gradient of the stream.
template <typename T>
void Block<T>::norm_backward(lpt_context *context, const lpt_tensor *input, const Parameter &weight,
                             const Matrix<T> &rms, const Pass &pass, BlockScratch<T> &scratch,
                             const Matrix<T> &gradient) {
  lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
  options.is_accumulated = pass.is_accumulated ? 1 : 0;
  options.residual_gradient = gradient.tensor();
  check(context, lpt_rmsnorm_backward(context, input, weight.value.get(), rms.tensor(), scratch.normed.get(), &options,
                                      gradient.tensor(), weight.gradient.get()));
  if (ranks_ == nullptr) {  // else the gradient is partial and is reduced first
    pass.tell(context, weight);
  }
}

template struct BlockActivations<float>;
template struct BlockActivations<double>;
template struct BlockScratch<float>;
template struct BlockScratch<double>;
template class Block<float>;
template class Block<double>;

}  // namespace lm
