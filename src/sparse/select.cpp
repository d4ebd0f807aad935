#include <span>
#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"
#include "src/call/launch.hpp"
#include "src/cast/device_cast.hpp"
#include "src/sparse/parts.hpp"
#include "src/tensor/checks.hpp"
#include "src/tensor/sparse_matrix.hpp"

namespace lpt {
namespace {

constexpr int32_t kMostIterations = 10000;

// Checks.

bool is_drawn(lpt_sparse_rule rule) { return rule == LPT_SPARSE_RULE_MVUE || rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS; }

Status check_rule(const lpt_sparse_options &options) {
  LPT_TRY(check_choice("rule", options.rule, LPT_SPARSE_RULE_SOFT_THRESHOLD));
  LPT_TRY(check_choice("direction", options.direction, LPT_SPARSE_DIRECTION_BOTH));
  const bool is_transposable = options.direction == LPT_SPARSE_DIRECTION_BOTH;
  if (is_transposable && options.rule != LPT_SPARSE_RULE_MAGNITUDE) {
    return unsupported("rule is %d with direction BOTH: expected MAGNITUDE, transposable masks know no other",
                       options.rule);
  }
  if (options.rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS && options.kept != 2) {
    return unsupported("kept is %d with rule MVUE_TWO_DRAWS: expected 2, one for each draw", options.kept);
  }
  return {};
}

Status check_solver(const lpt_sparse_options &options) {
  LPT_TRY(check_choice("solver", options.solver, LPT_SPARSE_SOLVER_ENTROPY));
  if (options.iterations < 0 || options.iterations > kMostIterations) {
    return invalid("iterations is %d: expected 0 to %d", options.iterations, kMostIterations);
  }
  LPT_TRY(check_finite("sharpness", options.sharpness, 0.0, 1e4));
  const bool is_solved = options.direction == LPT_SPARSE_DIRECTION_BOTH;
  if (!is_solved && (options.solver != 0 || options.iterations != 0 || options.sharpness != 0.0)) {
    return invalid("solver is %d, iterations %d, sharpness %g with direction %d: expected 0, they serve BOTH",
                   options.solver, options.iterations, options.sharpness, options.direction);
  }
  return {};
}

// Returns the factors of the columns, or NULL. Values in GPU memory are not checked.
Status read_importance(const lpt_sparse_options &options, int64_t columns, bool needs_data, const Device &device,
                       const float **out_importance) {
  if (options.importance == nullptr) return {};
  if (options.rule != LPT_SPARSE_RULE_MAGNITUDE || options.direction == LPT_SPARSE_DIRECTION_COLUMN) {
    return unsupported("importance is given with rule %d and direction %d: expected MAGNITUDE, and ROW or BOTH",
                       options.rule, options.direction);
  }
  void *data = nullptr;
  LPT_TRY(check_vector(options.importance, "importance", LPT_FORMAT_F32, columns, needs_data, &data, device));
  const float *importance = static_cast<const float *>(data);
  for (int64_t i = 0; needs_data && device.is_cpu() && i < columns; ++i) {
    if (!(importance[i] >= 0.0f)) {
      return invalid("importance[%lld] is %g: expected 0 or more", number(i), static_cast<double>(importance[i]));
    }
  }
  *out_importance = importance;
  return {};
}

// Selection.

// The matrices of a call. A view without a format is an output that is not requested.
struct Selection {
  MatrixView source, mask, masked;
  const float *importance = nullptr;
  RandomSource random{};
};

Status check_selection(const Tensor *source, const lpt_sparse_options &options, const Tensor *mask,
                       const Tensor *masked, const Device &device, Selection &selection) {
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_sparse_options(options));
  LPT_TRY(check_wide_matrix(source, "source", needs_data, selection.source, device));
  if (mask != nullptr) {
    LPT_TRY(check_mask(mask, "mask", needs_data, selection.mask, device));
    LPT_TRY(check_same_shape(selection.mask, "mask", selection.source, "source"));
  }
  if (masked != nullptr) {
    LPT_TRY(check_output(masked, "masked", needs_data, selection.source, selection.masked, device));
    if (mask != nullptr) LPT_TRY(check_no_overlap(selection.masked, "masked", selection.mask, "mask"));
  }
  LPT_TRY(read_importance(options, selection.source.columns, needs_data, device, &selection.importance));
  return make_random(options.random, RandomDomain::kSparse, 0, selection.source.columns, 16, options.philox_rounds,
                     selection.random);
}

// Sets the indices of the random words of the groups. They are counted over the full tensor in row order, for both
// directions.
Status set_draw_indices(const lpt_sparse_options &options, const RandomSource &random, SparseMaskRequest &request) {
  if (!is_drawn(options.rule) || random.row_stride == 0) return {};
  const bool is_column = options.direction == LPT_SPARSE_DIRECTION_COLUMN;
  const int64_t row = random.offset / random.row_stride;
  const int64_t column = random.offset % random.row_stride;
  const int64_t begin = is_column ? row : column;
  if (begin % options.of != 0) {
    return invalid(
        "random.offset begins at %s %lld of the whole tensor: expected a multiple of %d, where a group begins",
        is_column ? "row" : "column", number(begin), options.of);
  }
  const int64_t line = is_column ? random.row_stride : (random.row_stride + options.of - 1) / options.of;
  const int64_t first = is_column ? row / options.of * line + column : row * line + column / options.of;
  request.first_draw = static_cast<uint64_t>(first);
  request.row_draws = static_cast<uint64_t>(is_column ? 1 : line);
  request.group_draws = static_cast<uint64_t>(is_column ? line : 1);
  return {};
}

// Returns the bytes of an optional output.
double bytes_of(const MatrixView &view) { return view.data == nullptr ? 0.0 : view_bytes(view); }

SparseMaskRequest cut(const SparseMaskRequest &whole, int64_t begin, int64_t count) {
  SparseMaskRequest part = whole;
  part.source = cut_rows(whole.source, begin, count);
  part.mask = cut_rows(whole.mask, begin, count);
  part.masked = cut_rows(whole.masked, begin, count);
  part.first_draw += static_cast<uint64_t>(begin) * whole.row_draws;
  return part;
}

// Selection on a device. Groups along columns are selected along rows of transposed copies.

// Takes scratch for an output in the transposed shape, if the output is requested.
Status take_beside(Context &context, const MatrixView &output, const MatrixView &source, bool is_check_only,
                   MatrixView &out_view) {
  if (!is_present(output)) return {};
  return take_matrix(context, output.format, source.rows, source.columns, is_check_only, out_view);
}

Status transpose_back(Context &context, const MatrixView &transposed_output, const MatrixView &output,
                      bool is_check_only) {
  if (!is_present(output)) return {};
  const TransposeRequest request{transposed_output, transposed_view(output)};
  return run_on_device(context, "transpose", request, {output.format.id}, is_check_only);
}

Status select_columns(Context &context, const SparseMaskRequest &request, bool is_check_only) {
  SparseMaskRequest lines = request;
  LPT_TRY(transpose_on_device(context, transposed_view(request.source), is_check_only, lines.source));
  LPT_TRY(take_beside(context, request.mask, lines.source, is_check_only, lines.mask));
  LPT_TRY(take_beside(context, request.masked, lines.source, is_check_only, lines.masked));
  LPT_TRY(run_on_device(context, "sparse_mask", lines, {lines.source.format.id}, is_check_only));
  LPT_TRY(transpose_back(context, lines.mask, request.mask, is_check_only));
  return transpose_back(context, lines.masked, request.masked, is_check_only);
}

Status queue_groups(Context &context, const SparseMaskRequest &request, bool is_check_only) {
  if (request.source.column_stride == 1) {
    return run_on_device(context, "sparse_mask", request, {request.source.format.id}, is_check_only);
  }
  LPT_TRY(select_columns(context, request, true));
  if (is_check_only) return {};
  context.choices.clear();
  return select_columns(context, request, false);
}

// Selection on the CPU and on devices.

// Selects groups along rows, or along columns by transposed views. Transposed views are divided at multiples of 256 columns,
// so that threads do not share cache lines.
Status select_groups(Context &context, const lpt_sparse_options &options, const Selection &selection) {
  const bool is_column = options.direction == LPT_SPARSE_DIRECTION_COLUMN;
  SparseMaskRequest whole{};
  whole.source = is_column ? transposed_view(selection.source) : selection.source;
  whole.mask = is_column ? transposed_view(selection.mask) : selection.mask;
  whole.masked = is_column ? transposed_view(selection.masked) : selection.masked;
  whole.kept = options.kept;
  whole.of = options.of;
  whole.rule = options.rule;
  whole.random = selection.random;
  whole.importance = selection.importance;
  whole.is_streamed = bytes_of(selection.masked) >= kStreamedBytes;
  LPT_TRY(set_draw_indices(options, selection.random, whole));
  if (!is_on_cpu(context)) return queue_groups(context, whole, is_check_only(options.flags));
  const KernelEntry<SparseMaskRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "sparse_mask", sparse_mask_kernels(), whole, {selection.source.format.id}, &kernel));
  if (is_check_only(options.flags)) return {};
  const double bytes = view_bytes(selection.source) + bytes_of(selection.mask) + bytes_of(selection.masked);
  const ProfileScope measure(context, "sparse_mask", kernel->name, bytes);
  const int64_t unit = is_column ? 256 : 1;
  const Parts parts = split_reported(context, (whole.source.rows + unit - 1) / unit, unit * whole.source.columns);
  return run_reported(context, parts.count, whole.source.rows * whole.source.columns, [&](int64_t i) {
    const int64_t begin = i * parts.length * unit;
    kernel->run(cut(whole, begin, std::min(parts.length * unit, whole.source.rows - begin)));
  });
}

