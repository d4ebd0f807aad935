// Behavior with a missing, different or broken library for GEMMs of 2:4 operands, with the stub of cusparselt/. GEMMs that the
// library rejects run as dense GEMMs.
#include <dlfcn.h>

#include "tests/device/support.hpp"
#include "tests/support/program_folder.hpp"

namespace lpt::test {
namespace {

const std::string kFolder = program_folder() + "/on_cpu";
const std::string kStub = kFolder + "/libcusparseLt.so.0";

class SparseGemmLibraries : public testing::Test {
 protected:
  SparseGemmLibraries() {
    setenv("LPT_PLUGIN_PATH", kFolder.c_str(), 1);
    setenv("LPT_CUBLASLT", (kFolder + "/libcublasLt.so.13").c_str(), 1);
    setenv("LPT_CUSPARSELT", kStub.c_str(), 1);
    setenv("LPT_GEMM_SPARSE", "1", 1);
  }
  ~SparseGemmLibraries() override {
    for (const char *name :
         {"LPT_PLUGIN_PATH", "LPT_CUBLASLT", "LPT_CUSPARSELT", "LPT_GEMM_SPARSE", "LPT_TEST_CUSPARSELT_MINOR",
          "LPT_TEST_CUSPARSELT_FAILS", "LPT_TEST_CAPABILITY", "LPT_GEMM_TUNE"}) {
      unsetenv(name);
    }
  }

  struct Answer {
    lpt_status status;
    std::string words;  // the error, or the explanation
    std::vector<double> numbers;
  };

  // Computes c = a · b + beta · c with a 2:4 operand b, `repeat` times in a new context.
  static Answer multiply_on_device(int repeat = 1, double beta = 1.0) {
    const Context cpu = make_context(1), gpu = make_gpu_context();
    const Tensor a = tensor_of(cpu.get(), LPT_FORMAT_BF16, 16, 64, draw_normal(1, 16 * 64));
    const Tensor dense = tensor_of(cpu.get(), LPT_FORMAT_BF16, 32, 64, draw_normal(2, 32 * 64));
    const Tensor mask = make_tensor(cpu.get(), LPT_FORMAT_UINT8, 32, 64);
    const lpt_format sparse = format_named("bf16/2:4");
    const Tensor b = make_tensor(cpu.get(), sparse, 32, 64);
    EXPECT_TRUE(ok(cpu.get(), lpt_sparse_mask_select(cpu.get(), dense.get(), nullptr, mask.get(), nullptr, nullptr)));
    EXPECT_TRUE(ok(cpu.get(), lpt_sparse_compress(cpu.get(), dense.get(), mask.get(), b.get(), nullptr)));
    const Tensor c = tensor_of(cpu.get(), LPT_FORMAT_BF16, 16, 32, draw_normal(3, 16 * 32));
    const Tensor there_a = make_tensor(gpu.get(), LPT_FORMAT_BF16, 16, 64),
                 there_b = make_tensor(gpu.get(), sparse, 32, 64);
    const Tensor there_c = make_tensor(gpu.get(), LPT_FORMAT_BF16, 16, 32);
    EXPECT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), a.get(), there_a.get())));
    EXPECT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), b.get(), there_b.get())));
    EXPECT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), c.get(), there_c.get())));
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    options.beta = beta;
    lpt_status status = LPT_OK;
    for (int i = 0; i < repeat; ++i)
      status = lpt_gemm(gpu.get(), there_a.get(), there_b.get(), &options, there_c.get());
    const std::string words = status == LPT_OK ? lpt_context_explanation(gpu.get()) : lpt_context_error(gpu.get());
    EXPECT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), there_c.get(), c.get())));
    return {status, words, numbers_of(cpu.get(), c.get())};
  }

  static int multiplied() {
    void *const library = dlopen(kStub.c_str(), RTLD_NOW);
    EXPECT_NE(nullptr, library);
    return library == nullptr ? -1 : reinterpret_cast<int (*)()>(dlsym(library, "lpt_stub_sparse_multiplied"))();
  }

  // Checks that the dense GEMM runs, and that the explanation states why the sparse one does not.
  static void is_passed_over(const std::vector<const char *> &words) {
    const int before = multiplied();
    const Answer answer = multiply_on_device();
    EXPECT_EQ(LPT_OK, answer.status);
    expect_words({"gemm: cublaslt_numbers"}, answer.words);
    expect_words(words, answer.words);
    EXPECT_EQ(before, multiplied());
  }
};

