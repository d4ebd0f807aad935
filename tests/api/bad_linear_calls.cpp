#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

lpt_status prepare_smoothed(World &w, lpt_linear *linear, const lpt_tensor *weight, const lpt_tensor *factors) {
  lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
  options.input_smoothing = factors;
  return lpt_linear_prepare(w.c, linear, weight, &options);
}

}  // namespace

const std::vector<BadCall> kLinearCalls = {
    {"linear_create: no shape",
     LPT_INVALID_ARGUMENT,
     {"shape is NULL"},
     [](World &w) { return lpt_linear_create(w.c, w.recipe.get(), nullptr, &w.out_linear); }},
    {"linear_create: no columns",
     LPT_INVALID_ARGUMENT,
     {"input_columns is 0", "1 to 2^28"},
     [](World &w) { return create_linear(w, 0, 6); }},
    {"linear_create: too many columns",
     LPT_INVALID_ARGUMENT,
     {"output_columns is 536870912", "1 to 2^28"},
     [](World &w) { return create_linear(w, 8, int64_t{1} << 29); }},
    {"linear_create: a layer for a recipe",
     LPT_INVALID_ARGUMENT,
     {"recipe is not a live handle"},
     [](World &w) {
       lpt_linear_shape s = {sizeof s, 8, 6};
       return lpt_linear_create(w.c, cast<lpt_recipe>(w.linear.get()), &s, &w.out_linear);
     }},
    {"linear_prepare: no weight",
     LPT_INVALID_ARGUMENT,
     {"weight is NULL"},
     [](World &w) { return lpt_linear_prepare(w.c, w.linear.get(), nullptr, nullptr); }},
    {"linear_prepare: weight of another shape",
     LPT_INVALID_ARGUMENT,
     {"weight is 8 x 6", "6 x 8"},
     [](World &w) { return lpt_linear_prepare(w.c, w.linear.get(), w.b.get(), nullptr); }},
    {"linear_prepare: f64 after f32",
     LPT_INVALID_ARGUMENT,
     {"weight is f64"},
     [](World &w) {
       const Tensor f64 = make_tensor(w.owner.get(), LPT_FORMAT_F64, 6, 8);
       return lpt_linear_prepare(w.c, w.linear.get(), f64.get(), nullptr);
     }},
    {"linear_forward: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_forward(w.c, nullptr, w.a.get(), nullptr, nullptr, w.gemm.get()); }},
    {"linear_forward: not prepared",
     LPT_INVALID_ARGUMENT,
     {"linear", "lpt_linear_prepare()"},
     [](World &w) { return lpt_linear_forward(w.c, w.raw_linear.get(), w.a.get(), nullptr, nullptr, w.gemm.get()); }},
    {"linear_forward: input of other columns",
     LPT_INVALID_ARGUMENT,
     {"input is 4 x 32", "4 x 8"},
     [](World &w) { return lpt_linear_forward(w.c, w.linear.get(), w.source.get(), nullptr, nullptr, w.gemm.get()); }},
    {"linear_forward: output of another shape",
     LPT_INVALID_ARGUMENT,
     {"output is 4 x 32", "4 x 6"},
     [](World &w) { return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, nullptr, w.wide.get()); }},
    {"linear_forward: output over the input",
     LPT_INVALID_ARGUMENT,
     {"output at", "overlaps input"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.a.get()).data, 4, 6);
       return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, nullptr, over.get());
     }},
    {"linear_forward: saved of another size",
     LPT_INVALID_ARGUMENT,
     {"saved is", "expected a vector of"},
     [](World &w) { return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, w.bytes.get(), w.gemm.get()); }},
    {"linear_forward: saved of numbers",
     LPT_INVALID_ARGUMENT,
     {"saved is f32", "expected uint8"},
     [](World &w) {
       const Tensor numbers =
           make_tensor(w.owner.get(), LPT_FORMAT_F32, {shape_of(w.owner.get(), w.saved.get()).columns});
       return lpt_linear_forward(w.c, w.linear.get(), w.a.get(), nullptr, numbers.get(), w.gemm.get());
     }},
    {"linear_forward: places that are the layer's",
     LPT_INVALID_ARGUMENT,
     {"random.offset is 3", "first_row"},
     [](World &w) { return forward(w, [](auto &o) { o.random.offset = 3; }); }},
    {"linear_forward: negative first row",
     LPT_INVALID_ARGUMENT,
     {"first_row is -1"},
     [](World &w) { return forward(w, [](auto &o) { o.first_row = -1; }); }},
    {"linear_forward: first row beyond any index",
     LPT_INVALID_ARGUMENT,
     {"first_row is 9223372036854775807"},
     [](World &w) { return forward(w, [](auto &o) { o.first_row = INT64_MAX; }); }},
    {"linear_forward: stream of 2^24",
     LPT_INVALID_ARGUMENT,
     {"random.stream is 16777216"},
     [](World &w) { return forward(w, [](auto &o) { o.random.stream = 1u << 24; }); }},
    {"linear_forward: not a boolean",
     LPT_INVALID_ARGUMENT,
     {"is_accumulated is 2", "0 to 1"},
     [](World &w) { return forward(w, [](auto &o) { o.is_accumulated = 2; }); }},
    {"linear_forward: bias of another length",
     LPT_INVALID_ARGUMENT,
     {"bias is 7", "vector of 6"},
     [](World &w) { return forward(w, [&](auto &o) { o.bias = w.long_bias.get(); }); }},
    {"linear_forward: factors of another length",
     LPT_INVALID_ARGUMENT,
     {"input_smoothing is 1 x 32", "vector of 8"},
     [](World &w) { return forward(w, [&](auto &o) { o.input_smoothing = w.factors.get(); }); }},
    {"linear_prepare: factors of another length",
     LPT_INVALID_ARGUMENT,
     {"input_smoothing is 1 x 32", "vector of 8"},
     [](World &w) { return prepare_smoothed(w, w.linear.get(), w.weight.get(), w.factors.get()); }},
    {"linear_prepare: factors with an f64 weight",
     LPT_UNSUPPORTED,
     {"weight is f64", "input_smoothing"},
     [](World &w) {
       const Tensor f64 = make_tensor(w.owner.get(), LPT_FORMAT_F64, 6, 8);
       return prepare_smoothed(w, w.raw_linear.get(), f64.get(), w.input_factors.get());
     }},
    {"linear_forward: factors here and in prepare",
     LPT_INVALID_ARGUMENT,
     {"input_smoothing is given", "lpt_linear_prepare()", "NULL"},
     [](World &w) {
       prepare_smoothed(w, w.linear.get(), w.weight.get(), w.input_factors.get());
       return forward(w, [&](auto &o) { o.input_smoothing = w.input_factors.get(); });
     }},
    {"linear_forward: factors with blocks",
     LPT_UNSUPPORTED,
     {"input_smoothing", "mxfp8_e4m3", "tensor scales"},
     [](World &w) {
       lpt_linear_options o = LPT_LINEAR_OPTIONS_INIT;
       o.input_smoothing = w.input_factors.get();
       return lpt_linear_forward(w.c, w.block_linear.get(), w.a.get(), &o, nullptr, w.gemm.get());
     }},
    {"linear_backward: no output",
     LPT_INVALID_ARGUMENT,
     {"input_gradient, weight_gradient and bias_gradient are NULL"},
     [](World &w) {
       return lpt_linear_backward(w.c, w.linear.get(), w.saved.get(), w.output_gradient.get(), nullptr, nullptr,
                                  nullptr, nullptr);
     }},
    {"linear_backward: nothing saved",
     LPT_INVALID_ARGUMENT,
     {"saved is NULL", "weight_gradient"},
     [](World &w) { return backward(w, Tensor(), w.weight_gradient); }},
    {"linear_backward: saved was not written",
     LPT_INVALID_ARGUMENT,
     {"saved was not written", "4 rows"},
     [](World &w) { return backward(w, w.unsaved, w.weight_gradient); }},
    {"linear_backward: output gradient with other rows",
     LPT_INVALID_ARGUMENT,
     {"output_gradient has 4 rows: expected 5, the rows of the input that forward saved"},
     [](World &w) { return backward(w, w.saved_of_5_rows, w.weight_gradient); }},
    {"linear_backward: weight gradient in bf16",
     LPT_UNSUPPORTED,
     {"weight_gradient is bf16", "f32 or f64"},
     [](World &w) { return backward(w, w.saved, w.bf16_weight_gradient); }},
    {"linear_backward: weight gradient of another shape",
     LPT_INVALID_ARGUMENT,
     {"weight_gradient is 4 x 32", "6 x 8"},
     [](World &w) { return backward(w, w.saved, w.wide); }},
    {"linear_backward: input gradient over the output gradient",
     LPT_INVALID_ARGUMENT,
     {"input_gradient", "overlaps output_gradient"},
     [](World &w) {
       Tensor dy = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.input_gradient.get()).data, 4, 6);
       return lpt_linear_backward(w.c, w.linear.get(), nullptr, dy.get(), nullptr, w.input_gradient.get(), nullptr,
                                  nullptr);
     }},
    {"linear_backward: weight gradient over what was saved",
     LPT_INVALID_ARGUMENT,
     {"weight_gradient", "overlaps saved"},
     [](World &w) {
       Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.saved.get()).data, 6, 8);
       return backward(w, w.saved, over);
     }},
    {"linear_saved_size: negative rows",
     LPT_INVALID_ARGUMENT,
     {"rows is -1"},
     [](World &w) { return lpt_linear_saved_size(w.c, w.linear.get(), -1, &w.out_size); }},
    {"linear_saved_size: more rows than can be",
     LPT_INVALID_ARGUMENT,
     {"rows is 1152921504606846976"},
     [](World &w) { return lpt_linear_saved_size(w.c, w.linear.get(), int64_t{1} << 60, &w.out_size); }},
    {"linear_saved_size: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_saved_size(w.c, nullptr, 4, &w.out_size); }},
    {"linear_cast_size: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_cast_size(w.c, nullptr, &w.out_size); }},
    {"linear_prepare: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_prepare(w.c, nullptr, w.weight.get(), nullptr); }},
    {"linear_backward: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) {
       return lpt_linear_backward(w.c, nullptr, w.saved.get(), w.output_gradient.get(), nullptr, w.input_gradient.get(),
                                  nullptr, nullptr);
     }},
    {"linear_backward: output over itself",
     LPT_INVALID_ARGUMENT,
     {"weight_gradient", "overlaps input_gradient"},
     [](World &w) {
       Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, w.buffer.data(), 6, 8);
       Tensor dx = wrap(w.owner.get(), LPT_FORMAT_F32, w.buffer.data(), 4, 8);
       return lpt_linear_backward(w.c, w.linear.get(), w.saved.get(), w.output_gradient.get(), nullptr, dx.get(),
                                  over.get(), nullptr);
     }},
    {"linear_update_scalers: a NULL among them",
     LPT_INVALID_ARGUMENT,
     {"linears[1] is NULL"},
     [](World &w) {
       lpt_linear *const l[] = {w.linear.get(), nullptr};
       return lpt_linear_update_scalers(w.c, l, 2);
     }},
    {"linear_scaler_read: unknown operand",
     LPT_INVALID_ARGUMENT,
     {"operand is 7", "0 to 2"},
     [](World &w) {
       lpt_scaler_info v = LPT_SCALER_INFO_INIT;
       return lpt_linear_scaler_read(w.c, w.linear.get(), 7, &v);
     }},
    {"linear_watch: neither on nor off",
     LPT_INVALID_ARGUMENT,
     {"is_watched is 2", "0 to 1"},
     [](World &w) { return lpt_linear_watch(w.c, w.linear.get(), 2); }},
    {"linear_watch: no layer",
     LPT_INVALID_ARGUMENT,
     {"linear is NULL"},
     [](World &w) { return lpt_linear_watch(w.c, nullptr, 1); }},
    {"linear_cast_read: unknown cast",
     LPT_INVALID_ARGUMENT,
     {"cast is 6", "0 to 5"},
     [](World &w) {
       lpt_statistics_info v = LPT_STATISTICS_INFO_INIT;
       return lpt_linear_cast_read(w.c, w.linear.get(), 6, &v);
     }},
    {"linear_cast_read: nowhere to write",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_linear_cast_read(w.c, w.linear.get(), LPT_LINEAR_CAST_WGRAD_INPUT, nullptr); }},
    {"linear_forward: ranks without a cut",
     LPT_INVALID_ARGUMENT,
     {"parallel is 0", "comm is given"},
     [](World &w) { return forward(w, [&w](lpt_linear_options &o) { o.comm = w.comm.get(); }); }},
    {"linear_forward: a cut without ranks",
     LPT_INVALID_ARGUMENT,
     {"comm is NULL", "parallel is 1"},
     [](World &w) { return forward(w, [](lpt_linear_options &o) { o.parallel = LPT_LINEAR_PARALLEL_COLUMNS; }); }},
    {"linear_forward: a tensor for the comm",
     LPT_INVALID_ARGUMENT,
     {"options->comm", "not a live handle"},
     [](World &w) { return forward(w, [&w](lpt_linear_options &o) { o.comm = cast<lpt_comm>(w.a.get()); }); }},
    {"linear_forward: a tensor for the plan",
     LPT_INVALID_ARGUMENT,
     {"options->plan", "not a live handle"},
     [](World &w) { return forward(w, [&w](lpt_linear_options &o) { o.plan = cast<lpt_partial_plan>(w.a.get()); }); }},
    {"linear_share_amax: a layer that is none",
     LPT_INVALID_ARGUMENT,
     {"linears[1] is NULL"},
     [](World &w) {
       lpt_linear *const linears[] = {w.linear.get(), nullptr};
       return lpt_linear_share_amax(w.c, w.comm.get(), linears, 2);
     }},
    {"linear_share_amax: no comm",
     LPT_INVALID_ARGUMENT,
     {"comm is NULL"},
     [](World &w) {
       lpt_linear *const linears[] = {w.linear.get()};
       return lpt_linear_share_amax(w.c, nullptr, linears, 1);
     }},
    {"linear_state_load: truncated",
     LPT_INVALID_STATE,
     {"saved state", "truncated"},
     [](World &w) { return load_linear(w, cut(w.linear_state, 4)); }},
    {"linear_state_load: damaged",
     LPT_INVALID_STATE,
     {"saved state", "checksum"},
     [](World &w) { return load_linear(w, flipped(w.linear_state, 40)); }},
    {"linear_state_load: state of a scaler",
     LPT_INVALID_STATE,
     {"kind 1", "expected 2"},
     [](World &w) { return load_linear(w, w.scaler_state); }},
    {"linear_state_load: of other columns",
     LPT_INVALID_STATE,
     {"input_columns is 8", "expected 9"},
     [](World &w) {
       lpt_linear_shape s = {sizeof s, 9, 6};
       Linear other;
       EXPECT_TRUE(ok(w.owner.get(), lpt_linear_create(w.owner.get(), w.recipe.get(), &s, out(other))));
       return lpt_linear_state_load(w.c, other.get(), w.linear_state.data(), w.linear_state.size());
     }},
};

}  // namespace lpt::test
