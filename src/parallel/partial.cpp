// Partial all-reduce: shared columns are reduced, private ones scaled.
#include "src/parallel/partial.hpp"

#include "kernels/reduce/cuda_columns.hpp"
#include "src/call/launch.hpp"
#include "src/ranks/reducing.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// The names differ, so that ranks in different passes are detected.
constexpr const char *kOperations[] = {"partial_all_reduce, forward", "partial_all_reduce, backward"};

constexpr const char *kWires[] = {"forward_wire", "backward_wire"};

lpt_reduce_options reduce_options(const PartialPlan &plan, lpt_partial_pass pass) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.wire = plan.wires[pass];
  return options;
}

Status check_columns(const PartialPlan &plan, const char *name, int64_t columns) {
  if (columns == plan.hidden) return {};
  return invalid("%s has %lld columns: expected %lld, as the plan", name, number(columns), number(plan.hidden));
}

ReduceRequest scale_request(lpt_format format, double factor) {
  ReduceRequest request{};
  request.format = request.target_format = format;
  request.source_count = request.target_count = 1;
  request.factor = factor;
  return request;
}

Status choose_scale(Context &context, lpt_format format, double factor, const KernelEntry<ReduceRequest> **out_kernel) {
  return select_kernel(context, "scale", reduce_kernels(), scale_request(format, factor), {format}, out_kernel);
}

// target = factor · source, elements of one format, by the reduce kernels.
void scale_matrix(Context &context, const KernelEntry<ReduceRequest> &kernel, double factor, const MatrixView &source,
                  const MatrixView &target) {
  const int64_t from = row_bytes(source.format.element, source.row_stride);
  const int64_t to = row_bytes(target.format.element, target.row_stride);
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    const void *read = nullptr;
    void *written = nullptr;
    ReduceRequest request = scale_request(source.format.id, factor);
    request.elements = source.columns;
    request.sources = &read;
    request.targets = &written;
    for (int64_t r = begin; r < begin + count; ++r) {
      read = static_cast<const std::byte *>(source.data) + r * from;
      written = static_cast<std::byte *>(target.data) + r * to;
      kernel.run(request);
    }
  });
}

Status choose_columns(Context &context, const ColumnsRequest &request, const KernelEntry<ColumnsRequest> **out_kernel) {
  return select_kernel(context, "scale", request, {request.source.format.id, request.target.format.id}, out_kernel);
}

// The same on a device, where formats may differ and rows may be strided.
Status scale_on_device(Context &context, double factor, const MatrixView &source, const MatrixView &target) {
  const ColumnsRequest request{source, target, factor};
  const KernelEntry<ColumnsRequest> *kernel = nullptr;
  LPT_TRY(choose_columns(context, request, &kernel));
  return queue_kernel(context, *kernel, request);
}

void copy_rows(Context &context, const MatrixView &source, const MatrixView &target) {
  if (source.data == target.data) return;  // in place
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    copy_matrix(cut_rows(source, begin, count), cut_rows(target, begin, count));
  });
}

// Scales or copies private columns on a device, queued.
Status scale_private_on_device(Context &context, const PartialPlan &plan, const MatrixView &source,
                               const MatrixView &target) {
  if (plan.scale != 1.0) return scale_on_device(context, plan.scale, source, target);
  if (source.data == target.data) return {};
  const lpt_format element = source.format.element;
  return context.queue.copy({target.data, row_bytes(element, target.row_stride), source.data,
                             row_bytes(element, source.row_stride), row_bytes(element, source.columns), source.rows});
}

Status make_completed_future(Future **out_future) {
  if (out_future == nullptr) return {};
  auto future = std::make_unique<Future>();
  future->completion = std::make_shared<Completion>();
  future->completion->complete({});
  *out_future = future.release();
  return {};
}

// Keeps the operands of a collective alive.
struct Operands {
  Tensor input, output;
};

}  // namespace

Status check_partial_comm(const PartialPlan &plan, const Comm &comm) {
  if (plan.ranks == comm.engine->ranks()) return {};
  return invalid("comm has %d ranks: expected %d, as the plan", comm.engine->ranks(), plan.ranks);
}

