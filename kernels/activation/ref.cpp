// Reference kernels: any mix of f64, f32, f16, bf16. They define the bits of exact kernels, and the reference of the bounds of
// the others.
//
// T is the type of the computation: double if any view is f64, else float. A result in f16 or bf16 is rounded to f32 first.
#include <cmath>
#include <limits>

#include "kernels/activation/kernels.hpp"
#include "kernels/activation/rotary.hpp"
#include "src/formats/element.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

// Elements in memory.

template <typename T>
T load_number(lpt_format format, const void *data, int64_t index) {
  if (format == LPT_FORMAT_F64) return static_cast<T>(static_cast<const double *>(data)[index]);
  if (format == LPT_FORMAT_F32) return static_cast<T>(static_cast<const float *>(data)[index]);
  return static_cast<T>(decode(element_of(format), static_cast<const uint16_t *>(data)[index]));
}

template <typename T>
void store_number(lpt_format format, void *data, int64_t index, T value) {
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  if (format == LPT_FORMAT_F64) {
    static_cast<double *>(data)[index] = static_cast<double>(value);
  } else if (format == LPT_FORMAT_F32) {
    static_cast<float *>(data)[index] = static_cast<float>(value);
  } else {
    static_cast<uint16_t *>(data)[index] = static_cast<uint16_t>(
        encode(element_of(format), static_cast<float>(value), LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16));
  }
}

int64_t place(const MatrixView &view, int64_t row, int64_t column) {
  return row * view.row_stride + column * view.column_stride;
}

template <typename T>
T load(const MatrixView &view, int64_t row, int64_t column) {
  return load_number<T>(view.format.id, view.data, place(view, row, column));
}

template <typename T>
void store(const MatrixView &view, int64_t row, int64_t column, T value) {
  store_number<T>(view.format.id, view.data, place(view, row, column), value);
}

bool is_double(const MatrixView &view) { return view.format.id == LPT_FORMAT_F64; }

lpt_format vector_format(bool is_f64) { return is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32; }

// Functions of both types.

float exponential(float x) { return exp_f32(x); }
double exponential(double x) { return std::exp(x); }

float multiply_add(float a, float b, float c) { return fused_multiply_add(a, b, c); }
double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }

template <typename T>
struct Logistic {
  T value, complement;
};

Logistic<float> logistic(float x) {
  const Sigmoid sigmoid = sigmoid_f32(x);
  return {sigmoid.value, sigmoid.complement};
}

Logistic<double> logistic(double x) {
  const double e = std::exp(-std::fabs(x));
  const double larger = 1.0 / (1.0 + e);
  const double smaller = e * larger;
  return x < 0.0 ? Logistic<double>{smaller, larger} : Logistic<double>{larger, smaller};
}

// SwiGLU.

template <typename T>
void swiglu_forward(const SwigluForwardRequest &request) {
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    for (int64_t column = 0; column < request.gate.columns; ++column) {
      const T gate = load<T>(request.gate, row, column);
      const T up = load<T>(request.up, row, column);
      store<T>(request.output, row, column, (gate * logistic(gate).value) * up);
      if (request.column_amax != nullptr) {
        const float magnitude = std::fabs(static_cast<float>(up));
        if (std::isfinite(magnitude) && magnitude > request.column_amax[column]) {
          request.column_amax[column] = magnitude;
        }
      }
    }
  }
}

template <typename T>
void swiglu_backward(const SwigluBackwardRequest &request) {
  for (int64_t row = 0; row < request.gate.rows; ++row) {
    for (int64_t column = 0; column < request.gate.columns; ++column) {
      const T gate = load<T>(request.gate, row, column);
      const T up = load<T>(request.up, row, column);
      const T dy = load<T>(request.output_gradient, row, column);
      const Logistic<T> s = logistic(gate);
      const T derivative = s.value * multiply_add(gate, s.complement, T{1});
      store<T>(request.gate_gradient, row, column, (dy * up) * derivative);
      store<T>(request.up_gradient, row, column, dy * (gate * s.value));
    }
  }
}

