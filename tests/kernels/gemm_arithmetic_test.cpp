// Which kernels of the table support which arithmetic.
#include "tests/kernels/gemm_arithmetic.hpp"

namespace lpt::test {
namespace {

// Returns the kernels that support a pair of formats in an arithmetic.
std::vector<std::string> takers(lpt_gemm_arithmetic arithmetic, const char *a, const char *b,
                                lpt_format c = LPT_FORMAT_F32) {
  Problem problem(a, b, c, false, true, 3, 5, 64);
  problem.request.arithmetic = arithmetic;
  std::vector<std::string> names;
  for (const KernelEntry<GemmRequest> &kernel : gemm_kernels()) {
    if (takes(kernel, problem.request)) names.push_back(kernel.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(GemmArithmetic, IsThatOfOneRow) {
  for (const char *a : kOperands) {
    for (const char *b : kOperands) {
      EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_L_MUL, a, b), Names{"gemm_l_mul_ref"});
      EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE, a, b), Names{"gemm_piecewise_affine_ref"});
    }
  }
}

TEST(GemmArithmetic, OfShiftsTakesOnePowerOfTwoAndOneInteger) {
  for (const char *integer :
       {"int8", "int4", "int2", "int3", "ternary", "int8_row", "int4_1x32", "uint4_1x128", "q1_6"}) {
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_SHIFT, "e3m0", integer), Names{"gemm_shift_ref"}) << integer;
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_SHIFT, integer, "e3m0/1x32/e8m0fnu"), Names{"gemm_shift_ref"}) << integer;
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_SHIFT, integer, integer), Names{});
  }
  for (const char *other : {"e3m0", "e2m1fn", "bf16", "f32", "nf4", "e4m3fn", "int16"}) {
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_SHIFT, "e3m0", other), Names{}) << other;
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_SHIFT, other, "int4"),
              other == std::string("e3m0") ? Names{"gemm_shift_ref"} : Names{});
  }
}

TEST(GemmArithmetic, OfTensorCoresTakesSmallFloats) {
  for (const char *taken : {"e4m3fn", "e5m2_row", "mxfp8_e4m3", "nvfp4", "e3m0", "e3m4", "mxfp6_e3m2"}) {
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_TENSOR_CORE, taken, "e4m3fn"), Names{"gemm_tensor_core_ref"}) << taken;
  }
  for (const char *other : {"f32", "bf16", "f16", "int8", "nf4", "ternary"}) {
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_TENSOR_CORE, other, "e4m3fn"), Names{}) << other;
    EXPECT_EQ(takers(LPT_GEMM_ARITHMETIC_TENSOR_CORE, "e4m3fn", other), Names{}) << other;
  }
}

TEST(GemmArithmetic, OfOthersLeavesF64AndPanelsAlone) {
  for (lpt_gemm_arithmetic arithmetic = LPT_GEMM_ARITHMETIC_L_MUL; arithmetic <= LPT_GEMM_ARITHMETIC_TENSOR_CORE;
       ++arithmetic) {
    EXPECT_EQ(takers(arithmetic, "f64", "f32"), Names{});
    EXPECT_EQ(takers(arithmetic, "e3m0", "int4", LPT_FORMAT_F64), Names{});
    Problem packed("e3m0", "int4", LPT_FORMAT_F32, false, true, 3, 5, 64);
    packed.request.arithmetic = arithmetic;
    packed.request.b.layout = Layout::kPanels;
    for (const KernelEntry<GemmRequest> &kernel : gemm_kernels())
      EXPECT_FALSE(takes(kernel, packed.request)) << kernel.name;
  }
}

}  // namespace
}  // namespace lpt::test
