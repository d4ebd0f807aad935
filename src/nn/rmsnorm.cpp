#include "src/nn/rmsnorm.hpp"

#include <algorithm>
#include <cfloat>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "kernels/reduce/reduce.hpp"
#include "src/cast/stored.hpp"
#include "src/nn/device.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_rmsnorm_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("epsilon", options.epsilon, 0.0, DBL_MAX));
  LPT_TRY(check_choice("is_accumulated", options.is_accumulated, 1));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

bool is_double(const MatrixView &view) { return view.format.id == LPT_FORMAT_F64; }

// Part `i` of an array of numbers, one per row.
void *cut_vector(const void *data, bool is_f64, int64_t begin) {
  if (data == nullptr) return nullptr;
  return const_cast<char *>(static_cast<const char *>(data)) + begin * (is_f64 ? 8 : 4);
}

// The weight gradient is summed in blocks of rows that depend on the shape only, then over the blocks in order.
struct Blocks {
  int64_t count;
  int64_t length;
};
Blocks weight_gradient_blocks(int64_t rows) {
  constexpr int64_t kMost = 64;  // bounds the memory: one sum of each column per block
  constexpr int64_t kLeastRows = 16;
  const int64_t length = std::max(kLeastRows, (rows + kMost - 1) / kMost);
  return {(rows + length - 1) / length, length};
}

void write_weight_gradient(const std::vector<double> &sums, const Blocks &blocks, int64_t columns, bool is_f64,
                           bool is_accumulated, void *target) {
  for (int64_t column = 0; column < columns; ++column) {
    double sum = 0.0;
    for (int64_t i = 0; i < blocks.count; ++i) sum += sums[static_cast<size_t>(i * columns + column)];
    if (is_f64) {
      double &number = static_cast<double *>(target)[column];
      number = is_accumulated ? number + sum : sum;
    } else {
      float &number = static_cast<float *>(target)[column];
      number = static_cast<float>(is_accumulated ? static_cast<double>(number) + sum : sum);
    }
  }
}

// What a norm's forward needs beside its input, checked.
Status check_forward(const Context &context, const Tensor *weight, const lpt_rmsnorm_options &options, const char *like,
                     Tensor *output, Tensor *inverse_rms, RmsnormForwardRequest &whole) {
  const Device &device = context.queue.device();
  const bool needs_data = !is_check_only(options.flags);
  const int64_t rows = whole.input.rows;
  const int64_t columns = whole.input.columns;
  LPT_TRY(check_wide_matrix(output, "output", needs_data, whole.output, device));
  LPT_TRY(check_shape(whole.output, "output", rows, columns, like));
  whole.epsilon = options.epsilon;
  whole.is_f64 = is_double(whole.input) || is_double(whole.output);
  const lpt_format format = whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  void *weight_data = nullptr;
  LPT_TRY(check_vector(weight, "weight", format, columns, needs_data, &weight_data, device));
  const MatrixView weight_view = vector_view(format, weight_data, columns);
  whole.weight = weight_data;
  LPT_TRY(check_no_overlap(whole.output, "output", whole.input, like));
  LPT_TRY(check_no_overlap(whole.output, "output", weight_view, "weight"));
  if (inverse_rms != nullptr) {
    LPT_TRY(check_vector(inverse_rms, "inverse_rms", format, rows, needs_data, &whole.inverse_rms, device));
    const MatrixView view = vector_view(format, whole.inverse_rms, rows);
    LPT_TRY(check_no_overlap(view, "inverse_rms", whole.input, like));
    LPT_TRY(check_no_overlap(view, "inverse_rms", weight_view, "weight"));
    LPT_TRY(check_no_overlap(view, "inverse_rms", whole.output, "output"));
  }
  return {};
}

Status choose_forward(Context &context, const RmsnormForwardRequest &whole,
                      const KernelEntry<RmsnormForwardRequest> **out_kernel) {
  return select_kernel(context, "rmsnorm_forward", rmsnorm_forward_kernels(), whole,
                       {whole.input.format.id, whole.output.format.id}, out_kernel);
}

// Norms the rows from `begin` on, `count` of them.
void norm_rows(const KernelEntry<RmsnormForwardRequest> &kernel, const RmsnormForwardRequest &whole, int64_t begin,
               int64_t count) {
  RmsnormForwardRequest part = whole;
  part.input = cut_rows(whole.input, begin, count);
  part.output = cut_rows(whole.output, begin, count);
  part.inverse_rms = cut_vector(whole.inverse_rms, whole.is_f64, begin);
  kernel.run(part);
}

// The two addends of a sum, checked.
struct Addends {
  MatrixView residual, branch;
  const KernelEntry<ReduceRequest> *kernel;
};

