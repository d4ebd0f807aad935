#include "src/call/device.hpp"

namespace lpt {

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
