// Emulated arithmetic and the portable summation order through the C interface.
#include <algorithm>
#include <utility>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

lpt_status run(lpt_context *context, const Tensor &a, const Tensor &b, const Tensor &c, lpt_gemm_arithmetic arithmetic,
               int32_t bits = 0, uint64_t flags = 0) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  lpt_gemm_emulation emulation = LPT_GEMM_EMULATION_INIT;
  emulation.arithmetic = arithmetic;
  emulation.bits = bits;
  options.emulation = &emulation;
  options.flags = flags;
  return lpt_gemm(context, a.get(), b.get(), &options, c.get());
}

TEST(GemmArithmetic, RejectsBitsOutOfRangeByName) {
  const Context context = make_context();
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_E4M3FN, 3, 4, draw_normal(960, 12));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_E4M3FN, 4, 5, draw_normal(961, 20));
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 3, 5);
  struct Bits {
    lpt_gemm_arithmetic arithmetic;
    int32_t least, most;
  };
  for (const auto &[arithmetic, least, most] :
       {Bits{LPT_GEMM_ARITHMETIC_L_MUL, 1, 23}, Bits{LPT_GEMM_ARITHMETIC_TENSOR_CORE, 10, 24},
        Bits{LPT_GEMM_ARITHMETIC_NATIVE, 0, 0}, Bits{LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE, 0, 0}}) {
    for (int32_t bits = -2; bits < 40; ++bits) {
      const lpt_status status = run(context.get(), a, b, c, arithmetic, bits);
      if (bits == 0 || (bits >= least && bits <= most)) {
        EXPECT_TRUE(ok(context.get(), status)) << arithmetic << " " << bits;
      } else {
        EXPECT_EQ(LPT_INVALID_ARGUMENT, status) << arithmetic << " " << bits;
        expect_words({"emulation->bits is", std::to_string(bits).c_str()}, lpt_context_error(context.get()));
      }
    }
  }
  for (const lpt_gemm_arithmetic arithmetic : {-1, 5, 1 << 30}) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, run(context.get(), a, b, c, arithmetic));
    expect_words({"arithmetic is", "expected 0 to 4"}, lpt_context_error(context.get()));
  }
}

TEST(GemmArithmetic, SaysWhichFormatsItTakes) {
  const Context context = make_context();
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 8, 8);
  struct Rejected {
    const char *a, *b;
    lpt_gemm_arithmetic arithmetic;
    const char *reason;
  };
  for (const Rejected &rejected :
       {Rejected{"e4m3fn", "int4", LPT_GEMM_ARITHMETIC_SHIFT, "gemm_shift_ref: operands are not one of e3m0"},
        Rejected{"e3m0", "e3m0", LPT_GEMM_ARITHMETIC_SHIFT, "gemm_shift_ref: operands are not one of e3m0"},
        Rejected{"bf16", "e4m3fn", LPT_GEMM_ARITHMETIC_TENSOR_CORE,
                 "gemm_tensor_core_ref: a is no float of at most 8 bits"},
        Rejected{"e4m3fn", "int8", LPT_GEMM_ARITHMETIC_TENSOR_CORE,
                 "gemm_tensor_core_ref: b is no float of at most 8 bits"},
        Rejected{"f64", "f32", LPT_GEMM_ARITHMETIC_L_MUL, "gemm_l_mul_ref: f64 has the native arithmetic alone"}}) {
    const Tensor a = make_tensor(context.get(), format_named(rejected.a), 8, 8);
    const Tensor b = make_tensor(context.get(), format_named(rejected.b), 8, 8);
    EXPECT_EQ(LPT_UNSUPPORTED, run(context.get(), a, b, c, rejected.arithmetic));
    expect_words({rejected.reason}, lpt_context_error(context.get()));
  }
}

// The GEMM of e3m0 gradients and int4 weights, as in 4-bit training: shifts give the exact sums.
TEST(GemmArithmetic, OfShiftsIsExact) {
  const Context context = make_context(2);
  const int64_t m = 70, n = 130, k = 300;
  lpt_quantize_options logarithmic = LPT_QUANTIZE_OPTIONS_INIT;
  logarithmic.rounding = LPT_ROUNDING_STOCHASTIC;
  const std::vector<double> gradients = draw_normal(962, m * k);
  const Tensor source = wrap(context.get(), gradients, m, k);
  const Tensor a = make_tensor(context.get(), LPT_FORMAT_E3M0, m, k);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &logarithmic, a.get(), nullptr)));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_INT4, k, n, draw_normal(963, k * n, 3));
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, m, n);
  ASSERT_TRUE(ok(context.get(), run(context.get(), a, b, c, LPT_GEMM_ARITHMETIC_SHIFT)));
  EXPECT_EQ(0u, std::string(lpt_context_explanation(context.get())).find("gemm: gemm_shift_ref"));
  const ExactGemm exact = multiply(numbers_of(context.get(), a.get()), numbers_of(context.get(), b.get()), m, n, k);
  EXPECT_EQ(exact.value, numbers_of(context.get(), c.get()));
  EXPECT_NE(0, *std::max_element(exact.magnitude.begin(), exact.magnitude.end()));
}

// Returns the bytes of a · b in the portable order, b stored transposed. Empty if the CPU lacks the instruction set.
std::vector<uint8_t> portable_bytes(lpt_isa isa, int32_t threads, bool is_packed, lpt_format a_format,
                                    lpt_format b_format) {
  const int64_t m = 100, n = 90, k = 133;
  lpt_context_options context_options = LPT_CONTEXT_OPTIONS_INIT;
  context_options.thread_count = threads;
  context_options.isa = isa;
  Context context;
  if (lpt_context_create(&context_options, out(context)) != LPT_OK) return {};
  const Tensor a = tensor_of(context.get(), a_format, m, k, draw_normal(964, m * k));
  Tensor b = tensor_of(context.get(), b_format, n, k, draw_normal(965, n * k));
  if (is_packed) {
    Tensor packed;
    EXPECT_TRUE(ok(context.get(), lpt_weights_pack(context.get(), b.get(), nullptr, out(packed))));
    b = std::move(packed);
  }
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, m, n);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.flags = LPT_GEMM_PORTABLE_ORDER;
  options.is_b_transposed = 1;
  EXPECT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), &options, c.get())));
  return bytes_of(context.get(), c.get());
}

// Covers every instruction set, several thread counts, and weights with and without packing.
TEST(GemmPortable, GivesTheSameBitsOnEveryInstructionSet) {
  const lpt_format pairs[][2] = {{LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR},
                                 {LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8_ROW},
                                 {LPT_FORMAT_BF16, LPT_FORMAT_NVFP4},
                                 {LPT_FORMAT_F32, format_named("uint4_1x32")},
                                 {LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_F16}};
  for (const auto &[a_format, b_format] : pairs) {
    const std::vector<uint8_t> first = portable_bytes(LPT_ISA_REFERENCE, 1, false, a_format, b_format);
    ASSERT_FALSE(first.empty());
    for (const lpt_isa isa : {LPT_ISA_REFERENCE, LPT_ISA_X86_AVX2, LPT_ISA_X86_AVX512, LPT_ISA_AUTO}) {
      for (const int32_t threads : {1, 2}) {
        for (const bool is_packed : {false, true}) {
          const std::vector<uint8_t> bytes = portable_bytes(isa, threads, is_packed, a_format, b_format);
          EXPECT_TRUE(bytes.empty() || bytes == first) << name_of(a_format) << " x " << name_of(b_format) << " isa "
                                                       << isa << " threads " << threads << " packed " << is_packed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
