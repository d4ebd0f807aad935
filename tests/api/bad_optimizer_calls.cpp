#include "tests/api/bad_calls.hpp"

namespace lpt::test {

const std::vector<BadCall> kOptimizerCalls = {
    {"optimizer_create: beta1 of 1",
     LPT_INVALID_ARGUMENT,
     {"beta1 is 1", "less than 1"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.beta1 = 1.0; }); }},
    {"optimizer_create: beta1 of -0.5",
     LPT_INVALID_ARGUMENT,
     {"beta1 is -0.5", "-1 for the default"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.beta1 = -0.5; }); }},
    {"optimizer_create: beta2 NaN",
     LPT_INVALID_ARGUMENT,
     {"beta2 is", "nan"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.beta2 = std::nan(""); }); }},
    {"optimizer_create: negative epsilon",
     LPT_INVALID_ARGUMENT,
     {"epsilon is -1e-08"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.epsilon = -1e-8; }); }},
    {"optimizer_create: unknown underflow",
     LPT_INVALID_ARGUMENT,
     {"second_underflow is 3", "0 to 2"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.second_underflow = 3; }); }},
    {"optimizer_create: unknown method",
     LPT_INVALID_ARGUMENT,
     {"method is 4", "0 to 3"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.method = 4; }); }},
    {"optimizer_create: AdamW with Nesterov's momentum",
     LPT_UNSUPPORTED,
     {"is_nesterov is 1", "LPT_OPTIMIZER_METHOD_SGD"},
     [](World &w) { return create_optimizer(w, [](auto &o) { o.is_nesterov = 1; }); }},
    {"optimizer_set_directory: no optimizer",
     LPT_INVALID_ARGUMENT,
     {"optimizer is NULL"},
     [](World &w) { return lpt_optimizer_set_directory(w.c, nullptr, "/tmp", 0); }},
    {"optimizer_set_directory: no directory",
     LPT_INVALID_ARGUMENT,
     {"directory is NULL"},
     [](World &w) { return lpt_optimizer_set_directory(w.c, w.optimizer.get(), nullptr, 0); }},
    {"optimizer_set_directory: too small a budget",
     LPT_INVALID_ARGUMENT,
     {"resident_bytes is 4096", "0 or at least 4194304"},
     [](World &w) { return lpt_optimizer_set_directory(w.c, w.optimizer.get(), "/tmp", 4096); }},
    {"optimizer_set_directory: parameters have their state",
     LPT_INVALID_ARGUMENT,
     {"parameters", "expected none"},
     [](World &w) { return lpt_optimizer_set_directory(w.c, w.optimizer.get(), "/tmp", 0); }},
    {"optimizer_add: no parameter",
     LPT_INVALID_ARGUMENT,
     {"parameter is NULL"},
     [](World &w) { return lpt_optimizer_add(w.c, w.optimizer.get(), nullptr, nullptr, &w.out_number); }},
    {"optimizer_add: an empty name",
     LPT_INVALID_ARGUMENT,
     {"name has 0 bytes", "1 to 255"},
     [](World &w) {
       const lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
       return lpt_optimizer_add(w.c, w.optimizer.get(), "", &parameter, &w.out_number);
     }},
    {"optimizer_add: a long name",
     LPT_INVALID_ARGUMENT,
     {"name has 256 bytes"},
     [](World &w) {
       const lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
       return lpt_optimizer_add(w.c, w.optimizer.get(), std::string(256, 'a').c_str(), &parameter, &w.out_number);
     }},
    {"optimizer_add: a stream that is too large",
     LPT_INVALID_ARGUMENT,
     {"random_stream is 16777216", "0 to 16777215"},
     [](World &w) { return add(w, [](auto &p) { p.random_stream = int64_t{1} << 24; }); }},
    {"optimizer_find: no name",
     LPT_INVALID_ARGUMENT,
     {"name is NULL"},
     [](World &w) { return lpt_optimizer_find(w.c, w.optimizer.get(), nullptr, &w.out_number); }},
    {"optimizer_find: an unknown name",
     LPT_INVALID_ARGUMENT,
     {"name is \"weight\"", "one of 0 parameters"},
     [](World &w) { return lpt_optimizer_find(w.c, w.optimizer.get(), "weight", &w.out_number); }},
    {"optimizer_add: negative elements",
     LPT_INVALID_ARGUMENT,
     {"elements is -1"},
     [](World &w) { return add(w, [](auto &p) { p.elements = -1; }); }},
    {"optimizer_add: no elements",
     LPT_INVALID_ARGUMENT,
     {"elements is 0: expected 1 to 2^57"},
     [](World &w) { return add(w, [](auto &p) { p.elements = 0; }); }},
    {"optimizer_add: moments with blocks",
     LPT_UNSUPPORTED,
     {"first_moment is mxfp8_e4m3"},
     [](World &w) { return add(w, [](auto &p) { p.first_moment = LPT_FORMAT_MXFP8_E4M3; }); }},
    {"optimizer_add: negative decay",
     LPT_INVALID_ARGUMENT,
     {"weight_decay is -0.1"},
     [](World &w) { return add(w, [](auto &p) { p.weight_decay = -0.1; }); }},
    {"optimizer_add: one scale expanded",
     LPT_UNSUPPORTED,
     {"is_first_expanded is 1", "groups of 128"},
     [](World &w) {
       return add(w, [](auto &p) {
         p.first_moment = LPT_FORMAT_E4M3FN_TENSOR;
         p.is_first_expanded = 1;
       });
     }},
    {"optimizer_add: delayed scale of groups",
     LPT_UNSUPPORTED,
     {"second_scaling is LPT_SCALER_KIND_DELAYED", "one scale per tensor"},
     [](World &w) {
       return add(w, [](auto &p) {
         p.second_moment = LPT_FORMAT_E5M2_1X128;
         p.second_scaling = LPT_SCALER_KIND_DELAYED;
       });
     }},
    {"optimizer_add: unknown scaling",
     LPT_INVALID_ARGUMENT,
     {"first_scaling is 2", "0 to 1"},
     [](World &w) { return add(w, [](auto &p) { p.first_scaling = 2; }); }},
    {"optimizer_add: expansion of 2",
     LPT_INVALID_ARGUMENT,
     {"is_second_expanded is 2", "0 or 1"},
     [](World &w) { return add(w, [](auto &p) { p.is_second_expanded = 2; }); }},
    {"optimizer_add: compensation in f32",
     LPT_UNSUPPORTED,
     {"compensation is f32", "bf16 or none"},
     [](World &w) { return add(w, [](auto &p) { p.compensation = LPT_FORMAT_F32; }); }},
    {"optimizer_add: a shard larger than the whole",
     LPT_INVALID_ARGUMENT,
     {"whole_elements is 1", "8"},
     [](World &w) { return add(w, [](auto &p) { p.whole_elements = 1; }); }},
    {"optimizer_add: a shard beyond the end",
     LPT_INVALID_ARGUMENT,
     {"begin is 93", "92"},
     [](World &w) {
       return add(w, [](auto &p) {
         p.whole_elements = 100;
         p.begin = 93;
       });
     }},
    {"optimizer_add: a shard that begins inside a block",
     LPT_INVALID_ARGUMENT,
     {"begin is 128", "multiple of 256"},
     [](World &w) {
       return add(w, [](auto &p) {
         p.first_moment = LPT_FORMAT_DYNAMIC_1X256;
         p.second_moment = LPT_FORMAT_E5M2_1X128;
         p.whole_elements = 1000;
         p.begin = 128;
       });
     }},
    {"optimizer_step: no optimizer",
     LPT_INVALID_ARGUMENT,
     {"optimizer is NULL"},
     [](World &w) { return lpt_optimizer_step(w.c, nullptr, nullptr, 0, nullptr, nullptr, nullptr); }},
    {"optimizer_step: negative count",
     LPT_INVALID_ARGUMENT,
     {"count is -1"},
     [](World &w) { return lpt_optimizer_step(w.c, w.optimizer.get(), nullptr, -1, nullptr, nullptr, nullptr); }},
    {"optimizer_step: no indices",
     LPT_INVALID_ARGUMENT,
     {"indices is NULL"},
     [](World &w) { return lpt_optimizer_step(w.c, w.optimizer.get(), nullptr, 2, nullptr, nullptr, nullptr); }},
    {"optimizer_step: the same parameter twice",
     LPT_INVALID_ARGUMENT,
     {"indices[1] is 0 again", "at most once"},
     [](World &w) {
       return step(w, {0, 0}, w.gradient, w.parameter, kUnchanged);
     }},
    {"optimizer_step: index out of range",
     LPT_INVALID_ARGUMENT,
     {"indices[1] is 7", "0 to 1"},
     [](World &w) {
       return step(w, {0, 7}, w.gradient, w.parameter, kUnchanged);
     }},
    {"optimizer_step: learning rate NaN",
     LPT_INVALID_ARGUMENT,
     {"learning_rate is", "nan"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.learning_rate = std::nan(""); });
     }},
    {"optimizer_step: infinite gradient scale",
     LPT_INVALID_ARGUMENT,
     {"gradient_scale is inf"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.gradient_scale = INFINITY; });
     }},
    {"optimizer_step: negative largest norm",
     LPT_INVALID_ARGUMENT,
     {"largest_norm is -1"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.largest_norm = -1.0; });
     }},
    {"optimizer_step: negative norm",
     LPT_INVALID_ARGUMENT,
     {"gradient_norm is -1", "at least 0"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.gradient_norm = -1.0; });
     }},
    {"optimizer_step: norm NaN",
     LPT_INVALID_ARGUMENT,
     {"gradient_norm is", "nan"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.gradient_norm = std::nan(""); });
     }},
    {"optimizer_step: skip of 2",
     LPT_INVALID_ARGUMENT,
     {"is_nonfinite_skipped is 2"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.is_nonfinite_skipped = 2; });
     }},
    {"optimizer_read: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_optimizer_read(w.c, w.optimizer.get(), nullptr); }},
    {"gradients_measure: no gradients",
     LPT_INVALID_ARGUMENT,
     {"gradients is NULL", "1 tensors"},
     [](World &w) {
       lpt_gradients_info values = LPT_GRADIENTS_INFO_INIT;
       return lpt_gradients_measure(w.c, nullptr, 1, &values);
     }},
    {"gradients_measure: negative count",
     LPT_INVALID_ARGUMENT,
     {"count is -1"},
     [](World &w) {
       lpt_gradients_info values = LPT_GRADIENTS_INFO_INIT;
       return lpt_gradients_measure(w.c, nullptr, -1, &values);
     }},
    {"gradients_measure: gradient in f64",
     LPT_UNSUPPORTED,
     {"gradients[0] is f64", "f32 or bf16"},
     [](World &w) {
       lpt_gradients_info values = LPT_GRADIENTS_INFO_INIT;
       const lpt_tensor *const gradients[] = {w.f64_tensor.get()};
       return lpt_gradients_measure(w.c, gradients, 1, &values);
     }},
    {"gradients_measure: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_gradients_measure(w.c, nullptr, 0, nullptr); }},
    {"optimizer_step: unknown rounding",
     LPT_INVALID_ARGUMENT,
     {"parameter_rounding is 3"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.parameter, [](auto &o) { o.parameter_rounding = 3; });
     }},
    {"optimizer_step: gradient of another size",
     LPT_INVALID_ARGUMENT,
     {"gradients[0] is 4 x 6", "32 elements"},
     [](World &w) {
       return step(w, {0, 1}, w.output_gradient, w.parameter, kUnchanged);
     }},
    {"optimizer_step: gradient in f64",
     LPT_UNSUPPORTED,
     {"gradients[0] is f64", "f32 or bf16"},
     [](World &w) {
       return step(w, {0, 1}, w.f64_tensor, w.parameter, kUnchanged);
     }},
    {"optimizer_step: parameter in f64",
     LPT_UNSUPPORTED,
     {"parameters[0] is f64"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.f64_tensor, kUnchanged);
     }},
    {"optimizer_step: parameter over its gradient",
     LPT_INVALID_ARGUMENT,
     {"overlaps", "parameters[0]", "gradients["},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.gradient, kUnchanged);
     }},
    {"optimizer_step: parameters over each other",
     LPT_INVALID_ARGUMENT,
     {"overlaps", "parameters[0]", "parameters[1]"},
     [](World &w) {
       return step(w, {0, 1}, w.gradient, w.other_parameter, kUnchanged);
     }},
    {"optimizer_size: NULL",
     LPT_INVALID_ARGUMENT,
     {"out_size_bytes is NULL"},
     [](World &w) { return lpt_optimizer_size(w.c, w.optimizer.get(), nullptr); }},
    {"optimizer_state_size: index out of range",
     LPT_INVALID_ARGUMENT,
     {"index is 2", "0 to 1"},
     [](World &w) { return lpt_optimizer_state_size(w.c, w.optimizer.get(), 2, &w.out_size); }},
    {"optimizer_state_save: too little memory",
     LPT_INVALID_ARGUMENT,
     {"buffer_bytes is 31"},
     [](World &w) { return lpt_optimizer_state_save(w.c, w.optimizer.get(), 0, w.buffer.data(), 31); }},
    {"optimizer_state_load: truncated",
     LPT_INVALID_STATE,
     {"saved state", "truncated"},
     [](World &w) { return load_parameter(w, 0, cut(w.optimizer_state, 9)); }},
    {"optimizer_state_load: damaged",
     LPT_INVALID_STATE,
     {"saved state", "checksum"},
     [](World &w) { return load_parameter(w, 0, flipped(w.optimizer_state, 100)); }},
    {"optimizer_state_load: other formats",
     LPT_INVALID_STATE,
     {"first moment's format is 2", "expected 64"},
     [](World &w) { return load_parameter(w, 1, w.optimizer_state); }},
    {"optimizer_state_load: state of a scaler",
     LPT_INVALID_STATE,
     {"kind 1", "expected 3"},
     [](World &w) { return load_parameter(w, 0, w.scaler_state); }},
};

}  // namespace lpt::test
