// Selects the GEMM of a vendor library for a request, and compares with the documentation of cuBLAS. The test computes no GEMM
// and needs no GPU.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kernels/gemm/library.hpp"
#include "src/formats/format.hpp"

namespace lpt::test {
namespace {

constexpr LibraryTarget kHopper{90, 130100};
constexpr LibraryTarget kMachines[] = {{80, 130100},  {89, 130100},  kHopper,           {90, 120100},
                                       {100, 130100}, {120, 130100}, {90, 130100, true}};

// Extents that every kernel supports, and the properties of a request that tests change.
struct Shape {
  int64_t m = 32, n = 48, k = 256;
  bool is_a_transposed = false, is_b_transposed = true;
  lpt_format c = LPT_FORMAT_BF16;
};

MatrixView view_of(lpt_format id, int64_t rows, int64_t columns) {
  MatrixView view;
  EXPECT_TRUE(find_format(id, view.format));
  view.rows = rows;
  view.columns = columns;
  view.row_stride = columns;
  view.block_scale_stride = view.format.has_block_scale() ? block_grid(view.format, rows, columns).columns : 0;
  return view;
}

GemmRequest request_of(lpt_format a, lpt_format b, const Shape &shape = {}) {
  GemmRequest request{};
  request.a = shape.is_a_transposed ? view_of(a, shape.k, shape.m) : view_of(a, shape.m, shape.k);
  request.b = shape.is_b_transposed ? view_of(b, shape.n, shape.k) : view_of(b, shape.k, shape.n);
  request.c = view_of(shape.c, shape.m, shape.n);
  request.is_a_transposed = shape.is_a_transposed;
  request.is_b_transposed = shape.is_b_transposed;
  request.m = shape.m;
  request.n = shape.n;
  request.k = shape.k;
  request.alpha = 1.0;
  return request;
}

const LibraryKernelEntry *row_of(const GemmRequest &request, const LibraryTarget &machine) {
  for (const LibraryKernelEntry &kernel : gemm_library_kernels()) {
    if (library_rejection(kernel, machine, request) == nullptr) return &kernel;
  }
  return nullptr;
}

std::string name_of(const GemmRequest &request, const LibraryTarget &machine) {
  const LibraryKernelEntry *const kernel = row_of(request, machine);
  return kernel == nullptr ? "none" : kernel->name;
}

std::vector<lpt_format> all_formats() {
  std::vector<lpt_format> formats;
  for (lpt_format id = 1; id < 128; ++id) {
    Format format;
    if (find_format(id, format)) formats.push_back(id);
  }
  return formats;
}

struct Expected {
  lpt_format a, b;
  LibraryTarget machine;
  const char *row;
};

constexpr Expected kExpected[] = {
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {80, 120000}, "cublaslt_numbers"},
    {LPT_FORMAT_F32, LPT_FORMAT_F16, kHopper, "cublaslt_f32"},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR, {80, 130100}, "cublaslt_half"},
    {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, {89, 120000}, "cublaslt_fp8"},
    {LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E5M2_TENSOR, kHopper, "cublaslt_half"},
    {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E5M2_ROW, kHopper, "cublaslt_fp8_rows"},
    {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_ROW, {90, 120800}, "cublaslt_fp8_finish"},
    {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_ROW, {100, 130100}, "cublaslt_fp8_finish"},
    {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_TENSOR, kHopper, "cublaslt_fp8_finish"},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128, kHopper, "cublaslt_fp8_blocks"},
    {LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E5M2_1X128, kHopper, "cublaslt_fp8_blocks"},
    {LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E4M3FN_128X128, kHopper, "cublaslt_f32"},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_1X128, {100, 130100}, "cublaslt_f32"},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_INT4_1X128, kHopper, "cublaslt_fp8_folded"},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_UINT4_1X128, kHopper, "cublaslt_f32"},
    {LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8_ROW, {80, 130100}, "cublaslt_int8"},
    {LPT_FORMAT_INT8_1X32, LPT_FORMAT_INT8_ROW, kHopper, "cublaslt_f32"},
    {LPT_FORMAT_NVFP4, LPT_FORMAT_NVFP4, kHopper, "cublaslt_half"},
    {LPT_FORMAT_NVFP4, LPT_FORMAT_NVFP4, {100, 130100}, "cublaslt_nvfp4"},
    {LPT_FORMAT_NVFP4, LPT_FORMAT_NVFP4, {100, 120000}, "cublaslt_half"},
    {LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP8_E5M2, {100, 130100}, "cublaslt_mxfp8"},
    {LPT_FORMAT_MXFP8_E5M2, LPT_FORMAT_MXFP8_E5M2, {100, 130100}, "cublaslt_half"},
    {LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP4, {100, 130100}, "cublaslt_half"},
    {LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP4, kHopper, "cublaslt_half"},
    {LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP4, {90, 130100, true}, "cublaslt_fp8_rounded"},
    {LPT_FORMAT_MXFP4, LPT_FORMAT_MXFP4, {100, 130100, true}, "cublaslt_half"},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_MXFP4, kHopper, "cublaslt_f32"},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_MXFP4, {90, 130100, true}, "cublaslt_fp8_rounded"},
    {LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_INT4_1X128, {90, 130100, true}, "cublaslt_fp8_folded"},
    {LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_BF16, {80, 130100}, "cublaslt_half"},
    {LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_F16, kHopper, "cublaslt_f32"},
    {LPT_FORMAT_F16, LPT_FORMAT_NVFP4, kHopper, "cublaslt_half"},
    {LPT_FORMAT_BF16, LPT_FORMAT_INT4_1X32, kHopper, "cublaslt_f32"},
    {LPT_FORMAT_F64, LPT_FORMAT_F32, kHopper, "none"},
    {LPT_FORMAT_NF4_1X64, LPT_FORMAT_BF16, kHopper, "none"},
};

