// GEMMs on a GPU against the definition: dequantized operands, multiplied in double.
#include <algorithm>
#include <cstdlib>

#include "tests/device/support.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

struct GemmCase {
  lpt_format a, b, c;
  bool is_a_transposed, is_b_transposed;
  int64_t m, n, k;
  const char *row;  // kernel on a device of compute capability 9.0
};

constexpr GemmCase along_k(lpt_format a, lpt_format b, lpt_format c, const char *row) {
  return {a, b, c, false, true, 20, 48, 256, row};
}

constexpr lpt_format kF32 = LPT_FORMAT_F32, kBf16 = LPT_FORMAT_BF16, kF16 = LPT_FORMAT_F16;

constexpr GemmCase kCases[] = {
    {kBf16, kBf16, kBf16, false, false, 7, 5, 33, "cublaslt_numbers"},
    {kBf16, kBf16, kF32, false, true, 7, 5, 33, "cublaslt_numbers"},
    {kF16, kF16, kF16, true, false, 7, 5, 33, "cublaslt_numbers"},
    {kF32, kF32, kF32, true, true, 7, 5, 33, "cublaslt_numbers"},
    {kBf16, kBf16, kF16, false, true, 7, 5, 33, "cublaslt_numbers"},
    {kF32, kF32, kBf16, false, true, 7, 5, 33, "cublaslt_numbers"},
    {kBf16, kF32, kF32, false, true, 7, 5, 33, "cublaslt_f32"},
    {kF16, kBf16, kBf16, true, false, 7, 5, 33, "cublaslt_f32"},
    along_k(LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3FN, kBf16, "cublaslt_fp8"),
    along_k(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, kF32, "cublaslt_fp8"),
    along_k(LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E4M3FN, kF16, "cublaslt_fp8"),
    along_k(LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E5M2_TENSOR, kBf16, "cublaslt_half"),
    along_k(LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_ROW, kBf16, "cublaslt_fp8_rows"),
    along_k(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_ROW, kBf16, "cublaslt_fp8_finish"),
    along_k(LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128, kBf16, "cublaslt_fp8_blocks"),
    along_k(LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E5M2_1X128, kF32, "cublaslt_fp8_blocks"),
    along_k(LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E4M3FN_1X128, kF16, "cublaslt_fp8_blocks"),
    along_k(LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E4M3FN_128X128, kBf16, "cublaslt_f32"),
    along_k(LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_INT4_1X128, kBf16, "cublaslt_fp8_folded"),
    along_k(LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP4, kBf16, "cublaslt_half"),
    along_k(LPT_FORMAT_E5M2_1X128, LPT_FORMAT_MXFP4, kF32, "cublaslt_f32"),
    along_k(LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8_ROW, kBf16, "cublaslt_int8"),
    along_k(LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8_TENSOR, kF32, "cublaslt_int8"),
    along_k(LPT_FORMAT_NVFP4, LPT_FORMAT_NVFP4, kBf16, "cublaslt_half"),
    along_k(LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP8_E5M2, kBf16, "cublaslt_half"),
    along_k(LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP6_E3M2, kF32, "cublaslt_half"),
    along_k(kBf16, LPT_FORMAT_NVFP4, kBf16, "gemm_tiles_fp4_cuda"),
    along_k(kF16, LPT_FORMAT_NVFP4, kF16, "cublaslt_half"),
    along_k(kF16, LPT_FORMAT_MXFP4, kF16, "cublaslt_f32"),
    along_k(kBf16, LPT_FORMAT_INT8_ROW, kBf16, "cublaslt_half"),
    along_k(kBf16, LPT_FORMAT_INT4_1X64, kBf16, "cublaslt_f32"),
    along_k(kF16, LPT_FORMAT_UINT4_1X128, kF32, "cublaslt_f32"),
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR, kBf16, false, false, 9, 32, 48, "cublaslt_half"},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR, kBf16, false, true, 9, 31, 47, "cublaslt_half"},
    {LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_NVFP4, kF32, true, false, 32, 64, 9, "cublaslt_half"},
    {LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8_ROW, kF32, true, true, 6, 32, 48, "cublaslt_f32"},
    {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_INT4_1X128, kBf16, false, true, 5, 40, 256, "gemm_few_rows_int4_cuda"},
    {kF16, LPT_FORMAT_INT4_1X32, kF32, false, true, 16, 40, 128, "gemm_few_rows_int4_cuda"},
    {kBf16, LPT_FORMAT_NVFP4, kBf16, false, true, 1, 40, 256, "gemm_few_rows_fp4_cuda"},
    {kBf16, LPT_FORMAT_INT4_1X128, kBf16, false, true, 17, 40, 1280, "gemm_tiles_int4_cuda"},
    {kF16, LPT_FORMAT_INT4_1X32, kF32, false, true, 65, 40, 128, "gemm_tiles_int4_cuda"},
    {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_INT4_1X128, kBf16, false, true, 18, 40, 256, "gemm_tiles_int4_cuda"},
    {kBf16, LPT_FORMAT_MXFP4, kF32, false, true, 33, 40, 1152, "gemm_tiles_fp4_cuda"},
    {kBf16, LPT_FORMAT_MXFP4, kF32, false, true, 129, 40, 128, "cublaslt_half"},
};