// RMSNorm.

// Without is_centered the mean is 0, which does not change the bits.
template <typename T>
void rmsnorm_forward(const RmsnormForwardRequest &request) {
  const lpt_format vector = vector_format(request.is_f64);
  const int64_t columns = request.input.columns;
  const auto width = static_cast<double>(columns);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    for (int64_t column = 0; column < columns && request.has_residual(); ++column) {
      store<T>(request.input, row, column,
               load<T>(request.residual, row, column) + load<T>(request.branch, row, column));
    }
    double mean = 0.0, sum = 0.0;
    for (int64_t column = 0; column < columns && request.is_centered; ++column) {
      mean += load<double>(request.input, row, column);
    }
    if (columns > 0) mean /= width;
    for (int64_t column = 0; column < columns; ++column) {
      const double x = load<double>(request.input, row, column) - mean;
      sum += x * x;
    }
    const double square = (columns == 0 ? 0.0 : sum / width) + request.epsilon;
    const T inverse = static_cast<T>(square == 0.0 ? 0.0 : 1.0 / std::sqrt(square)), center = static_cast<T>(mean);
    for (int64_t column = 0; column < columns; ++column) {
      const T weight = request.weight == nullptr ? T{1} : load_number<T>(vector, request.weight, column);
      T y = ((load<T>(request.input, row, column) - center) * inverse) * weight;
      if (request.bias != nullptr) y += load_number<T>(vector, request.bias, column);
      store<T>(request.output, row, column, y);
    }
    if (request.inverse_rms != nullptr) store_number<T>(vector, request.inverse_rms, row, inverse);
    if (request.mean != nullptr) store_number<T>(vector, request.mean, row, center);
  }
}

// With n = (x - m) · r: dx = r · (w · dy - mean(w · dy) - n · mean(w · dy · n)), dw = Σ dy · n. This form avoids the extreme
// intermediate r³. Without is_centered, m and mean(w · dy) are 0.
template <typename T>
void rmsnorm_backward(const RmsnormBackwardRequest &request) {
  const lpt_format vector = vector_format(request.is_f64);
  const int64_t columns = request.input.columns;
  const auto weight_at = [&](int64_t column) {
    return request.weight == nullptr ? 1.0 : load_number<double>(vector, request.weight, column);
  };
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const T inverse = load_number<T>(vector, request.inverse_rms, row);
    const T center = request.is_centered ? load_number<T>(vector, request.mean, row) : T{0};
    double sum = 0.0, weighted_sum = 0.0;
    for (int64_t column = 0; column < columns; ++column) {
      const double x = load<double>(request.input, row, column) - static_cast<double>(center);
      const double normal = x * static_cast<double>(inverse);
      const double dy = load<double>(request.output_gradient, row, column);
      sum += weight_at(column) * dy * normal;
      if (request.is_centered) weighted_sum += weight_at(column) * dy;
      if (request.weight_gradient_sum != nullptr) request.weight_gradient_sum[column] += dy * normal;
      if (request.bias_gradient_sum != nullptr) request.bias_gradient_sum[column] += dy;
    }
    if (request.input_gradient.data == nullptr) continue;
    const T mean = static_cast<T>(sum / static_cast<double>(columns));
    const T weighted_mean = static_cast<T>(weighted_sum / static_cast<double>(columns));
    for (int64_t column = 0; column < columns; ++column) {
      const T normal = (load<T>(request.input, row, column) - center) * inverse;
      const T weighted = static_cast<T>(weight_at(column)) * load<T>(request.output_gradient, row, column);
      T gradient = inverse * ((weighted - weighted_mean) - normal * mean);
      if (request.residual_gradient.data != nullptr) gradient += load<T>(request.residual_gradient, row, column);
      store<T>(request.input_gradient, row, column, gradient);
    }
  }
}

// Rotary embedding.

