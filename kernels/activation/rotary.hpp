// Rotary embedding: one table entry, and the offsets of rows. Shared by the CPU and CUDA.
#pragma once

#include "kernels/activation/activation.hpp"
#include "src/base/host_device.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {

LPT_HOST_DEVICE static inline double rotary_position(const RotaryTableRequest &request, int64_t row) {
  if (request.positions == nullptr) return static_cast<double>(request.first_position + row);
  if (request.is_position_wide) return static_cast<double>(static_cast<const int64_t *>(request.positions)[row]);
  return static_cast<double>(static_cast<const int32_t *>(request.positions)[row]);
}

LPT_HOST_DEVICE static inline double rotary_frequency(const RotaryTableRequest &request, int64_t i) {
  if (request.is_frequency_f64) return static_cast<const double *>(request.frequencies)[i];
  return static_cast<double>(static_cast<const float *>(request.frequencies)[i]);
}

// Writes one entry. T: float or double, the type of the table.
template <typename T>
LPT_HOST_DEVICE static inline void write_rotary_entry(const RotaryTableRequest &request, int64_t row, int64_t i) {
  const SineCosine angle = sine_cosine_f64(rotary_position(request, row) * rotary_frequency(request, i));
  const T cosine = static_cast<T>(angle.cosine * request.scale);
  const T sine = static_cast<T>((request.is_inverse ? -angle.sine : angle.sine) * request.scale);
  T *const cosines = static_cast<T *>(request.cosines) + row * request.stride;
  T *const sines = static_cast<T *>(request.sines) + row * request.stride;
  if (request.layout == LPT_ROTARY_LAYOUT_HALVES) {
    cosines[i] = cosine;
    sines[i] = sine;
  } else {
    cosines[2 * i] = cosines[2 * i + 1] = cosine;
    sines[2 * i] = -sine;
    sines[2 * i + 1] = sine;
  }
}

// Offsets of a row: in elements of input and output, and in rows of the table.
struct RotaryRow {
  int64_t input, output, position;
};

// Returns the index along an axis, and removes the axis from `number`. A division of 32 bits takes a fraction of the time on a
// GPU.
LPT_HOST_DEVICE static inline int64_t take_index(int64_t extent, int64_t &number) {
  const auto narrow = static_cast<uint32_t>(number), divisor = static_cast<uint32_t>(extent);
  const bool is_narrow = narrow == number && divisor == extent;
  const int64_t rest = is_narrow ? narrow / divisor : number / extent, index = number - rest * extent;
  number = rest;
  return index;
}

LPT_HOST_DEVICE static inline RotaryRow rotary_row(const RotaryAxis *axes, int32_t axis_count, int64_t number) {
  RotaryRow row = {0, 0, 0};
  for (int32_t axis = axis_count - 1; axis >= 0; --axis) {
    const int64_t index = axis == 0 ? number : take_index(axes[axis].extent, number);
    row.input += index * axes[axis].input_stride;
    row.output += index * axes[axis].output_stride;
    row.position += index * axes[axis].position_stride;
  }
  return row;
}

// Calls body(row) for each row of the request.
template <typename Body>
static inline void for_rotary_rows(const RotaryRequest &request, const Body &body) {
  const RotaryAxis &last = request.axes[request.axis_count - 1];
  const int64_t end = request.first_row + request.rows;
  for (int64_t number = request.first_row; number < end;) {
    RotaryRow row = rotary_row(request.axes, request.axis_count, number);
    int64_t axis_end = number - number % last.extent + last.extent;
    if (axis_end > end) axis_end = end;
    for (; number < axis_end; ++number) {
      body(row);
      row.input += last.input_stride;
      row.output += last.output_stride;
      row.position += last.position_stride;
    }
  }
}

}  // namespace lpt