// Cases that permit rounding of operands. Their operands do not round: scales of 128 elements are close to each other.
constexpr GemmCase kRounded[] = {
    along_k(LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP4, kBf16, "cublaslt_fp8_rounded"),
    along_k(LPT_FORMAT_E5M2_1X128, LPT_FORMAT_MXFP4, kF32, "cublaslt_fp8_rounded"),
    {LPT_FORMAT_MXFP4, LPT_FORMAT_INT4_1X128, kF16, false, true, 8, 16, 208, "cublaslt_fp8_rounded"},
};

// Alpha, beta and bias of a case.
struct Terms {
  double alpha = 1.0, beta = 0.0;
  bool has_bias = false;
};

class DeviceGemms : public Devices {
 protected:
  Tensor draw(lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    return tensor_of(cpu(), format, rows, columns, draw_normal(place, rows * columns));
  }

  // Draws by format name: the format may be 2:4.
  Tensor draw_sparse(const char *name, int64_t rows, int64_t columns, uint64_t place) {
    std::string dense = name;
    if (const size_t slash = dense.find('/'); slash != std::string::npos) dense.resize(slash);
    const Tensor source = draw(kF32, rows, columns, place);
    Tensor drawn = make_tensor(cpu(), format_named(dense.c_str()), rows, columns);
    if (dense == name) {
      EXPECT_TRUE(ok(cpu(), lpt_quantize(cpu(), source.get(), nullptr, drawn.get(), nullptr)));
      return drawn;
    }
    const Tensor mask = make_tensor(cpu(), LPT_FORMAT_UINT8, rows, columns);
    EXPECT_TRUE(ok(cpu(), lpt_sparse_mask_select(cpu(), source.get(), nullptr, mask.get(), source.get(), nullptr)));
    EXPECT_TRUE(ok(cpu(), lpt_quantize(cpu(), source.get(), nullptr, drawn.get(), nullptr)));
    Tensor sparse = make_tensor(cpu(), format_named(name), rows, columns);
    EXPECT_TRUE(ok(cpu(), lpt_sparse_compress(cpu(), drawn.get(), mask.get(), sparse.get(), nullptr)));
    return sparse;
  }

  // Returns the dense form of a tensor on the CPU; copies dense tensors.
  Tensor written_out(const lpt_tensor *tensor) {
    const std::string name = name_of(describe(cpu(), tensor).format);
    const Shape shape = shape_of(cpu(), tensor);
    Tensor dense = make_tensor(cpu(), format_named(name.substr(0, name.find('/')).c_str()), shape.rows, shape.columns);
    EXPECT_TRUE(ok(cpu(), name.find('/') == std::string::npos ? lpt_tensor_copy(cpu(), tensor, dense.get())
                                                              : lpt_sparse_decompress(cpu(), tensor, dense.get())));
    return dense;
  }

