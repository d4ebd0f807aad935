// What a GEMM goes through on its way to c, on a device.
#pragma once

#include "kernels/activation/activation.hpp"
#include "src/call/operation.hpp"

namespace lpt {

// f32, bf16 or f16 as f32.
Status widen_on_device(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

Status epilogue_on_device(Context &context, const EpilogueRequest &whole, bool is_check_only);

}  // namespace lpt
