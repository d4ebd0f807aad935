// GEMM plans return the same bits as lpt_gemm() and select the kernel once.
#include "tests/api/gemm.hpp"

namespace lpt::test {
namespace {

struct Plan {
  lpt_gemm_plan *handle = nullptr;
  ~Plan() { lpt_gemm_plan_destroy(handle); }
};

TEST(GemmPlan, GivesTheBitsOfTheCall) {
  const int64_t m = 33, n = 70, k = 128;
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP4,
                                    LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT4_1X128}) {
      for (const bool is_packed : {false, true}) {
        for (const lpt_format c_format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_MXFP8_E4M3}) {
          SCOPED_TRACE(name_of(format) + (is_packed ? " packed " : " ") + name_of(c_format));
          const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, m, k, draw_normal(801, m * k));
          const Tensor rows = tensor_of(context.get(), format, n, k, draw_normal(802, n * k));
          Tensor packed;
          ASSERT_TRUE(ok(context.get(), lpt_weights_pack(context.get(), rows.get(), nullptr, out(packed))));
          const lpt_tensor *const b = is_packed ? packed.get() : rows.get();
          const Tensor bias = make_tensor(context.get(), LPT_FORMAT_F32, {n});
          static_cast<float *>(describe(context.get(), bias.get()).data)[3] = 2.5f;
          const Tensor expected = make_tensor(context.get(), c_format, m, n),
                       given = make_tensor(context.get(), c_format, m, n);
          lpt_gemm_options options = transposed_b();
          options.activation = LPT_ACTIVATION_SILU;
          Plan plan;
          ASSERT_TRUE(
              ok(context.get(), lpt_gemm_plan_create(context.get(), a.get(), b, &options, given.get(), &plan.handle)));
          lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
          operands.bias = bias.get();
          ASSERT_TRUE(
              ok(context.get(), lpt_gemm_plan_run(context.get(), plan.handle, a.get(), b, &operands, given.get())));
          options.bias = bias.get();
          ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b, &options, expected.get())));
          const std::string explanation = lpt_context_explanation(context.get());
          EXPECT_EQ(bytes_of(context.get(), expected.get()), bytes_of(context.get(), given.get()));
          lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
          ASSERT_TRUE(ok(context.get(), lpt_gemm_plan_read(context.get(), plan.handle, &values)));
          EXPECT_EQ(m, values.m);
          EXPECT_EQ(n, values.n);
          EXPECT_EQ(k, values.k);
          EXPECT_GT(values.workspace_bytes, 0u);
          EXPECT_GE(values.part_count, 1);
          EXPECT_NE(std::string::npos, explanation.find(values.kernel)) << explanation;
        }
      }
    }
  }
}

// Residual and cast are arguments of each call.
TEST(GemmPlan, TakesTheOperandsOfEachCall) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const int64_t m = 9, n = 33, k = 20;
  const Tensor a = tensor_of(c, LPT_FORMAT_BF16, m, k, draw_normal(803, m * k));
  const Tensor b = tensor_of(c, LPT_FORMAT_BF16, n, k, draw_normal(804, n * k));
  const Tensor residual = tensor_of(c, LPT_FORMAT_F32, m, n, draw_normal(805, m * n));
  const Tensor expected = make_tensor(c, LPT_FORMAT_E4M3FN, m, n), given = make_tensor(c, LPT_FORMAT_E4M3FN, m, n);
  lpt_gemm_options options = transposed_b();
  Plan plan;
  ASSERT_TRUE(ok(c, lpt_gemm_plan_create(c, a.get(), b.get(), &options, given.get(), &plan.handle)));
  lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
  cast.rounding = LPT_ROUNDING_TOWARD_ZERO;
  lpt_gemm_operands operands = LPT_GEMM_OPERANDS_INIT;
  const lpt_tensor *const residuals[] = {nullptr, residual.get()};
  for (const lpt_tensor *added : residuals) {
    options.residual = operands.residual = added;
    options.quantize = operands.quantize = &cast;
    ASSERT_TRUE(ok(c, lpt_gemm_plan_run(c, plan.handle, a.get(), b.get(), &operands, given.get())));
    ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), b.get(), &options, expected.get())));
    EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, given.get()));
  }
}

// The workspace size does not depend on whether the plan has data. An f32 c needs no copy; a c of codes does.
TEST(GemmPlan, TellsTheSameWorkspaceWithoutData) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const int64_t m = 40, n = 50, k = 60;
  const Tensor a = make_tensor(c, LPT_FORMAT_F32, m, k), b = make_tensor(c, LPT_FORMAT_F32, n, k);
  lpt_gemm_options options = transposed_b();
  const auto workspace = [&](const Tensor &result) {
    Plan plan;
    lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
    EXPECT_TRUE(ok(c, lpt_gemm_plan_create(c, a.get(), b.get(), &options, result.get(), &plan.handle)));
    EXPECT_TRUE(ok(c, lpt_gemm_plan_read(c, plan.handle, &values)));
    return values.workspace_bytes;
  };
  const size_t plain = workspace(make_tensor(c, LPT_FORMAT_F32, m, n));
  for (const lpt_activation activation : {LPT_ACTIVATION_NONE, LPT_ACTIVATION_SILU}) {
    options.activation = activation;
    EXPECT_EQ(plain, workspace(make_tensor(c, LPT_FORMAT_F32, m, n)));
    EXPECT_EQ(plain, workspace(wrap(c, LPT_FORMAT_F32, nullptr, m, n)));
    EXPECT_EQ(plain + m * n * 4, workspace(make_tensor(c, LPT_FORMAT_E4M3FN, m, n)));
    EXPECT_EQ(plain + m * n * 4, workspace(wrap(c, LPT_FORMAT_E4M3FN, nullptr, m, n)));
  }
}