  // Draws a batch of matrices.
  Tensor draw_many(lpt_format format, const std::vector<int64_t> &extents, uint64_t place) {
    const int64_t rows = extents[0] * extents[1], columns = extents[2];
    const std::vector<double> numbers = draw_normal(place, rows * columns);
    const Tensor source = make_tensor(cpu(), kF32, extents);
    std::copy(numbers.begin(), numbers.end(), static_cast<float *>(describe(cpu(), source.get()).data));
    Tensor drawn = make_tensor(cpu(), format, extents);
    EXPECT_TRUE(ok(cpu(), lpt_quantize(cpu(), source.get(), nullptr, drawn.get(), nullptr)));
    return drawn;
  }

  // Compares c of a GPU with c of the CPU; other tests check the CPU.
  void expect_near(const lpt_tensor *expected, const lpt_tensor *found) {
    const std::vector<double> oracle = numbers_of(cpu(), expected), given = numbers_of(cpu(), here(found).get());
    ASSERT_EQ(oracle.size(), given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      ASSERT_NEAR(oracle[i], given[i], 1e-2 + 1e-2 * std::abs(oracle[i])) << "element " << i;
    }
  }

  bool is_hopper() {
    lpt_device_info facts = LPT_DEVICE_INFO_INIT;
    EXPECT_EQ(LPT_OK, lpt_device_describe(nullptr, LPT_DEVICE_CUDA, 0, &facts));
    return facts.capability_major == 9 && facts.capability_minor == 0;
  }

  static double unit_of(lpt_format c) { return c == kBf16 ? 0x1p-8 : c == kF16 ? 0x1p-11 : 0x1p-24; }

  // A device that accumulates FP8 keeps about 14 bits of a sum until it adds the sum to f32; other sums have the accuracy of
  // f32.
  static double bound(const GemmCase &c, double magnitude, double value) {
    const std::string row = c.row;
    const bool is_short = row.find("fp8") != std::string::npos || row.find("warpgroups") != std::string::npos;
    return gemm_bound(magnitude, c.k) + (is_short ? 0x1p-13 * magnitude : 0.0) + unit_of(c.c) * std::abs(value) +
           0x1p-24;
  }

  void expect_defined(const GemmCase &c, const Terms &terms) {
    const Tensor a = c.is_a_transposed ? draw(c.a, c.k, c.m, 1) : draw(c.a, c.m, c.k, 1);
    const Tensor b = c.is_b_transposed ? draw(c.b, c.n, c.k, 2) : draw(c.b, c.k, c.n, 2);
    expect_defined_of(a.get(), b.get(), c, terms);
  }

