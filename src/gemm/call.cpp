#include "src/gemm/call.hpp"

#include <algorithm>

namespace lpt {

GemmRequest columns_of(const GemmRequest &whole, const MatrixView &b_rows, int64_t begin) {
  GemmRequest part = whole;
  part.b = b_rows;
  part.n = b_rows.rows;
  part.c = cut_columns(whole.c, begin, b_rows.rows);
  const int64_t bias_bytes = whole.is_f64 ? sizeof(double) : sizeof(float);
  if (whole.bias != nullptr) part.bias = static_cast<const std::byte *>(whole.bias) + begin * bias_bytes;
  return part;
}

int64_t threads_worth(const Context &context, double multiply_adds) {
  return static_cast<int64_t>(std::clamp(multiply_adds / kLeastWork, 1.0, static_cast<double>(width_of(context))));
}

bool is_f64_gemm(const GemmCall &call) {
  const auto has_f64 = [](const MatrixView &view) { return view.format.element == LPT_FORMAT_F64; };
  return has_f64(call.a) || has_f64(call.b) || has_f64(call.c);
}

GemmRequest request_of(const GemmCall &call) {
  GemmRequest request{};
  request.a = call.a;
  request.b = call.b;
  request.c = call.c;
  request.is_a_transposed = call.is_a_transposed;
  request.is_b_transposed = call.is_b_transposed;
  request.m = call.c.rows;
  request.n = call.c.columns;
  request.k = call.is_a_transposed ? call.a.rows : call.a.columns;
  request.alpha = call.alpha;
  request.beta = call.beta;
  request.bias = call.bias;
  request.is_f64 = is_f64_gemm(call);
  request.is_portable = call.is_portable;
  request.may_accumulate_fast = call.may_accumulate_fast;
  request.arithmetic = call.arithmetic;
  request.arithmetic_bits = call.arithmetic_bits;
  return request;
}

}  // namespace lpt