// Takes scratch for the mask if a step needs it and the caller does not request it.
Status need_mask(Context &context, bool is_run, Selection &selection) {
  if (selection.mask.format.id != LPT_FORMAT_NONE) return {};
  const MatrixView &source = selection.source;
  return take_matrix(context, LPT_FORMAT_UINT8, source.rows, source.columns, !is_run, selection.mask);
}

// SEARCH misses up to a fifth of the optimum of a tile if tiles are small or less than half of the elements is kept. EXACT
// takes at most four times as long.
lpt_sparse_solver usual_solver(const lpt_sparse_options &options) {
  const bool is_exact = options.of < 8 || 2 * options.kept < options.of;
  return is_exact ? LPT_SPARSE_SOLVER_EXACT : LPT_SPARSE_SOLVER_SEARCH;
}

TransposableMaskRequest tiles_of(const lpt_sparse_options &options, const Selection &selection) {
  TransposableMaskRequest whole{};
  whole.source = selection.source;
  whole.mask = selection.mask;
  whole.kept = options.kept;
  whole.of = options.of;
  whole.solver = options.solver;
  if (whole.solver == LPT_SPARSE_SOLVER_AUTO) whole.solver = usual_solver(options);
  whole.iterations = options.iterations == 0 ? 200 : options.iterations;
  whole.sharpness = options.sharpness == 0.0 ? 40.0f : static_cast<float>(options.sharpness);
  whole.importance = selection.importance;
  return whole;
}