  // For operands that may be 2:4: their formats replace those of the case.
  void expect_defined_of(const lpt_tensor *a, const lpt_tensor *b, const GemmCase &c, const Terms &terms) {
    const Tensor before = draw(c.c, c.m, c.n, 3), bias = vector_of(cpu(), kF32, draw_normal(4, c.n));
    const Tensor there_a = there(a), there_b = there(b), there_c = there(before.get());
    const Tensor there_bias = there(bias.get());
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.alpha = terms.alpha;
    options.beta = terms.beta;
    options.is_a_transposed = c.is_a_transposed ? 1 : 0;
    options.is_b_transposed = c.is_b_transposed ? 1 : 0;
    if (terms.has_bias) options.bias = there_bias.get();
    ASSERT_TRUE(ok(gpu(), lpt_gemm(gpu(), there_a.get(), there_b.get(), &options, there_c.get()))) << c.row;
    const std::string why = lpt_context_explanation(gpu());
    const bool has_libraries = why.find("cusparselt: ") == std::string::npos;
    if (is_hopper() && has_libraries) expect_words({(std::string("gemm: ") + c.row + "\n").c_str()}, why + "\n", c.row);
    std::vector<double> a_numbers = numbers_of(cpu(), written_out(a).get());
    std::vector<double> b_numbers = numbers_of(cpu(), written_out(b).get());
    if (c.is_a_transposed) a_numbers = transposed(a_numbers, c.k, c.m);
    if (c.is_b_transposed) b_numbers = transposed(b_numbers, c.n, c.k);
    const ExactGemm exact = multiply(a_numbers, b_numbers, c.m, c.n, c.k);
    const std::vector<double> held = numbers_of(cpu(), before.get()), added = numbers_of(cpu(), bias.get());
    const std::vector<double> found = numbers_of(cpu(), here(there_c.get()).get());
    for (size_t i = 0; i < found.size(); ++i) {
      const double bias_term = terms.has_bias ? added[i % static_cast<size_t>(c.n)] : 0.0;
      const double value = terms.alpha * exact.value[i] + terms.beta * held[i] + bias_term;
      const double magnitude =
          std::abs(terms.alpha) * exact.magnitude[i] + std::abs(terms.beta * held[i]) + std::abs(bias_term);
      ASSERT_NEAR(value, found[i], bound(c, magnitude, value))
          << c.row << ": " << name_of(describe(cpu(), a).format) << " by " << name_of(describe(cpu(), b).format)
          << ", element " << i << "\n"
          << why;
    }
  }
};

TEST_F(DeviceGemms, AreAsDefined) {
  for (const GemmCase &c : kCases) expect_defined(c, {});
}

// Kernels of this library precede the library GEMM; scripts/gpu runs them with sanitizers by this test.
TEST_F(DeviceGemms, OfFourBitsNeedNoLibrary) {
  const char *const named = std::getenv("LPT_CUBLASLT");
  const std::string before = named == nullptr ? "" : named;
  setenv("LPT_CUBLASLT", "/nowhere/libcublasLt.so.13", 1);
  expect_defined({kBf16, LPT_FORMAT_INT4_1X128, kF32, false, true, 4, 40, 256, "gemm_few_rows_int4_cuda"}, {});
  expect_defined({kBf16, LPT_FORMAT_NVFP4, kF32, false, true, 4, 40, 256, "gemm_few_rows_fp4_cuda"}, {});
  expect_defined({kBf16, LPT_FORMAT_INT4_1X128, kF32, false, true, 20, 40, 1152, "gemm_tiles_int4_cuda"}, {});
  expect_defined({kBf16, LPT_FORMAT_MXFP4, kF32, false, true, 20, 40, 256, "gemm_tiles_fp4_cuda"}, {});
  setenv("LPT_CUBLASLT", before.c_str(), 1);
}

TEST_F(DeviceGemms, TakeFactorsAndTerms) {
  const Terms all[] = {{-0.5, 0.0, false}, {1.0, 0.75, false}, {1.0, 0.0, true}, {1.5, -2.0, true}};
  for (size_t i = 0; i < std::size(kCases); ++i) {
    for (size_t t = 0; t < std::size(all); ++t) {
      if (kIsSanitized && t != i % std::size(all)) continue;
      expect_defined(kCases[i], all[t]);
    }
  }
}

TEST_F(DeviceGemms, MayBeRoundedWhereThatIsRequested) {
  set_variable("LPT_GEMM_ROUND", "1");
  for (const GemmCase &c : kRounded) expect_defined(c, {-0.5, 0.75, true});
  set_variable("LPT_GEMM_ROUND", nullptr);
}

