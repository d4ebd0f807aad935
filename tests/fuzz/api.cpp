// The fuzz target of the C interface. Bytes are read as calls with arbitrary handles, options and extents. Every call must
// return a documented status, an error must have a text, and all memory must be released.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/fuzz/call_values.hpp"

namespace {

constexpr int kMostCalls = 64;

class Caller : lpt::test::CallValues {
 public:
  using CallValues::CallValues;

  void run() {
    using Call = lpt_status (Caller::*)();
    static constexpr Call kCalls[] = {
        &Caller::create,     &Caller::create,     &Caller::create,   &Caller::fill,       &Caller::fill,
        &Caller::view,       &Caller::part,       &Caller::combine,  &Caller::copy,       &Caller::quantize,
        &Caller::quantize,   &Caller::dequantize, &Caller::fake,     &Caller::hadamard,   &Caller::convert,
        &Caller::gemm,       &Caller::gemm,       &Caller::grouped,  &Caller::plan,       &Caller::pack,
        &Caller::unpack,     &Caller::select,     &Caller::compress, &Caller::decompress, &Caller::apply,
        &Caller::check_mask, &Caller::absorb,     &Caller::fit,      &Caller::write_out,  &Caller::read_in,
        &Caller::softmax,    &Caller::rmsnorm,    &Caller::swiglu,   &Caller::signs,      &Caller::scale,
        &Caller::statistics, &Caller::name,       &Caller::isa,      &Caller::dlpack,     &Caller::linear,
        &Caller::order,      &Caller::decay,      &Caller::indexed,  &Caller::attend};
    for (int calls = 0; calls < kMostCalls && !in_.is_at_end(); ++calls) {
      const size_t call = in_.byte() % std::size(kCalls);
      judge((this->*kCalls[call])(), call);
    }
  }

 private:
  // Tensors.

  lpt_status create() {
    int64_t extents[8] = {};
    const lpt_format format = in_.byte() % 2 == 0 ? dense() : this->format();
    const int32_t rank = in_.byte() % 8 == 0 ? in_.below(8) - 1 : 2;
    for (int32_t i = 0; i < rank; ++i) extents[i] = rank > 2 ? in_.below(6) : in_.extent();
    lpt_tensor *made = nullptr;
    const lpt_status status = lpt_tensor_create(c_, format, rank, extents, &made);
    put(made, status);
    return status;
  }

  // Fills any part with any bytes: codes, scales and indices that no cast writes.
  lpt_status fill() {
    lpt_tensor *const source = tensor();
    lpt_tensor *part = nullptr;
    lpt_status status = lpt_tensor_view_part(c_, source, in_.choice(5), &part);
    if (status != LPT_OK) return status;
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    size_t bytes = 0;
    status = lpt_tensor_describe(c_, part, &description);
    if (status == LPT_OK) status = lpt_tensor_size(c_, part, &bytes);
    // Views of columns have gaps between their rows.
    bool is_whole = description.rank < 2;
    if (description.rank == 2) is_whole = description.strides[0] == description.extents[1];
    if (status == LPT_OK && is_whole) {
      const uint8_t first = in_.byte(), step = in_.byte();
      auto *const data = static_cast<uint8_t *>(description.data);
      for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(first + step * (i % 251));
    }
    lpt_tensor_destroy(part);
    return status;
  }

  lpt_status view() {
    int64_t begins[3], extents[3];
    for (int64_t &begin : begins) begin = in_.extent();
    for (int64_t &extent : extents) extent = in_.extent();
    lpt_tensor *made = nullptr;
    const lpt_status status = lpt_tensor_view(c_, tensor_within(3, INT64_MAX), begins, extents, &made);
    put(made, status);
    return status;
  }

  // Returns a tensor for which the arrays of the caller are large enough, or NULL.
  lpt_tensor *tensor_within(int32_t most_rank, int64_t most_extent) {
    lpt_tensor *const found = tensor();
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    if (found == nullptr || lpt_tensor_describe(c_, found, &description) != LPT_OK) return nullptr;
    bool is_within = description.rank <= most_rank;
    for (int32_t i = 0; is_within && i < description.rank; ++i) is_within = description.extents[i] <= most_extent;
    return is_within ? found : nullptr;
  }

