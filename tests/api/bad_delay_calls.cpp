#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

lpt_status compensate(World &w, const lpt_tensor *own, const lpt_tensor *mean, lpt_tensor *gradient,
                      const lpt_delay_options *options = nullptr) {
  const lpt_tensor *const own_list[] = {w.parameter.get(), own}, *const mean_list[] = {w.other_parameter.get(), mean};
  lpt_tensor *const gradients[] = {w.gradient.get(), gradient};
  return lpt_delay_compensate(w.c, own_list, mean_list, 2, options, gradients);
}

// Calls with valid tensors, and options that `change` makes invalid.
template <typename Change>
lpt_status compensate(World &w, Change change) {
  lpt_delay_options options = LPT_DELAY_OPTIONS_INIT;
  change(options);
  return compensate(w, w.gate.get(), w.up.get(), w.input_gradient.get(), &options);
}

}  // namespace

const std::vector<BadCall> kDelayCalls = {
    {"delay_compensate: negative count",
     LPT_INVALID_ARGUMENT,
     {"count is -1"},
     [](World &w) { return lpt_delay_compensate(w.c, nullptr, nullptr, -1, nullptr, nullptr); }},
    {"delay_compensate: no tensors of this rank",
     LPT_INVALID_ARGUMENT,
     {"own is NULL", "1 tensors"},
     [](World &w) { return lpt_delay_compensate(w.c, nullptr, nullptr, 1, nullptr, nullptr); }},
    {"delay_compensate: no means",
     LPT_INVALID_ARGUMENT,
     {"mean is NULL"},
     [](World &w) {
       const lpt_tensor *const own[] = {w.parameter.get()};
       return lpt_delay_compensate(w.c, own, nullptr, 1, nullptr, nullptr);
     }},
    {"delay_compensate: no gradients",
     LPT_INVALID_ARGUMENT,
     {"gradients is NULL"},
     [](World &w) {
       const lpt_tensor *const own[] = {w.parameter.get()};
       return lpt_delay_compensate(w.c, own, own, 1, nullptr, nullptr);
     }},
    {"delay_compensate: a missing tensor",
     LPT_INVALID_ARGUMENT,
     {"mean[1] is NULL"},
     [](World &w) { return compensate(w, w.gate.get(), nullptr, w.input_gradient.get()); }},
    {"delay_compensate: means of another shape",
     LPT_INVALID_ARGUMENT,
     {"mean[1]", "own[1]"},
     [](World &w) { return compensate(w, w.gate.get(), w.weight.get(), w.input_gradient.get()); }},
    {"delay_compensate: a gradient of another shape",
     LPT_INVALID_ARGUMENT,
     {"gradients[1]", "own[1]"},
     [](World &w) { return compensate(w, w.gate.get(), w.up.get(), w.weight_gradient.get()); }},
    {"delay_compensate: bytes",
     LPT_UNSUPPORTED,
     {"own[1]", "uint8"},
     [](World &w) { return compensate(w, w.bytes.get(), w.source.get(), w.wide.get()); }},
    {"delay_compensate: a gradient that is the mean",
     LPT_INVALID_ARGUMENT,
     {"gradients[1]", "mean[1]", "overlap"},
     [](World &w) { return compensate(w, w.gate.get(), w.input_gradient.get(), w.input_gradient.get()); }},
    {"delay_compensate: a gradient that is the tensor of this rank",
     LPT_INVALID_ARGUMENT,
     {"gradients[1]", "own[1]", "overlap"},
     [](World &w) { return compensate(w, w.input_gradient.get(), w.gate.get(), w.input_gradient.get()); }},
    {"delay_compensate: a strength that is no number",
     LPT_INVALID_ARGUMENT,
     {"strength is"},
     [](World &w) { return compensate(w, [](auto &o) { o.strength = NAN; }); }},
    {"delay_compensate: a negative strength",
     LPT_INVALID_ARGUMENT,
     {"strength is -1"},
     [](World &w) { return compensate(w, [](auto &o) { o.strength = -1.0; }); }},
    {"delay_compensate: no such norm",
     LPT_INVALID_ARGUMENT,
     {"norm is 2", "0 to 1"},
     [](World &w) { return compensate(w, [](auto &o) { o.norm = 2; }); }},
    {"delay_compensate: an unknown flag",
     LPT_UNSUPPORTED,
     {"flags"},
     [](World &w) { return compensate(w, [](auto &o) { o.flags = LPT_GEMM_PORTABLE_ORDER; }); }},
    {"delay_compensate: a reserved member",
     LPT_UNSUPPORTED,
     {"reserved is 1"},
     [](World &w) { return compensate(w, [](auto &o) { o.reserved = 1; }); }},
};

}  // namespace lpt::test
