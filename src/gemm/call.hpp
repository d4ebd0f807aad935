// One GEMM of checked views, and the kernel request that it becomes.
#pragma once

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
  bool may_accumulate_fast = false;
  lpt_gemm_arithmetic arithmetic = LPT_GEMM_ARITHMETIC_NATIVE;
  int32_t arithmetic_bits = 0;
  const KernelEntry<GemmRequest> *kernel = nullptr;  // the planned one; NULL: the first that runs it
};

// What running a GEMM takes and does.
struct GemmDispatch {
  GemmShape shape;
  const KernelEntry<GemmRequest> *kernel;  // nullptr: it is a device's
  const char *name;                        // of the kernel
  size_t workspace_bytes;
  int64_t part_count;
};

constexpr double kLeastWork = 1 << 18;  // multiply-adds that are worth a thread's waking

// Threads that a GEMM of so many multiply-adds is worth waking.
int64_t threads_worth(const Context &context, double multiply_adds);

// The columns of c that some rows of b, n × k, make, from column `begin` on: c and the bias begin with them.
GemmRequest columns_of(const GemmRequest &whole, const MatrixView &b_rows, int64_t begin);

bool is_f64_gemm(const GemmCall &call);
GemmRequest request_of(const GemmCall &call);

// Whether c has no element.
inline bool is_empty(const GemmRequest &request) { return request.m == 0 || request.n == 0; }

}  // namespace lpt
