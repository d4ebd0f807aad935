#include "tests/api/bad_calls.hpp"

namespace lpt::test {

namespace {

template <typename Change>
lpt_status lose(World &w, const std::vector<int64_t> &targets, const Tensor &loss, Change change) {
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  change(options);
  return lpt_cross_entropy_forward(w.c, w.gate.get(), indices_of(w.c, targets).get(), &options, loss.get(), nullptr);
}

template <typename Change>
lpt_status rotate(World &w, const Tensor &input, const Tensor &frequencies, const Tensor &output, Change change) {
  lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
  change(options);
  return lpt_rotary(w.c, input.get(), frequencies.get(), &options, output.get());
}

template <typename Change>
lpt_status scale_frequencies(World &w, Change change) {
  lpt_rotary_scaling options = LPT_ROTARY_SCALING_INIT;
  options.original_positions = 4096;
  change(options);
  return lpt_rotary_frequencies(w.c, &options, w.line_output.get());
}

void change_nothing(lpt_cross_entropy_options &) {}

const std::vector<int64_t> kClasses = {0, 7, 3, 1};
const std::vector<int64_t> kNoClasses = {0, 8, 3, 1};

}  // namespace

const std::vector<BadCall> kLayerCalls = {
    {"cross_entropy_forward: a target that is no class",
     LPT_INVALID_ARGUMENT,
     {"targets[1] is 8", "0 to 7"},
     [](World &w) { return lose(w, kNoClasses, view(w.c, w.line_output.get(), {0}, {1}), change_nothing); }},
    {"cross_entropy_forward: no targets",
     LPT_INVALID_ARGUMENT,
     {"targets is NULL"},
     [](World &w) {
       return lpt_cross_entropy_forward(w.c, w.gate.get(), nullptr, nullptr, w.line_output.get(), nullptr);
     }},
    {"cross_entropy_forward: too few targets",
     LPT_INVALID_ARGUMENT,
     {"targets is 1 x 3 int64", "vector of 4"},
     [](World &w) {
       return lose(w, {0, 1, 2}, view(w.c, w.line_output.get(), {0}, {1}), change_nothing);
     }},
    {"cross_entropy_forward: targets that are no indices",
     LPT_INVALID_ARGUMENT,
     {"targets is f32", "int32 or int64"},
     [](World &w) {
       return lpt_cross_entropy_forward(w.c, w.gate.get(), w.inverse_rms.get(), nullptr, w.line_output.get(), nullptr);
     }},
    {"cross_entropy_forward: a loss for each of other rows",
     LPT_INVALID_ARGUMENT,
     {"loss is 8", "vector of 1"},
     [](World &w) { return lose(w, kClasses, w.line_output, change_nothing); }},
    {"cross_entropy_forward: unknown reduction",
     LPT_INVALID_ARGUMENT,
     {"reduction is 3", "0 to 2"},
     [](World &w) { return lose(w, kClasses, w.line_output, [](lpt_cross_entropy_options &o) { o.reduction = 3; }); }},
    {"cross_entropy_forward: smoothing above one",
     LPT_INVALID_ARGUMENT,
     {"label_smoothing is 2"},
     [](World &w) {
       return lose(w, kClasses, w.line_output, [](lpt_cross_entropy_options &o) { o.label_smoothing = 2; });
     }},
    {"cross_entropy_forward: no comm",
     LPT_INVALID_ARGUMENT,
     {"options->comm", "not a live handle"},
     [](World &w) {
       return lose(w, kClasses, w.line_output,
                   [&w](lpt_cross_entropy_options &o) { o.comm = cast<lpt_comm>(w.gate.get()); });
     }},
    {"cross_entropy_backward: log sums in f32",
     LPT_INVALID_ARGUMENT,
     {"log_sums is f32", "f64"},
     [](World &w) {
       return lpt_cross_entropy_backward(w.c, w.gate.get(), indices_of(w.c, kClasses).get(), w.inverse_rms.get(),
                                         nullptr, nullptr, w.activation.get());
     }},
    {"embedding_forward: an index that is no row",
     LPT_INVALID_ARGUMENT,
     {"indices[2] is 4", "0 to 3"},
     [](World &w) {
       return lpt_embedding_forward(w.c, w.gate.get(), indices_of(w.c, {0, 3, 4, 1}).get(), nullptr,
                                    w.activation.get());
     }},
    {"embedding_forward: other columns",
     LPT_INVALID_ARGUMENT,
     {"output is 4 x 6", "4 x 8", "weight"},
     [](World &w) {
       return lpt_embedding_forward(w.c, w.gate.get(), indices_of(w.c, kClasses).get(), nullptr, w.gemm.get());
     }},
    {"embedding_backward: an index below the padding",
     LPT_INVALID_ARGUMENT,
     {"indices[1] is -2", "0 to 3"},
     [](World &w) {
       return lpt_embedding_backward(w.c, indices_of(w.c, {-1, -2, 0, 0}).get(), w.gate.get(), nullptr,
                                     w.activation.get());
     }},
    {"embedding_backward: a gradient in bf16",
     LPT_INVALID_ARGUMENT,
     {"weight_gradient is bf16", "expected f32"},
     [](World &w) {
       const Tensor gradient = make_tensor(w.owner.get(), LPT_FORMAT_BF16, 4, 8);
       return lpt_embedding_backward(w.c, indices_of(w.c, {0, 1, 2, 3}).get(), w.gate.get(), nullptr, gradient.get());
     }},
    {"layernorm_forward: negative epsilon",
     LPT_INVALID_ARGUMENT,
     {"epsilon is -1"},
     [](World &w) {
       lpt_layernorm_options o = LPT_LAYERNORM_OPTIONS_INIT;
       o.epsilon = -1;
       return lpt_layernorm_forward(w.c, w.gate.get(), nullptr, nullptr, &o, w.activation.get(), nullptr, nullptr);
     }},
    {"layernorm_forward: bias of another length",
     LPT_INVALID_ARGUMENT,
     {"bias is 6", "vector of 8"},
     [](World &w) {
       return lpt_layernorm_forward(w.c, w.gate.get(), w.norm_weight.get(), w.bias.get(), nullptr, w.activation.get(),
                                    nullptr, nullptr);
     }},
    {"layernorm_forward: mean of another length",
     LPT_INVALID_ARGUMENT,
     {"mean is 8", "vector of 4"},
     [](World &w) {
       return lpt_layernorm_forward(w.c, w.gate.get(), nullptr, nullptr, nullptr, w.activation.get(),
                                    w.norm_weight_gradient.get(), nullptr);
     }},
    {"layernorm_forward: mean over the inverse deviation",
     LPT_INVALID_ARGUMENT,
     {"mean at", "overlaps inverse_deviation"},
     [](World &w) {
       return lpt_layernorm_forward(w.c, w.gate.get(), nullptr, nullptr, nullptr, w.activation.get(),
                                    w.inverse_rms.get(), w.inverse_rms.get());
     }},
    {"layernorm_forward: output over the input",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps input"},
     [](World &w) {
       return lpt_layernorm_forward(w.c, w.activation.get(), nullptr, nullptr, nullptr, w.activation.get(), nullptr,
                                    nullptr);
     }},
    {"layernorm_backward: no output",
     LPT_INVALID_ARGUMENT,
     {"input_gradient, weight_gradient and bias_gradient are NULL"},
     [](World &w) {
       return lpt_layernorm_backward(w.c, w.gate.get(), nullptr, w.inverse_rms.get(), w.inverse_rms.get(), w.up.get(),
                                     nullptr, nullptr, nullptr, nullptr);
     }},
    {"layernorm_backward: no mean",
     LPT_INVALID_ARGUMENT,
     {"mean is NULL"},
     [](World &w) {
       return lpt_layernorm_backward(w.c, w.gate.get(), nullptr, nullptr, w.inverse_rms.get(), w.up.get(), nullptr,
                                     w.activation.get(), nullptr, nullptr);
     }},
    {"layernorm_backward: gradients over each other",
     LPT_INVALID_ARGUMENT,
     {"bias_gradient at", "overlaps weight_gradient"},
     [](World &w) {
       return lpt_layernorm_backward(w.c, w.gate.get(), nullptr, w.inverse_rms.get(), w.inverse_rms.get(), w.up.get(),
                                     nullptr, nullptr, w.norm_weight_gradient.get(), w.norm_weight_gradient.get());
     }},
    {"rotary_frequencies: unknown kind",
     LPT_INVALID_ARGUMENT,
     {"kind is 5", "0 to 4"},
     [](World &w) { return scale_frequencies(w, [](auto &o) { o.kind = 5; }); }},
    {"rotary_frequencies: base of one",
     LPT_INVALID_ARGUMENT,
     {"base is 1", "2 to 1e+30"},
     [](World &w) { return scale_frequencies(w, [](auto &o) { o.base = 1; }); }},
    {"rotary_frequencies: factor below one",
     LPT_INVALID_ARGUMENT,
     {"factor is 0.5", "1 to 1e+09"},
     [](World &w) { return scale_frequencies(w, [](auto &o) { o.factor = 0.5; }); }},
    {"rotary_frequencies: YaRN without original positions",
     LPT_INVALID_ARGUMENT,
     {"original_positions is 0", "1 to 2^30"},
     [](World &w) {
       return scale_frequencies(w, [](auto &o) {
         o.kind = LPT_ROTARY_SCALING_KIND_YARN;
         o.original_positions = 0;
       });
     }},
    {"rotary_frequencies: fast below slow",
     LPT_INVALID_ARGUMENT,
     {"beta_fast is 32", "64 to 1e+09"},
     [](World &w) {
       return scale_frequencies(w, [](auto &o) {
         o.kind = LPT_ROTARY_SCALING_KIND_YARN;
         o.beta_slow = 64;
       });
     }},
    {"rotary_frequencies: high below low",
     LPT_INVALID_ARGUMENT,
     {"high_frequency_factor is 4", "more than low_frequency_factor, 4"},
     [](World &w) {
       return scale_frequencies(w, [](auto &o) {
         o.kind = LPT_ROTARY_SCALING_KIND_LLAMA3;
         o.low_frequency_factor = 4;
       });
     }},
    {"rotary_frequencies: reserved",
     LPT_UNSUPPORTED,
     {"reserved is 1"},
     [](World &w) { return scale_frequencies(w, [](auto &o) { o.reserved = 1; }); }},
    {"rotary_frequencies: a matrix",
     LPT_INVALID_ARGUMENT,
     {"frequencies is 4 x 8 f32", "vector"},
     [](World &w) { return lpt_rotary_frequencies(w.c, nullptr, w.activation.get()); }},
    {"rotary: no input",
     LPT_INVALID_ARGUMENT,
     {"input is NULL"},
     [](World &w) { return lpt_rotary(w.c, nullptr, w.inverse_rms.get(), nullptr, w.activation.get()); }},
    {"rotary: a vector",
     LPT_INVALID_ARGUMENT,
     {"input is 8 f32", "rank 2 or more"},
     [](World &w) { return rotate(w, w.line, w.inverse_rms, w.line_output, kUnchanged); }},
    {"rotary: codes",
     LPT_UNSUPPORTED,
     {"input is mxfp8_e4m3", "f64, f32, bf16 or f16"},
     [](World &w) { return rotate(w, w.codes, w.inverse_rms, w.wide, kUnchanged); }},
    {"rotary: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4 x 32 f32", "shape of input, 4 x 8 f32"},
     [](World &w) { return rotate(w, w.gate, w.inverse_rms, w.wide, kUnchanged); }},
    {"rotary: more frequencies than pairs",
     LPT_INVALID_ARGUMENT,
     {"frequencies is 8 f32", "at most half the columns of input, 4"},
     [](World &w) { return rotate(w, w.gate, w.line, w.activation, kUnchanged); }},
    {"rotary: no frequencies",
     LPT_INVALID_ARGUMENT,
     {"frequencies is NULL"},
     [](World &w) { return lpt_rotary(w.c, w.gate.get(), nullptr, nullptr, w.activation.get()); }},
    {"rotary: too few positions",
     LPT_INVALID_ARGUMENT,
     {"positions is 1 x 3 int64", "vector of 4"},
     [](World &w) {
       const std::vector<int64_t> positions = {0, 1, 2};
       const Tensor given = indices_of(w.c, positions);
       return rotate(w, w.gate, w.inverse_rms, w.activation, [&](auto &o) { o.positions = given.get(); });
     }},
    {"rotary: positions that are no indices",
     LPT_INVALID_ARGUMENT,
     {"positions is f32", "int32 or int64"},
     [](World &w) {
       return rotate(w, w.gate, w.inverse_rms, w.activation, [&w](auto &o) { o.positions = w.inverse_rms.get(); });
     }},
    {"rotary: a first position that f64 does not hold",
     LPT_INVALID_ARGUMENT,
     {"first_position is 9007199254740993", "-2^53 to 2^53"},
     [](World &w) {
       return rotate(w, w.gate, w.inverse_rms, w.activation,
                     [](auto &o) { o.first_position = (int64_t{1} << 53) + 1; });
     }},
    {"rotary: unknown layout",
     LPT_INVALID_ARGUMENT,
     {"layout is 2", "0 to 1"},
     [](World &w) { return rotate(w, w.gate, w.inverse_rms, w.activation, [](auto &o) { o.layout = 2; }); }},
    {"rotary: not a boolean",
     LPT_INVALID_ARGUMENT,
     {"is_inverse is 2", "0 to 1"},
     [](World &w) { return rotate(w, w.gate, w.inverse_rms, w.activation, [](auto &o) { o.is_inverse = 2; }); }},
    {"rotary: infinite scale",
     LPT_INVALID_ARGUMENT,
     {"scale is inf"},
     [](World &w) { return rotate(w, w.gate, w.inverse_rms, w.activation, [](auto &o) { o.scale = INFINITY; }); }},
    {"rotary: output over a part of the input",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps input"},
     [](World &w) {
       const Tensor input = view(w.c, w.activation.get(), {0, 0}, {3, 8});
       return rotate(w, input, w.inverse_rms, view(w.c, w.activation.get(), {1, 0}, {3, 8}), kUnchanged);
     }},
    {"rotary: output over the frequencies",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps frequencies"},
     [](World &w) {
       const Tensor frequencies = view(w.c, w.activation.get(), {1, 0}, {1, 4});
       return rotate(w, w.gate, frequencies, w.activation, kUnchanged);
     }},
    {"swiglu_forward: unknown smoothing",
     LPT_INVALID_ARGUMENT,
     {"smoothing is 2", "0 to 1"},
     [](World &w) { return swiglu(w, 2, w.written_factors.get()); }},
    {"swiglu_forward: factors that are not requested",
     LPT_INVALID_ARGUMENT,
     {"smoothing is given", "LPT_SWIGLU_SMOOTHING_CHANNEL"},
     [](World &w) { return swiglu(w, LPT_SWIGLU_SMOOTHING_NONE, w.written_factors.get()); }},
    {"swiglu_forward: no space for factors",
     LPT_INVALID_ARGUMENT,
     {"smoothing is NULL"},
     [](World &w) { return swiglu(w, LPT_SWIGLU_SMOOTHING_CHANNEL, nullptr); }},
    {"swiglu_forward: up of another shape",
     LPT_INVALID_ARGUMENT,
     {"up is 4 x 32", "4 x 8"},
     [](World &w) {
       return lpt_swiglu_forward(w.c, w.gate.get(), w.source.get(), nullptr, w.activation.get(), nullptr);
     }},
    {"swiglu_forward: output over the gate",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps gate"},
     [](World &w) { return lpt_swiglu_forward(w.c, w.gate.get(), w.up.get(), nullptr, w.gate.get(), nullptr); }},
    {"swiglu_backward: gradients over each other",
     LPT_INVALID_ARGUMENT,
     {"gate_gradient", "overlaps up_gradient"},
     [](World &w) {
       return lpt_swiglu_backward(w.c, w.gate.get(), w.up.get(), w.a.get(), nullptr, w.up_gradient.get(),
                                  w.up_gradient.get());
     }},
    {"swiglu_backward: no gradient",
     LPT_INVALID_ARGUMENT,
     {"output_gradient is NULL"},
     [](World &w) {
       return lpt_swiglu_backward(w.c, w.gate.get(), w.up.get(), nullptr, nullptr, w.activation.get(),
                                  w.up_gradient.get());
     }},
    {"rmsnorm_forward: negative epsilon",
     LPT_INVALID_ARGUMENT,
     {"epsilon is -1"},
     [](World &w) {
       lpt_rmsnorm_options o = LPT_RMSNORM_OPTIONS_INIT;
       o.epsilon = -1;
       return lpt_rmsnorm_forward(w.c, w.gate.get(), w.norm_weight.get(), &o, w.activation.get(), w.inverse_rms.get());
     }},
    {"rmsnorm_forward: weight of another length",
     LPT_INVALID_ARGUMENT,
     {"weight is 6", "vector of 8"},
     [](World &w) {
       return lpt_rmsnorm_forward(w.c, w.gate.get(), w.bias.get(), nullptr, w.activation.get(), w.inverse_rms.get());
     }},
    {"rmsnorm_forward: inverse rms of another length",
     LPT_INVALID_ARGUMENT,
     {"inverse_rms is 8", "vector of 4"},
     [](World &w) {
       return lpt_rmsnorm_forward(w.c, w.gate.get(), w.norm_weight.get(), nullptr, w.activation.get(),
                                  w.norm_weight_gradient.get());
     }},
    {"rmsnorm_backward: no output",
     LPT_INVALID_ARGUMENT,
     {"input_gradient and weight_gradient are NULL"},
     [](World &w) {
       return lpt_rmsnorm_backward(w.c, w.gate.get(), w.norm_weight.get(), w.inverse_rms.get(), w.up.get(), nullptr,
                                   nullptr, nullptr);
     }},
    {"rmsnorm_backward: not a boolean",
     LPT_INVALID_ARGUMENT,
     {"is_accumulated is 3"},
     [](World &w) {
       lpt_rmsnorm_options o = LPT_RMSNORM_OPTIONS_INIT;
       o.is_accumulated = 3;
       return lpt_rmsnorm_backward(w.c, w.gate.get(), w.norm_weight.get(), w.inverse_rms.get(), w.up.get(), &o,
                                   w.activation.get(), w.norm_weight_gradient.get());
     }},
    {"softmax_forward: not a boolean",
     LPT_INVALID_ARGUMENT,
     {"is_causal is 2", "0 to 1"},
     [](World &w) { return softmax(w, w.gate, w.activation, [](auto &o) { o.is_causal = 2; }); }},
    {"softmax_forward: infinite scale",
     LPT_INVALID_ARGUMENT,
     {"scale is inf"},
     [](World &w) { return softmax(w, w.gate, w.activation, [](auto &o) { o.scale = INFINITY; }); }},
    {"exaq_softmax_forward: levels of one bit",
     LPT_INVALID_ARGUMENT,
     {"bits is 1", "2, 3 or 4"},
     [](World &w) {
       lpt_exaq_options o = LPT_EXAQ_OPTIONS_INIT;
       o.bits = 1;
       return lpt_exaq_softmax_forward(w.c, w.gate.get(), &o, w.activation.get());
     }},
    {"exaq_softmax_forward: no range",
     LPT_INVALID_ARGUMENT,
     {"clip is 0", "-10000 to -0.001"},
     [](World &w) {
       lpt_exaq_options o = LPT_EXAQ_OPTIONS_INIT;
       o.clip = 0.0;
       return lpt_exaq_softmax_forward(w.c, w.gate.get(), &o, w.activation.get());
     }},
    {"softmax_forward: a causal vector",
     LPT_INVALID_ARGUMENT,
     {"is_causal is 1", "rank 2 or more"},
     [](World &w) { return softmax(w, w.line, w.line_output, [](auto &o) { o.is_causal = 1; }); }},
    {"softmax_forward: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4 x 32", "4 x 8"},
     [](World &w) { return softmax(w, w.gate, w.wide, kUnchanged); }},
    {"softmax_forward: output over the input",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps input"},
     [](World &w) { return softmax(w, w.gate, w.gate, kUnchanged); }},
    {"softmax_backward: gradient of another shape",
     LPT_INVALID_ARGUMENT,
     {"output_gradient is 4 x 32", "4 x 8"},
     [](World &w) { return lpt_softmax_backward(w.c, w.gate.get(), w.source.get(), nullptr, w.activation.get()); }},
};

}  // namespace lpt::test