TEST(GemmLibrary, ARowIsChosenByFormatsDeviceAndVersion) {
  for (const Expected &e : kExpected) {
    GemmRequest request = request_of(e.a, e.b);
    request.is_f64 = e.a == LPT_FORMAT_F64;
    EXPECT_EQ(e.row, name_of(request, e.machine)) << format_name(e.a) << " by " << format_name(e.b) << " on "
                                                  << e.machine.capability << ", " << e.machine.version;
  }
}

// The permission changes the FP8 kernel with tensor or row scales on devices with fast accumulation.
TEST(GemmLibrary, FastAccumulationIsChosenWherePermitted) {
  for (const Expected &e : kExpected) {
    GemmRequest request = request_of(e.a, e.b);
    request.is_f64 = e.a == LPT_FORMAT_F64;
    request.may_accumulate_fast = true;
    const std::string row = e.row;
    const bool is_kind = row == "cublaslt_fp8" || row == "cublaslt_fp8_rows" || row == "cublaslt_fp8_finish";
    const std::string expected = is_kind && e.machine.capability <= 90 ? row + "_fast" : row;
    EXPECT_EQ(expected, name_of(request, e.machine)) << format_name(e.a) << " by " << format_name(e.b);
  }
}

TEST(GemmLibrary, OtherExtentsAndLayoutsTakeALaterRow) {
  const auto name = [](const Shape &shape) {
    return name_of(request_of(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR, shape), kHopper);
  };
  EXPECT_EQ("cublaslt_fp8", name({}));
  EXPECT_EQ("cublaslt_half", name({.k = 250}));
  EXPECT_EQ("cublaslt_half", name({.n = 40}));
  EXPECT_EQ("cublaslt_half", name({.is_b_transposed = false}));
  EXPECT_EQ("cublaslt_half", name({.is_a_transposed = true}));
  GemmRequest request = request_of(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR);
  request.a.data = reinterpret_cast<void *>(uintptr_t{8});
  EXPECT_EQ("cublaslt_half", name_of(request, kHopper));
  request = request_of(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR, {.k = 248});
  request.a.row_stride = request.b.row_stride = 256;
  EXPECT_EQ("cublaslt_half", name_of(request, kHopper));
  request = request_of(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN_TENSOR);
  request.b.row_stride = 264;
  EXPECT_EQ("cublaslt_half", name_of(request, kHopper));
}

