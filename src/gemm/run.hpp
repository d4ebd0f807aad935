// GEMMs of checked views: which kernel, how cut, with what scratch.
#pragma once

#include <functional>
#include <vector>

#include "kernels/gemm/gemm.hpp"
#include "src/call/operation.hpp"

namespace lpt {

struct GemmShape {
  int64_t m, n, k;
};

// One GEMM; views are checked. a is m × k and b is k × n, or stored transposed. b may lie in panels: then it is n × k.
struct GemmCall {
  MatrixView a, b, c;
  bool is_a_transposed = false;
  bool is_b_transposed = false;
  double alpha = 1.0;
  double beta = 0.0;
  const void *bias = nullptr;  // n numbers: f32, or f64 where a view is f64
  bool is_portable = false;
  lpt_gemm_arithmetic arithmetic = LPT_GEMM_ARITHMETIC_NATIVE;
  int32_t arithmetic_bits = 0;
  const KernelEntry<GemmRequest> *kernel = nullptr;  // the planned one; NULL: the first that runs it
};

// What running a GEMM takes and does.
struct GemmDispatch {
  GemmShape shape;
  const KernelEntry<GemmRequest> *kernel;  // nullptr: it is a device's
  const char *name;               // of the row
  size_t workspace_bytes;
  int64_t part_count;
};

// Threads that a GEMM of so many multiply-adds is worth waking.
int64_t threads_worth(const Context &context, double multiply_adds);

// The columns of c that some rows of b, n × k, make, from column `begin` on: c and the bias begin with them.
GemmRequest columns_of(const GemmRequest &whole, const MatrixView &b_rows, int64_t begin);

bool is_f64_gemm(const GemmCall &call);
GemmRequest request_of(const GemmCall &call);
Status run_gemm(Context &context, const GemmCall &call, bool is_check_only);

// The same piece by piece with the bits of the whole: whenever the first columns, `columns` of them or up to a unit more, of
// some rows are in c, `after_rows(begin, count)` runs; at last come the other columns. SegmentList have `rows` rows or up to a unit
// more. Where b is written out in slabs or gathered, all of c comes first.
Status multiply_in_pieces(Context &context, const GemmCall &call, int64_t columns, int64_t rows,
                          const std::function<Status(int64_t begin, int64_t count)> &after_rows);

// Whether c has no element.
inline bool is_empty(const GemmRequest &request) { return request.m == 0 || request.n == 0; }

// Picks the row of a GEMM whose tensors may be without data.
Status dispatch_gemm(Context &context, const GemmCall &call, GemmDispatch &out_dispatch);

// GEMMs that do not depend on each other, shared among the threads together. Formats are alike, shapes may differ.
Status multiply_many(Context &context, const std::vector<GemmCall> &calls, bool is_check_only);

}  // namespace lpt