  lpt_status part() {
    lpt_tensor *const source = tensor();
    lpt_tensor *made = nullptr;
    const lpt_status status = lpt_tensor_view_part(c_, source, in_.choice(5), &made);
    put(made, status);
    return status;
  }

  lpt_status combine() {
    const lpt_tensor *parts[5];
    for (const lpt_tensor *&part : parts) part = maybe();
    lpt_tensor *made = nullptr;
    const lpt_format format = this->format();
    const int64_t rows = in_.extent(), columns = in_.extent();
    const lpt_status status = lpt_tensor_combine(c_, format, rows, columns, parts, in_.below(6), &made);
    put(made, status);
    return status;
  }

  lpt_status copy() {
    lpt_tensor *const source = tensor();
    return lpt_tensor_copy(c_, source, tensor());
  }

  // Casts.

  lpt_status quantize() {
    const lpt_quantize_options options = cast_options();
    lpt_tensor *const source = tensor(), *const target = maybe();
    return lpt_quantize(c_, source, &options, target, maybe());
  }

  lpt_status dequantize() {
    lpt_dequantize_options options = LPT_DEQUANTIZE_OPTIONS_INIT;
    options.flags = in_.flags();
    lpt_tensor *const source = tensor();
    return lpt_dequantize(c_, source, &options, tensor());
  }

  lpt_status fake() {
    const lpt_quantize_options options = cast_options();
    lpt_tensor *const source = tensor();
    const lpt_format format = this->format();
    return lpt_fake_quantize(c_, source, format, &options, tensor());
  }

  lpt_status hadamard() {
    lpt_hadamard_options options = LPT_HADAMARD_OPTIONS_INIT;
    options.size = 1 << in_.below(12);
    options.is_inverse = in_.below(3);
    options.signs = maybe();
    lpt_tensor *const source = tensor();
    return lpt_hadamard(c_, source, &options, tensor());
  }

  lpt_status convert() {
    lpt_convert_options options = LPT_CONVERT_OPTIONS_INIT;
    options.flags = in_.flags();
    options.statistics = in_.byte() % 2 == 0 ? nullptr : statistics_;
    lpt_tensor *const source = tensor();
    return lpt_convert(c_, source, &options, tensor());
  }

  lpt_status scale() {
    if (scaler_ == nullptr || in_.byte() % 4 == 0) {
      lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
      options.kind = in_.choice(2);
      options.history_length = in_.below(8) - 1;
      options.margin = in_.below(12) - 6;
      options.history_rule = in_.choice(3);
      const bool is_average = options.history_rule == LPT_SCALER_HISTORY_RULE_AVERAGE;
      if (is_average || in_.byte() % 8 == 0) options.history_decay = static_cast<float>(in_.below(5)) / 4.0f;
      options.zero_rule = in_.choice(3);
      lpt_scaler *made = nullptr;
      const lpt_status status = lpt_scaler_create(c_, &options, &made);
      if (status != LPT_OK) return status;
      lpt_scaler_destroy(scaler_);
      scaler_ = made;
    }
    return lpt_scaler_update(c_, &scaler_, in_.below(3) - 1);
  }

  lpt_status statistics() {
    if (statistics_ == nullptr) return lpt_statistics_create(c_, &statistics_);
    lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
    const lpt_status status = lpt_statistics_read(c_, statistics_, &values);
    return status != LPT_OK || in_.byte() % 2 == 0 ? status : lpt_statistics_reset(c_, statistics_);
  }

  lpt_status signs() {
    const lpt_random random = this->random();
    return lpt_hadamard_draw_signs(c_, &random, tensor());
  }

  // GEMM.

  lpt_status gemm() {
    const lpt_gemm_options options = gemm_options();
    lpt_tensor *const a = tensor(), *const b = tensor();
    return lpt_gemm(c_, a, b, &options, tensor());
  }

  lpt_status grouped() {
    const lpt_gemm_options options = gemm_options();
    int64_t numbers[4];
    for (int64_t &number : numbers) number = in_.extent();
    lpt_tensor *const a = tensor(), *const b = tensor();
    const int64_t count = in_.below(6) - 1;
    lpt_tensor *ends = nullptr;
    if (count >= 0 && count <= 4) lpt_tensor_wrap_matrix(c_, LPT_FORMAT_INT64, numbers, 1, count, 0, &ends);
    const lpt_status status = lpt_gemm_grouped(c_, a, b, count == 5 ? tensor() : ends, &options, tensor());
    lpt_tensor_destroy(ends);
    return status;
  }