Status prepare_partial(Context &context, const PartialPlan &plan, lpt_partial_pass pass, const MatrixView &input,
                       const MatrixView &output, Partial &out_partial, const Device &device) {
  out_partial.device = device;
  out_partial.input = input;
  out_partial.output = output;
  ReductionPlan reducing{};
  reducing.operation = kOperations[pass];
  reducing.site = pass;
  reducing.device = device;
  reducing.input = cut_columns(input, 0, plan.shared);
  reducing.output = cut_columns(output, 0, plan.shared);
  reducing.reduction = Reduction::kSum;
  reducing.factor = 1.0;
  reducing.shares = equal_shares(input.rows * plan.shared, plan.ranks);
  if (plan.shared > 0) {
    const Status status =
        select_reduction(context, reduce_options(plan, pass), reducing, plan.ranks, true, out_partial.reducing);
    if (!status.is_ok())
      return Status(status.code(), text("the plan's %s: %s", kWires[pass], status.message().c_str()));
  }
  if (plan.shared == plan.hidden || plan.scale == 1.0) return {};
  if (!device.is_cpu()) {
    const KernelEntry<ColumnsRequest> *kernel = nullptr;
    LPT_TRY(check_works_on(context, device));
    return choose_columns(context, {input, output, plan.scale}, &kernel);
  }
  return choose_scale(context, input.format.id, plan.scale, &out_partial.scale_kernel);
}

Status scale_private(Context &context, const PartialPlan &plan, const Partial &partial) {
  const int64_t count = plan.hidden - plan.shared;
  if (count == 0 || partial.input.rows == 0) return {};
  const MatrixView source = cut_columns(partial.input, plan.shared, count);
  const MatrixView target = cut_columns(partial.output, plan.shared, count);
  if (!partial.device.is_cpu()) return scale_private_on_device(context, plan, source, target);
  if (partial.scale_kernel == nullptr) {
    copy_rows(context, source, target);
  } else {
    scale_matrix(context, *partial.scale_kernel, plan.scale, source, target);
  }
  return {};
}

Status partial_all_reduce(Context &context, Comm &comm, const PartialPlan &plan, lpt_partial_pass pass,
                          const Tensor *input, Tensor *output, Future **out_future) {
  MatrixView from, to;
  LPT_TRY(check_choice("pass", pass, LPT_PARTIAL_PASS_BACKWARD));
  LPT_TRY(check_partial_comm(plan, comm));
  const Device device = device_of(comm);
  LPT_TRY(check_wide_matrix(input, "input", true, from, device));
  LPT_TRY(check_wide_matrix(output, "output", true, to, device));
  LPT_TRY(check_columns(plan, "input", from.columns));
  LPT_TRY(check_shape(to, "output", from.rows, from.columns, "input"));
  if (to.format.id != from.format.id) {
    return invalid("output is %s: expected %s, as input", format_name(to.format.id).c_str(),
                   format_name(from.format.id).c_str());
  }
  LPT_TRY(check_in_place(from, "input", to, "output"));
  Partial partial{};
  LPT_TRY(prepare_partial(context, plan, pass, from, to, partial, device));
  if (plan.shared == 0) {
    LPT_TRY(scale_private(context, plan, partial));
    return make_completed_future(out_future);
  }
  // Started first: with a future it runs while the private columns are written.
  LPT_TRY(run_collective(
      context, comm,
      [reducing = partial.reducing, operands = Operands{*input, *output}](Context &worker, Engine &engine) {
        return run_to_all(worker, engine, reducing);
      },
      out_future, DeviceSupport::kDevices));
  return scale_private(context, plan, partial);
}

Status partial_scale_weight(Context &context, const PartialPlan &plan, Tensor *weight) {
  MatrixView whole;
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(weight, "weight", true, whole, device));
  if (whole.rows != plan.hidden) {
    return invalid("weight has %lld rows: expected %lld, as the plan has columns", number(whole.rows),
                   number(plan.hidden));
  }
  if (plan.scale == 1.0 || whole.columns == 0) return {};
  const MatrixView rows = cut_rows(whole, plan.shared, plan.hidden - plan.shared);
  if (!device.is_cpu()) return scale_on_device(context, plan.scale, rows, rows);
  const KernelEntry<ReduceRequest> *kernel = nullptr;
  LPT_TRY(choose_scale(context, whole.format.id, plan.scale, &kernel));
  scale_matrix(context, *kernel, plan.scale, rows, rows);
  return {};
}

}  // namespace lpt
