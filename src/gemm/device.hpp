// GEMMs on a device: a row of ours, or a vendor's library with our kernels before and after it.
#pragma once

#include "src/gemm/run.hpp"

namespace lpt {

// Views are checked, and are on the context's device. With `out_decision` it only reports what it would run.
Status multiply_on_device(Context &context, const GemmCall &call, bool is_check_only, GemmDispatch *out_dispatch);

// multiply_many() where the context works. On a device all are chosen before the first is queued.
Status run_gemms(Context &context, const std::vector<GemmCall> &calls, bool is_check_only);

}  // namespace lpt
