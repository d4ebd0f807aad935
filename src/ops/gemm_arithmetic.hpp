// Which products an arithmetic of another machine takes.
#pragma once

#include "src/base/status.hpp"
#include "src/formats/view.hpp"

namespace lpt {

Status check_arithmetic(const lpt_gemm_options &options, const MatrixView &a, const MatrixView &b);

}  // namespace lpt