  lpt_status plan() {
    const lpt_gemm_options options = gemm_options();
    lpt_tensor *const a = tensor(), *const b = tensor(), *const c = tensor();
    lpt_gemm_plan *plan = nullptr;
    lpt_status status = lpt_gemm_plan_create(c_, a, b, &options, c, &plan);
    if (status != LPT_OK) return status;
    lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
    status = lpt_gemm_plan_read(c_, plan, &values);
    lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
    operands.bias = in_.byte() % 4 != 0 ? options.bias : maybe();
    operands.residual = in_.byte() % 4 != 0 ? options.residual : maybe();
    operands.quantize = options.quantize;
    lpt_tensor *const other_a = in_.byte() % 4 != 0 ? a : tensor(), *const other_c = in_.byte() % 4 != 0 ? c : tensor();
    if (status == LPT_OK) status = lpt_gemm_plan_run(c_, plan, other_a, b, &operands, other_c);
    lpt_gemm_plan_destroy(plan);
    return status;
  }

  lpt_status pack() {
    lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
    options.flags = in_.flags();
    options.storage = in_.choice(3);
    options.tile_rows = in_.byte() % 2 == 0 ? 0 : in_.byte();
    options.tile_columns = in_.byte() % 2 == 0 ? 0 : in_.byte() * 2;
    lpt_tensor *packed = nullptr;
    const lpt_status status = lpt_weights_pack(c_, tensor(), &options, &packed);
    put(packed, status, options.flags);
    return status;
  }

  lpt_status unpack() {
    lpt_tensor *const packed = tensor();
    return lpt_weights_unpack(c_, packed, tensor());
  }

  // Sparsity.

  lpt_status select() {
    const lpt_sparse_options options = sparse_options();
    lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
    lpt_tensor *const source = tensor(), *const mask = maybe(), *const masked = maybe();
    return lpt_sparse_mask_select(c_, source, &options, mask, masked, in_.byte() % 2 == 0 ? nullptr : &values);
  }

  lpt_status compress() {
    lpt_tensor *const source = tensor(), *const mask = maybe(), *const compressed = tensor();
    return lpt_sparse_compress(c_, source, mask, compressed, maybe());
  }

  lpt_status decompress() {
    lpt_tensor *const compressed = tensor();
    return lpt_sparse_decompress(c_, compressed, tensor());
  }

  lpt_status apply() {
    lpt_tensor *const source = tensor(), *const mask = tensor();
    return lpt_sparse_mask_apply(c_, source, mask, tensor());
  }

  lpt_status check_mask() {
    int64_t count = 0;
    lpt_tensor *const mask = tensor();
    if (in_.byte() % 4 == 0) return lpt_sparse_mask_compare(c_, mask, tensor(), &count);
    const int32_t kept = in_.below(20), of = in_.below(36);
    return lpt_sparse_mask_check(c_, mask, kept, of, in_.choice(3), &count);
  }

  lpt_status absorb() {
    lpt_tensor *const source = tensor(), *const mask = tensor();
    const int32_t of = in_.below(36), direction = in_.choice(3);
    return lpt_sparse_absorb(c_, source, mask, of, direction, tensor());
  }

  lpt_status decay() {
    lpt_tensor *const weight = tensor(), *const mask = tensor();
    const double rate = in_.real();
    return lpt_sparse_mask_decay(c_, weight, mask, rate, tensor());
  }

  lpt_status fit() {
    if (in_.below(2) == 1) return in_.below(2) == 1 ? fit_weights() : calibrate();
    lpt_sparse_fit_options options = LPT_SPARSE_FIT_OPTIONS_INIT;
    options.iterations = in_.below(8) - 1;
    options.damping = in_.real();
    lpt_sparse_fit_info values = LPT_SPARSE_FIT_INFO_INIT;
    lpt_tensor *const weight = tensor(), *const mask = tensor(), *const inputs = tensor(), *const output = tensor();
    return lpt_sparse_fit(c_, weight, mask, inputs, &options, output, maybe(), &values);
  }

