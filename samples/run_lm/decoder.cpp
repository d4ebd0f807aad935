#include "decoder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lpt/research/exaq.h"

namespace run_lm {

namespace {

using tool::check;
using tool::Error;
using tool::make_matrix;
using tool::Tensor;

constexpr int64_t kUnpackedRows = 32;  // views of packed weights begin at a multiple of them

// Wraps rows of a dense matrix of f32 or bf16 with other axes.
Tensor wrap(lpt_context *context, const lpt_tensor *tensor, std::initializer_list<int64_t> extents,
            std::initializer_list<int64_t> strides) {
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  check(context, lpt_tensor_describe(context, tensor, &description));
  description.rank = static_cast<int32_t>(extents.size());
  description.extents = extents.begin();
  description.strides = strides.begin();
  lpt_tensor *made = nullptr;
  check(context, lpt_tensor_wrap(context, &description, &made));
  return Tensor(made);
}

// Returns the rule of the scales of activations: for nvfp4 the better of two in each block.
lpt_scale_rule cast_rule(lpt_format format) {
  return format == LPT_FORMAT_NVFP4 ? LPT_SCALE_RULE_FOUR_OVER_SIX : LPT_SCALE_RULE_DEFAULT;
}

// Logits need more bits than the inputs of layers. 8-bit integers keep them, and are the fastest inputs of integer weights.
lpt_format head_input_of(const Precision &precision, lpt_format head) {
  if (!precision.casts_activations() || !has_scales(head)) return precision.wide();
  const bool is_integer = tool::describe(head).exponent_bits == 0;
  return is_integer ? lpt_format{LPT_FORMAT_INT8_1X32} : precision.activations;
}

}  // namespace

void check_precision(const Precision &precision) {
  const lpt_format_description cache = tool::describe(precision.cache);
  const bool is_integer = cache.exponent_bits == 0;
  if ((is_integer && !has_scales(precision.cache)) || cache.block_rows > 1 ||
      cache.block_rows == LPT_BLOCK_EXTENT_FULL) {
    throw Error(fmt::format("--cache is {}: expected a float, or a format with scales along rows, as int8_row",
                            tool::format_name(precision.cache)));
  }
  if (precision.casts_activations() && !has_scales(precision.activations)) {
    throw Error(fmt::format("--activations is {}: expected f32, bf16, or a format with scales, as e4m3fn_row",
                            tool::format_name(precision.activations)));
  }
  const bool is_float = precision.head == LPT_FORMAT_F32 || precision.head == LPT_FORMAT_BF16;
  if (!is_float && !has_scales(precision.head)) {
    throw Error(fmt::format("--head is {}: expected f32, bf16, or a format with scales, as int8_row",
                            tool::format_name(precision.head)));
  }
}

Decoder::Decoder(lpt_context *context, const ModelConfig &config, ModelWeights weights, const Precision &precision,
                 int64_t capacity)
    : context_(context),
      config_(config),
      precision_(precision),
      wide_(precision.wide()),
      capacity_(capacity),
      norm_(weights.norm),
      head_(make_operand(weights.head, weights.head_offsets, precision.head)),
      head_input_(head_input_of(precision, lpt_tensor_format(head_.values.get()))) {
  const lpt_format format = lpt_tensor_format(weights.embedding.get());
  if (!has_scales(format)) {
    embedding_ = cast_to(context, weights.embedding, precision.floats());
  } else if (weights.embedding != weights.head) {
    embedding_ = weights.embedding;
  } else {
    embedding_block_ = make_matrix(context, format, kUnpackedRows, config.width);
  }
  weights.head.reset();
  weights.embedding.reset();
  const int64_t pairs = config.head_width / 2;
  lpt_tensor *made = nullptr;
  check(context, lpt_tensor_create(context, LPT_FORMAT_F64, 1, &pairs, &made));
  frequencies_.reset(made);
  check(context, lpt_rotary_frequencies(context, &config.rotary, made));
  auto *frequencies = static_cast<double *>(lpt_tensor_data(made));
  for (size_t i = 0; i < config.rotary_factors.size(); ++i) frequencies[i] /= config.rotary_factors[i];
  for (LayerWeights &source : weights.layers) {
    Layer &layer = layers_.emplace_back();
    for (size_t i = 0; i < kProjections; ++i) {
      layer.matrices[i] = make_operand(source.matrices[i], source.offsets[i], precision.floats());
      source.matrices[i].reset();
      source.offsets[i].reset();
    }
    layer.biases = source.biases;
    layer.attention_norm = source.attention_norm;
    layer.mlp_norm = source.mlp_norm;
    make_cache(layer);
  }
}

Tensor Decoder::pack(const SharedTensor &matrix) const {
  lpt_tensor *packed = nullptr;
  check(context_, lpt_weights_pack(context_, matrix.get(), nullptr, &packed));
  return Tensor(packed);
}

Decoder::Operand Decoder::make_operand(const SharedTensor &matrix, const SharedTensor &offsets,
                                       lpt_format format) const {
  const bool is_quantized = has_scales(lpt_tensor_format(matrix.get()));
  Operand operand{.values = pack(is_quantized ? matrix : cast_to(context_, matrix, format)), .offsets = {}, .ones = {}};
  if (offsets != nullptr) {
    const int64_t width = lpt_tensor_extent(matrix.get(), 1) / lpt_tensor_extent(offsets.get(), 1);
    operand.offsets = pack(offsets);
    const SharedTensor ones = make_matrix(context_, LPT_FORMAT_F32, 1, width);
    std::fill_n(static_cast<float *>(lpt_tensor_data(ones.get())), width, 1.0f);
    operand.ones = cast_to(context_, ones, wide_);
  }
  return operand;
}

void Decoder::make_cache(Layer &layer) {
  lpt_kv_cache_options options = LPT_KV_CACHE_OPTIONS_INIT;
  options.key_heads = config_.key_heads;
  options.capacity = capacity_;
  options.key_width = config_.head_width;
  options.key_format = precision_.cache;
  options.key_scale_rule = options.value_scale_rule = cast_rule(precision_.cache);
  lpt_kv_cache *made = nullptr;
  check(context_, lpt_kv_cache_create(context_, &options, &made));
  layer.cache.reset(made);
  lpt_tensor *keys = nullptr, *values = nullptr, *lengths = nullptr;
  check(context_, lpt_kv_cache_view(context_, made, &keys, &values, &lengths));
  layer.keys.reset(keys);
  layer.values.reset(values);
  layer.lengths.reset(lengths);
}

size_t Decoder::cache_bytes() const {
  size_t bytes = 0;
  for (const Layer &layer : layers_) {
    size_t size = 0;
    check(context_, lpt_kv_cache_size(context_, layer.cache.get(), &size));
    bytes += size;
  }
  return bytes;
}

void Decoder::set_levels(int32_t bits, const std::vector<double> &clips) {
  level_bits_ = bits;
  for (size_t i = 0; i < layers_.size(); ++i) layers_[i].clip = clips.at(i);
}

void Decoder::clear() {
  for (const Layer &layer : layers_) check(context_, lpt_kv_cache_truncate(context_, layer.cache.get(), nullptr));
  position_ = 0;
}

void Decoder::prepare(int64_t rows) {
  if (buffers_.rows == rows) return;
  casts_.clear();
  const auto make = [&](lpt_format format, int64_t columns) { return make_matrix(context_, format, rows, columns); };
  const int64_t query_width = config_.heads * config_.head_width, key_width = config_.key_heads * config_.head_width;
  buffers_ = {.rows = rows,
              .stream = make(LPT_FORMAT_F32, config_.width),
              .branch = make(LPT_FORMAT_F32, config_.width),
              .normed = make(wide_, config_.width),
              .query = make(LPT_FORMAT_F32, query_width),
              .rotated = make(precision_.floats(), query_width),
              .key = make(LPT_FORMAT_F32, key_width),
              .value = make(LPT_FORMAT_F32, key_width),
              .attended = make(wide_, query_width),
              .gate = make(LPT_FORMAT_F32, config_.hidden),
              .up = make(LPT_FORMAT_F32, config_.hidden),
              .gated = make(wide_, config_.hidden)};
}

// Returns rows × (heads · head width) as heads × rows × head width.
Tensor Decoder::heads_of(const lpt_tensor *matrix, int64_t heads) const {
  const int64_t width = config_.head_width;
  return wrap(context_, matrix, {heads, buffers_.rows, width}, {width, heads * width, 1});
}

void Decoder::rotate(const lpt_tensor *input, int64_t heads, lpt_tensor *output) const {
  lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
  options.first_position = position_;
  options.scale = config_.rotary_scale;
  check(context_, lpt_rotary(context_, heads_of(input, heads).get(), frequencies_.get(), &options,
                             heads_of(output, heads).get()));
}

void Decoder::attend(const Layer &layer) {
  rotate(buffers_.query.get(), config_.heads, buffers_.rotated.get());
  rotate(buffers_.key.get(), config_.key_heads, buffers_.key.get());
  if (observe_attention) {
    observe_attention(static_cast<size_t>(&layer - layers_.data()), buffers_.rotated.get(), buffers_.key.get());
  }
  check(context_,
        lpt_kv_cache_append(context_, layer.cache.get(), heads_of(buffers_.key.get(), config_.key_heads).get(),
                            heads_of(buffers_.value.get(), config_.key_heads).get(), nullptr));
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  options.window = config_.window;
  options.key_lengths = layer.lengths.get();
  lpt_exaq_options levels = LPT_EXAQ_OPTIONS_INIT;
  levels.bits = level_bits_;
  levels.clip = layer.clip;
  if (level_bits_ != 0) options.exaq = &levels;
  check(context_,
        lpt_attention_forward(context_, heads_of(buffers_.rotated.get(), config_.heads).get(), layer.keys.get(),
                              layer.values.get(), &options, heads_of(buffers_.attended.get(), config_.heads).get()));
}

Decoder::LinearInput Decoder::make_input(const lpt_tensor *values, lpt_format format) {
  LinearInput input{.values = values, .operand = values, .sums = {}};
  if (format == lpt_tensor_format(values)) return input;
  const int64_t rows = lpt_tensor_extent(values, 0), columns = lpt_tensor_extent(values, 1);
  Tensor &cast = casts_[{format, rows, columns}];
  if (!cast) cast = make_matrix(context_, format, rows, columns);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = cast_rule(format);
  check(context_, lpt_quantize(context_, values, &options, cast.get(), nullptr));
  input.operand = cast.get();
  return input;
}

void Decoder::add_group_sums(const Operand &operand, LinearInput &input) const {
  const int64_t rows = lpt_tensor_extent(input.values, 0), width = lpt_tensor_extent(operand.ones.get(), 1);
  const int64_t groups = lpt_tensor_extent(input.values, 1) / width;
  if (input.sums && lpt_tensor_extent(input.sums.get(), 1) == groups) return;
  input.sums = make_matrix(context_, LPT_FORMAT_F32, rows, groups);
  const Tensor values = wrap(context_, input.values, {rows * groups, width}, {width, 1});
  const Tensor sums = wrap(context_, input.sums.get(), {1, rows * groups}, {rows * groups, 1});
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  check(context_, lpt_gemm(context_, operand.ones.get(), values.get(), &options, sums.get()));
}

void Decoder::multiply(LinearInput &input, const Operand &operand, const lpt_tensor *bias, lpt_tensor *output) const {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  options.bias = bias;
  if (operand.offsets) {
    add_group_sums(operand, input);
    check(context_, lpt_gemm(context_, input.sums.get(), operand.offsets.get(), &options, output));
    options.bias = nullptr;
    options.beta = 1.0;
  }
  check(context_, lpt_gemm(context_, input.operand, operand.values.get(), &options, output));
}

// Computes linear layers that have one input.
void Decoder::project(const lpt_tensor *input, const Layer &layer, std::initializer_list<Projection> projections,
                      std::initializer_list<lpt_tensor *> outputs) {
  LinearInput source = make_input(input, precision_.activations);
  for (size_t i = 0; i < projections.size(); ++i) {
    const Projection projection = projections.begin()[i];
    multiply(source, layer.matrices[projection], layer.biases[projection].get(), outputs.begin()[i]);
  }
}

// Adds the branch to the stream if `is_sum`, and computes the norm of the stream.
void Decoder::normalize(bool is_sum, const lpt_tensor *weight) {
  lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
  options.epsilon = config_.epsilon;
  lpt_tensor *stream = buffers_.stream.get(), *normed = buffers_.normed.get();
  check(context_, is_sum ? lpt_rmsnorm_forward_sum(context_, stream, buffers_.branch.get(), weight, &options, stream,
                                                   normed, nullptr)
                         : lpt_rmsnorm_forward(context_, stream, weight, &options, normed, nullptr));
}

void Decoder::run_layer(size_t index) {
  const Layer &layer = layers_[index];
  const auto show = [&](Input input, const Tensor &values) {
    if (observe) observe(index, input, values.get());
  };
  normalize(index > 0, layer.attention_norm.get());
  show(kAttentionInput, buffers_.normed);
  project(buffers_.normed.get(), layer, {kQuery, kKey, kValue},
          {buffers_.query.get(), buffers_.key.get(), buffers_.value.get()});
  attend(layer);
  show(kOutputInput, buffers_.attended);
  project(buffers_.attended.get(), layer, {kAttentionOutput}, {buffers_.branch.get()});
  normalize(true, layer.mlp_norm.get());
  show(kMlpInput, buffers_.normed);
  project(buffers_.normed.get(), layer, {kGate, kUp}, {buffers_.gate.get(), buffers_.up.get()});
  check(context_,
        lpt_swiglu_forward(context_, buffers_.gate.get(), buffers_.up.get(), nullptr, buffers_.gated.get(), nullptr));
  show(kDownInput, buffers_.gated);
  project(buffers_.gated.get(), layer, {kDown}, {buffers_.branch.get()});
}

// Writes the embeddings of tokens to the stream.
void Decoder::embed(std::span<const int32_t> tokens) {
  const auto rows = static_cast<int64_t>(tokens.size());
  if (embedding_ != nullptr && !has_scales(lpt_tensor_format(embedding_.get()))) {
    lpt_tensor *made = nullptr;
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    description.format = LPT_FORMAT_INT32;
    description.data = const_cast<int32_t *>(tokens.data());
    description.rank = 1;
    description.extents = &rows;
    description.flags = LPT_TENSOR_READ_ONLY;
    check(context_, lpt_tensor_wrap(context_, &description, &made));
    const Tensor indices(made);
    check(context_, lpt_embedding_forward(context_, embedding_.get(), made, nullptr, buffers_.stream.get()));
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t token = tokens[static_cast<size_t>(i)];
    embedding_ != nullptr ? embed_row(embedding_.get(), token, i) : embed_from_head(token, i);
  }
}

void Decoder::embed_row(const lpt_tensor *rows, int64_t row, int64_t target) const {
  const Tensor from = view_of(context_, rows, {row, 0}, {1, config_.width});
  const Tensor to = view_of(context_, buffers_.stream.get(), {target, 0}, {1, config_.width});
  check(context_, lpt_dequantize(context_, from.get(), nullptr, to.get()));
}

void Decoder::embed_from_head(int64_t token, int64_t target) const {
  const int64_t first = token / kUnpackedRows * kUnpackedRows;
  const int64_t rows = std::min(kUnpackedRows, config_.vocabulary - first);
  const Tensor packed = view_of(context_, head_.values.get(), {first, 0}, {rows, config_.width});
  const Tensor block = view_of(context_, embedding_block_.get(), {0, 0}, {rows, config_.width});
  check(context_, lpt_weights_unpack(context_, packed.get(), block.get()));
  embed_row(block.get(), token - first, target);
}

const lpt_tensor *Decoder::forward(std::span<const int32_t> tokens) {
  const auto rows = static_cast<int64_t>(tokens.size());
  if (rows < 1 || rows > capacity_ - position_) {
    throw Error(
        fmt::format("{} tokens follow {} in the cache: expected 1 to {}", rows, position_, capacity_ - position_));
  }
  prepare(rows);
  embed(tokens);
  for (size_t i = 0; i < layers_.size(); ++i) run_layer(i);
  normalize(true, norm_.get());
  position_ += rows;
  return buffers_.normed.get();
}

const lpt_tensor *Decoder::logits(const lpt_tensor *states) {
  const int64_t rows = lpt_tensor_extent(states, 0);
  if (!logits_ || lpt_tensor_extent(logits_.get(), 0) != rows) {
    logits_ = make_matrix(context_, LPT_FORMAT_F32, rows, config_.vocabulary);
  }
  LinearInput input = make_input(states, head_input_);
  multiply(input, head_, nullptr, logits_.get());
  return logits_.get();
}

const lpt_tensor *Decoder::last_logits(const lpt_tensor *states) {
  const int64_t rows = lpt_tensor_extent(states, 0);
  return logits(view_of(context_, states, {rows - 1, 0}, {1, lpt_tensor_extent(states, 1)}).get());
}

}  // namespace run_lm