TEST(GemmLibrary, SumsOfIntegersFit) {
  EXPECT_EQ("cublaslt_int8", name_of(request_of(LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8_ROW, {.k = 131056}), kHopper));
  EXPECT_EQ("cublaslt_half", name_of(request_of(LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8_ROW, {.k = 131072}), kHopper));
}

// All pairs.

bool is_byte_float(lpt_format element) { return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E5M2; }

bool is_mode_of_tiles(LibraryScales scales) {
  return scales == LibraryScales::kTiles16 || scales == LibraryScales::kTiles32;
}

void expect_scales_known(const LibraryGemm &gemm, const LibraryTarget &machine) {
  const LibraryScales a = gemm.a.scales, b = gemm.b.scales;
  for (const LibraryScales scales : {a, b}) {
    const bool is_hoppers =
        scales == LibraryScales::kLanes || scales == LibraryScales::kLanes128 || scales == LibraryScales::kBlocks128;
    EXPECT_TRUE(!is_hoppers || (machine.capability == 90 && machine.version >= 120900));
    EXPECT_TRUE(!is_mode_of_tiles(scales) || machine.capability >= 100);
  }
  EXPECT_EQ(a == LibraryScales::kLanes, b == LibraryScales::kLanes);
  EXPECT_EQ(is_mode_of_tiles(a), is_mode_of_tiles(b));
  EXPECT_FALSE(a == LibraryScales::kBlocks128 && b == LibraryScales::kBlocks128);
}

void expect_narrow_known(const LibraryGemm &gemm, const LibraryTarget &machine) {
  EXPECT_FALSE(gemm.a.is_transposed);
  EXPECT_TRUE(gemm.b.is_transposed);
  EXPECT_EQ(0, gemm.k % 16);
  EXPECT_EQ(0, gemm.n % 16);
  for (const LibraryOperand &operand : {gemm.a, gemm.b}) {
    EXPECT_EQ(0, operand.stride * element_bits(operand.element) % 128);
    EXPECT_GE(operand.boundary, 16);
  }
  EXPECT_TRUE(gemm.is_integer || machine.capability >= 89);
  EXPECT_FALSE(gemm.a.element == LPT_FORMAT_E5M2 && gemm.b.element == LPT_FORMAT_E5M2);
  EXPECT_FALSE(gemm.has_bias);
}

void expect_known(const LibraryPlan &plan, const LibraryTarget &machine) {
  const LibraryGemm &gemm = plan.gemm;
  const lpt_format a = gemm.a.element, b = gemm.b.element;
  expect_scales_known(gemm, machine);
  const bool are_bytes = is_byte_float(a) && is_byte_float(b);
  EXPECT_TRUE(a == b || are_bytes);
  EXPECT_EQ(gemm.is_integer, a == LPT_FORMAT_INT8);
  if (are_bytes || gemm.is_integer || a == LPT_FORMAT_E2M1FN) return expect_narrow_known(gemm, machine);
  EXPECT_EQ(LibraryScales::kNone, gemm.a.scales);
  EXPECT_TRUE(gemm.c == a || gemm.c == LPT_FORMAT_F32);
  EXPECT_TRUE(!gemm.has_bias || gemm.c == LPT_FORMAT_F32);
}

