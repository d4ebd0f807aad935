#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kLayerCalls = {
    {"swiglu_forward: unknown smoothing",
     LPT_INVALID_ARGUMENT,
     {"smoothing is 2", "0 to 1"},
     [](World &w) { return swiglu(w, 2, w.written_factors.get()); }},
    {"swiglu_forward: factors that are not asked for",
     LPT_INVALID_ARGUMENT,
     {"smoothing is given", "LPT_SMOOTHING_CHANNEL"},
     [](World &w) { return swiglu(w, LPT_SMOOTHING_NONE, w.written_factors.get()); }},
    {"swiglu_forward: no room for factors",
     LPT_INVALID_ARGUMENT,
     {"smoothing is NULL"},
     [](World &w) { return swiglu(w, LPT_SMOOTHING_CHANNEL, nullptr); }},
    {"swiglu_forward: up of another shape",
     LPT_INVALID_ARGUMENT,
     {"up is 4×32", "4×8"},
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
    {"rmsnorm_backward: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_accumulated is 3"},
     [](World &w) {
       lpt_rmsnorm_options o = LPT_RMSNORM_OPTIONS_INIT;
       o.is_accumulated = 3;
       return lpt_rmsnorm_backward(w.c, w.gate.get(), w.norm_weight.get(), w.inverse_rms.get(), w.up.get(), &o,
                                   w.activation.get(), w.norm_weight_gradient.get());
     }},
    {"softmax_forward: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_causal is 2", "0 to 1"},
     [](World &w) { return softmax(w, w.gate, w.activation, [](auto &o) { o.is_causal = 2; }); }},
    {"softmax_forward: infinite scale",
     LPT_INVALID_ARGUMENT,
     {"scale is inf"},
     [](World &w) { return softmax(w, w.gate, w.activation, [](auto &o) { o.scale = INFINITY; }); }},
    {"softmax_forward: a causal vector",
     LPT_INVALID_ARGUMENT,
     {"is_causal is 1", "rank 2 or more"},
     [](World &w) { return softmax(w, w.line, w.line_output, [](auto &o) { o.is_causal = 1; }); }},
    {"softmax_forward: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4×32", "4×8"},
     [](World &w) { return softmax(w, w.gate, w.wide, kUnchanged); }},
    {"softmax_forward: output over the input",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps input"},
     [](World &w) { return softmax(w, w.gate, w.gate, kUnchanged); }},
    {"softmax_backward: gradient of another shape",
     LPT_INVALID_ARGUMENT,
     {"output_gradient is 4×32", "4×8"},
     [](World &w) { return lpt_softmax_backward(w.c, w.gate.get(), w.source.get(), nullptr, w.activation.get()); }},
};

}  // namespace lpt::test
