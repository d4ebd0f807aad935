// GEMMs of checked views: which kernel, how cut, with what scratch.
#pragma once

#include <functional>
#include <vector>

#include "src/gemm/call.hpp"

namespace lpt {

// Views are checked, and are where the context works.
Status run_gemm(Context &context, const GemmCall &call, bool is_check_only);

// The same piece by piece with the bits of the whole: whenever the first columns, `columns` of them or up to a unit more, of
// some rows are in c, `after_rows(begin, count)` runs; at last come the other columns. Parts have `rows` rows or up to a unit
// more. Where b is written out in slabs or gathered, all of c comes first.
Status multiply_in_pieces(Context &context, const GemmCall &call, int64_t columns, int64_t rows,
                          const std::function<Status(int64_t begin, int64_t count)> &after_rows);

// Selects the kernel of a GEMM whose tensors may be without data.
Status dispatch_gemm(Context &context, const GemmCall &call, GemmDispatch &out_dispatch);

// GEMMs that do not depend on each other. Formats are alike, shapes may differ. The CPU shares them among its threads
// together; on a device all are selected before the first is queued.
Status run_gemms(Context &context, const std::vector<GemmCall> &calls, bool is_check_only);

// ---- device.cpp: a kernel of ours, or a vendor's library with our kernels before and after it

// With `out_dispatch` it only reports what it would run.
Status multiply_on_device(Context &context, const GemmCall &call, bool is_check_only, GemmDispatch *out_dispatch);
Status multiply_many_on_device(Context &context, const std::vector<GemmCall> &calls, bool is_check_only);

}  // namespace lpt