// Every scale is applied by the library, by the operand conversion, or by the epilogue.
void expect_scaled(const MatrixView &view, LibraryScales scales, OperandConversion conversion,
                   const LibraryPlan &plan) {
  const Format &format = view.format;
  const bool is_lifted = conversion == OperandConversion::kNumbers || conversion == OperandConversion::kBlocks ||
                         conversion == OperandConversion::kFolded;
  const bool is_known = scales != LibraryScales::kNone && scales != LibraryScales::kTensor;
  const bool has_late_rows = format.has_block_scale() && !is_lifted && !is_known;
  EXPECT_TRUE(!has_late_rows || (plan.has_finish && format.block_columns == LPT_BLOCK_EXTENT_FULL));
  const bool knows_tensor = scales == LibraryScales::kTensor || conversion == OperandConversion::kNumbers;
  EXPECT_TRUE(!format.has_tensor_scale() || knows_tensor || plan.has_finish || plan.gemm.has_factors);
}

TEST(GemmLibrary, PlansAreOfGemmsThatCublasNames) {
  const std::vector<lpt_format> formats = all_formats();
  std::set<std::string> seen;
  for (const LibraryTarget &machine : kMachines) {
    for (const lpt_format a : formats) {
      for (const lpt_format b : formats) {
        for (const lpt_format c : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
          const float bias = 0;
          GemmRequest request = request_of(a, b, {.c = c});
          request.is_f64 = a == LPT_FORMAT_F64 || b == LPT_FORMAT_F64;
          request.bias = (a + b) % 2 == 0 ? &bias : nullptr;
          request.may_accumulate_fast = (a + b + c) % 2 == 0;  // both for each pair
          const LibraryKernelEntry *const kernel = row_of(request, machine);
          if (kernel == nullptr) continue;
          seen.insert(kernel->name);
          SCOPED_TRACE(std::string(kernel->name) + ": " + format_name(a) + " by " + format_name(b));
          const LibraryPlan plan = kernel->plan(request);
          expect_known(plan, machine);
          expect_scaled(request.a, plan.gemm.a.scales, plan.a_conversion, plan);
          expect_scaled(request.b, plan.gemm.b.scales, plan.b_conversion, plan);
        }
      }
    }
  }
  EXPECT_EQ(gemm_library_kernels().size(), seen.size());  // every kernel is selected
}

TEST(GemmLibrary, EveryPairOfWhatCanBeWrittenOutIsTaken) {
  const std::set<lpt_format> elements = {LPT_FORMAT_F32,  LPT_FORMAT_BF16,   LPT_FORMAT_F16,    LPT_FORMAT_E4M3FN,
                                         LPT_FORMAT_E5M2, LPT_FORMAT_E3M2FN, LPT_FORMAT_E2M3FN, LPT_FORMAT_E2M1FN,
                                         LPT_FORMAT_INT8, LPT_FORMAT_INT4,   LPT_FORMAT_UINT4};
  for (const lpt_format a : all_formats()) {
    for (const lpt_format b : all_formats()) {
      GemmRequest request = request_of(a, b);
      request.is_f64 = a == LPT_FORMAT_F64 || b == LPT_FORMAT_F64;
      const bool is_taken = elements.count(request.a.format.element) + elements.count(request.b.format.element) == 2;
      EXPECT_EQ(is_taken, row_of(request, kHopper) != nullptr) << format_name(a) << " by " << format_name(b);
    }
  }
  GemmRequest request = request_of(LPT_FORMAT_F32, LPT_FORMAT_BF16);
  request.a.format.tensor_scale = LPT_FORMAT_F32;  // a format of the caller
  EXPECT_EQ(nullptr, row_of(request, kHopper));
}

// 2:4 operands.

enum class Sparse { kA, kB, kBoth };

GemmRequest sparse_request(lpt_format a, lpt_format b, const Shape &shape = {}, Sparse sparse = Sparse::kB) {
  GemmRequest request = request_of(a, b, shape);
  if (sparse != Sparse::kB) request.a.layout = Layout::kSparse;
  if (sparse != Sparse::kA) request.b.layout = Layout::kSparse;
  request.is_f64 = a == LPT_FORMAT_F64 || b == LPT_FORMAT_F64;
  return request;
}

