#include "src/nn/rotary.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "src/call/launch.hpp"
#include "src/formats/functions_f64.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr double kTwoPi = 0x1.921fb54442d18p+2;

// Frequencies.

bool needs_original_positions(const lpt_rotary_scaling &scaling) {
  return scaling.kind == LPT_ROTARY_SCALING_KIND_YARN || scaling.kind == LPT_ROTARY_SCALING_KIND_LLAMA3;
}

Status check_scaling(const lpt_rotary_scaling &scaling) {
  LPT_TRY(check_flags("flags", scaling.flags));
  LPT_TRY(check_choice("kind", scaling.kind, LPT_ROTARY_SCALING_KIND_LLAMA3));
  if (scaling.reserved != 0) return unsupported("reserved is %d: expected 0", scaling.reserved);
  LPT_TRY(check_finite("base", scaling.base, 2.0, 1e30));
  LPT_TRY(check_finite("factor", scaling.factor, 1.0, 1e9));
  if (!needs_original_positions(scaling)) return {};
  if (scaling.original_positions < 1 || scaling.original_positions > (int64_t{1} << 30)) {
    return invalid("original_positions is %lld: expected 1 to 2^30", number(scaling.original_positions));
  }
  if (scaling.kind == LPT_ROTARY_SCALING_KIND_YARN) {
    LPT_TRY(check_finite("beta_slow", scaling.beta_slow, 1e-9, 1e9));
    return check_finite("beta_fast", scaling.beta_fast, scaling.beta_slow, 1e9);
  }
  LPT_TRY(check_finite("low_frequency_factor", scaling.low_frequency_factor, 0.0, 1e9));
  const double high = scaling.high_frequency_factor;
  if (high > scaling.low_frequency_factor && high <= 1e9) return {};
  return invalid("high_frequency_factor is %g: expected more than low_frequency_factor, %g, and at most 1e9", high,
                 scaling.low_frequency_factor);
}

double between_0_and_1(double value) { return value < 0.0 ? 0.0 : value > 1.0 ? 1.0 : value; }

// The range over which a kind interpolates between scaled and original frequencies. YARN: indices. LLAMA3: rotations.
struct FrequencyRamp {
  double low, high;
};

FrequencyRamp yarn_ramp(const lpt_rotary_scaling &scaling, int64_t width, double log_base) {
  const auto positions = static_cast<double>(scaling.original_positions), columns = static_cast<double>(width);
  const auto index_of = [&](double rotations) {
    return columns * log_f64(positions / (kTwoPi * rotations)) / (2.0 * log_base);
  };
  FrequencyRamp ramp{std::max(std::floor(index_of(scaling.beta_fast)), 0.0),
                     std::min(std::ceil(index_of(scaling.beta_slow)), columns - 1.0)};
  if (ramp.low == ramp.high) ramp.high += 0.001;
  return ramp;
}

// Returns frequency i of `width` columns; see lpt_rotary_scaling_kind.
double frequency_of(const lpt_rotary_scaling &scaling, int64_t width, int64_t i, double log_base,
                    const FrequencyRamp &ramp) {
  const double two_i = 2.0 * static_cast<double>(i), columns = static_cast<double>(width);
  const double exponent = two_i / columns * log_base;
  if (scaling.kind == LPT_ROTARY_SCALING_KIND_NTK && i > 0) {
    return exp_f64(-(exponent + two_i / (columns - 2.0) * log_f64(scaling.factor)));
  }
  const double frequency = exp_f64(-exponent);
  switch (scaling.kind) {
    case LPT_ROTARY_SCALING_KIND_LINEAR:
      return frequency / scaling.factor;
    case LPT_ROTARY_SCALING_KIND_YARN: {
      const double share = between_0_and_1((static_cast<double>(i) - ramp.low) / (ramp.high - ramp.low));
      return frequency / scaling.factor * share + frequency * (1.0 - share);
    }
    case LPT_ROTARY_SCALING_KIND_LLAMA3: {
      const double rotations = static_cast<double>(scaling.original_positions) * frequency / kTwoPi;
      const double share = between_0_and_1((rotations - ramp.low) / (ramp.high - ramp.low));
      return frequency / scaling.factor * (1.0 - share) + frequency * share;
    }
    default:
      return frequency;
  }
}