// In each 128 elements of b, those with a nonzero element in a are 2^-18 of the others: rounding of operands loses their part
// of the sum.
TEST_F(DeviceGemms, OfScalesFarApartLoseNothing) {
  constexpr int64_t kM = 20, kN = 48, kK = 256;
  std::vector<double> first = draw_normal(18, kM * kK), second = draw_normal(19, kN * kK);
  for (size_t i = 0; i < first.size(); ++i) first[i] *= i / 32 % 4 == 0 ? 0.0 : 1.0;
  for (size_t i = 0; i < second.size(); ++i) second[i] *= i / 32 % 4 == 0 ? 1.0 : 0x1p-18;
  const Tensor a = tensor_of(cpu(), LPT_FORMAT_MXFP4, kM, kK, first),
               b = tensor_of(cpu(), LPT_FORMAT_MXFP4, kN, kK, second);
  const Tensor there_a = there(a.get()), there_b = there(b.get()), c = make_tensor(gpu(), kF32, kM, kN);
  const ExactGemm exact =
      multiply(numbers_of(cpu(), a.get()), transposed(numbers_of(cpu(), b.get()), kN, kK), kM, kN, kK);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  const auto count_wrong = [&] {
    EXPECT_TRUE(ok(gpu(), lpt_gemm(gpu(), there_a.get(), there_b.get(), &options, c.get())));
    const std::vector<double> found = numbers_of(cpu(), here(c.get()).get());
    int wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      wrong += std::abs(exact.value[i] - found[i]) > gemm_bound(exact.magnitude[i], kK) ? 1 : 0;
    }
    return wrong;
  };
  EXPECT_EQ(0, count_wrong());
  if (!is_hopper()) return;
  set_variable("LPT_GEMM_ROUND", "1");
  EXPECT_GT(count_wrong(), 0);  // else the preceding checks are not significant
  set_variable("LPT_GEMM_ROUND", nullptr);
}

TEST_F(DeviceGemms, AreMadeByWarpgroupsWhereTheyAreRequested) {
  set_variable("LPT_GEMM_WGMMA", "1");
  for (const lpt_format a : {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_1X128}) {
    expect_defined({a, LPT_FORMAT_INT4_1X128, kBf16, false, true, 17, 40, 1152, "gemm_warpgroups_int4_cuda"}, {});
    expect_defined({a, LPT_FORMAT_INT4_1X128, kF32, false, true, 65, 40, 256, "gemm_warpgroups_int4_cuda"},
                   {1.5, -2.0, true});
  }
  set_variable("LPT_GEMM_WGMMA", nullptr);
}

TEST_F(DeviceGemms, OfNothingAreTheOtherTerms) {
  expect_defined({kBf16, kBf16, kF32, false, true, 3, 4, 0, "cublaslt_numbers"}, {2.0, 0.5, true});
  expect_defined({kBf16, kBf16, kBf16, false, true, 3, 4, 0, "cublaslt_numbers"}, {});
  expect_defined({kBf16, kBf16, kBf16, false, true, 0, 4, 8, "cublaslt_numbers"}, {});
}

TEST_F(DeviceGemms, LeaveWhatIsBesideC) {
  const Tensor a = draw(kF32, 5, 16, 6), b = draw(kF32, 16, 6, 7);
  const Tensor whole = draw(kF32, 9, 11, 8), there_whole = there(whole.get());
  const Tensor part = view(gpu(), there_whole.get(), {2, 3}, {5, 6});
  ASSERT_TRUE(ok(gpu(), lpt_gemm(gpu(), there(a.get()).get(), there(b.get()).get(), nullptr, part.get())));
  ASSERT_TRUE(ok(cpu(), lpt_gemm(cpu(), a.get(), b.get(), nullptr, view(cpu(), whole.get(), {2, 3}, {5, 6}).get())));
  const std::vector<double> expected = numbers_of(cpu(), whole.get()),
                            found = numbers_of(cpu(), here(there_whole.get()).get());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(expected[i], found[i], 1e-4) << "element " << i;
}

