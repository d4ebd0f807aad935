// What plans of dense and of 2:4 GEMMs by a vendor's library share.
#pragma once

#include "kernels/gemm/library.hpp"

namespace lpt::library {

constexpr int32_t kAnyCapability = 1 << 20;
constexpr int64_t kMostIntegers = (int64_t{1} << 31) / (128 * 128) - 1;  // of k: sums fit int32

bool is_byte_float(lpt_format element);

bool has_tensor_scale(const GemmRequest &request);

// Scales that do not vary along k, or none: they may be applied to the sums.
bool has_late_scales(const MatrixView &view, bool is_along_k);

// k is adjacent in memory in a and in b.
bool is_a_along_k(const GemmRequest &request);

bool is_b_along_k(const GemmRequest &request);

bool is_on_sixteen(const MatrixView &view);

const char *unsupported_all_but_operands(const GemmRequest &request);

LibraryOperand operand_of(const MatrixView &view, bool is_transposed, LibraryScales scales);

// Written out: dense, with padding to 16 bytes after each row, on a boundary of scratch.
LibraryOperand lifted(const MatrixView &view, bool is_transposed, lpt_format element, LibraryScales scales);

// What the library cannot do to c is left to a kernel of ours.
LibraryPlan finished(const GemmRequest &request, LibraryPlan plan, bool gives_c);

// FP8 without bias: its bias would be of 16 bits.
bool gives_c_of_bytes(const GemmRequest &request);

}  // namespace lpt::library