// Checks a vector of any length.
Status check_frequencies(const Tensor *tensor, bool needs_data, const Device &device, MatrixView &out_view) {
  LPT_TRY(check_tensor(tensor, "frequencies", device));
  const bool is_f64 = tensor->format.id == LPT_FORMAT_F64;
  const lpt_format format = is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  const int64_t count = shape_of(*tensor).columns;
  void *data = nullptr;
  LPT_TRY(check_vector(tensor, "frequencies", format, count, needs_data, &data, device));
  out_view = vector_view(format, data, count);
  return {};
}

// Rotation.

Status check_options(const lpt_rotary_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("layout", options.layout, LPT_ROTARY_LAYOUT_INTERLEAVED));
  LPT_TRY(check_choice("is_inverse", options.is_inverse, 1));
  LPT_TRY(check_finite("scale", options.scale, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)));
  constexpr int64_t kMostPosition = int64_t{1} << 53;
  if (options.first_position >= -kMostPosition && options.first_position <= kMostPosition) return {};
  return invalid("first_position is %lld: expected -2^53 to 2^53", number(options.first_position));
}

// Checks a tensor with any strides of its leading axes. The view has its format, data, columns and number of rows.
Status check_operand(const Tensor *tensor, const char *name, bool needs_data, const Device &device,
                     MatrixView &out_view) {
  LPT_TRY(check_tensor(tensor, name, device));
  if (tensor->rank < 2) return invalid("%s is %s: expected rank 2 or more", name, tensor_text(*tensor).c_str());
  // The row stride of this matrix is not used.
  const Shape shape = shape_of(*tensor);
  Tensor rows = *tensor;
  rows.rank = 2;
  rows.extents[0] = shape.rows;
  rows.extents[1] = shape.columns;
  rows.strides[0] = shape.columns;
  rows.strides[1] = tensor->strides[tensor->rank - 1];
  return check_wide_matrix(&rows, name, needs_data, out_view, device);
}

// Returns the memory from the first element to the last one as one row.
MatrixView span_of(const Tensor &tensor, const MatrixView &view) {
  MatrixView span = view;
  span.rows = view.rows == 0 ? 0 : 1;
  for (int32_t i = 0; i + 1 < tensor.rank; ++i) span.columns += (tensor.extents[i] - 1) * tensor.strides[i];
  if (view.columns == 0) span.columns = 0;
  span.row_stride = span.columns;
  return span;
}

bool has_shape_of(const Tensor &tensor, const Tensor &like) {
  return tensor.rank == like.rank && std::equal(tensor.extents, tensor.extents + tensor.rank, like.extents);
}