  lpt_status calibrate() {
    const lpt_calibration_options options = {sizeof options, 0, in_.below(3), in_.below(3)};
    lpt_calibration *made = nullptr;
    lpt_calibration_create(c_, in_.below(66) - 1, &options, &made);
    lpt_tensor *const inputs = tensor(), *const output = tensor();
    lpt_calibration_add(c_, made, inputs, maybe());
    const lpt_status status = lpt_calibration_read(c_, made, in_.below(6), output);
    lpt_calibration_destroy(made);
    return status;
  }

  lpt_status fit_weights() {
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    options.method = in_.below(3);
    options.order = in_.below(4);
    options.scale_rule = in_.below(24);
    options.damping = in_.real();
    options.cross_gram = maybe(), options.inputs = maybe(), options.input_format = format();
    lpt_weights_fit_info values = LPT_WEIGHTS_FIT_INFO_INIT;
    lpt_tensor *const weight = tensor(), *const gram = tensor(), *const output = tensor();
    return lpt_weights_fit(c_, weight, gram, &options, output, maybe(), maybe(), &values);
  }

  lpt_status order() {
    const lpt_sparse_options options = sparse_options();
    std::vector<int32_t> order(128);
    lpt_tensor *const weight = tensor_within(2, static_cast<int64_t>(order.size()));
    lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
    return lpt_sparse_order(c_, weight, &options, order.data(), &values);
  }

  // Foreign layouts.

  lpt_status write_out() {
    lpt_tensor *const source = tensor();
    const lpt_foreign_layout foreign_layout = in_.choice(7);
    size_t size = 0;
    const lpt_status status = lpt_foreign_layout_size(c_, source, foreign_layout, &size);
    if (status != LPT_OK) return status;
    std::vector<uint8_t> buffer(size + in_.below(3));
    buffer.shrink_to_fit();
    return lpt_foreign_layout_export(c_, source, foreign_layout, buffer.data(), buffer.size());
  }

  lpt_status read_in() {
    lpt_tensor *const target = tensor();
    const lpt_foreign_layout foreign_layout = in_.choice(7);
    size_t size = 0;
    const lpt_status status = lpt_foreign_layout_size(c_, target, foreign_layout, &size);
    if (status != LPT_OK) return status;
    const uint8_t first = in_.byte(), step = in_.byte();
    std::vector<uint8_t> buffer(size + in_.below(3));
    for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<uint8_t>(first + step * i);
    return lpt_foreign_layout_import(c_, buffer.data(), buffer.size(), foreign_layout, target);
  }

  lpt_status dlpack() {
    const int32_t is_versioned = in_.below(2);
    void *managed = nullptr;
    lpt_status status = lpt_tensor_to_dlpack(c_, tensor(), is_versioned, &managed);
    if (status != LPT_OK) return status;
    lpt_tensor *made = nullptr;
    uint64_t flags = 0;
    status = lpt_tensor_take_dlpack(c_, managed, is_versioned, &flags, &made);
    put(made, status);
    return status;
  }

  // Layers.

  lpt_status softmax() {
    lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
    options.scale = in_.real();
    options.is_causal = in_.below(3);
    lpt_exaq_options exaq = LPT_EXAQ_OPTIONS_INIT;
    exaq.scale = options.scale;
    exaq.is_causal = options.is_causal;
    exaq.clip = in_.real();
    exaq.bits = in_.below(6);
    lpt_tensor *const input = tensor(), *const output = tensor();
    const int32_t call = in_.byte() % 4;
    if (call == 0) return lpt_softmax_forward(c_, input, &options, output);
    if (call == 2) return lpt_exaq_softmax_forward(c_, input, &exaq, output);
    return lpt_softmax_backward(c_, input, output, &options, tensor());
  }

  lpt_status rmsnorm() {
    lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
    options.epsilon = in_.real();
    options.is_accumulated = in_.below(3);
    lpt_tensor *const input = tensor(), *const weight = maybe(), *const output = tensor(), *const inverse = maybe();
    lpt_tensor *const other = tensor(), *const last = maybe();
    switch (in_.below(3)) {
      case 0:
        return lpt_rmsnorm_forward(c_, input, weight, &options, output, inverse);
      case 1:
        return lpt_rmsnorm_forward_sum(c_, input, other, weight, &options, last, output, inverse);
      default:
        return lpt_rmsnorm_backward(c_, input, weight, inverse, output, &options, other, last);
    }
  }

