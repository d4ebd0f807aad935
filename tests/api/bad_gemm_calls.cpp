#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

Tensor output_of(World &w, int64_t rows, int64_t columns) {
  return make_tensor(w.owner.get(), LPT_FORMAT_F32, rows, columns);
}

// Runs a batch of two GEMMs, 4 × 8 by 8 × 6.
template <typename Change>
lpt_status multiply_batch(World &w, Change change) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  change(options);
  const Tensor a = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 8});
  const Tensor b = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
  const Tensor c = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 6});
  return lpt_gemm(w.c, a.get(), b.get(), &options, c.get());
}

// Runs two groups of the rows of a (4 × 8) by matrices of 8 × 6.
template <typename Change>
lpt_status multiply_groups(World &w, const std::vector<int64_t> &ends, const Tensor &c, Change change) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  change(options);
  const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
  return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), indices_of(w.owner.get(), ends).get(), &options, c.get());
}

// Runs two groups along the rows of a and b; c has `matrices` matrices.
template <typename Change>
lpt_status multiply_along(World &w, const Tensor &b, int64_t matrices, Change change) {
  const std::vector<int64_t> ends = {3, 4};
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = 1;
  change(options);
  const Tensor c = make_tensor(w.owner.get(), LPT_FORMAT_F32, {matrices, 8, 6});
  return lpt_gemm_grouped(w.c, w.a.get(), b.get(), indices_of(w.owner.get(), ends).get(), &options, c.get());
}

// Runs two GEMMs of 8 × 8 by 8 × 8 where c begins at the second matrix of a or b.
lpt_status multiply_over(World &w, bool is_over_a, lpt_activation activation) {
  const Tensor whole = make_tensor(w.owner.get(), LPT_FORMAT_F32, {3, 8, 8});
  const Tensor other = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 8});
  const Tensor first = view(w.owner.get(), whole.get(), {0, 0, 0}, {2, 8, 8});
  const Tensor c = view(w.owner.get(), whole.get(), {1, 0, 0}, {2, 8, 8});
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.activation = activation;
  return lpt_gemm(w.c, (is_over_a ? first : other).get(), (is_over_a ? other : first).get(), &options, c.get());
}

}  // namespace