// Returns whether both tensors are the same elements in the same memory.
bool is_same_memory(const Tensor &a, const Tensor &b) {
  if (a.data != b.data || a.format.id != b.format.id) return false;
  for (int32_t i = 0; i < a.rank; ++i) {
    if (a.extents[i] > 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

// Sets the axes of rows in memory order, the slowest one first. Adjacent axes without a gap are merged.
void set_axes(const Tensor &input, const Tensor &output, RotaryRequest &request) {
  static_assert(kMostRotaryAxes == kMostAxes - 1);
  RotaryAxis axes[kMostRotaryAxes];
  int32_t count = 0;
  for (int32_t i = 0; i + 1 < input.rank; ++i) {
    if (input.extents[i] == 1) continue;
    const RotaryAxis axis{input.extents[i], input.strides[i], output.strides[i], i == input.rank - 2 ? 1 : 0};
    int32_t place = count++;
    for (; place > 0 && axes[place - 1].output_stride < axis.output_stride; --place) axes[place] = axes[place - 1];
    axes[place] = axis;
  }
  request.axes[0] = {1, 0, 0, 0};
  request.axis_count = 1;
  for (int32_t i = 0; i < count; ++i) {
    const RotaryAxis &inner = axes[i];
    RotaryAxis &outer = request.axes[request.axis_count - 1];
    const bool is_joined = outer.input_stride == inner.extent * inner.input_stride &&
                           outer.output_stride == inner.extent * inner.output_stride &&
                           outer.position_stride == inner.extent * inner.position_stride;
    if (outer.extent == 1) {
      outer = inner;
    } else if (is_joined) {
      outer = {outer.extent * inner.extent, inner.input_stride, inner.output_stride, inner.position_stride};
    } else {
      request.axes[request.axis_count++] = inner;
    }
  }
}

// Takes memory for the table. Each row begins on a boundary of 64 bytes.
Status take_table(Context &context, RotaryTableRequest &table, RotaryRequest &request) {
  const int64_t numbers = table.rows * table.stride * (table.is_f64 ? 2 : 1);
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(numbers) * 2 * sizeof(float), &memory));
  table.cosines = memory;
  table.sines = memory + static_cast<size_t>(numbers) * sizeof(float);
  request.cosines = table.cosines;
  request.sines = table.sines;
  return {};
}

// Checks the operands and returns their views. `positions` is empty if the options have no positions.
Status read_operands(Context &context, const Tensor *input, const Tensor *frequencies,
                     const lpt_rotary_options &options, const Tensor *output, RotaryRequest &request,
                     MatrixView &angles, MatrixView &positions) {
  const bool needs_data = !is_check_only(options.flags);
  const Device &device = context.queue.device();
  LPT_TRY(check_options(options));
  LPT_TRY(check_operand(input, "input", needs_data, device, request.input));
  LPT_TRY(check_operand(output, "output", needs_data, device, request.output));
  if (!has_shape_of(*output, *input)) {
    return invalid("output is %s: expected the shape of input, %s", tensor_text(*output).c_str(),
                   tensor_text(*input).c_str());
  }
  LPT_TRY(check_frequencies(frequencies, needs_data, device, angles));
  const int64_t columns = request.input.columns, position_count = input->extents[input->rank - 2];
  if (angles.columns > columns / 2) {
    return invalid("frequencies is %s: expected a vector of at most half the columns of input, %lld",
                   tensor_text(*frequencies).c_str(), number(columns / 2));
  }
  const MatrixView written = span_of(*output, request.output);
  if (!is_same_memory(*output, *input)) {
    LPT_TRY(check_no_overlap(written, "output", span_of(*input, request.input), "input"));
  }
  LPT_TRY(check_no_overlap(written, "output", angles, "frequencies"));
  if (options.positions == nullptr) return {};
  LPT_TRY(check_indices(options.positions, "positions", needs_data, positions, device));
  if (shape_of(*options.positions).rows != 1 || positions.columns != position_count) {
    return invalid("positions is %s: expected a vector of %lld, as the positions of input",
                   tensor_text(*options.positions).c_str(), number(position_count));
  }
  return check_no_overlap(written, "output", positions, "positions");
}

}  // namespace