  lpt_status swiglu() {
    lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
    options.smoothing = in_.choice(2);
    lpt_tensor *const gate = tensor(), *const up = tensor(), *const output = tensor();
    if (in_.byte() % 2 == 0) return lpt_swiglu_forward(c_, gate, up, &options, output, maybe());
    lpt_tensor *const gate_gradient = maybe();
    return lpt_swiglu_backward(c_, gate, up, output, &options, gate_gradient, maybe());
  }

  lpt_status indexed() {
    lpt_embedding_options embedding = LPT_EMBEDDING_OPTIONS_INIT;
    embedding.padding_index = in_.extent();
    embedding.is_accumulated = in_.below(3);
    lpt_cross_entropy_options entropy = LPT_CROSS_ENTROPY_OPTIONS_INIT;
    entropy.ignored_target = in_.extent();
    entropy.label_smoothing = in_.real();
    entropy.reduction = in_.choice(3);
    lpt_tensor *const indices = tensor(), *const first = tensor(), *const second = tensor(), *const last = maybe();
    switch (in_.below(4)) {
      case 0:
        return lpt_embedding_forward(c_, first, indices, &embedding, second);
      case 1:
        return lpt_embedding_backward(c_, indices, first, &embedding, second);
      case 2:
        return lpt_cross_entropy_forward(c_, first, indices, &entropy, second, last);
      default:
        return lpt_cross_entropy_backward(c_, first, indices, last, maybe(), &entropy, second);
    }
  }

  lpt_status attend() {
    lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
    options.flags = in_.flags();
    options.scale = in_.real();
    options.is_causal = in_.below(3);
    options.window = in_.below(5) - 1;
    options.mask = maybe();
    options.log_sum_exp = maybe();
    options.output = maybe();
    lpt_tensor *const query = tensor(), *const key = tensor(), *const value = tensor(), *const output = tensor();
    if (in_.byte() % 4 == 0) return store(key, value);
    if (in_.byte() % 2 == 0) return lpt_attention_forward(c_, query, key, value, &options, output);
    lpt_tensor *const query_gradient = tensor(), *const key_gradient = tensor();
    return lpt_attention_backward(c_, query, key, value, output, &options, query_gradient, key_gradient, tensor());
  }

  lpt_status linear() {
    const char *const name = lpt_recipe_name(in_.below(24));
    if (name == nullptr) return LPT_OK;
    lpt_recipe *recipe = nullptr;
    lpt_status status = lpt_recipe_create(c_, name, &recipe);
    if (status != LPT_OK) return status;
    lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
    shape.input_columns = in_.extent();
    shape.output_columns = in_.extent();
    lpt_linear *layer = nullptr;
    status = lpt_linear_create(c_, recipe, &shape, &layer);
    lpt_recipe_destroy(recipe);
    if (status == LPT_OK) status = train(layer);
    lpt_linear_destroy(layer);
    return status;
  }

  lpt_status train(lpt_linear *layer) {
    lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
    options.random = random();
    options.bias = maybe();
    options.is_accumulated = in_.below(3);
    lpt_status status = lpt_linear_prepare(c_, layer, tensor(), &options);
    lpt_tensor *const input = tensor(), *const saved = maybe();
    if (status == LPT_OK) status = lpt_linear_forward(c_, layer, input, &options, saved, tensor());
    lpt_tensor *const gradient = tensor(), *const input_gradient = maybe(), *const weight_gradient = maybe();
    if (status == LPT_OK) {
      status = lpt_linear_backward(c_, layer, saved, gradient, &options, input_gradient, weight_gradient, maybe());
    }
    return status == LPT_OK ? lpt_linear_update_scalers(c_, &layer, 1) : status;
  }

  // Formats and other calls.

  lpt_status name() {
    char text[24] = "";
    const size_t length = in_.byte() % sizeof text;
    for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>(in_.byte());
    lpt_format format = LPT_FORMAT_NONE;
    const lpt_status status = lpt_format_from_name(nullptr, text, &format);  // no context, no error text
    return status == LPT_INVALID_ARGUMENT ? LPT_OK : status;
  }

  lpt_status isa() { return lpt_context_set_isa(c_, in_.choice(6)); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return lpt::test::run_calls<Caller>(data, size);
}
