// Common operations run on kernels of the CPU, not on reference kernels. The explanation of the context names the kernels.
#include <sstream>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

lpt_format named(const std::string &name) {
  lpt_format format = LPT_FORMAT_NONE;
  EXPECT_EQ(LPT_OK, lpt_format_from_name(nullptr, name.c_str(), &format)) << name;
  return format;
}

// A line that begins with the name of an operation names its selected kernel. Lines of rejected kernels are indented.
void expect_fast(const lpt_context *context, const std::string &what) {
  std::istringstream lines(lpt_context_explanation(context));
  int operations = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == ' ') continue;
    ++operations;
    EXPECT_NE(std::string::npos, line.find("x86")) << what << "\n" << lpt_context_explanation(context);
  }
  EXPECT_GT(operations, 0) << what;
}

class FastKernels : public testing::TestWithParam<lpt_isa> {
 protected:
  void SetUp() override {
    context_ = make_context();
    const bool is_compiled = std::string(lpt_build_info()).find("x86_avx2") != std::string::npos;
    if (!is_compiled || lpt_context_set_isa(context_.get(), GetParam()) != LPT_OK) context_.reset();
  }

  Tensor matrix(const std::string &format) const { return make_tensor(context_.get(), named(format), {64, 256}); }

  Context context_;  // null: the CPU or the build lacks the instruction set
};

TEST_P(FastKernels, Cast) {
  if (context_ == nullptr) return;
  for (const char *source : {"f32", "bf16", "f16"}) {
    for (const char *target : {"e4m3fn",       "e5m2",          "int8",         "bf16",
                               "f16",          "e4m3fn_tensor", "int8_tensor",  "e4m3fn_row",
                               "e4m3fn_1x128", "mxfp8_e4m3",    "mxfp8_e5m2",   "mxfp6_e3m2",
                               "mxfp6_e2m3",   "mxfp4",         "mxint8",       "nvfp4",
                               "nvfp4_16x16",  "int4_1x32",     "int4_1x128",   "uint4_1x32",
                               "uint4_1x128",  "nf4_1x64",      "bnb_fp4_1x64", "e2m0b1-finite",
                               "e2m2b1-nan",   "e4m2b9-finite", "ue3m4b7-ieee", "ue2m2b1-nan/1x64/f32"}) {
      if (source == std::string(target)) continue;
      for (const int32_t bits : {0, 16, 8}) {
        lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
        options.flags = LPT_CHECK_ONLY;
        if (bits != 0) {
          options.rounding = LPT_ROUNDING_STOCHASTIC;
          options.stochastic_bits = bits;
        }
        const Tensor from = matrix(source), to = matrix(target);
        ASSERT_TRUE(ok(context_.get(), lpt_quantize(context_.get(), from.get(), &options, to.get(), nullptr)));
        expect_fast(context_.get(), std::string(source) + " to " + target + ", random bits " + std::to_string(bits));
      }
    }
  }
}

TEST_P(FastKernels, SearchScales) {
  if (context_ == nullptr) return;
  for (const char *target : {"e4m3fn_row", "e4m3fn_1x128", "mxfp8_e4m3", "mxfp4", "mxint8", "nvfp4", "nvfp4_16x16",
                             "int8_row", "int4_1x128", "nf4_1x64", "bnb_fp4_1x64", "e2m2b1-nan/1x64/f32"}) {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.flags = LPT_CHECK_ONLY;
    options.scale_rule = LPT_SCALE_RULE_MSE;
    const Tensor from = matrix("f32"), to = matrix(target);
    ASSERT_TRUE(ok(context_.get(), lpt_quantize(context_.get(), from.get(), &options, to.get(), nullptr)));
    expect_fast(context_.get(), target);
  }
}

TEST_P(FastKernels, Decode) {
  if (context_ == nullptr) return;
  for (const char *source : {"e4m3fn", "e5m2", "int8", "mxfp8_e4m3", "mxfp6_e3m2", "mxfp4", "nvfp4", "nvfp4_16x16",
                             "int4_1x128", "uint4_1x128", "e4m3fn_row", "nf4_1x64", "bnb_fp4_1x64", "e2m0b1-finite",
                             "e2m2b1-nan", "e4m2b9-finite", "ue3m4b7-ieee", "e6m1b31-ieee"}) {
    for (const char *target : {"f32", "bf16", "f16"}) {
      lpt_dequantize_options options = LPT_DEQUANTIZE_OPTIONS_INIT;
      options.flags = LPT_CHECK_ONLY;
      const Tensor from = matrix(source), to = matrix(target);
      ASSERT_TRUE(ok(context_.get(), lpt_dequantize(context_.get(), from.get(), &options, to.get())));
      expect_fast(context_.get(), std::string(source) + " to " + target);
    }
  }
}

TEST_P(FastKernels, Multiply) {
  if (context_ == nullptr) return;
  const std::vector<std::string> operands = {"f32",        "bf16",         "f16",        "e4m3fn_tensor", "e5m2_tensor",
                                             "e4m3fn_row", "e4m3fn_1x128", "mxfp8_e4m3", "mxfp6_e2m3",    "mxfp4",
                                             "nvfp4",      "nvfp4_16x16",  "int8_row",   "int8_tensor",   "int4_1x128",
                                             "uint4_1x32", "mxint8",       "nf4_1x64",   "ternary_tensor"};
  for (const std::string &left : operands) {
    for (const std::string &right : operands) {
      lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
      options.flags = LPT_CHECK_ONLY;
      options.is_b_transposed = 1;
      const Tensor a = matrix(left), b = matrix(right), c = make_tensor(context_.get(), LPT_FORMAT_F32, {64, 64});
      ASSERT_TRUE(ok(context_.get(), lpt_gemm(context_.get(), a.get(), b.get(), &options, c.get())));
      expect_fast(context_.get(), left + " times " + right);
    }
  }
}