TEST(GemmPlan, IsNoneWhenOnlyChecked) {
  const Context context = make_context();
  const Tensor a = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 5, 8),
               b = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 9, 8);
  const Tensor c = wrap(context.get(), LPT_FORMAT_F32, nullptr, 5, 9);
  lpt_gemm_options options = transposed_b();
  options.flags = LPT_CHECK_ONLY;
  Plan plan;
  EXPECT_TRUE(
      ok(context.get(), lpt_gemm_plan_create(context.get(), a.get(), b.get(), &options, c.get(), &plan.handle)));
  EXPECT_EQ(nullptr, plan.handle);
  EXPECT_EQ(0u, std::string(lpt_context_explanation(context.get())).find("gemm: gemm_"));
}

TEST(GemmPlan, TakesTensorsWithoutData) {
  const Context context = make_context();
  const Tensor a = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 5, 8),
               b = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 9, 8);
  const Tensor c = wrap(context.get(), LPT_FORMAT_F32, nullptr, 5, 9);
  const lpt_gemm_options options = transposed_b();
  Plan plan;
  ASSERT_TRUE(
      ok(context.get(), lpt_gemm_plan_create(context.get(), a.get(), b.get(), &options, c.get(), &plan.handle)));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm_plan_run(context.get(), plan.handle, a.get(), b.get(), nullptr, c.get()));
  expect_words({"a is 5 x 8 bf16", "without data"}, lpt_context_error(context.get()));
}

TEST(GemmPlan, RejectsOtherOperandsThanPlanned) {
  const Context context = make_context();
  const Tensor a = make_tensor(context.get(), LPT_FORMAT_BF16, 5, 8),
               b = make_tensor(context.get(), LPT_FORMAT_BF16, 9, 8);
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 5, 9);
  lpt_gemm_options options = transposed_b();
  Plan plan;
  ASSERT_TRUE(
      ok(context.get(), lpt_gemm_plan_create(context.get(), a.get(), b.get(), &options, c.get(), &plan.handle)));
  const auto rejected = [&](const Tensor &left, const Tensor &right, const Tensor &result,
                            std::vector<const char *> words) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_gemm_plan_run(context.get(), plan.handle, left.get(), right.get(), nullptr, result.get()));
    expect_words(words, lpt_context_error(context.get()));
  };
  rejected(make_tensor(context.get(), LPT_FORMAT_F32, 5, 8), b, c, {"a is 5 x 8 f32", "expected 5 x 8 bf16"});
  rejected(a, make_tensor(context.get(), LPT_FORMAT_BF16, 10, 8), c, {"b is 10 x 8", "expected 9 x 8"});
  Tensor packed;
  ASSERT_TRUE(ok(context.get(), lpt_weights_pack(context.get(), b.get(), nullptr, out(packed))));
  rejected(a, packed, c, {"b is 9 x 8 bf16 packed"});
  rejected(a, b, make_tensor(context.get(), LPT_FORMAT_BF16, 5, 9), {"c is 5 x 9 bf16"});
  options.bias = c.get();
  lpt_gemm_plan *none = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm_plan_create(context.get(), a.get(), b.get(), &options, c.get(), &none));
  expect_words({"bias is given", "each call"}, lpt_context_error(context.get()));
  const Context reference = make_context(1, LPT_ISA_REFERENCE);
  lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
  ASSERT_TRUE(ok(context.get(), lpt_gemm_plan_read(context.get(), plan.handle, &values)));
  if (std::string(values.kernel) == "gemm_any_ref") return;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm_plan_run(reference.get(), plan.handle, a.get(), b.get(), nullptr, c.get()));
  expect_words({values.kernel, "lacks"}, lpt_context_error(reference.get()));
}

// An f32 operand a with a cast selects the bf16 kernel and needs scratch for the cast.
TEST(GemmPlan, CountsTheCastOfA) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const int64_t m = 16, n = 50, k = 64;
  const Tensor b = pack(c, tensor_of(c, LPT_FORMAT_INT4_1X32, n, k, draw_normal(806, n * k)).get());
  const Tensor wide = tensor_of(c, LPT_FORMAT_F32, m, k, draw_normal(807, m * k));
  const Tensor cast = tensor_of(c, LPT_FORMAT_BF16, m, k, draw_normal(807, m * k));
  const Tensor expected = make_tensor(c, LPT_FORMAT_F32, m, n), given = make_tensor(c, LPT_FORMAT_F32, m, n);
  lpt_gemm_options options = transposed_b();
  const auto run = [&](const Tensor &a, const Tensor &result) {
    Plan plan;
    lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
    EXPECT_TRUE(ok(c, lpt_gemm_plan_create(c, a.get(), b.get(), &options, result.get(), &plan.handle)));
    EXPECT_TRUE(ok(c, lpt_gemm_plan_read(c, plan.handle, &values)));
    EXPECT_TRUE(ok(c, lpt_gemm_plan_run(c, plan.handle, a.get(), b.get(), nullptr, result.get())));
    return values;
  };
  const lpt_gemm_plan_info of_cast = run(cast, expected);
  options.flags = LPT_GEMM_CAST_A_TO_BF16;
  const lpt_gemm_plan_info of_wide = run(wide, given);
  EXPECT_STREQ(of_cast.kernel, of_wide.kernel);
  EXPECT_EQ(of_cast.workspace_bytes + m * k * 2, of_wide.workspace_bytes);
  EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, given.get()));
}

}  // namespace
}  // namespace lpt::test
