#include "src/gemm/plan.hpp"

#include <cstring>

#include "src/gemm/checks.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

OperandShape shape_of_operand(const Tensor &tensor) {
  OperandShape shape{tensor.format.id, {1, 1}, 1, tensor.layout, tensor.tile_rows, tensor.tile_columns};
  for (int32_t i = 0; i < tensor.rank; ++i) shape.extents[2 - tensor.rank + i] = tensor.extents[i];
  if (tensor.rank > 0) shape.column_stride = tensor.strides[tensor.rank - 1];
  return shape;
}

// Returns the storage of an operand as text, which follows its extents and format.
std::string storage_text(const OperandShape &shape) {
  switch (shape.layout) {
    case Layout::kRows:
    case Layout::kSparse:
      break;
    case Layout::kPanels:
      return " packed";
    case Layout::kBitmask:
      return " packed BITMASK";
    case Layout::kBlockSparse:
      return text(" packed BLOCK_SPARSE of %d x %d", shape.tile_rows, shape.tile_columns);
  }
  return "";
}

Status check_as_planned(const Tensor *tensor, const char *name, const OperandShape &planned, const Device &device) {
  LPT_TRY(check_tensor(tensor, name, device));
  if (tensor->rank > 2) return invalid("%s is %s: expected a matrix, as planned", name, tensor_text(*tensor).c_str());
  const OperandShape shape = shape_of_operand(*tensor);
  const bool is_alike = shape.format == planned.format && shape.extents[0] == planned.extents[0] &&
                        shape.extents[1] == planned.extents[1] && shape.layout == planned.layout &&
                        shape.tile_rows == planned.tile_rows && shape.tile_columns == planned.tile_columns &&
                        (shape.column_stride == 1) == (planned.column_stride == 1);
  if (is_alike) return {};
  return invalid("%s is %s%s, columns %lld apart: expected %lld x %lld %s%s, columns %lld apart, as planned", name,
                 tensor_text(*tensor).c_str(), storage_text(shape).c_str(), number(shape.column_stride),
                 number(planned.extents[0]), number(planned.extents[1]), format_name(planned.format).c_str(),
                 storage_text(planned).c_str(), number(planned.column_stride));
}

// Rejects a plan whose kernel does not run on the device of the context.
Status check_place(const Context &context, const GemmPlan &plan) {
  const KernelEntry<GemmRequest> *const kernel = plan.dispatch.kernel;
  if ((kernel == nullptr) != is_on_cpu(context)) {
    const CpuFeatures missing = kernel == nullptr ? 0 : kernel->needs.cpu & ~context.machine.cpu;
    if (missing == 0) return {};
    return invalid("the plan's kernel, %s, needs features that this context lacks", kernel->name);
  }
  return invalid("the plan's kernel, %s, does not run on %s, where the context works", plan.dispatch.name,
                 device_text(context.queue.device()).c_str());
}

}  // namespace

Status create_plan(Context &context, const Tensor *a, const Tensor *b, const lpt_gemm_options &options, const Tensor *c,
                   GemmPlan **out_plan) {
  if (options.bias != nullptr || options.residual != nullptr || options.quantize != nullptr) {
    return invalid("%s is given: expected NULL, operands come with each call of the plan",
                   options.bias != nullptr       ? "bias"
                   : options.residual != nullptr ? "residual"
                                                 : "quantize");
  }
  auto plan = std::make_unique<GemmPlan>();
  plan->options = options;
  if (options.emulation != nullptr) {
    plan->emulation = *options.emulation;
    plan->options.emulation = &plan->emulation;
  }
  plan->options.flags |= LPT_CHECK_ONLY;
  LPT_TRY(plan_gemm(context, a, b, plan->options, c, plan->dispatch));
  if (is_check_only(options.flags)) {
    *out_plan = nullptr;
    return {};
  }
  plan->options.flags = options.flags;
  plan->a = shape_of_operand(*a);
  plan->b = shape_of_operand(*b);
  plan->c = shape_of_operand(*c);
  *out_plan = plan.release();
  return {};
}

Status run_plan(Context &context, const GemmPlan &plan, const Tensor *a, const Tensor *b,
                const lpt_gemm_operands &operands, Tensor *c) {
  LPT_TRY(check_as_planned(a, "a", plan.a, context.queue.device()));
  LPT_TRY(check_as_planned(b, "b", plan.b, context.queue.device()));
  LPT_TRY(check_as_planned(c, "c", plan.c, context.queue.device()));
  LPT_TRY(check_place(context, plan));
  lpt_gemm_options options = plan.options;
  options.bias = operands.bias;
  options.residual = operands.residual;
  options.quantize = operands.quantize;
  return gemm_planned(context, a, b, options, plan.dispatch.kernel, c);
}

lpt_gemm_plan_info plan_values(const GemmPlan &plan) {
  lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
  values.m = plan.dispatch.shape.m;
  values.n = plan.dispatch.shape.n;
  values.k = plan.dispatch.shape.k;
  values.workspace_bytes = plan.dispatch.workspace_bytes;
  values.part_count = plan.dispatch.part_count;
  std::strncpy(values.kernel, plan.dispatch.name, sizeof values.kernel - 1);
  return values;
}

}  // namespace lpt