constexpr LibraryTarget kSparseHopper{90, 1000};

const LibraryKernelEntry *sparse_row_of(const GemmRequest &request, const LibraryTarget &machine) {
  for (const LibraryKernelEntry &kernel : gemm_sparse_library_kernels()) {
    if (library_rejection(kernel, machine, request) == nullptr) return &kernel;
  }
  return nullptr;
}

std::string sparse_name_of(const GemmRequest &request, const LibraryTarget &machine = kSparseHopper) {
  const LibraryKernelEntry *const kernel = sparse_row_of(request, machine);
  return kernel == nullptr ? "none" : kernel->name;
}

// The type table of cuSPARSELt 0.10 for equal types of both operands, without block scales.
bool is_sparse_pair(lpt_format ab, lpt_format c, bool is_integer, int32_t capability) {
  if (ab == LPT_FORMAT_F16 || ab == LPT_FORMAT_BF16) return c == ab && capability >= 80;
  if (ab == LPT_FORMAT_INT8) return is_integer && capability >= 80;
  return is_byte_float(ab) && capability >= 90;
}

// Returns whether a scale varies along k, so that cuSPARSELt would have to apply it within its sums.
bool varies_along_k(const MatrixView &view) {
  return view.format.has_block_scale() &&
         !(view.format.block_rows == 1 && view.format.block_columns == LPT_BLOCK_EXTENT_FULL &&
           view.format.block_scale == LPT_FORMAT_F32);
}

TEST(SparseGemmLibrary, AllPairsThatItsTableNamesAreTaken) {
  std::set<std::string> seen;
  for (const int32_t capability : {75, 80, 89, 90, 100, 120}) {
    for (const lpt_format a : all_formats()) {
      for (const lpt_format b : all_formats()) {
        for (const lpt_format c : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
          const GemmRequest request =
              sparse_request(a, b, {.n = 64, .c = c}, (a + b) % 2 == 0 ? Sparse::kA : Sparse::kB);
          const lpt_format element = request.a.format.element;
          const bool is_wide = element == LPT_FORMAT_F16 || element == LPT_FORMAT_BF16;
          const bool has_scales = !request.a.format.is_plain() || !request.b.format.is_plain();
          const bool is_taken = element == request.b.format.element && !varies_along_k(request.a) &&
                                !varies_along_k(request.b) && !(is_wide && has_scales) &&
                                is_sparse_pair(element, c, element == LPT_FORMAT_INT8, capability);
          const std::string name = sparse_name_of(request, {capability, 1000});
          ASSERT_EQ(is_taken, name != "none") << format_name(a) << " by " << format_name(b) << " on " << capability;
          if (is_taken) seen.insert(name);
        }
      }
    }
  }
  EXPECT_EQ(gemm_sparse_library_kernels().size(), seen.size());
}

struct SparseShape {
  lpt_format format, c;
  Shape shape;
  Sparse sparse;
  const char *row;
};

constexpr lpt_format kBytes = LPT_FORMAT_E4M3FN_ROW;