Status check_addends(const Context &context, const Tensor *residual, const Tensor *branch, bool needs_data,
                     const MatrixView &sum, Addends &addends) {
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(residual, "residual", needs_data, addends.residual, device));
  LPT_TRY(check_wide_matrix(branch, "branch", needs_data, addends.branch, device));
  const lpt_format format = addends.residual.format.id;
  const struct {
    const MatrixView &view;
    const char *name;
  } others[] = {{addends.branch, "branch"}, {sum, "sum"}};
  for (const auto &[view, name] : others) {
    LPT_TRY(check_shape(view, name, addends.residual.rows, addends.residual.columns, "residual"));
    if (view.format.id == format) continue;
    return invalid("%s is %s: expected %s, as residual", name, format_name(view.format.id).c_str(),
                   format_name(format).c_str());
  }
  LPT_TRY(check_in_place(sum, "sum", addends.residual, "residual"));
  return check_in_place(sum, "sum", addends.branch, "branch");
}

Status choose_addition(Context &context, Addends &addends) {
  const lpt_format format = addends.residual.format.id;
  ReduceRequest request{};
  request.format = request.target_format = format;
  request.source_count = 2;
  request.target_count = 1;
  request.factor = 1.0;
  return select_kernel(context, "add", reduce_kernels(), request, {format}, &addends.kernel);
}

void add_row(const Addends &addends, const MatrixView &sum, int64_t row) {
  const auto place = [row](const MatrixView &view) {
    return static_cast<std::byte *>(view.data) + row * row_bytes(view.format.element, view.row_stride);
  };
  const void *const sources[] = {place(addends.residual), place(addends.branch)};
  void *const target = place(sum);
  ReduceRequest request{};
  request.format = request.target_format = sum.format.id;
  request.source_count = 2;
  request.target_count = 1;
  request.factor = 1.0;
  request.elements = sum.columns;
  request.sources = sources;
  request.targets = &target;
  addends.kernel->run(request);
}

}  // namespace

Status rmsnorm_forward(Context &context, const Tensor *input, const Tensor *weight, const lpt_rmsnorm_options &options,
                       Tensor *output, Tensor *inverse_rms) {
  RmsnormForwardRequest whole{};
  const KernelEntry<RmsnormForwardRequest> *kernel = nullptr;
  LPT_TRY(check_options(options));
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_wide_matrix(input, "input", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_forward(context, weight, options, "input", output, inverse_rms, whole));
  if (!context.queue.device().is_cpu()) return rmsnorm_forward_on_device(context, whole, !needs_data);
  LPT_TRY(choose_forward(context, whole, &kernel));
  if (!needs_data) return {};
  const ProfileScope measure(context, "rmsnorm_forward", kernel->name,
                             view_bytes(whole.input) + view_bytes(whole.output));
  parallel_parts(context, whole.input.rows, whole.input.columns,
                 [&](int64_t begin, int64_t count) { norm_rows(*kernel, whole, begin, count); });
  return {};
}

Status rmsnorm_forward_sum(Context &context, const Tensor *residual, const Tensor *branch, const Tensor *weight,
                           const lpt_rmsnorm_options &options, Tensor *sum, Tensor *output, Tensor *inverse_rms) {
  const bool needs_data = !is_check_only(options.flags);
  RmsnormForwardRequest whole{};
  Addends addends{};
  const KernelEntry<RmsnormForwardRequest> *kernel = nullptr;
  LPT_TRY(check_options(options));
  LPT_TRY(check_wide_matrix(sum, "sum", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_addends(context, residual, branch, needs_data, whole.input, addends));
  LPT_TRY(check_forward(context, weight, options, "sum", output, inverse_rms, whole));
  const MatrixView weight_view =
      vector_view(whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32, whole.weight, whole.input.columns);
  LPT_TRY(check_no_overlap(whole.input, "sum", weight_view, "weight"));
  LPT_TRY(check_no_overlap(whole.output, "output", addends.residual, "residual"));
  LPT_TRY(check_no_overlap(whole.output, "output", addends.branch, "branch"));
  if (whole.inverse_rms != nullptr) {
    const MatrixView view = vector_view(weight_view.format.id, whole.inverse_rms, whole.input.rows);
    LPT_TRY(check_no_overlap(view, "inverse_rms", addends.residual, "residual"));
    LPT_TRY(check_no_overlap(view, "inverse_rms", addends.branch, "branch"));
  }
  if (!context.queue.device().is_cpu()) {
    return rmsnorm_forward_sum_on_device(context, {addends.residual, addends.branch, whole}, !needs_data);
  }
  LPT_TRY(choose_addition(context, addends));
  LPT_TRY(choose_forward(context, whole, &kernel));
  if (!needs_data) return {};
  const ProfileScope measure(context, "rmsnorm_forward_sum", kernel->name,
                             3 * view_bytes(whole.input) + view_bytes(whole.output));
  parallel_parts(context, whole.input.rows, whole.input.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {  // the sum is read again while it is in the nearest cache
      add_row(addends, whole.input, r);
      norm_rows(*kernel, whole, r, 1);
    }
  });
  return {};
}

