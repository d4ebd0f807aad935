// Memory and operations of a layer: executed on the CPU, or queued on the device of its context.
#include <algorithm>

#include "kernels/gemm/library.hpp"
#include "kernels/linear/cuda_kernels.hpp"
#include "src/call/launch.hpp"
#include "src/gemm/run.hpp"
#include "src/linear/parts.hpp"

namespace lpt {

const Device &device_of(const Call &call) { return call.context.queue.device(); }

bool is_on_device(const Call &call) { return !is_on_cpu(call.context); }

Status check_supported(const Call &call) {
  if (!is_on_device(call)) return {};
  const std::string place = device_text(device_of(call));
  const auto rejected = [&](const char *what) {
    return unsupported("%s: layers on %s have none", what, place.c_str());
  };
  if (call.options.comm != nullptr) return rejected("comm is given");
  if (call.options.input_smoothing != nullptr) return rejected("input_smoothing is given");
  for (const SparseRule &rule : call.recipe.sparsity) {
    if (rule.is_used()) return rejected("the recipe has sparsity");
  }
  return {};
}

Status allocate_storage(const Call &call, size_t bytes, Storage &storage) {
  if (!is_on_device(call)) {
    std::vector<SpareMemory> &spares = call.context.spares;
    storage.bytes = bytes;
    const auto spare = std::find_if(spares.begin(), spares.end(), [&](const auto &one) { return one.bytes == bytes; });
    if (spare == spares.end()) return allocate_uncleared(call.context.allocator, bytes, storage.memory);
    storage.memory = std::move(spare->memory);
    spares.erase(spare);
    return {};
  }
  if (storage.memory != nullptr && storage.bytes == bytes) return {};
  return allocate_uncleared(call.context.device_allocator, storage.bytes = bytes, storage.memory);
}

Status take_view(const Call &call, const Format &format, int64_t rows, int64_t columns, MatrixView &out_view) {
  // On the CPU a check also takes the memory, because make_rotation() writes signs to it.
  return take_matrix(call.context, format, rows, columns, call.is_check_only && is_on_device(call), out_view);
}

Status cast_view(const Call &call, const MatrixView &source, const MatrixView &target, const Cast &cast) {
  return cast_matrix(call.context, source, target, cast, call.is_check_only);
}

Status decode_view(const Call &call, const MatrixView &source, const MatrixView &target) {
  const auto decode = is_wide_float(source.format.id) ? widen_matrix : dequantize_matrix;
  return decode(call.context, source, target, call.is_check_only);
}

Status widen_view(const Call &call, const MatrixView &source, const MatrixView &target) {
  return widen_matrix(call.context, source, target, call.is_check_only);
}

Status rotate_view(const Call &call, const MatrixView &source, const MatrixView &target, const Rotation &rotation) {
  const HadamardRequest request = {.source = source,
                                   .target = target,
                                   .size = rotation.size,
                                   .is_inverse = rotation.is_inverse,
                                   .factors = rotation.factors,
                                   .signs = rotation.signs};
  return rotate_matrix(call.context, request, call.is_check_only);
}

Status multiply_views(const Call &call, const GemmCall &gemm) {
  if (!is_on_device(call)) return run_gemm(call.context, gemm, call.is_check_only);
  const Arena::Mark mark = call.context.scratch->mark();
  LPT_TRY(run_gemm(call.context, gemm, call.is_check_only));
  call.context.scratch->give_back(mark);  // later work in the queue runs after this GEMM
  return {};
}

Status write_unit_scales(const Call &call, const MatrixView &view) {
  if (!is_on_device(call)) {
    if (!call.is_check_only) set_unit_scales(view);
    return {};
  }
  if (view.format.has_block_scale()) {
    return unsupported("a cast to %s has given scales: layers on %s have them of tensors alone",
                       format_name(view.format.id).c_str(), device_text(device_of(call)).c_str());
  }
  if (!view.format.has_tensor_scale()) return {};
  const MatrixView one = dense_view(LPT_FORMAT_F32, view.tensor_scale, 1, 1);
  return run_on_device(call.context, "ones", OnesRequest{one}, {LPT_FORMAT_F32}, call.is_check_only);
}

// Runs the epilogue of a GEMM with `source` as its sums and beta = 1.
Status add_on_device(const Call &call, const MatrixView &source, float factor, const MatrixView &target) {
  GemmEpilogueRequest epilogue{};
  epilogue.x = source.data;
  epilogue.x_stride = source.row_stride;
  epilogue.c = target;
  epilogue.alpha = factor;
  epilogue.beta = 1.0f;
  return run_on_device(call.context, "gemm_finish", epilogue, {source.format.id, target.format.id}, call.is_check_only);
}

Status take_ones(const Call &call, lpt_format beside, int64_t count, MatrixView &out_ones) {
  // GEMMs of vendor libraries need operands of one format.
  const bool is_same = is_on_device(call) || beside == LPT_FORMAT_F64;
  const lpt_format format = is_same ? beside : lpt_format{LPT_FORMAT_F32};
  LPT_TRY(take_view(call, format_of(format), 1, count, out_ones));
  if (is_on_device(call)) {
    return run_on_device(call.context, "ones", OnesRequest{out_ones}, {format}, call.is_check_only);
  }
  for (int64_t i = 0; i < count && !call.is_check_only; ++i) {
    if (format == LPT_FORMAT_F64) {
      static_cast<double *>(out_ones.data)[i] = 1.0;
    } else {
      static_cast<float *>(out_ones.data)[i] = 1.0f;
    }
  }
  return {};
}

}  // namespace lpt