// The result has the bits of the GEMM of the dense form.
TEST_F(DeviceGemms, OfSparseOperandsAreThoseOfDenseOnes) {
  struct SparseCase {
    const char *a, *b, *row;
  };
  const SparseCase cases[] = {{"bf16", "bf16/2:4", "cublaslt_numbers"},
                              {"f16/2:4", "f16", "cublaslt_numbers"},
                              {"f32", "f32/2:4", "cublaslt_numbers"},
                              {"int8_row", "int8_row/2:4", "cublaslt_int8"},
                              {"e4m3fn_tensor", "e4m3fn_tensor/2:4", "cublaslt_fp8"},
                              {"e4m3fn_row", "e5m2_row/2:4", "cublaslt_fp8_rows"},
                              {"e4m3fn/2:4", "e5m2/2:4", "cublaslt_fp8"},
                              {"mxfp8_e4m3", "mxfp8_e4m3/2:4", "cublaslt_half"}};
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  for (const SparseCase &c : cases) {
    const Tensor a = draw_sparse(c.a, 20, 256, 18), b = draw_sparse(c.b, 48, 256, 19);
    const Tensor dense_a = written_out(a.get()), dense_b = written_out(b.get());
    const Tensor expected = make_tensor(gpu(), kF32, 20, 48), found = make_tensor(gpu(), kF32, 20, 48);
    ASSERT_TRUE(
        ok(gpu(), lpt_gemm(gpu(), there(dense_a.get()).get(), there(dense_b.get()).get(), &options, expected.get())));
    ASSERT_TRUE(ok(gpu(), lpt_gemm(gpu(), there(a.get()).get(), there(b.get()).get(), &options, found.get())));
    const std::string why = lpt_context_explanation(gpu());
    expect_words({"decompress: decompress_cuda"}, why, c.b);
    if (is_hopper()) expect_words({(std::string("gemm: ") + c.row + "\n").c_str()}, why + "\n", c.b);
    EXPECT_EQ(bytes_on_device(expected.get()), bytes_on_device(found.get())) << c.a << " by " << c.b;
  }
}

// Compares with the definition. A GPU may lack the library; then the dense GEMM runs.
TEST_F(DeviceGemms, OfSparseOperandsAreMadeByALibraryWhereThatIsRequested) {
  struct SparseCase {
    const char *a, *b;
    GemmCase dense;
  };
  const auto of = [](const char *a, const char *b, lpt_format c, const char *row) {
    return SparseCase{a, b, {0, 0, c, false, true, 32, 64, 128, row}};
  };
  const SparseCase cases[] = {of("bf16", "bf16/2:4", kBf16, "cusparselt_half"),
                              of("f16/2:4", "f16", kF16, "cusparselt_half"),
                              of("e4m3fn", "e4m3fn/2:4", kF32, "cusparselt_fp8"),
                              of("e4m3fn_tensor", "e4m3fn_tensor/2:4", kBf16, "cusparselt_fp8"),
                              of("e5m2_row/2:4", "e5m2_tensor", kF16, "cusparselt_fp8"),
                              of("e5m2/2:4", "e5m2", kBf16, "cusparselt_fp8"),
                              of("int8_row", "int8_row/2:4", kF32, "cusparselt_int8"),
                              of("int8_tensor/2:4", "int8_row", kBf16, "cusparselt_int8")};
  set_variable("LPT_GEMM_SPARSE", "1");
  for (const SparseCase &c : cases) {
    const Tensor a = draw_sparse(c.a, c.dense.m, c.dense.k, 61), b = draw_sparse(c.b, c.dense.n, c.dense.k, 62);
    const bool has_bias = std::string(c.dense.row) != "cusparselt_half";
    expect_defined_of(a.get(), b.get(), c.dense, {});
    expect_defined_of(a.get(), b.get(), c.dense, {1.5, -2.0, has_bias});
  }
  set_variable("LPT_GEMM_SPARSE", nullptr);
}