TEST_P(FastKernels, CompressAndWriteOut) {
  if (context_ == nullptr) return;
  for (const std::string format : {"f32", "bf16", "f16", "e4m3fn_row", "e5m2", "e4m3fnuz", "int8_row", "mxfp8_e4m3",
                                   "mxfp4", "nvfp4", "int4_1x128"}) {
    const Tensor dense = matrix(format), compressed = matrix(format + "/2:4");
    const Tensor mask = make_tensor(context_.get(), LPT_FORMAT_UINT8, {64, 256});
    for (const lpt_tensor *given :
         {static_cast<const lpt_tensor *>(nullptr), static_cast<const lpt_tensor *>(mask.get())}) {
      ASSERT_TRUE(
          ok(context_.get(), lpt_sparse_compress(context_.get(), dense.get(), given, compressed.get(), nullptr)));
      expect_fast(context_.get(), "compress " + format);
    }
    ASSERT_TRUE(ok(context_.get(), lpt_sparse_decompress(context_.get(), compressed.get(), dense.get())));
    expect_fast(context_.get(), "decompress " + format);
  }
}

bool is_intel() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

// Returns whether the last operation ran this kernel.
bool has_run(const lpt_context *context, const std::string &operation, const std::string &kernel) {
  const std::string explanation = std::string(lpt_context_explanation(context)) + "\n";
  return explanation.find(operation + ": " + kernel + "\n") != std::string::npos;
}

// On Intel CPUs, f32 multiply-adds have a higher rate than bf16 dot products. Only an explicit instruction set selects dot
// products for many rows there.
TEST(DotProducts, AreSelectedWhereTheyAreFastest) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  if (lpt_context_set_isa(c, LPT_ISA_X86_AMX) == LPT_OK) GTEST_SKIP() << "AMX tiles are faster";
  if (lpt_context_set_isa(c, LPT_ISA_X86_AVX512_BF16) != LPT_OK) GTEST_SKIP() << "the CPU has no dot products";
  for (const lpt_isa isa : {LPT_ISA_X86_AVX512_BF16, LPT_ISA_AUTO}) {
    SCOPED_TRACE(isa);
    const bool is_in_f32 = isa == LPT_ISA_AUTO && is_intel();
    const std::string suffix = is_in_f32 ? "x86_avx512" : "x86_avx512_bf16";
    ASSERT_TRUE(ok(c, lpt_context_set_isa(c, isa)));
    for (const int64_t m : {8, 64}) {
      lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
      options.flags = LPT_CHECK_ONLY;
      const Tensor a = make_tensor(c, LPT_FORMAT_BF16, {m, 64}), b = make_tensor(c, LPT_FORMAT_BF16, {64, 64});
      const Tensor sums = make_tensor(c, LPT_FORMAT_F32, {m, 64});
      ASSERT_TRUE(ok(c, lpt_gemm(c, a.get(), b.get(), &options, sums.get())));
      EXPECT_TRUE(has_run(c, "gemm", "gemm_any_" + (m == 8 ? "x86_avx512_bf16" : suffix)))
          << lpt_context_explanation(c);
    }
    lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
    options.flags = LPT_CHECK_ONLY;
    const Tensor in = make_tensor(c, LPT_FORMAT_BF16, {1, 1, 64, 32}),
                 out = make_tensor(c, LPT_FORMAT_BF16, {1, 1, 64, 32});
    const Tensor key_gradient = make_tensor(c, LPT_FORMAT_BF16, {1, 1, 64, 32});
    const Tensor value_gradient = make_tensor(c, LPT_FORMAT_BF16, {1, 1, 64, 32});
    ASSERT_TRUE(ok(c, lpt_attention_forward(c, in.get(), in.get(), in.get(), &options, out.get())));
    EXPECT_TRUE(has_run(c, "attention_forward", "attention_forward_" + suffix)) << lpt_context_explanation(c);
    ASSERT_TRUE(ok(c, lpt_attention_backward(c, in.get(), in.get(), in.get(), in.get(), &options, out.get(),
                                             key_gradient.get(), value_gradient.get())));
    EXPECT_TRUE(has_run(c, "attention_backward", "attention_backward_" + suffix)) << lpt_context_explanation(c);
  }
}

std::string name_of_isa(const testing::TestParamInfo<lpt_isa> &info) {
  static const char *const names[] = {"Auto", "Reference", "Avx2", "Avx512", "Avx512Bf16", "Amx"};
  return names[info.param];
}

INSTANTIATE_TEST_SUITE_P(Isas, FastKernels,
                         testing::Values(LPT_ISA_X86_AVX2, LPT_ISA_X86_AVX512, LPT_ISA_X86_AVX512_BF16,
                                         LPT_ISA_X86_AMX),
                         name_of_isa);

}  // namespace
}  // namespace lpt::test
