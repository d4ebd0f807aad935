// Memory of the state of an optimizer: allocation on the CPU, in files or on a device, and copies between these.
#include <algorithm>

#include "kernels/optimizer/cuda_found.hpp"
#include "src/formats/dynamic_tree.hpp"
#include "src/optimizer/optimizer.hpp"

namespace lpt {
namespace {

// Copies and waits, so that the caller may free either buffer.
Status copy_now(const Queue &queue, void *target, const void *source, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  LPT_TRY(queue.copy({target, count, source, count, count, 1}));
  return queue.synchronize();
}

// The memory in which state is allocated. `device` is nullptr for the CPU.
struct StatePlace {
  const Optimizer &optimizer;
  const Context *device;
};

// Allocates an array and fills it with one number.
template <typename Number>
Status make_array(const StatePlace &place, int64_t count, Number number, StateMemory &array) {
  const int64_t bytes = count * static_cast<int64_t>(sizeof(Number));
  if (place.device == nullptr) {
    LPT_TRY(array.allocate(place.optimizer, bytes));  // memory is zeroed
    if (number != 0) std::fill_n(reinterpret_cast<Number *>(array.data()), count, number);
    return {};
  }
  LPT_TRY(array.allocate_on(*place.device, bytes));
  if constexpr (sizeof(Number) == 1) return place.device->queue.fill(array.data(), number, array.bytes());
  const std::vector<Number> numbers(static_cast<size_t>(count), number);
  return copy_now(place.device->queue, array.data(), numbers.data(), array.bytes());
}

Status make_moment(const StatePlace &place, int64_t elements, Moment &moment) {
  if (!moment.is_kept()) return {};
  const uint8_t zero = moment.element == kDynamicSigned ? static_cast<uint8_t>(kSignedTree.zero) : 0;
  LPT_TRY(make_array(place, elements * element_bytes(moment.element), zero, moment.codes));
  if (moment.block == 0) return {};
  const int64_t blocks = (elements + moment.block - 1) / moment.block;
  LPT_TRY(make_array(place, blocks, 1.0f, moment.scales));
  return moment.is_expanded ? make_array(place, blocks, uint16_t{16}, moment.exponents) : Status();
}

Status make_arrays(const StatePlace &place, OptimizerParameter &parameter) {
  LPT_TRY(make_moment(place, parameter.elements, parameter.first));
  LPT_TRY(make_moment(place, parameter.elements, parameter.second));
  if (!parameter.is_compensated) return {};
  return make_array(place, parameter.elements * element_bytes(LPT_FORMAT_BF16), uint8_t{0}, parameter.compensation);
}

// Copies the tensor scales and amaxes of the moments to the device.
Status send_scales(const Context &context, OptimizerParameter &parameter) {
  if (!parameter.has_whole_scales()) return {};
  StepScales scales[2] = {};
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  for (int k = 0; k < 2; ++k) {
    scales[0].scale[k] = moments[k]->scale;
    scales[0].amax[k] = moments[k]->amax;
  }
  parameter.slot = 0;
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
    moments[k]->scale = scales[parameter.slot].scale[k];
    moments[k]->amax = is_delayed ? scales[parameter.slot].amax[k] : 0.0f;
  }
  return {};
}

}  // namespace

int64_t element_bytes(lpt_format element) { return is_dynamic(element) ? 1 : element_bits(element) / 8; }

Status StateMemory::allocate(const Optimizer &optimizer, int64_t bytes) {
  bytes_ = static_cast<size_t>(bytes);
  if (optimizer.state_directory.empty()) return allocate_bytes(optimizer.allocator, bytes_, memory_);
  return MappedMemory::create(optimizer.state_directory.c_str(), bytes_, file_);
}

Status StateMemory::allocate_on(const Context &context, int64_t bytes) {
  bytes_ = static_cast<size_t>(bytes);
  return allocate_uncleared(context.device_allocator, bytes_, memory_);
}

Status allocate_facts(Context &context, std::shared_ptr<std::byte> &out_facts) {
  return allocate_uncleared(context.device_allocator, sizeof(GradientStats), out_facts);
}

void dont_need(const OptimizerParameter &parameter, int64_t begin, int64_t end) {
  for_each_range(parameter, begin, end,
                 [](const MappedMemory &file, size_t first, size_t last) { file.dont_need(first, last); });
}

Status allocate_state(const Optimizer &optimizer, OptimizerParameter &parameter) {
  LPT_TRY(make_arrays({optimizer, nullptr}, parameter));
  dont_need(parameter, 0, parameter.elements);
  return {};
}

Status allocate_state_on_device(Context &context, const Optimizer &optimizer, OptimizerParameter &parameter) {
  LPT_TRY(check_moments_on_device(context, optimizer, parameter));
  LPT_TRY(make_arrays({optimizer, &context}, parameter));
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

Status take_loaded(const Context &context, const Optimizer &optimizer, OptimizerParameter loaded,
                   OptimizerParameter &out_parameter) {
  if (optimizer.device.is_cpu()) {
    out_parameter = std::move(loaded);
    return {};
  }
  Status status;
  for_each_array(loaded, [&](StateMemory &array) {
    if (!status.is_ok() || array.data() == nullptr) return;
    StateMemory there;
    status = there.allocate_on(context, static_cast<int64_t>(array.bytes()));
    if (status.is_ok()) status = copy_now(context.queue, there.data(), array.data(), array.bytes());
    array = there;
  });
  LPT_TRY(std::move(status));
  LPT_TRY(send_scales(context, loaded));
  out_parameter = std::move(loaded);
  return {};
}

}  // namespace lpt