constexpr SparseShape kSparseShapes[] = {
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 8, .n = 16, .k = 16}, Sparse::kB, "cusparselt_half"},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 16, .n = 8, .k = 16}, Sparse::kA, "cusparselt_half"},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 8, .n = 16, .k = 16}, Sparse::kA, "none"},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 8, .n = 8, .k = 16}, Sparse::kB, "none"},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 4, .n = 16, .k = 16}, Sparse::kB, "none"},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 8, .n = 16, .k = 8}, Sparse::kB, "none"},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 8, .n = 16, .k = 0}, Sparse::kB, "none"},
    {LPT_FORMAT_BF16, LPT_FORMAT_BF16, {.m = 32, .n = 32, .k = 32}, Sparse::kBoth, "none"},
    {kBytes, LPT_FORMAT_F32, {.m = 16, .n = 32, .k = 32}, Sparse::kB, "cusparselt_fp8"},
    {kBytes, LPT_FORMAT_F32, {.m = 8, .n = 32, .k = 32}, Sparse::kB, "none"},
    {kBytes, LPT_FORMAT_F32, {.m = 16, .n = 16, .k = 32}, Sparse::kB, "none"},
    {kBytes, LPT_FORMAT_F32, {.m = 16, .n = 32, .k = 16}, Sparse::kB, "none"},
    {kBytes, LPT_FORMAT_F32, {.is_b_transposed = false}, Sparse::kB, "none"},
    {kBytes, LPT_FORMAT_F32, {.is_a_transposed = true}, Sparse::kB, "none"},
    {LPT_FORMAT_INT8_ROW, LPT_FORMAT_F32, {.n = 64, .k = 131040}, Sparse::kB, "cusparselt_int8"},
    {LPT_FORMAT_INT8_ROW, LPT_FORMAT_F32, {.n = 64, .k = 131072}, Sparse::kB, "none"},
};

TEST(SparseGemmLibrary, ExtentsAndLayoutsAreThoseOfItsDescriptors) {
  for (const SparseShape &each : kSparseShapes) {
    Shape shape = each.shape;
    shape.c = each.c;
    EXPECT_EQ(each.row, sparse_name_of(sparse_request(each.format, each.format, shape, each.sparse)))
        << format_name(each.format) << " " << shape.m << " x " << shape.n << " x " << shape.k;
  }
}

TEST(SparseGemmLibrary, PlacesAreOnSixteenBytes) {
  const auto name = [](auto change) {
    GemmRequest request = sparse_request(LPT_FORMAT_BF16, LPT_FORMAT_BF16);
    change(request);
    return sparse_name_of(request);
  };
  EXPECT_EQ("cusparselt_half", name([](GemmRequest &) {}));
  EXPECT_EQ("none", name([](GemmRequest &request) { request.a.data = reinterpret_cast<void *>(uintptr_t{8}); }));
  EXPECT_EQ("none", name([](GemmRequest &request) { request.c.data = reinterpret_cast<void *>(uintptr_t{8}); }));
  EXPECT_EQ("none", name([](GemmRequest &request) { request.c.row_stride = 52; }));
  EXPECT_EQ("none", name([](GemmRequest &request) { request.is_portable = true; }));
  EXPECT_EQ("none", name([](GemmRequest &request) { request.bias = &request; }));
  // The alignment of the stored operand does not matter, because it is expanded.
  EXPECT_EQ("cusparselt_half",
            name([](GemmRequest &request) { request.b.data = reinterpret_cast<void *>(uintptr_t{8}); }));
}

TEST(SparseGemmLibrary, ScalesAndBiasApplyToTheirSums) {
  const float bias = 0;
  for (const lpt_format format :
       {LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_ROW, LPT_FORMAT_INT8_ROW}) {
    for (const bool has_bias : {false, true}) {
      GemmRequest request = sparse_request(format, format, {.n = 64});
      request.bias = has_bias ? &bias : nullptr;
      const LibraryKernelEntry *const kernel = sparse_row_of(request, kSparseHopper);
      ASSERT_NE(nullptr, kernel) << format_name(format);
      const LibraryPlan plan = kernel->plan(request);
      EXPECT_EQ(has_bias || format != LPT_FORMAT_E4M3FN, plan.has_finish) << format_name(format);
      EXPECT_FALSE(plan.gemm.has_factors || plan.gemm.has_bias) << format_name(format);
      EXPECT_TRUE(plan.gemm.b.is_sparse && !plan.gemm.a.is_sparse) << format_name(format);
    }
  }
}

}  // namespace
}  // namespace lpt::test