Status rmsnorm_backward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *inverse_rms,
                        const Tensor *output_gradient, const lpt_rmsnorm_options &options, Tensor *input_gradient,
                        Tensor *weight_gradient) {
  const bool needs_data = !is_check_only(options.flags);
  RmsnormBackwardRequest whole{};
  LPT_TRY(check_options(options));
  if (input_gradient == nullptr && weight_gradient == nullptr) {
    return invalid("input_gradient and weight_gradient are NULL: expected at least one output");
  }
  MatrixView stored_view;
  const Device &device = context.queue.device();
  LPT_TRY(check_stored_matrix(input, "input", needs_data, stored_view, device));
  LPT_TRY(check_wide_matrix(output_gradient, "output_gradient", needs_data, whole.output_gradient, device));
  const int64_t rows = stored_view.rows;
  const int64_t columns = stored_view.columns;
  LPT_TRY(check_shape(whole.output_gradient, "output_gradient", rows, columns, "input"));
  whole.is_f64 = is_double(stored_view) || is_double(whole.output_gradient);
  if (input_gradient != nullptr) {
    LPT_TRY(check_wide_matrix(input_gradient, "input_gradient", needs_data, whole.input_gradient, device));
    LPT_TRY(check_shape(whole.input_gradient, "input_gradient", rows, columns, "input"));
    whole.is_f64 = whole.is_f64 || is_double(whole.input_gradient);
  }
  const lpt_format format = whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  void *weight_data = nullptr;
  void *inverse_data = nullptr;
  void *weight_gradient_data = nullptr;
  LPT_TRY(check_vector(weight, "weight", format, columns, needs_data, &weight_data, device));
  LPT_TRY(check_vector(inverse_rms, "inverse_rms", format, rows, needs_data, &inverse_data, device));
  whole.weight = weight_data;
  whole.inverse_rms = inverse_data;
  if (weight_gradient != nullptr) {
    LPT_TRY(
        check_vector(weight_gradient, "weight_gradient", format, columns, needs_data, &weight_gradient_data, device));
  }
  const MatrixView weight_gradient_view = vector_view(format, weight_gradient_data, columns);
  const struct {
    const MatrixView &view;
    const char *name;
  } outputs[] = {{whole.input_gradient, "input_gradient"}, {weight_gradient_view, "weight_gradient"}};
  for (const auto &[view, name] : outputs) {
    LPT_TRY(check_no_overlap(view, name, stored_view, "input"));
    LPT_TRY(check_no_overlap(view, name, whole.output_gradient, "output_gradient"));
    LPT_TRY(check_no_overlap(view, name, vector_view(format, weight_data, columns), "weight"));
    LPT_TRY(check_no_overlap(view, name, vector_view(format, inverse_data, rows), "inverse_rms"));
  }
  LPT_TRY(check_no_overlap(whole.input_gradient, "input_gradient", weight_gradient_view, "weight_gradient"));
  if (!device.is_cpu()) {
    const WeightGradient gradient{weight_gradient != nullptr, weight_gradient_data, options.is_accumulated != 0};
    return rmsnorm_backward_on_device(context, stored_view, whole, gradient, !needs_data);
  }
  const Blocks blocks = weight_gradient_blocks(rows);
  const int64_t chunk = stored_chunk({&stored_view}, blocks.length);
  Stored stored;
  LPT_TRY(stored.prepare(context, stored_view, std::min(chunk, rows), !needs_data));
  whole.input = stored.numbers();
  const KernelEntry<RmsnormBackwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "rmsnorm_backward", rmsnorm_backward_kernels(), whole,
                        {stored_view.format.id, whole.output_gradient.format.id}, &kernel));
  if (!needs_data) return {};

  const ProfileScope measure(context, "rmsnorm_backward", kernel->name,
                             view_bytes(stored_view) + view_bytes(whole.output_gradient) +
                                 (input_gradient == nullptr ? 0.0 : view_bytes(whole.input_gradient)));
  std::vector<double> sums(weight_gradient == nullptr ? 0 : static_cast<size_t>(blocks.count * columns), 0.0);
  const auto run_block = [&](int64_t start, int64_t i) {
    const int64_t begin = i * blocks.length;
    const int64_t count = std::min(blocks.length, rows - begin);
    RmsnormBackwardRequest part = whole;
    part.input = stored.rows(start, begin, count);
    part.output_gradient = cut_rows(whole.output_gradient, begin, count);
    if (input_gradient != nullptr) part.input_gradient = cut_rows(whole.input_gradient, begin, count);
    part.inverse_rms = cut_vector(whole.inverse_rms, whole.is_f64, begin);
    part.weight_gradient_sum = weight_gradient == nullptr ? nullptr : sums.data() + i * columns;
    kernel->run(part);
  };
  const int64_t step = (chunk + blocks.length - 1) / blocks.length;
  const bool is_split = split(context, rows, columns).count > 1;
  for (int64_t first = 0; first < blocks.count; first += step) {
    const int64_t count = std::min(step, blocks.count - first);
    const int64_t start = first * blocks.length;
    if (is_split) {
      parallel_for(context, count, [&](int64_t i) { run_block(start, first + i); });
    } else {
      for (int64_t i = 0; i < count; ++i) run_block(start, first + i);
    }
  }
  if (weight_gradient != nullptr) {
    write_weight_gradient(sums, blocks, columns, whole.is_f64, options.is_accumulated != 0, weight_gradient_data);
  }
  return {};
}

}  // namespace lpt