template <typename T>
void rotary_table(const RotaryTableRequest &request) {
  for (int64_t row = request.first_row; row < request.first_row + request.rows; ++row) {
    for (int64_t i = 0; i < request.count; ++i) write_rotary_entry<T>(request, row, i);
  }
}

template <typename T>
void rotary(const RotaryRequest &request) {
  const lpt_format from = request.input.format.id, to = request.output.format.id;
  const bool is_halves = request.layout == LPT_ROTARY_LAYOUT_HALVES;
  for_rotary_rows(request, [&](const RotaryRow &row) {
    const T *const cosines = static_cast<const T *>(request.cosines) + row.position * request.table_stride;
    const T *const sines = static_cast<const T *>(request.sines) + row.position * request.table_stride;
    for (int64_t i = 0; i < request.count; ++i) {
      const int64_t first = is_halves ? i : 2 * i, second = is_halves ? request.count + i : 2 * i + 1;
      const T cosine = cosines[first], sine = sines[is_halves ? i : second];
      const T x = load_number<T>(from, request.input.data, row.input + first);
      const T y = load_number<T>(from, request.input.data, row.input + second);
      store_number<T>(to, request.output.data, row.output + first, x * cosine - y * sine);
      store_number<T>(to, request.output.data, row.output + second, x * sine + y * cosine);
    }
    for (int64_t column = 2 * request.count; column < request.input.columns; ++column) {
      store_number<T>(to, request.output.data, row.output + column,
                      load_number<T>(from, request.input.data, row.input + column));
    }
  });
}

// Softmax.

// The peak is subtracted before scaling, so that scale · (x - peak) cannot overflow to +infinity. A row of minus infinity only
// counts as a row without visible columns.
template <typename T>
void softmax_forward(const SoftmaxForwardRequest &request) {
  const T scale = static_cast<T>(request.scale);
  for (int64_t row = 0; row < request.input.rows; ++row) {
    const VisibleColumns seen = visible_columns(request, row);
    T peak = 0;
    bool has_nan = false;
    for (int64_t column = seen.begin; column < seen.end; ++column) {
      const T x = load<T>(request.input, row, column);
      has_nan = has_nan || std::isnan(x);
      if (column == seen.begin || (scale < 0 ? x < peak : x > peak) || std::isnan(peak)) peak = x;
    }
    const bool is_empty = seen.begin == seen.end || (!has_nan && std::isinf(peak) && (scale < 0) == (peak > 0));
    double sum = 0.0;
    for (int64_t column = seen.begin; column < seen.end && !is_empty; ++column) {
      sum += static_cast<double>(exponential(scale * (load<T>(request.input, row, column) - peak)));
    }
    const T inverse = static_cast<T>(1.0 / sum);
    for (int64_t column = 0; column < request.input.columns; ++column) {
      const bool is_zero = is_empty || column < seen.begin || column >= seen.end;
      store<T>(request.output, row, column,
               is_zero ? T{0} : exponential(scale * (load<T>(request.input, row, column) - peak)) * inverse);
    }
    if (request.log_sums == nullptr) continue;
    const double log_sum = static_cast<double>(scale) * static_cast<double>(peak) + std::log(sum);
    static_cast<T *>(request.log_sums)[row] = static_cast<T>(is_empty ? -INFINITY : log_sum);
  }
}

template <typename T>
void softmax_backward(const SoftmaxBackwardRequest &request) {
  const T scale = static_cast<T>(request.scale);
  for (int64_t row = 0; row < request.output.rows; ++row) {
    double sum = 0.0;
    for (int64_t column = 0; column < request.output.columns; ++column) {
      sum += load<double>(request.output, row, column) * load<double>(request.output_gradient, row, column);
    }
    for (int64_t column = 0; column < request.output.columns; ++column) {
      const T y = load<T>(request.output, row, column);
      const T dy = load<T>(request.output_gradient, row, column);
      store<T>(request.input_gradient, row, column, scale * y * (dy - static_cast<T>(sum)));
    }
  }
}

// Epilogue of a GEMM.