const std::vector<BadCall> kGemmCalls = {
    {"gemm: no a",
     LPT_INVALID_ARGUMENT,
     {"a is NULL"},
     [](World &w) { return lpt_gemm(w.c, nullptr, w.b.get(), nullptr, w.gemm.get()); }},
    {"gemm: no c",
     LPT_INVALID_ARGUMENT,
     {"c is NULL"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), w.b.get(), nullptr, nullptr); }},
    {"gemm: a layer for b",
     LPT_INVALID_ARGUMENT,
     {"b is not a live tensor"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), cast<lpt_tensor>(w.linear.get()), nullptr, w.gemm.get()); }},
    {"gemm: inner sizes",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "a is 4 x 8", "b is 4 x 32"},
     [](World &w) { return lpt_gemm(w.c, w.a.get(), w.source.get(), nullptr, w.gemm.get()); }},
    {"gemm: inner sizes of a transposed one",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "8 x 6 f32 transposed"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.is_b_transposed = 1; }); }},
    {"gemm: inner sizes that agree if b is transposed",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "they agree if b is transposed"},
     [](World &w) { return lpt_gemm(w.c, w.source.get(), w.other_rows.get(), nullptr, w.gemm.get()); }},
    {"gemm: options without a size",
     LPT_INVALID_ARGUMENT,
     {"options->struct_size is 0: expected the size of the struct", "initialize it with LPT_GEMM_OPTIONS_INIT"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.struct_size = 0; }); }},
    {"gemm: c of another shape",
     LPT_INVALID_ARGUMENT,
     {"c is 4 x 32", "4 x 6"},
     [](World &w) { return multiply(w, w.wide, kUnchanged); }},
    {"gemm: codes as c that is read",
     LPT_UNSUPPORTED,
     {"beta is 1", "e4m3fn"},
     [](World &w) { return multiply(w, w.gemm_codes, [](auto &o) { o.beta = 1; }); }},
    {"gemm: a cast of its own that is none",
     LPT_INVALID_ARGUMENT,
     {"rounding is 77"},
     [](World &w) {
       lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
       cast.rounding = 77;
       return multiply(w, w.gemm_codes, [&](auto &o) { o.quantize = &cast; });
     }},
    {"gemm: a cast for numbers",
     LPT_INVALID_ARGUMENT,
     {"quantize is given", "c is f32"},
     [](World &w) {
       const lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
       return multiply(w, w.gemm, [&](auto &o) { o.quantize = &cast; });
     }},
    {"gemm: unknown activation",
     LPT_INVALID_ARGUMENT,
     {"activation is 5", "0 to 4"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.activation = 5; }); }},
    {"gemm: SwiGLU without half the columns",
     LPT_INVALID_ARGUMENT,
     {"c is 4 x 6", "expected 4 x 3"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.activation = LPT_ACTIVATION_SWIGLU; }); }},
    {"gemm: residual of another shape",
     LPT_INVALID_ARGUMENT,
     {"residual is 4 x 32", "4 x 6"},
     [](World &w) { return multiply(w, w.gemm, [&](auto &o) { o.residual = w.source.get(); }); }},
    {"gemm: unknown arithmetic",
     LPT_INVALID_ARGUMENT,
     {"arithmetic is 9"},
     [](World &w) {
       lpt_gemm_emulation emulation = LPT_GEMM_EMULATION_INIT;
       emulation.arithmetic = 9;
       return multiply(w, w.gemm, [&](auto &o) { o.emulation = &emulation; });
     }},
    {"gemm: an emulation without its size",
     LPT_INVALID_ARGUMENT,
     {"emulation->struct_size is 0"},
     [](World &w) {
       const lpt_gemm_emulation emulation = {};
       return multiply(w, w.gemm, [&](auto &o) { o.emulation = &emulation; });
     }},
    {"gemm: a negative threshold",
     LPT_INVALID_ARGUMENT,
     {"outlier_threshold is -1"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.outlier_threshold = -1; }); }},
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
       return lpt_gemm(w.c, packed.get(), w.b.get(), nullptr, w.gemm.get());
     }},
    {"gemm: packed weights that are not transposed",
     LPT_INVALID_ARGUMENT,
     {"b is packed weights", "is_b_transposed 1"},
     [](World &w) {
       Tensor packed;
       EXPECT_EQ(LPT_OK, lpt_weights_pack(w.owner.get(), w.b.get(), nullptr, out(packed)));
       return lpt_gemm(w.c, w.a.get(), packed.get(), nullptr, w.gemm.get());
     }},
    {"gemm grouped: ends that fall",
     LPT_INVALID_ARGUMENT,
     {"group_ends[1] is 1", "expected 3 to 4"},
     [](World &w) {
       const std::vector<int64_t> ends = {3, 1};
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), indices_of(w.owner.get(), ends).get(), nullptr,
                               w.gemm.get());
     }},
    {"gemm grouped: fewer matrices than groups",
     LPT_INVALID_ARGUMENT,
     {"b is 2 x 8 x 6", "expected 3 matrices"},
     [](World &w) {
       const std::vector<int64_t> ends = {1, 2, 4};
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), indices_of(w.owner.get(), ends).get(), nullptr,
                               w.gemm.get());
     }},
    {"gemm: batches of another length",
     LPT_INVALID_ARGUMENT,
     {"b is 3 x 8 x 6", "3 matrices", "expected 2"},
     [](World &w) {
       const Tensor left = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 8});
       const Tensor right = make_tensor(w.owner.get(), LPT_FORMAT_F32, {3, 8, 6});
       const Tensor result = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 6});
       return lpt_gemm(w.c, left.get(), right.get(), nullptr, result.get());
     }},
    {"gemm: a residual in f64",
     LPT_UNSUPPORTED,
     {"residual is f64", "f32, bf16 or f16"},
     [](World &w) {
       const Tensor residual = make_tensor(w.owner.get(), LPT_FORMAT_F64, 4, 6);
       return multiply(w, w.gemm, [&](auto &o) { o.residual = residual.get(); });
     }},
    {"gemm: a residual over a part of c",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps residual"},
     [](World &w) {
       const Tensor larger = output_of(w, 5, 6);
       const Tensor c = view(w.owner.get(), larger.get(), {0, 0}, {4, 6});
       const Tensor residual = view(w.owner.get(), larger.get(), {1, 0}, {4, 6});
       return multiply(w, c, [&](auto &o) { o.residual = residual.get(); });
     }},
    {"gemm: SwiGLU of an odd number of columns",
     LPT_INVALID_ARGUMENT,
     {"the GEMM has 5 columns", "an even number"},
     [](World &w) {
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.activation = LPT_ACTIVATION_SWIGLU;
       return lpt_gemm(w.c, w.a.get(), output_of(w, 8, 5).get(), &options, output_of(w, 4, 2).get());
     }},
    {"gemm: SwiGLU that is added to c",
     LPT_UNSUPPORTED,
     {"beta is 1", "without SwiGLU"},
     [](World &w) {
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.activation = LPT_ACTIVATION_SWIGLU;
       options.beta = 1;
       return lpt_gemm(w.c, w.a.get(), w.b.get(), &options, output_of(w, 4, 3).get());
     }},
    {"gemm: an activation in f64",
     LPT_UNSUPPORTED,
     {"c is f64", "no activation"},
     [](World &w) {
       const Tensor c = make_tensor(w.owner.get(), LPT_FORMAT_F64, 4, 6);
       return multiply(w, c, [](auto &o) { o.activation = LPT_ACTIVATION_SILU; });
     }},
    {"gemm: outliers to f64",
     LPT_UNSUPPORTED,
     {"c is f64", "outlier_threshold"},
     [](World &w) {
       const Tensor c = make_tensor(w.owner.get(), LPT_FORMAT_F64, 4, 6);
       return multiply(w, c, [](auto &o) { o.outlier_threshold = 6; });
     }},
    {"gemm: outliers of a transposed one",
     LPT_UNSUPPORTED,
     {"a is transposed", "m x k"},
     [](World &w) {
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.is_a_transposed = 1;
       options.outlier_threshold = 6;
       return lpt_gemm(w.c, output_of(w, 8, 4).get(), w.b.get(), &options, w.gemm.get());
     }},
    {"gemm: columns without data",
     LPT_INVALID_ARGUMENT,
     {"a has no data", "LPT_CHECK_ONLY"},
     [](World &w) {
       lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
       const int64_t extents[] = {4, 8}, strides[] = {1, 4};
       description.format = LPT_FORMAT_F32;
       description.rank = 2;
       description.extents = extents;
       description.strides = strides;
       Tensor a;
       EXPECT_TRUE(ok(w.owner.get(), lpt_tensor_wrap(w.owner.get(), &description, out(a))));
       return lpt_gemm(w.c, a.get(), w.b.get(), nullptr, w.gemm.get());
     }},
    {"gemm: a plan of a batch",
     LPT_UNSUPPORTED,
     {"a plan is for matrices"},
     [](World &w) {
       const Tensor cube = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 8});
       lpt_gemm_plan *plan = nullptr;
       return lpt_gemm_plan_create(w.c, cube.get(), cube.get(), nullptr, cube.get(), &plan);
     }},
    {"gemm: a plan with outliers",
     LPT_UNSUPPORTED,
     {"outlier_threshold is 6", "a plan takes 0"},
     [](World &w) {
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.outlier_threshold = 6;
       lpt_gemm_plan *plan = nullptr;
       return lpt_gemm_plan_create(w.c, w.a.get(), w.b.get(), &options, w.gemm.get(), &plan);
     }},
    {"gemm batch: blocks of scales over matrices",
     LPT_UNSUPPORTED,
     {"b is 2 x 8 x 32 nvfp4_16x16", "16 rows span matrices"},
     [](World &w) {
       const Tensor a = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 8});
       const Tensor b = make_tensor(w.owner.get(), LPT_FORMAT_NVFP4_16X16, {2, 8, 32});
       const Tensor c = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 32});
       return lpt_gemm(w.c, a.get(), b.get(), nullptr, c.get());
     }},
    {"gemm batch: a of another length",
     LPT_INVALID_ARGUMENT,
     {"a is 3 x 4 x 8", "3 matrices", "expected 2"},
     [](World &w) {
       const Tensor left = make_tensor(w.owner.get(), LPT_FORMAT_F32, {3, 4, 8});
       const Tensor right = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       const Tensor result = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 6});
       return lpt_gemm(w.c, left.get(), right.get(), nullptr, result.get());
     }},
    {"gemm grouped: an end behind the rows",
     LPT_INVALID_ARGUMENT,
     {"group_ends[1] is 5", "expected 3 to 4"},
     [](World &w) {
       return multiply_groups(w, {3, 5}, w.gemm, kUnchanged);
     }},
    {"gemm grouped: no ends",
     LPT_INVALID_ARGUMENT,
     {"group_ends is NULL"},
     [](World &w) {
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), nullptr, nullptr, w.gemm.get());
     }},
    {"gemm grouped: ends that are no indices",
     LPT_INVALID_ARGUMENT,
     {"group_ends is f32", "int32 or int64"},
     [](World &w) {
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), w.line_output.get(), nullptr, w.gemm.get());
     }},
    {"gemm grouped: ends of two axes",
     LPT_INVALID_ARGUMENT,
     {"group_ends is 2 x 2 int32", "vector"},
     [](World &w) {
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       const Tensor ends = make_tensor(w.owner.get(), LPT_FORMAT_INT32, {2, 2});
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), ends.get(), nullptr, w.gemm.get());
     }},
    {"gemm grouped: outliers",
     LPT_UNSUPPORTED,
     {"outlier_threshold is 6", "a grouped GEMM takes 0"},
     [](World &w) {
       return multiply_groups(w, {3, 4}, w.gemm, [](auto &o) { o.outlier_threshold = 6; });
     }},
    {"gemm grouped: rows of no group in a c of codes",
     LPT_UNSUPPORTED,
     {"group_ends[1] is 3", "all 4 rows belong to groups"},
     [](World &w) {
       return multiply_groups(w, {1, 3}, w.gemm_codes, kUnchanged);
     }},
    {"gemm grouped: as many biases as there are no groups",
     LPT_INVALID_ARGUMENT,
     {"bias is 3 x 6 f32", "a vector of 6, or 2 x 6"},
     [](World &w) {
       const Tensor bias = output_of(w, 3, 6);
       return multiply_groups(w, {3, 4}, w.gemm, [&](auto &o) { o.bias = bias.get(); });
     }},
    {"gemm grouped: blocks of scales over rows",
     LPT_UNSUPPORTED,
     {"a is 16 x 32 nvfp4_16x16", "span rows of groups"},
     [](World &w) {
       const std::vector<int64_t> ends = {3, 16};
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 32, 6});
       return lpt_gemm_grouped(w.c, w.square_blocks.get(), experts.get(), indices_of(w.owner.get(), ends).get(),
                               nullptr, output_of(w, 16, 6).get());
     }},
    {"gemm grouped: c over a matrix of b",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps b"},
     [](World &w) {
       const std::vector<int64_t> ends = {3, 4};
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6});
       const Tensor c = wrap(w.owner.get(), LPT_FORMAT_F32,
                             static_cast<float *>(describe(w.owner.get(), experts.get()).data) + 60, 4, 6);
       return lpt_gemm_grouped(w.c, w.a.get(), experts.get(), indices_of(w.owner.get(), ends).get(), nullptr, c.get());
     }},
    {"gemm grouped: rows along k that differ",
     LPT_INVALID_ARGUMENT,
     {"inner sizes differ", "a is 4 x 8 f32 transposed", "b is 5 x 6"},
     [](World &w) { return multiply_along(w, output_of(w, 5, 6), 2, kUnchanged); }},
    {"gemm grouped: b that is transposed along k",
     LPT_INVALID_ARGUMENT,
     {"is_b_transposed is 1", "along k"},
     [](World &w) { return multiply_along(w, output_of(w, 4, 6), 2, [](auto &o) { o.is_b_transposed = 1; }); }},
    {"gemm grouped: fewer results than groups along k",
     LPT_INVALID_ARGUMENT,
     {"c is 3 x 8 x 6", "expected 2 matrices"},
     [](World &w) { return multiply_along(w, output_of(w, 4, 6), 3, kUnchanged); }},
    {"gemm grouped: a result of two axes along k",
     LPT_INVALID_ARGUMENT,
     {"c is 4 x 6", "expected 3 axes"},
     [](World &w) {
       const std::vector<int64_t> ends = {3, 4};
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.is_a_transposed = 1;
       return lpt_gemm_grouped(w.c, w.a.get(), output_of(w, 4, 6).get(), indices_of(w.owner.get(), ends).get(),
                               &options, w.gemm.get());
     }},
    {"gemm batch: a cast for numbers",
     LPT_INVALID_ARGUMENT,
     {"quantize is given", "c is f32"},
     [](World &w) {
       const lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
       return multiply_batch(w, [&](auto &o) { o.quantize = &cast; });
     }},
    {"gemm batch: outliers",
     LPT_UNSUPPORTED,
     {"outlier_threshold is 6", "a batch takes 0"},
     [](World &w) { return multiply_batch(w, [](auto &o) { o.outlier_threshold = 6; }); }},
    {"gemm batch: c over another matrix of a",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps a"},
     [](World &w) { return multiply_over(w, true, LPT_ACTIVATION_NONE); }},
    {"gemm batch: c over another matrix of b, written through a copy",
     LPT_INVALID_ARGUMENT,
     {"c at", "overlaps b"},
     [](World &w) { return multiply_over(w, false, LPT_ACTIVATION_SILU); }},
    {"gemm batch: packed weights as a",
     LPT_UNSUPPORTED,
     {"a is packed weights", "as b"},
     [](World &w) {
       Tensor packed;
       const Tensor cube = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 4});
       EXPECT_EQ(LPT_OK, lpt_weights_pack(w.owner.get(), cube.get(), nullptr, out(packed)));
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.is_a_transposed = 1;
       return lpt_gemm(w.c, packed.get(), make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 8, 6}).get(), &options,
                       make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 4, 6}).get());
     }},
    {"gemm: packed weights of experts for one c",
     LPT_INVALID_ARGUMENT,
     {"b is packed weights, 2 x 6 x 8 f32", "expected n x k"},
     [](World &w) {
       Tensor packed;
       const Tensor experts = make_tensor(w.owner.get(), LPT_FORMAT_F32, {2, 6, 8});
       EXPECT_EQ(LPT_OK, lpt_weights_pack(w.owner.get(), experts.get(), nullptr, out(packed)));
       lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
       options.is_b_transposed = 1;
       return lpt_gemm(w.c, w.a.get(), packed.get(), &options, w.gemm.get());
     }},
    {"gemm: bytes as a",
     LPT_UNSUPPORTED,
     {"a is uint8"},
     [](World &w) { return lpt_gemm(w.c, w.bytes.get(), w.b.get(), nullptr, w.gemm.get()); }},
    {"gemm: not a boolean",
     LPT_INVALID_ARGUMENT,
     {"is_a_transposed is 2", "0 to 1"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.is_a_transposed = 2; }); }},
    {"gemm: alpha NaN",
     LPT_INVALID_ARGUMENT,
     {"alpha is", "nan", "finite"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.alpha = std::nan(""); }); }},
    {"gemm: beta infinite",
     LPT_INVALID_ARGUMENT,
     {"beta is inf", "finite"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.beta = INFINITY; }); }},
    {"gemm: bias of another length",
     LPT_INVALID_ARGUMENT,
     {"bias is 7", "vector of 6"},
     [](World &w) { return multiply(w, w.gemm, [&](auto &o) { o.bias = w.long_bias.get(); }); }},
    {"gemm: bias of another format",
     LPT_INVALID_ARGUMENT,
     {"bias is f64", "expected f32"},
     [](World &w) { return multiply(w, w.gemm, [&](auto &o) { o.bias = w.double_bias.get(); }); }},
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
       const Tensor over = wrap(w.owner.get(), LPT_FORMAT_F32, describe(w.owner.get(), w.gemm.get()).data, 1, 6);
       return multiply(w, w.gemm, [&](auto &o) { o.bias = over.get(); });
     }},
    {"gemm: member that is unknown",
     LPT_UNSUPPORTED,
     {"options sets a member", "does not know"},
     [](World &w) {
       NewerGemmOptions newer = {LPT_GEMM_OPTIONS_INIT, 1};
       newer.known.struct_size = sizeof newer;
       return lpt_gemm(w.c, w.a.get(), w.b.get(), &newer.known, w.gemm.get());
     }},
    {"gemm: unknown flag",
     LPT_UNSUPPORTED,
     {"flags is 0x40"},
     [](World &w) { return multiply(w, w.gemm, [](auto &o) { o.flags = 0x40; }); }},
};

}  // namespace lpt::test