TEST_F(SparseGemmLibraries, MultipliesWhereItIsRequested) {
  const int before = multiplied();
  const Answer found = multiply_on_device(3);
  expect_words({"gemm: cusparselt_half", "decompress: decompress_cuda"}, found.words);
  EXPECT_EQ(before + 3, multiplied());
  unsetenv("LPT_GEMM_SPARSE");
  const Answer expected = multiply_on_device(3);
  expect_words({"gemm: cublaslt_numbers", "cusparselt: only where LPT_GEMM_SPARSE is set"}, expected.words);
  EXPECT_EQ(before + 3, multiplied());
  ASSERT_EQ(expected.numbers.size(), found.numbers.size());
  for (size_t i = 0; i < found.numbers.size(); ++i) {
    ASSERT_NEAR(expected.numbers[i], found.numbers[i], 0x1p-6 * std::abs(expected.numbers[i])) << "element " << i;
  }
}

TEST_F(SparseGemmLibraries, NothingIsTimed) {
  setenv("LPT_GEMM_TUNE", "1", 1);
  expect_words({"gemm: cusparselt_half"}, multiply_on_device(1, 0.0).words);
}

TEST_F(SparseGemmLibraries, AMissingOneIsReported) {
  setenv("LPT_CUSPARSELT", "/nowhere/libcusparseLt.so.0", 1);
  is_passed_over({"cusparselt: /nowhere/libcusparseLt.so.0: cannot open"});
}

TEST_F(SparseGemmLibraries, ALibraryOfAnotherKindIsReported) {
  setenv("LPT_CUSPARSELT", (kFolder + "/liblpt_cuda.so").c_str(), 1);
  is_passed_over({"liblpt_cuda.so has no cusparseLtGetProperty"});
}

TEST_F(SparseGemmLibraries, OtherReleasesAreRejectedBeforeTheyWriteAStruct) {
  setenv("LPT_TEST_CUSPARSELT_MINOR", "6", 1);
  is_passed_over({"libcusparseLt.so.0 is of version 0.6.0: expected 0.7 to 0.10, whose structs are known"});
  setenv("LPT_TEST_CUSPARSELT_MINOR", "11", 1);
  is_passed_over({"libcusparseLt.so.0 is of version 0.11.0: expected 0.7 to 0.10, whose structs are known"});
}

// PyTorch 2.8 to 2.10 ship 0.7.1, 2.11 ships 0.8.0.
TEST_F(SparseGemmLibraries, ReleasesOfFrameworksMultiply) {
  setenv("LPT_TEST_CUSPARSELT_MINOR", "8", 1);
  expect_words({"gemm: cusparselt_half"}, multiply_on_device().words);
  unsetenv("LPT_TEST_CUSPARSELT_MINOR");
  setenv("LPT_CUSPARSELT", (program_folder() + "/cusparselt_0_7/libcusparseLt.so.0").c_str(), 1);
  expect_words({"gemm: cusparselt_half"}, multiply_on_device().words);
}

TEST_F(SparseGemmLibraries, OneThatDoesNotStartIsReported) {
  setenv("LPT_TEST_CUSPARSELT_FAILS", "init", 1);
  is_passed_over({"cusparselt: cusparseLtInit: CUSPARSE_STATUS_NOT_INITIALIZED"});
}

TEST_F(SparseGemmLibraries, OneWithoutAKernelIsPassedOver) {
  setenv("LPT_TEST_CUSPARSELT_FAILS", "plan", 1);
  is_passed_over({"cusparselt_half: the library has no way to run it"});
}

TEST_F(SparseGemmLibraries, AFailureOfARunIsReported) {
  for (const auto &[step, words] : {std::pair("compress", "cusparseLtSpMMACompress: CUSPARSE_STATUS_EXECUTION_FAILED"),
                                    std::pair("multiply", "cusparseLtMatmul: CUSPARSE_STATUS_EXECUTION_FAILED")}) {
    setenv("LPT_TEST_CUSPARSELT_FAILS", step, 1);
    const Answer answer = multiply_on_device();
    EXPECT_EQ(LPT_WORK_FAILED, answer.status);
    expect_words({words}, answer.words);
  }
}

}  // namespace
}  // namespace lpt::test