float activate(lpt_activation activation, const float *x, int64_t columns) {
  switch (activation) {
    case LPT_ACTIVATION_GELU:
      return gelu_f32(*x);
    case LPT_ACTIVATION_GELU_TANH:
      return gelu_tanh_f32(*x);
    case LPT_ACTIVATION_SILU:
      return silu_f32(*x);
    case LPT_ACTIVATION_SWIGLU:
      return silu_f32(*x) * x[columns];
    default:
      return *x;
  }
}

template <typename T>
void add_to_classes(const EmbeddingGradientRequest &request) {
  const MatrixView &gradient = request.gradient;
  for (int64_t i = request.part; i < gradient.rows && !request.is_accumulated; i += request.parts) {
    for (int64_t c = 0; c < gradient.columns; ++c) store<T>(gradient, i, c, 0);
  }
  for (int64_t r = 0; r < request.output_gradient.rows; ++r) {
    const int64_t i = request.places[r];
    if (i < 0 || i >= gradient.rows || i % request.parts != request.part) continue;
    for (int64_t c = 0; c < gradient.columns; ++c) {
      store<T>(gradient, i, c, load<T>(gradient, i, c) + load<T>(request.output_gradient, r, c));
    }
  }
}

}  // namespace

void embedding_gradient_any_ref(const EmbeddingGradientRequest &request) {
  is_double(request.gradient) ? add_to_classes<double>(request) : add_to_classes<float>(request);
}

void finish_any_ref(const EpilogueRequest &request) {
  for (int64_t row = 0; row < request.rows; ++row) {
    const float *x = request.x + row * request.x_stride;
    for (int64_t column = 0; column < request.columns; ++column) {
      float value = activate(request.activation, x + column, request.columns);
      if (request.residual.data != nullptr) value += load<float>(request.residual, row, column);
      store<float>(request.out, row, column, value);
    }
  }
}

void swiglu_forward_any_ref(const SwigluForwardRequest &request) {
  const bool is_f64 = is_double(request.gate) || is_double(request.up) || is_double(request.output);
  is_f64 ? swiglu_forward<double>(request) : swiglu_forward<float>(request);
}

void swiglu_backward_any_ref(const SwigluBackwardRequest &request) {
  const bool is_f64 = is_double(request.gate) || is_double(request.up) || is_double(request.output_gradient) ||
                      is_double(request.gate_gradient) || is_double(request.up_gradient);
  is_f64 ? swiglu_backward<double>(request) : swiglu_backward<float>(request);
}

void rmsnorm_forward_any_ref(const RmsnormForwardRequest &request) {
  const bool is_f64 = request.is_f64 || is_double(request.input) || is_double(request.output);
  is_f64 ? rmsnorm_forward<double>(request) : rmsnorm_forward<float>(request);
}

void rmsnorm_backward_any_ref(const RmsnormBackwardRequest &request) {
  const bool is_f64 = request.is_f64 || is_double(request.input) || is_double(request.output_gradient) ||
                      (request.input_gradient.data != nullptr && is_double(request.input_gradient)) ||
                      (request.residual_gradient.data != nullptr && is_double(request.residual_gradient));
  is_f64 ? rmsnorm_backward<double>(request) : rmsnorm_backward<float>(request);
}

void rotary_table_any_ref(const RotaryTableRequest &request) {
  request.is_f64 ? rotary_table<double>(request) : rotary_table<float>(request);
}

void rotary_any_ref(const RotaryRequest &request) {
  is_double(request.input) || is_double(request.output) ? rotary<double>(request) : rotary<float>(request);
}

void softmax_forward_any_ref(const SoftmaxForwardRequest &request) {
  is_double(request.input) || is_double(request.output) ? softmax_forward<double>(request)
                                                        : softmax_forward<float>(request);
}

void softmax_backward_any_ref(const SoftmaxBackwardRequest &request) {
  const bool is_f64 =
      is_double(request.output) || is_double(request.output_gradient) || is_double(request.input_gradient);
  is_f64 ? softmax_backward<double>(request) : softmax_backward<float>(request);
}

}  // namespace lpt