TEST_F(DeviceGemms, OfABatchAreOneByOne) {
  const Tensor a = draw_many(kBf16, {3, 5, 32}, 11), b = draw_many(LPT_FORMAT_MXFP8_E4M3, {3, 8, 32}, 12);
  const Tensor c = make_tensor(cpu(), kBf16, {3, 5, 8}), there_c = make_tensor(gpu(), kBf16, {3, 5, 8});
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  const Tensor there_a = there(a.get()), there_b = there(b.get());
  ASSERT_TRUE(ok(gpu(), lpt_gemm(gpu(), there_a.get(), there_b.get(), &options, there_c.get())));
  ASSERT_TRUE(ok(cpu(), lpt_gemm(cpu(), a.get(), b.get(), &options, c.get())));
  expect_near(c.get(), there_c.get());
}

TEST_F(DeviceGemms, OfGroupsAreOneByOne) {
  const std::vector<int64_t> ends = {3, 3, 12, 16};
  const Tensor a = draw(LPT_FORMAT_E4M3FN_ROW, 16, 64, 13), b = draw_many(LPT_FORMAT_E4M3FN_ROW, {4, 32, 64}, 14);
  const Tensor bias = draw(kF32, 4, 32, 15);
  const Tensor c = make_tensor(cpu(), kF32, 16, 32), there_c = make_tensor(gpu(), kF32, 16, 32);
  const Tensor there_a = there(a.get()), there_b = there(b.get()), there_bias = there(bias.get());
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  options.bias = there_bias.get();
  ASSERT_TRUE(ok(gpu(), lpt_gemm_grouped(gpu(), there_a.get(), there_b.get(), indices_of(cpu(), ends).get(), &options,
                                         there_c.get())));
  options.bias = bias.get();
  ASSERT_TRUE(ok(cpu(), lpt_gemm_grouped(cpu(), a.get(), b.get(), indices_of(cpu(), ends).get(), &options, c.get())));
  expect_near(c.get(), there_c.get());
}

TEST_F(DeviceGemms, OfGroupsAlongKAreOneByOne) {
  const std::vector<int64_t> ends = {5, 5, 16};
  const Tensor a = draw(kBf16, 16, 12, 16), b = draw(kBf16, 16, 10, 17);
  const Tensor c = make_tensor(cpu(), kF32, {3, 12, 10}), there_c = make_tensor(gpu(), kF32, {3, 12, 10});
  const Tensor there_a = there(a.get()), there_b = there(b.get());
  const Tensor group_ends = indices_of(cpu(), ends), there_ends = there(group_ends.get());
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = 1;
  ASSERT_TRUE(
      ok(gpu(), lpt_gemm_grouped(gpu(), there_a.get(), there_b.get(), there_ends.get(), &options, there_c.get())));
  ASSERT_TRUE(ok(cpu(), lpt_gemm_grouped(cpu(), a.get(), b.get(), group_ends.get(), &options, c.get())));
  expect_near(c.get(), there_c.get());
}

TEST_F(DeviceGemms, MayHaveNoGroups) {
  const Tensor a = draw(kBf16, 4, 8, 18), there_a = there(a.get()), ends = make_tensor(gpu(), LPT_FORMAT_INT32, {0});
  const Tensor b = make_tensor(gpu(), kBf16, {0, 8, 8}), c = make_tensor(gpu(), kF32, 4, 8);
  EXPECT_TRUE(ok(gpu(), lpt_gemm_grouped(gpu(), there_a.get(), b.get(), ends.get(), nullptr, c.get())));
}

TEST_F(DeviceGemms, CheckGroupEndsInMemoryOfTheGpu) {
  const Tensor a = draw(kBf16, 4, 8, 18), b = draw_many(kBf16, {2, 8, 8}, 19), c = make_tensor(gpu(), kF32, 4, 8);
  const Tensor there_a = there(a.get()), there_b = there(b.get());
  const Tensor ends = indices_of(cpu(), {3, 5}), there_ends = there(ends.get());
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  for (const uint64_t flags : {uint64_t{0}, uint64_t{LPT_CHECK_ONLY}}) {
    options.flags = flags;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_gemm_grouped(gpu(), there_a.get(), there_b.get(), there_ends.get(), &options, c.get()));
    expect_words({"group_ends[1] is 5", "expected 3 to 4"}, lpt_context_error(gpu()));
  }
}

