// Memory that GEMM kernels access and do not access, and requests that their table rejects.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/gemm/operand.hpp"
#include "tests/kernels/gemm_problem.hpp"

namespace lpt::test {
namespace {

TEST_P(Gemm, LeavesOperandsAndTheGapsOfCAlone) {
  Random random(8);
  for (const lpt_format c_format : kOutputs) {
    const Pair formats = pair("mxfp8_e5m2", "e4m3fn_128x128");
    Problem problem(formats.a, formats.b, c_format, true, true, 37, 53, 130, 11);
    if (!takes(problem.request)) continue;
    problem.draw(random);
    std::vector<uint8_t> operands(problem.a.data.data(), problem.a.data.data() + problem.a.data.bytes());
    operands.insert(operands.end(), problem.b.data.data(), problem.b.data.data() + problem.b.data.bytes());
    run(problem.request);
    EXPECT_TRUE(problem.a.is_intact() && problem.b.is_intact() && problem.c.is_intact());
    EXPECT_EQ(std::memcmp(operands.data(), problem.a.data.data(), problem.a.data.bytes()), 0);
    EXPECT_EQ(std::memcmp(operands.data() + problem.a.data.bytes(), problem.b.data.data(), problem.b.data.bytes()), 0);
    const int64_t bytes = element_bits(c_format) / 8;
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t at = problem.c.index(i, 53) * bytes;
           at < (problem.c.index(i, 0) + problem.request.c.row_stride) * bytes; ++at) {
        ASSERT_EQ(problem.c.data.data()[at], Guarded::kFill) << kernel().name << " row " << i;
      }
    }
  }
}

// Memory that ends at an unreadable page.
class PageEnd {
 public:
  explicit PageEnd(size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (bytes / page + 2) * page;
    start_ = static_cast<uint8_t *>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED || mprotect(start_ + mapped_ - page, page, PROT_NONE) != 0) std::abort();
    data_ = start_ + mapped_ - page - bytes_;
  }
  ~PageEnd() { munmap(start_, mapped_); }
  PageEnd(const PageEnd &) = delete;
  PageEnd &operator=(const PageEnd &) = delete;

  void *copy(const void *from) { return std::memcpy(data_, from, bytes_); }

 private:
  size_t bytes_, mapped_;
  uint8_t *start_, *data_;
};

// Moves a matrix to the end of a page, as the last matrix of a buffer: its last row has no padding.
void move_to_page_end(Matrix &matrix, std::vector<std::unique_ptr<PageEnd>> &pages, MatrixView &view) {
  const Format &format = view.format;
  const int64_t elements = (view.rows - 1) * view.row_stride + view.columns;
  pages.push_back(std::make_unique<PageEnd>(static_cast<size_t>(row_bytes(format.element, elements))));
  view.data = pages.back()->copy(matrix.data.data());
  if (!format.has_block_scale()) return;
  const int64_t scales = (matrix.grid().rows - 1) * matrix.scale_stride() + matrix.grid().columns;
  pages.push_back(std::make_unique<PageEnd>(static_cast<size_t>(scales * element_bits(format.block_scale) / 8)));
  view.block_scales = pages.back()->copy(matrix.scales.data());
}

TEST_P(Gemm, ReadsAndWritesNothingPastItsMatrices) {
  Random random(13);
  for (const char *format : kOperands) {
    for (int layout = 0; layout < 4; ++layout) {
      Problem problem(format, format, random.of(kOutputs), layout & 1, layout & 2, 1 + random.below(40),
                      1 + random.below(40), 1 + random.below(70), random.below(2));
      if (!takes(problem.request)) continue;
      problem.draw(random);
      problem.add_terms(1, 1, true);
      std::vector<std::unique_ptr<PageEnd>> pages;
      move_to_page_end(problem.a, pages, problem.request.a);
      move_to_page_end(problem.b, pages, problem.request.b);
      move_to_page_end(problem.c, pages, problem.request.c);
      PageEnd bias(problem.bias.size() * sizeof(float));
      problem.request.bias = bias.copy(problem.bias.data());
      run(problem.request);  // a fault ends the test
    }
  }
}

