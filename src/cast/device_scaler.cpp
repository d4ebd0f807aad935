#include "src/cast/device_scaler.hpp"

#include <cstring>

#include "src/call/device.hpp"

namespace lpt {
namespace {

// The numbers, then the history.
size_t bytes_of(const Scaler &scaler) { return sizeof(ScalerNumbers) + scaler.history.size() * sizeof(float); }

Status copy(const Queue &queue, void *target, const void *source, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  LPT_TRY(queue.copy({target, count, source, count, count, 1}));
  return queue.synchronize();
}

}  // namespace

ScalerNumbers *numbers_of(const Scaler &scaler) { return reinterpret_cast<ScalerNumbers *>(scaler.there.get()); }

Status send_scaler(const Context &context, Scaler &scaler) {
  std::vector<std::byte> bytes(bytes_of(scaler));
  const ScalerNumbers numbers = {history_amax(scaler), scaler.kept_amax, scaler.running_amax};
  std::memcpy(bytes.data(), &numbers, sizeof numbers);
  std::memcpy(bytes.data() + sizeof numbers, scaler.history.data(), scaler.history.size() * sizeof(float));
  if (scaler.there == nullptr) LPT_TRY(allocate_uncleared(context.device_allocator, bytes.size(), scaler.there));
  scaler.device = context.queue.device();
  return copy(context.queue, scaler.there.get(), bytes.data(), bytes.size());
}

Status fetch_scaler(const Context &context, const Scaler &scaler, Scaler &out_here) {
  LPT_TRY(check_place(context, scaler, "scaler"));
  out_here = scaler;
  if (scaler.there == nullptr) return {};
  std::vector<std::byte> bytes(bytes_of(scaler));
  LPT_TRY(copy(context.queue, bytes.data(), scaler.there.get(), bytes.size()));
  ScalerNumbers numbers;
  std::memcpy(&numbers, bytes.data(), sizeof numbers);
  std::memcpy(out_here.history.data(), bytes.data() + sizeof numbers, scaler.history.size() * sizeof(float));
  out_here.kept_amax = numbers.kept_amax;
  out_here.running_amax = numbers.running_amax;
  return {};
}

Status update_scaler_on_device(Context &context, Scaler &scaler) {
  if (!scaler.is_recorded) return {};
  auto *const history = reinterpret_cast<float *>(scaler.there.get() + sizeof(ScalerNumbers));
  const int32_t length = scaler.options.history_length;
  const ScalerUpdateRequest request = {numbers_of(scaler), history, length,
                                       static_cast<int32_t>(scaler.update_count % length), scaler.options.history_rule};
  const KernelEntry<ScalerUpdateRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "scaler_update", request, {LPT_FORMAT_F32}, &kernel));
  LPT_TRY(queue_kernel(context, *kernel, request));
  ++scaler.update_count;
  scaler.is_recorded = false;
  return {};
}

}  // namespace lpt
