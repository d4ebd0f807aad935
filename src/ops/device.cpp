#include "src/ops/device.hpp"

namespace lpt {

Status open_device(Context &context, const Device &device) {
  LPT_TRY(Queue::open(device, context.queue));
  if (device.is_cpu()) return {};
  context.device_allocator = context.queue.allocator();
  context.device_arena = std::make_unique<Arena>(context.device_allocator);
  log_line(context, LPT_LOG_LEVEL_INFO, "works on " + device_text(device));
  return {};
}

Status set_stream(Context &context, void *stream) {
  if (context.queue.device().is_cpu()) return unsupported("the context works on the CPU, which has no streams");
  if (stream == context.queue.stream()) return {};
  // Work on the new stream does not wait for the old one's: its scratch is another, and freeing the old one waits.
  context.device_arena = std::make_unique<Arena>(context.device_allocator);
  context.queue.set_stream(stream);
  return {};
}

Status take_on_device(Context &context, size_t bytes, std::byte **out) {
  return context.device_arena->take(bytes, out);
}

Status take_matrix_on_device(Context &context, const Format &format, int64_t rows, int64_t columns, bool is_check_only,
                             MatrixView &out_view) {
  const size_t bytes = lay_out_matrix(format, rows, columns, nullptr, out_view);
  if (is_check_only) return {};
  std::byte *memory = nullptr;
  LPT_TRY(take_on_device(context, bytes, &memory));
  lay_out_matrix(format, rows, columns, memory, out_view);
  return {};
}

}  // namespace lpt