TEST(GemmTable, EndsWithTheReferenceWhichTakesAllNativePairs) {
  const KernelEntry<GemmRequest> &reference = gemm_kernels().back();
  EXPECT_STREQ(reference.name, "gemm_any_ref");
  EXPECT_EQ(reference.needs.cpu, 0u);
  for (const char *a : kOperands) {
    for (const char *b : kOperands) {
      const Problem problem(a, b, LPT_FORMAT_F32, false, true, 1, 1, 1);
      EXPECT_TRUE(takes(reference, problem.request)) << problem.name;
    }
  }
  EXPECT_TRUE(takes(reference, Problem("f64", "int16", LPT_FORMAT_F64, true, false, 3, 4, 0).request));
}

// Returns "" if the request is supported, and NULL if the kernel is not compiled.
const char *rejection_of(const char *kernel_name, const Problem &problem) {
  const KernelEntry<GemmRequest> *const kernel = find_kernel(kernel_name);
  if (kernel == nullptr) return nullptr;
  const char *reason = kernel->unsupported_reason(problem.request);
  return reason == nullptr ? "" : reason;
}

TEST(GemmTable, Int8RowTakesInt8WithScalesOfLanes) {
  const char *const row = "gemm_int8_x86_avx512_vnni";
  const auto reason_of = [&](const char *a, const char *b, int64_t k) {
    return rejection_of(row, Problem(a, b, LPT_FORMAT_F32, false, true, 4, 4, k));
  };
  if (reason_of("int8", "int8", 1) == nullptr) return;  // not compiled
  EXPECT_STREQ(reason_of("int8_tensor", "int8_row", 131071), "");
  EXPECT_STREQ(reason_of("int8/1x64/f32", "int8", 64), "");
  EXPECT_STREQ(reason_of("int8/1x64/f32", "int8", 65), "scales of a vary along k");
  EXPECT_STREQ(reason_of("int8", "int8/1x64/f32", 65), "scales of b vary along k");
  EXPECT_STREQ(reason_of("int8", "bf16", 8), "b is not int8");
  EXPECT_STREQ(reason_of("e4m3fn", "int8", 8), "a is not int8");
  EXPECT_STREQ(reason_of("int8", "int8", 131072), "sums of so many products may not fit int32");
}

TEST(GemmTable, TilesTakeWhatRepaysThemAndStaysExact) {
  struct Expected {
    const char *row, *a, *b;
    int64_t m, k;
    const char *reason;
  };
  constexpr const char *kAny = "gemm_any_x86_amx", *kInt8 = "gemm_int8_x86_amx", *kGroups = "gemm_groups_x86_amx";
  const Expected table[] = {
      {kAny, "e4m3fn_tensor", "e5m2_row", 4, 4096, ""},
      {kAny, "e4m3fn_tensor", "e5m2_row", 3, 4096, "fewer rows than repay tiles"},
      {kAny, "mxfp4", "nvfp4", 32, 4096, ""},
      {kAny, "mxfp4", "nvfp4", 31, 4096, "int8 dot products are faster"},
      {kAny, "e4m3fn_1x128", "e4m3fn_128x128", 4, 4096, ""},
      {kAny, "e4m3fn", "e4m3fn/1x16/f32", 4, 16, ""},
      {kAny, "e4m3fn", "e4m3fn/1x16/f32", 4, 17, "scales along k are not exact in bf16, nor for 32 to 1024 elements"},
      {kAny, "e4m3fn", "e4m3fn/1x2048/f32", 4, 4096,
       "scales along k are not exact in bf16, nor for 32 to 1024 elements"},
      {kAny, "e4m3fn", "e4m3fn/1x2/e8m0fnu", 4, 4, ""},
      {kAny, "int8_row", "int8_row", 64, 1024, ""},
      {kAny, "int8_row", "int8_row", 64, 1025, "sums of so many integers are not exact in f32"},
      {kAny, "int8/1x1024/f32", "int8_row", 64, 4096, ""},
      {kAny, "e2m1fn", "e2m1fn", 64, 116508, ""},
      {kAny, "e2m1fn", "e2m1fn", 64, 116509, "sums of so many integers are not exact in f32"},
      {kAny, "bf16", "ternary_tensor", 64, 64, ""},
      {kAny, "f32", "e4m3fn", 64, 64,
       "a is f32, whose elements are not exact in bf16: LPT_GEMM_CAST_A_TO_BF16 rounds them"},
      {kAny, "e4m3fn", "f32", 64, 64, "f32 elements are not exact in bf16"},
      {kInt8, "int8_row", "int8_tensor", 32, 131071, ""},
      {kInt8, "int8_row", "int8_tensor", 32, 131072, "sums of so many products may not fit int32"},
      {kInt8, "int8_row", "int8_tensor", 31, 64, "int8 dot products are faster"},
      {kInt8, "int8_1x32", "int8_row", 32, 64, "scales of a vary along k"},
      {kGroups, "int8_1x32", "int8_row", 32, 64, ""},
      {kGroups, "int8_1x32", "int8_row", 31, 64, "int8 dot products are faster"},
      {kGroups, "int8_1x32", "nvfp4", 64, 64, "int8 dot products are faster"},
      {kGroups, "int8_1x32", "int8_row", 32, 32, "scales do not cut k into groups"},
      {kGroups, "mxint8", "int8_row", 32, 64, "scales do not cut k into groups"},
      {kGroups, "mxint8", "int4_1x32", 32, 64, ""},
  };
  for (const Expected &expected : table) {
    const Problem problem(expected.a, expected.b, LPT_FORMAT_F32, false, true, expected.m, 64, expected.k);
    const char *reason = rejection_of(expected.row, problem);
    if (reason == nullptr) GTEST_SKIP() << expected.row << " is not compiled";
    EXPECT_STREQ(reason, expected.reason) << expected.row << " " << problem.name;
  }
}

