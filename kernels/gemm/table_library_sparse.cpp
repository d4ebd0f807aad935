// Selection of a cuSPARSELt GEMM for a request with a 2:4 operand. Sources: the documentation of release 0.10, its table of
// types, and the extents of cusparseLtDenseDescriptorInit and cusparseLtStructuredDescriptorInit.
#include "kernels/gemm/library_plan.hpp"

namespace lpt::library {
namespace {

bool is_sparse(const MatrixView &view) { return view.layout == Layout::kSparse; }

// Requires extents in multiples of 16 bytes of elements, and of 32 bytes for the 2:4 operand.
const char *unsupported_sparse_extents(const GemmRequest &request) {
  const int64_t unit = 128 / element_bits(request.a.format.element);
  const bool is_b = is_sparse(request.b);
  const int64_t sparse_lanes = is_b ? request.n : request.m, dense_lanes = is_b ? request.m : request.n;
  if (request.k == 0 || request.k % (2 * unit) != 0 || sparse_lanes % (2 * unit) != 0) {
    return "needs k and the rows of the 2:4 operand in multiples of 32 bytes";
  }
  return dense_lanes % unit == 0 ? nullptr : "needs the rows of the dense operand in multiples of 16 bytes of elements";
}

const char *unsupported_sparse(const GemmRequest &request) {
  if (const char *why = unsupported_all_but_operands(request)) return why;
  if (is_sparse(request.a) == is_sparse(request.b)) return "takes one 2:4 operand only";
  const MatrixView &dense = is_sparse(request.a) ? request.b : request.a;
  if (dense.layout != Layout::kRows) return "takes matrices in rows only";
  if (request.a.format.element != request.b.format.element) return "takes a and b of one element only";
  if (!is_a_along_k(request) || !is_b_along_k(request)) return "takes a stored m x k and b stored n x k only";
  if (!is_on_sixteen(dense)) return "needs rows of the dense operand on 16 bytes";
  return unsupported_sparse_extents(request);
}

LibraryOperand sparse_operand(const MatrixView &view, bool is_transposed) {
  if (!is_sparse(view)) return operand_of(view, is_transposed, LibraryScales::kNone);
  LibraryOperand operand = lifted(view, is_transposed, view.format.element, LibraryScales::kNone);
  operand.is_sparse = true;
  return operand;
}

LibraryPlan plan_sparse(const GemmRequest &request, bool is_integer, bool gives_c) {
  LibraryPlan plan{};
  plan.gemm.a = sparse_operand(request.a, false);
  plan.gemm.b = sparse_operand(request.b, true);
  plan.gemm.is_integer = is_integer;
  return finished(request, plan, gives_c);
}

// The library writes 16-bit results for 16-bit operands only. No epilogue can therefore be applied to f32 sums.
const char *unsupported_sparse_half(const GemmRequest &request) {
  const lpt_format a = request.a.format.element;
  if (a != LPT_FORMAT_BF16 && a != LPT_FORMAT_F16) return "takes bf16 and f16 only";
  if (const char *why = unsupported_sparse(request)) return why;
  const bool has_scales = request.a.format.has_block_scale() || request.b.format.has_block_scale();
  if (has_scales || has_tensor_scale(request)) return "takes no scales";
  if (request.c.format.element != a) return "gives the format of a and b only";
  if (request.bias != nullptr) return "adds no bias of f32";
  return is_on_sixteen(request.c) ? nullptr : "needs rows of c on 16 bytes";
}

LibraryPlan plan_sparse_half(const GemmRequest &request) { return plan_sparse(request, false, true); }

const char *unsupported_sparse_late(const GemmRequest &request) {
  if (const char *why = unsupported_sparse(request)) return why;
  const bool are_late = has_epilogue_scales(request.a, true) && has_epilogue_scales(request.b, true);
  return are_late ? nullptr : "takes f32 scales of rows and of tensors only";
}

const char *unsupported_sparse_bytes(const GemmRequest &request) {
  if (!is_byte_float(request.a.format.element)) return "takes e4m3fn and e5m2 only";
  return unsupported_sparse_late(request);
}

// alpha is in host memory. Tensor scales are therefore applied to the f32 sums, by the epilogue.
LibraryPlan plan_sparse_bytes(const GemmRequest &request) {
  return plan_sparse(request, false, gives_c_of_bytes(request) && !has_tensor_scale(request));
}

const char *unsupported_sparse_integers(const GemmRequest &request) {
  if (request.a.format.element != LPT_FORMAT_INT8) return "takes int8 only";
  if (request.a.format.has_zero_point() || request.b.format.has_zero_point()) return "takes no zero points";
  if (const char *why = unsupported_sparse_late(request)) return why;
  return request.k <= kMostIntegers ? nullptr : "sums of more than 131071 products may not fit int32";
}

LibraryPlan plan_sparse_integers(const GemmRequest &request) { return plan_sparse(request, true, false); }

constexpr LibraryKernelEntry kSparseKernels[] = {
    {"cusparselt_half", 80, kAnyCapability, 0, unsupported_sparse_half, plan_sparse_half},
    {"cusparselt_fp8", 90, kAnyCapability, 0, unsupported_sparse_bytes, plan_sparse_bytes},
    {"cusparselt_int8", 80, kAnyCapability, 0, unsupported_sparse_integers, plan_sparse_integers},
};

}  // namespace
}  // namespace lpt::library

namespace lpt {

std::span<const LibraryKernelEntry> gemm_sparse_library_kernels() { return library::kSparseKernels; }

}  // namespace lpt
