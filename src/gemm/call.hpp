// One GEMM of checked views, and its kernel request.
#pragma once

#include "kernels/gemm/gemm.hpp"
#include "src/call/operation.hpp"

namespace lpt {

struct GemmShape {
  int64_t m, n, k;
};

// One GEMM of checked views. a is m × k and b is k × n; either can be stored transposed. If b is in panels, it is n × k.
struct GemmCall {
  MatrixView a, b, c;
  bool is_a_transposed = false;
  bool is_b_transposed = false;
  double alpha = 1.0;
  double beta = 0.0;
  const void *bias = nullptr;  // n elements: f32, or f64 if a view is f64
  bool is_portable = false;
  bool may_accumulate_fast = false;
  lpt_gemm_arithmetic arithmetic = LPT_GEMM_ARITHMETIC_NATIVE;
  int32_t arithmetic_bits = 0;
  const KernelEntry<GemmRequest> *kernel = nullptr;  // the planned kernel; NULL: the first that supports the GEMM
};

// The kernel, the scratch and the number of parts of a GEMM.
struct GemmDispatch {
  GemmShape shape;
  const KernelEntry<GemmRequest> *kernel;  // nullptr for a GEMM on a device
  const char *name;                        // of the kernel
  size_t workspace_bytes;
  int64_t part_count;
};

constexpr double kLeastWork = 1 << 18;  // multiply-adds that outweigh waking a thread

// Returns the number of threads for a GEMM with this number of multiply-adds.
int64_t threads_worth(const Context &context, double multiply_adds);

// Returns the request for the columns of c from `begin` on that the rows `b_rows` of b (n × k) produce. c and the bias start
// at column `begin`.
GemmRequest columns_of(const GemmRequest &whole, const MatrixView &b_rows, int64_t begin);

bool is_f64_gemm(const GemmCall &call);
GemmRequest request_of(const GemmCall &call);

// Returns whether c has no elements.
inline bool is_empty(const GemmRequest &request) { return request.m == 0 || request.n == 0; }

}  // namespace lpt
