#include "tests/api/bad_calls.hpp"

namespace lpt::test {

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
    {"gemm: codes as c",
     LPT_UNSUPPORTED,
     {"c is e4m3fn", "f64, f32, bf16 or f16"},
     [](World &w) { return multiply(w, w.product_codes, kUnchanged); }},
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
     {"flags is 0x4"},
     [](World &w) { return multiply(w, w.product, [](auto &o) { o.flags = 4; }); }},
};

}  // namespace lpt::test
