// GEMMs of checked views: kernel selection, partition and scratch.
#pragma once

#include <functional>
#include <vector>

#include "src/gemm/call.hpp"

namespace lpt {

// Runs a GEMM of checked views that are on the device of the context.
Status run_gemm(Context &context, const GemmCall &call, bool is_check_only);

// Runs a GEMM in steps, with the same bits as run_gemm(). A step computes the first `columns` columns of `rows` rows, both
// rounded up to units, and then calls `after_rows(begin, count)`. The other columns are computed last. If b is expanded in
// slabs or gathered, all of c is computed before the first call.
Status run_gemm_in_steps(Context &context, const GemmCall &call, int64_t columns, int64_t rows,
                         const std::function<Status(int64_t begin, int64_t count)> &after_rows);

// Selects the kernel of a GEMM whose tensors may have no data.
Status dispatch_gemm(Context &context, const GemmCall &call, GemmDispatch &out_dispatch);

// Runs independent GEMMs of equal formats; shapes can differ. The CPU divides all of them among its threads. On a device all
// kernels are selected before the first one is queued.
Status run_gemms(Context &context, const std::vector<GemmCall> &calls, bool is_check_only);

// device.cpp: GEMMs by a kernel of LPT, or by a vendor library with kernels of LPT before and after it.

// Runs a GEMM on a device. With `out_dispatch` it only reports the kernel and the scratch.
Status multiply_on_device(Context &context, const GemmCall &call, bool is_check_only, GemmDispatch *out_dispatch);
Status multiply_many_on_device(Context &context, const std::vector<GemmCall> &calls, bool is_check_only);

}  // namespace lpt
