// Declarations that the plans of dense and of 2:4 vendor library GEMMs share.
#pragma once

#include "kernels/gemm/library.hpp"

namespace lpt::library {

constexpr int32_t kAnyCapability = 1 << 20;
constexpr int64_t kMostIntegers = (int64_t{1} << 31) / (128 * 128) - 1;  // maximum k: sums fit int32

bool is_byte_float(lpt_format element);

bool has_tensor_scale(const GemmRequest &request);

// Returns whether scales do not vary along k. Such scales, or none, may be applied to the sums.
bool has_epilogue_scales(const MatrixView &view, bool is_along_k);

// Return whether the elements of a or of b are adjacent in memory along k.
bool is_a_along_k(const GemmRequest &request);

bool is_b_along_k(const GemmRequest &request);

bool is_on_sixteen(const MatrixView &view);

const char *unsupported_all_but_operands(const GemmRequest &request);

LibraryOperand operand_of(const MatrixView &view, bool is_transposed, LibraryScales scales);

// Returns the dense copy of a view as a library operand. Rows are padded to 16 bytes, and the address is aligned to 64 bytes as
// scratch is.
LibraryOperand lifted(const MatrixView &view, bool is_transposed, lpt_format element, LibraryScales scales);

// Completes a plan. If the library cannot write c (`gives_c` is false, scales of rows remain, or k is 0), an epilogue kernel of
// LPT does.
LibraryPlan finished(const GemmRequest &request, LibraryPlan plan, bool gives_c);

// Returns whether an FP8 GEMM of the library can write c. It cannot add the bias of the request: a bias for FP8 has 16 bits.
bool gives_c_of_bytes(const GemmRequest &request);

}  // namespace lpt::library