Status select_tiles(Context &context, const lpt_sparse_options &options, Selection &selection) {
  const bool is_run = !is_check_only(options.flags);
  const bool is_masked = selection.masked.format.id != LPT_FORMAT_NONE;
  LPT_TRY(need_mask(context, is_run, selection));
  const TransposableMaskRequest whole = tiles_of(options, selection);
  const KernelEntry<TransposableMaskRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, {"transposable_mask", transposable_mask_kernels}, whole, {selection.source.format.id},
                        &kernel));
  if (is_run && !is_on_cpu(context)) {
    LPT_TRY(queue_kernel(context, *kernel, whole));
  } else if (is_run) {
    const ProfileScope measure(context, "transposable_mask", kernel->name,
                               view_bytes(whole.source) + view_bytes(whole.mask));
    const int64_t unit = options.of;
    const Parts parts = split_reported(context, (whole.source.rows + unit - 1) / unit, unit * whole.source.columns);
    LPT_TRY(run_reported(context, parts.count, whole.source.rows * whole.source.columns, [&](int64_t i) {
      const int64_t begin = i * parts.length * unit;
      const int64_t count = std::min(parts.length * unit, whole.source.rows - begin);
      TransposableMaskRequest part = whole;
      part.source = cut_rows(whole.source, begin, count);
      part.mask = cut_rows(whole.mask, begin, count);
      kernel->run(part);
    }));
  }
  if (!is_masked) return {};
  return apply_mask(context, {selection.source, selection.mask, selection.masked}, is_run);
}

// Measures each row on the device, copies the results to `sums` in CPU memory, and waits. The sums of the request are not
// read.
Status measure_on_device(Context &context, const SparseMeasureRequest &request, bool is_check_only,
                         std::span<SparseSums> sums) {
  const auto bytes = static_cast<int64_t>(sums.size_bytes());
  std::byte *memory = nullptr;
  if (!is_check_only) LPT_TRY(take_scratch(context, sums.size_bytes(), &memory));
  SparseMeasureRequest there = request;
  there.sums = reinterpret_cast<SparseSums *>(memory);
  LPT_TRY(run_on_device(context, "sparse_measure", there, {request.source.format.id}, is_check_only));
  if (is_check_only || sums.empty()) return {};
  LPT_TRY(context.queue.copy({sums.data(), bytes, memory, bytes, bytes, 1}));
  return context.queue.synchronize();
}