TEST_F(DeviceGemms, MayBePlanned) {
  const Tensor a = draw(LPT_FORMAT_E4M3FN_ROW, 16, 64, 9), b = draw(LPT_FORMAT_E4M3FN_ROW, 32, 64, 10);
  const Tensor there_a = there(a.get()), there_b = there(b.get());
  const Tensor once = make_tensor(gpu(), kBf16, 16, 32), again = make_tensor(gpu(), kBf16, 16, 32);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  lpt_gemm_plan *plan = nullptr;
  ASSERT_TRUE(ok(gpu(), lpt_gemm_plan_create(gpu(), there_a.get(), there_b.get(), &options, again.get(), &plan)));
  lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
  ASSERT_TRUE(ok(gpu(), lpt_gemm_plan_read(gpu(), plan, &values)));
  EXPECT_EQ(64, values.k);
  EXPECT_EQ(0, std::string(values.kernel).find("cublaslt_"));
  ASSERT_TRUE(ok(gpu(), lpt_gemm_plan_run(gpu(), plan, there_a.get(), there_b.get(), nullptr, again.get())));
  ASSERT_TRUE(ok(gpu(), lpt_gemm(gpu(), there_a.get(), there_b.get(), &options, once.get())));
  EXPECT_EQ(bytes_on_device(once.get()), bytes_on_device(again.get()));
  const Tensor c = make_tensor(cpu(), kBf16, 16, 32);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm_plan_run(cpu(), plan, a.get(), b.get(), nullptr, c.get()));
  expect_words({values.kernel, "does not run on cpu"}, lpt_context_error(cpu()));
  lpt_gemm_plan_destroy(plan);
}

TEST_F(DeviceGemms, AreRejectedWithTheReasonOfEveryRow) {
  const Tensor a = make_tensor(gpu(), LPT_FORMAT_F64, 4, 16), b = make_tensor(gpu(), kF32, 16, 8),
               c = make_tensor(gpu(), kF32, 4, 8);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_gemm(gpu(), a.get(), b.get(), nullptr, c.get()));
  expect_words(
      {"gemm: no kernel takes f64, f32, f32 on cuda:0", "cublaslt_numbers: takes no f64", "cublaslt_f32: takes no f64"},
      lpt_context_error(gpu()));
}

TEST_F(DeviceGemms, RejectAnOrderOfSums) {
  const Tensor a = make_tensor(gpu(), kF32, 4, 16), b = make_tensor(gpu(), kF32, 16, 8),
               c = make_tensor(gpu(), kF32, 4, 8);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.flags = LPT_GEMM_PORTABLE_ORDER;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_gemm(gpu(), a.get(), b.get(), &options, c.get()));
  expect_words({"cublaslt_numbers: the order of its sums is its own"}, lpt_context_error(gpu()));
}

TEST_F(DeviceGemms, TakeTensorsOfTheirDeviceAlone) {
  const Tensor a = make_tensor(cpu(), kF32, 4, 16), b = make_tensor(gpu(), kF32, 16, 8),
               c = make_tensor(gpu(), kF32, 4, 8);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm(gpu(), a.get(), b.get(), nullptr, c.get()));
  expect_words({"a is 4 x 16 f32 on cpu", "expected cuda:0"}, lpt_context_error(gpu()));
  const Tensor bias = vector_of(cpu(), kF32, draw_normal(4, 8)), there_a = there(a.get());
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.bias = bias.get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm(gpu(), there_a.get(), b.get(), &options, c.get()));
  expect_words({"bias is 1 x 8 f32 on cpu"}, lpt_context_error(gpu()));
}

}  // namespace
}  // namespace lpt::test