TEST(GemmTable, Bf16RowTakesWhatBf16HoldsExactly) {
  const char *const row = "gemm_any_x86_avx512_bf16";
  struct Expected {
    const char *a, *b;
    int64_t k;
    const char *reason;
  };
  const Expected table[] = {
      {"e4m3fn_tensor", "e5m2_row", 256, ""},
      {"mxfp8_e4m3", "nvfp4", 256, ""},
      {"e4m3fn/2x8/e4m3fn", "mxfp4", 256, ""},
      {"int8_row", "bf16", 256, ""},
      {"e4m3fn_1x128", "e4m3fn_128x128", 128, ""},
      {"e4m3fn_1x128", "e4m3fn", 129, "f32 scales along k are not exact in bf16"},
      {"e4m3fn", "int8/1x64/f32", 256, "f32 scales along k are not exact in bf16"},
      {"f32", "e4m3fn", 256, "a is f32, whose elements are not exact in bf16: LPT_GEMM_CAST_A_TO_BF16 rounds them"},
      {"f32", "f16_tensor", 256, "f16 elements are not exact in bf16"},
      {"e4m3fn", "f16_tensor", 256, "f16 elements are not exact in bf16"},
      {"int8/1x16/e4m3fn", "e4m3fn", 256, "elements times their scales along k are not exact in bf16"},
      {"f64", "e4m3fn", 256, "f64 is computed by the reference kernel"},
  };
  for (const Expected &expected : table) {
    const Problem problem(expected.a, expected.b, LPT_FORMAT_F32, false, true, 64, 64, expected.k);
    const char *reason = rejection_of(row, problem);
    if (reason == nullptr) GTEST_SKIP() << row << " is not compiled";
    EXPECT_STREQ(reason, expected.reason) << problem.name;
  }
}

TEST(GemmOperand, HasTheValuesOfItsFormats) {
  for (uint32_t code = 0; code < 256; ++code) {
    const auto byte = static_cast<uint8_t>(code);
    EXPECT_EQ(float_bits(read_scale(LPT_FORMAT_E8M0FNU, &byte, 0)), float_bits(decode(kElementE8m0fnu, code))) << code;
    EXPECT_EQ(float_bits(read_scale(LPT_FORMAT_E4M3FN, &byte, 0)), float_bits(decode(kElementE4m3fn, code))) << code;
  }
  for (uint32_t code = 0; code < 16; ++code) {
    EXPECT_EQ(float_bits(kValuesE2m1fn[code]), float_bits(decode(kElementE2m1fn, code))) << code;
  }
}

TEST(GemmTable, SlowDotsLeaveManyRowsToF32) {
  for (const char *row : {"gemm_any_x86_avx512_bf16", "gemm_panels_x86_avx512_bf16"}) {
    for (const bool is_slow : {false, true}) {
      for (const int64_t m : {1, 31, 32, 4096}) {
        Problem problem("e4m3fn_tensor", "bf16", LPT_FORMAT_F32, false, true, m, 64, 256);
        problem.request.options.has_slow_dots = is_slow;
        const char *const reason = rejection_of(row, problem);
        if (reason == nullptr) GTEST_SKIP() << row << " is not compiled";
        EXPECT_STREQ(reason, is_slow && m >= 32 ? "f32 multiply-adds are faster on this CPU" : "")
            << row << ", m " << m;
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