Status measure_rows(Context &context, const SparseMeasureRequest &whole, bool is_check_only,
                    std::span<SparseSums> sums) {
  if (!is_on_cpu(context)) return measure_on_device(context, whole, is_check_only, sums);
  const KernelEntry<SparseMeasureRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "sparse_measure", sparse_measure_kernels(), whole, {whole.source.format.id}, &kernel));
  if (is_check_only) return {};
  parallel_parts(context, whole.source.rows, whole.source.columns, [&](int64_t begin, int64_t count) {
    kernel->run({cut_rows(whole.source, begin, count), cut_rows(whole.mask, begin, count), whole.kept, whole.of,
                 whole.rule, whole.sums + begin});
  });
  return {};
}

// Measures each row separately and adds the rows in order, so that the result does not depend on threads.
Status measure_selection(Context &context, const lpt_sparse_options &options, const Selection &selection,
                         lpt_sparse_info &values) {
  const bool is_column = options.direction == LPT_SPARSE_DIRECTION_COLUMN;
  const MatrixView source = is_column ? transposed_view(selection.source) : selection.source;
  const MatrixView mask = is_column ? transposed_view(selection.mask) : selection.mask;
  std::vector<SparseSums> sums(static_cast<size_t>(source.rows));
  LPT_TRY(measure_rows(context, {source, mask, options.kept, options.of, options.rule, sums.data()},
                       is_check_only(options.flags), sums));
  if (is_check_only(options.flags)) return {};
  values.element_count = source.rows * source.columns;
  for (const SparseSums &line : sums) {
    values.kept_count += line.kept;
    values.special_groups += line.special_groups;
    values.energy += line.energy;
    values.kept_energy += line.kept_energy;
    values.variance += line.variance;
  }
  return {};
}

// Selects a mask and computes its statistics. An in-place output overwrites the source, so the source is measured after the
// mask and before any other output.
Status select_measured(Context &context, const lpt_sparse_options &options, Selection selection,
                       lpt_sparse_info &values) {
  const bool is_run = !is_check_only(options.flags);
  const bool is_tiled = options.direction == LPT_SPARSE_DIRECTION_BOTH;
  LPT_TRY(need_mask(context, is_run, selection));
  Selection first = selection;
  first.masked = {};
  LPT_TRY(is_tiled ? select_tiles(context, options, first) : select_groups(context, options, first));
  LPT_TRY(measure_selection(context, options, first, values));
  if (selection.masked.format.id == LPT_FORMAT_NONE) return {};
  if (is_tiled) return apply_mask(context, {selection.source, selection.mask, selection.masked}, is_run);
  selection.mask = {};
  return select_groups(context, options, selection);
}

// Runs the steps of a call.
Status select_steps(Context &context, const lpt_sparse_options &options, Selection &selection,
                    lpt_sparse_info *values) {
  if (values != nullptr) return select_measured(context, options, selection, *values);
  return options.direction == LPT_SPARSE_DIRECTION_BOTH ? select_tiles(context, options, selection)
                                                        : select_groups(context, options, selection);
}

}  // namespace

Status check_sparse_options(const lpt_sparse_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_sparse_group(options.kept, options.of, options.of - 1));
  LPT_TRY(check_rule(options));
  LPT_TRY(check_solver(options));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

Status select_mask(Context &context, const lpt_sparse_options &options, const MatrixView &source,
                   const MatrixView &mask, const MatrixView &masked) {
  Selection selection;
  selection.source = source;
  selection.mask = mask;
  selection.masked = masked;
  LPT_TRY(make_random(options.random, RandomDomain::kSparse, 0, source.columns, 16, options.philox_rounds,
                      selection.random));
  return select_steps(context, options, selection, nullptr);
}

Status select_sparse_mask(Context &context, const Tensor *source, const lpt_sparse_options &options, Tensor *mask,
                          Tensor *masked, lpt_sparse_info *out_info) {
  Selection selection;
  if (mask == nullptr && masked == nullptr && out_info == nullptr) {
    return invalid("mask, masked and out_info are NULL: expected at least one output");
  }
  const Device &device = context.queue.device();
  LPT_TRY(check_selection(source, options, mask, masked, device, selection));
  lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
  lpt_sparse_info *const requested = out_info == nullptr ? nullptr : &values;
  if (!device.is_cpu() && !is_check_only(options.flags)) {
    lpt_sparse_options trial = options;
    trial.flags |= LPT_CHECK_ONLY;
    Selection tried = selection;
    LPT_TRY(select_steps(context, trial, tried, requested));
    context.choices.clear();
  }
  LPT_TRY(select_steps(context, options, selection, requested));
  if (out_info != nullptr) *out_info = values;
  return {};
}

}  // namespace lpt
