#include "src/call/launch.hpp"
#include "src/cast/cast.hpp"
#include "src/cast/device_cast.hpp"

namespace lpt {
namespace {

HadamardRequest cut_rotation(const HadamardRequest &whole, int64_t begin, int64_t count) {
  HadamardRequest part = whole;
  part.source = cut_rows(whole.source, begin, count);
  part.target = cut_rows(whole.target, begin, count);
  return part;
}

// Rotates 16 rows at a time to f32 scratch and rounds them, because kernels of the CPU write f32.
Status rotate_and_round(Context &context, const HadamardRequest &whole, bool is_check_only) {
  constexpr int64_t kRows = 16;
  const int64_t rows = whole.source.rows, columns = whole.source.columns;
  const lpt_format given = whole.source.format.id, rounded = whole.target.format.id;
  HadamardRequest rotation = whole;
  rotation.target = dense_view(LPT_FORMAT_F32, nullptr, rows, columns);
  const KernelEntry<HadamardRequest> *kernel = nullptr;
  const KernelEntry<DequantizeRequest> *rounding = nullptr;
  LPT_TRY(select_kernel(context, "hadamard", hadamard_kernels(), rotation, {given, rounded}, &kernel));
  LPT_TRY(select_kernel(context, "dequantize", dequantize_kernels(), {rotation.target, whole.target},
                        {LPT_FORMAT_F32, rounded}, &rounding));
  if (is_check_only) return {};
  const ProfileScope measure(context, "hadamard", kernel->name, view_bytes(whole.source) + view_bytes(whole.target));
  const Parts parts = split(context, (rows + kRows - 1) / kRows, kRows * columns);
  std::vector<std::byte *> scratch(static_cast<size_t>(parts.count));
  for (std::byte *&piece : scratch) {
    LPT_TRY(context.host_scratch->take(static_cast<size_t>(kRows * columns) * sizeof(float), &piece));
  }
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t end = std::min((i + 1) * parts.length * kRows, rows);
    for (int64_t row = i * parts.length * kRows; row < end; row += kRows) {
      const int64_t count = std::min(kRows, rows - row);
      HadamardRequest part = rotation;
      part.source = cut_rows(whole.source, row, count);
      part.target = dense_view(LPT_FORMAT_F32, scratch[static_cast<size_t>(i)], count, columns);
      kernel->run(part);
      rounding->run({part.target, cut_rows(whole.target, row, count)});
    }
  });
  return {};
}

}  // namespace

Status rotate_matrix(Context &context, const HadamardRequest &rotation, bool is_check_only) {
  HadamardRequest whole = rotation;
  const MatrixView &source = rotation.source, &target = rotation.target;
  const bool is_cpu = is_on_cpu(context);
  if (is_cpu && target.format.id != LPT_FORMAT_F32) return rotate_and_round(context, rotation, is_check_only);
  if (!is_cpu && source.column_stride != 1) {
    LPT_TRY(transpose_on_device(context, transposed_view(source), is_check_only, whole.source));
  }
  return launch(context, {"hadamard", hadamard_kernels}, whole, {source.format.id, target.format.id}, is_check_only,
                {source.rows, source.columns, view_bytes(source) + view_bytes(target)}, cut_rotation);
}

}  // namespace lpt
