// State of an optimizer in a device's memory: made, fetched, sent.
#include "kernels/optimizer/cuda_found.hpp"
#include "src/call/device.hpp"
#include "src/optimizer/device.hpp"

namespace lpt {
namespace {

// Has been copied when the call returns: either may end with it.
Status copy_now(const Queue &queue, void *target, const void *source, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  LPT_TRY(queue.copy({target, count, source, count, count, 1}));
  return queue.synchronize();
}

// As many of a number as blocks need.
template <typename Number>
Status fill_blocks(const Context &context, int64_t count, Number number, StateMemory &array) {
  const std::vector<Number> numbers(static_cast<size_t>(count), number);
  LPT_TRY(array.allocate_on(context, static_cast<int64_t>(numbers.size() * sizeof(Number))));
  return copy_now(context.queue, array.data(), numbers.data(), array.bytes());
}

Status allocate_moment_on_device(const Context &context, int64_t elements, Moment &moment) {
  if (!moment.is_kept()) return {};
  const uint8_t zero = moment.element == kDynamicSigned ? static_cast<uint8_t>(kSignedTree.zero) : 0;
  LPT_TRY(moment.codes.allocate_on(context, elements * element_bytes(moment.element)));
  LPT_TRY(context.queue.fill(moment.codes.data(), zero, moment.codes.bytes()));
  if (moment.block == 0) return {};
  const int64_t blocks = (elements + moment.block - 1) / moment.block;
  LPT_TRY(fill_blocks(context, blocks, 1.0f, moment.scales));
  return moment.is_expanded ? fill_blocks(context, blocks, uint16_t{16}, moment.exponents) : Status();
}

Status allocate_compensation_on_device(const Context &context, OptimizerParameter &parameter) {
  if (!parameter.is_compensated) return {};
  StateMemory &array = parameter.compensation;
  LPT_TRY(array.allocate_on(context, parameter.elements * element_bytes(LPT_FORMAT_BF16)));
  return context.queue.fill(array.data(), 0, array.bytes());
}

// What stands in the moments of `parameter`.
Status send_scales(const Context &context, OptimizerParameter &parameter) {
  if (!parameter.has_whole_scales()) return {};
  StepScales scales[2] = {};
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (int k = 0; k < 2; ++k) {
    scales[0].scale[k] = moments[k]->scale;
    scales[0].amax[k] = moments[k]->amax;
  }
  parameter.transpose = 0;
  LPT_TRY(parameter.whole_scales.allocate_on(context, sizeof scales));
  return copy_now(context.queue, parameter.whole_scales.data(), scales, sizeof scales);
}

Status fetch_scales(const Context &context, OptimizerParameter &parameter) {
  if (!parameter.has_whole_scales()) return {};
  StepScales scales[2];
  LPT_TRY(copy_now(context.queue, scales, parameter.whole_scales.data(), sizeof scales));
  Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (int k = 0; k < 2; ++k) {
    const bool is_delayed = moments[k]->scaling == LPT_SCALER_KIND_DELAYED;
    moments[k]->scale = scales[parameter.transpose].scale[k];
    moments[k]->amax = is_delayed ? scales[parameter.transpose].amax[k] : 0.0f;
  }
  return {};
}

}  // namespace

Status StateMemory::allocate_on(const Context &context, int64_t bytes) {
  bytes_ = static_cast<size_t>(bytes);
  return allocate_uncleared(context.device_allocator, bytes_, memory_);
}

Status allocate_facts(Context &context, std::shared_ptr<std::byte> &out_facts) {
  return allocate_uncleared(context.device_allocator, sizeof(GradientFacts), out_facts);
}

Status allocate_state_on_device(Context &context, const Optimizer &optimizer, OptimizerParameter &parameter) {
  LPT_TRY(check_moments_on_device(context, optimizer, parameter));
  LPT_TRY(allocate_moment_on_device(context, parameter.elements, parameter.first));
  LPT_TRY(allocate_moment_on_device(context, parameter.elements, parameter.second));
  LPT_TRY(allocate_compensation_on_device(context, parameter));
  return send_scales(context, parameter);
}

Status fetch_state(const Context &context, const Optimizer &optimizer, const OptimizerParameter &there,
                   OptimizerParameter &out_here) {
  out_here = there;
  Status status;
  for_each_array(out_here, [&](StateMemory &array) {
    if (!status.is_ok() || array.data() == nullptr) return;
    StateMemory here;
    status = here.allocate(optimizer, static_cast<int64_t>(array.bytes()));
    if (status.is_ok()) status = copy_now(context.queue, here.data(), array.data(), array.bytes());
    array = here;
  });
  LPT_TRY(std::move(status));
  return fetch_scales(context, out_here);
}

Status send_state(const Context &context, const OptimizerParameter &here, OptimizerParameter &out_on_device) {
  OptimizerParameter sent = here;
  Status status;
  for_each_array(sent, [&](StateMemory &array) {
    if (!status.is_ok() || array.data() == nullptr) return;
    StateMemory there;
    status = there.allocate_on(context, static_cast<int64_t>(array.bytes()));
    if (status.is_ok()) status = copy_now(context.queue, there.data(), array.data(), array.bytes());
    array = there;
  });
  LPT_TRY(std::move(status));
  LPT_TRY(send_scales(context, sent));
  out_on_device = std::move(sent);
  return {};
}

}  // namespace lpt
