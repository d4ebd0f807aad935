#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

Tensor output_of(World &w, int64_t rows, int64_t columns) {
  return make_tensor(w.owner.get(), LPT_FORMAT_F32, rows, columns);
}

}  // namespace

const std::vector<BadCall> kGemmCalls = {
    {"gemm: no a",
     LPT_INVALID_ARGUMENT,
     {"a is NULL"},
     [](World &w) { return lpt_gemm(w.c, nullptr, w.b.get(), nullptr, w.product.get()); }},
    {"gemm: no c",
     LPT_INVALID_ARGUMENT,
     {"c is NULL"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), w.b.get(), nullptr, nullptr); }},
    {"gemm: a layer for b",
     LPT_INVALID_ARGUMENT,
     {"b is not a live tensor"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), cast<lpt_tensor>(w.linear.get()), nullptr, w.product.get()); }},
    {"gemm: inner sizes",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "a is 4×8", "b is 4×32"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), w.source.get(), nullptr, w.product.get()); }},
    {"gemm: inner sizes of a transposed one",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "8×6 f32 transposed"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.is_b_transposed = 1; }); }},
    {"gemm: c of another shape",
     LPT_INVALID_ARGUMENT,
     {"c is 4×32", "4×6"},
     [](World &w) { return multiply(w, w.wide, kUnchanged); }},
    {"gemm: codes as c that is read",
     LPT_UNSUPPORTED,
     {"beta is 1", "e4m3fn"},
     [](World &w) { return multiply(w, w.product_codes, [](auto &o) { o.beta = 1; }); }},
    {"gemm: a cast of its own that is none",
     LPT_INVALID_ARGUMENT,
     {"rounding is 77"},
     [](World &w) {
       lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
       cast.rounding = 77;
       return multiply(w, w.product_codes, [&](auto &o) { o.quantize = &cast; });
     }},
    {"gemm: a cast for numbers",
     LPT_INVALID_ARGUMENT,
     {"quantize is given", "c is f32"},
     [](World &w) {
       const lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
       return multiply(w, w.product, [&](auto &o) { o.quantize = &cast; });
     }},
    {"gemm: unknown activation",
     LPT_INVALID_ARGUMENT,
     {"activation is 5", "0 to 4"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.activation = 5; }); }},
    {"gemm: SwiGLU without half the columns",
     LPT_INVALID_ARGUMENT,
     {"c is 4×6", "expected 4×3"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.activation = LPT_ACTIVATION_SWIGLU; }); }},
    {"gemm: residual of another shape",
     LPT_INVALID_ARGUMENT,
     {"residual is 4×32", "4×6"},
     [](World &w) { return multiply(w, w.product, [&](auto &o) { o.residual = w.source.get(); }); }},
    {"gemm: unknown arithmetic",
     LPT_INVALID_ARGUMENT,
     {"arithmetic is 9"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.arithmetic = 9; }); }},
    {"gemm: a negative threshold",
     LPT_INVALID_ARGUMENT,
     {"outlier_threshold is -1"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.outlier_threshold = -1; }); }},
    {"gemm: outliers of codes",
     LPT_UNSUPPORTED,
     {"a is mxfp8_e4m3", "outlier_threshold is 6"},
     [](World &w) {
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.outlier_threshold = 6;
       options.is_b_transposed = 1;
       const Tensor four = output_of(w, 4, 4);
       return lpt_gemm(w.c, w.codes.get(), w.source.get(), &options, four.get());
     }},
    {"gemm: packed weights as a",
     LPT_UNSUPPORTED,
     {"a is packed weights", "as b"},
     [](World &w) {
       Tensor packed;
       EXPECT_EQ(LPT_OK, lpt_weights_pack(w.owner.get(), w.a.get(), nullptr, out(packed)));
       return lpt_gemm(w.c, packed.get(), w.b.get(), nullptr, w.product.get());
     }},
    {"gemm: packed weights that are not transposed",
     LPT_INVALID_ARGUMENT,
     {"b is packed weights", "is_b_transposed 1"},
     [](World &w) {
       Tensor packed;
       EXPECT_EQ(LPT_OK, lpt_weights_pack(w.owner.get(), w.b.get(), nullptr, out(packed)));
       return lpt_gemm(w.c, w.a.get(), packed.get(), nullptr, w.product.get());
     }},
    {"gemm grouped: ends that fall",
     LPT_INVALID_ARGUMENT,
     {"group_ends[1] is 1", "expected 3 to 4"},
     [](World &w) {
       const int64_t ends[] = {3, 1};
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), ends, 2, nullptr, w.product.get());
     }},
    {"gemm grouped: fewer matrices than groups",
     LPT_INVALID_ARGUMENT,
     {"b is 2×8×6", "expected 3 matrices"},
     [](World &w) {
       const int64_t ends[] = {1, 2, 4};
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), ends, 3, nullptr, w.product.get());
     }},
    {"gemm: batches of another length",
     LPT_INVALID_ARGUMENT,
     {"b is 3×8×6", "3 matrices", "expected 2"},
     [](World &w) {
       const Tensor left = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 8});
       const Tensor right = make_tensor(w.owner.get(), LPT_FORMAT_F32, {3, 8, 6});
       const Tensor result = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 6});
       return lpt_gemm(w.c, left.get(), right.get(), nullptr, result.get());
     }},
    {"weights: an order that is none",
     LPT_INVALID_ARGUMENT,
     {"output_order[2] is 1", "each number once"},
     [](World &w) {
       const int32_t order[] = {0, 1, 1, 3};
       lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
       options.output_order = order;
       Tensor packed;
       return lpt_weights_pack(w.c, w.a.get(), &options, out(packed));
     }},
    {"weights: a vector",
     LPT_INVALID_ARGUMENT,
     {"weights is 7 f32", "n × k"},
     [](World &w) {
       Tensor packed;
       return lpt_weights_pack(w.c, w.long_bias.get(), nullptr, out(packed));
     }},
    {"weights: rows that are not packed",
     LPT_INVALID_ARGUMENT,
     {"packed is 4×8 f32, not packed", "lpt_weights_pack"},
     [](World &w) {
       size_t bytes = 0;
       return lpt_weights_state_size(w.c, w.a.get(), &bytes);
     }},
    {"weights: a state that is none",
     LPT_INVALID_STATE,
     {"saved state", "LPTS"},
     [](World &w) {
       const uint8_t bytes[64] = {};
       Tensor packed;
       return lpt_weights_state_load(w.c, bytes, sizeof bytes, out(packed));
     }},
    {"gemm: bytes as a",
     LPT_UNSUPPORTED,
     {"a is uint8"},
     [](World &w) { return lpt_gemm(w.c, w.bytes.get(), w.b.get(), nullptr, w.product.get()); }},
    {"gemm: no truth value",
     LPT_INVALID_ARGUMENT,
     {"is_a_transposed is 2", "0 to 1"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.is_a_transposed = 2; }); }},
    {"gemm: alpha NaN",
     LPT_INVALID_ARGUMENT,
     {"alpha is", "nan", "finite"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.alpha = std::nan(""); }); }},
    {"gemm: beta infinite",
     LPT_INVALID_ARGUMENT,
     {"beta is inf", "finite"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.beta = INFINITY; }); }},
    {"gemm: bias of another length",
     LPT_INVALID_ARGUMENT,
     {"bias is 7", "vector of 6"},
     [](World &w) { return multiply(w, w.product, [&](auto &o) { o.bias = w.long_bias.get(); }); }},
    {"gemm: bias of another format",
     LPT_INVALID_ARGUMENT,
     {"bias is f64", "expected f32"},
     [](World &w) { return multiply(w, w.product, [&](auto &o) { o.bias = w.double_bias.get(); }); }},
    {"gemm: c over a",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps a"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.a.get()).data, 4, 6);
       return multiply(w, over, kUnchanged);
     }},
    {"gemm: c over b",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps b"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.b.get()).data, 4, 6);
       return multiply(w, over, kUnchanged);
     }},
    {"gemm: c over the bias",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps bias"},
     [](World &w) {
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.product.get()).data, 1, 6);
       return multiply(w, w.product, [&](auto &o) { o.bias = over.get(); });
     }},
    {"gemm: member that is unknown",
     LPT_UNSUPPORTED,
     {"options sets a member", "does not know"},
     [](World &w) {
       NewerGemmOptions newer = {LPT_GEMM_OPTIONS_INIT, 1};
       newer.known.struct_size = sizeof newer;
       return lpt_gemm(w.c, w.a.get(), w.b.get(), &newer.known, w.product.get());
     }},
    {"gemm: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x40"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.flags = 0x40; }); }},
};

}  // namespace lpt::test