Status rotary_frequencies(Context &context, const lpt_rotary_scaling &scaling, Tensor *frequencies) {
  LPT_TRY(check_scaling(scaling));
  const bool needs_data = !is_check_only(scaling.flags);
  MatrixView view;
  LPT_TRY(check_frequencies(frequencies, needs_data, context.queue.device(), view));
  if (!needs_data || view.columns == 0) return {};
  const int64_t bytes = row_bytes(view.format.id, view.columns);
  std::vector<std::byte> copied(is_on_cpu(context) ? 0 : static_cast<size_t>(bytes));
  void *const data = is_on_cpu(context) ? view.data : copied.data();
  const int64_t width = 2 * view.columns;
  const double log_base = log_f64(scaling.base);
  const FrequencyRamp ramp = scaling.kind == LPT_ROTARY_SCALING_KIND_YARN
                                 ? yarn_ramp(scaling, width, log_base)
                                 : FrequencyRamp{scaling.low_frequency_factor, scaling.high_frequency_factor};
  for (int64_t i = 0; i < view.columns; ++i) {
    const double frequency = frequency_of(scaling, width, i, log_base, ramp);
    if (view.format.id == LPT_FORMAT_F64) {
      static_cast<double *>(data)[i] = frequency;
    } else {
      static_cast<float *>(data)[i] = static_cast<float>(frequency);
    }
  }
  // queue.copy() has read pageable memory when it returns.
  return is_on_cpu(context) ? Status() : context.queue.copy({view.data, bytes, data, bytes, bytes, 1});
}

Status rotary(Context &context, const Tensor *input, const Tensor *frequencies, const lpt_rotary_options &options,
              Tensor *output) {
  RotaryRequest request{};
  MatrixView angles, positions;
  LPT_TRY(read_operands(context, input, frequencies, options, output, request, angles, positions));
  const lpt_format from = request.input.format.id, to = request.output.format.id;
  const int64_t table_columns = options.layout == LPT_ROTARY_LAYOUT_HALVES ? angles.columns : 2 * angles.columns;
  RotaryTableRequest table{.frequencies = angles.data,
                           .is_frequency_f64 = angles.format.id == LPT_FORMAT_F64,
                           .count = angles.columns,
                           .positions = positions.data,
                           .is_position_wide = positions.format.id == LPT_FORMAT_INT64,
                           .first_position = options.first_position,
                           .first_row = 0,
                           .rows = input->extents[input->rank - 2],
                           .layout = options.layout,
                           .scale = options.scale,
                           .is_inverse = options.is_inverse != 0,
                           .cosines = nullptr,
                           .sines = nullptr,
                           .stride = (table_columns + 15) / 16 * 16,
                           .is_f64 = from == LPT_FORMAT_F64 || to == LPT_FORMAT_F64};
  request.rows = request.input.rows;
  request.count = angles.columns;
  request.layout = options.layout;
  request.table_stride = table.stride;
  set_axes(*input, *output, request);
  const KernelEntry<RotaryTableRequest> *table_kernel = nullptr;
  const KernelEntry<RotaryRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, {"rotary_table", rotary_table_kernels}, table, {angles.format.id}, &table_kernel));
  LPT_TRY(select_kernel(context, {"rotary", rotary_kernels}, request, {from, to}, &kernel));
  if (is_check_only(options.flags) || request.rows == 0 || request.input.columns == 0) return {};

  LPT_TRY(take_table(context, table, request));
  if (!is_on_cpu(context)) {
    if (options.positions != nullptr) {
      const bool is_in_cpu_memory = options.positions->device.is_cpu();
      LPT_TRY(take_indices(context, positions, is_in_cpu_memory, &table.positions));
    }
    LPT_TRY(queue_kernel(context, *table_kernel, table));
    return queue_kernel(context, *kernel, request);
  }
  const ProfileScope measure(context, "rotary", kernel->name, view_bytes(request.input) + view_bytes(request.output));
  constexpr int64_t kWorkOfEntry = 16;  // the work of a table entry, in elements of a row
  parallel_parts(context, table.rows, table.count * kWorkOfEntry, [&](int64_t begin, int64_t count) {
    RotaryTableRequest part = table;
    part.first_row = begin;
    part.rows = count;
    table_kernel->run(part);
  });
  parallel_parts(context, request.rows, request.input.columns, [&](int64_t begin, int64_t count) {
    RotaryRequest part = request;
    part.first_row = begin;
    part.rows = count;
    kernel->run(part);
  });
  return {};
}

}  // namespace lpt
