#include "src/cast/device_sums.hpp"

#include "kernels/quantize/cuda/cuda_sums.hpp"
#include "src/call/launch.hpp"
#include "src/cast/casting.hpp"

namespace lpt {
namespace {

std::vector<TileTarget> targets_of(const MatrixView (&outputs)[2]) {
  std::vector<TileTarget> targets;
  for (const int i : {0, 1}) {
    if (outputs[i].format.id != LPT_FORMAT_NONE) targets.push_back({outputs[i].format, i == 1});
  }
  return targets;
}

}  // namespace

Status count_on_device(Context &context, const MatrixView &source, const MatrixView (&outputs)[2], const Cast &cast,
                       bool is_check_only) {
  const MatrixView &quantized = outputs[0];
  if (quantized.format.id == LPT_FORMAT_NONE) {
    return unsupported("statistics is given without quantized: on %s it counts no transposed output",
                       device_text(context.queue.device()).c_str());
  }
  // The CPU counts the elements after rotation and smoothing. On devices the cast does not return these elements.
  if (cast.preparation.is_needed() || cast.smoothing != nullptr) {
    return unsupported("statistics is given with %s: on %s it counts the source as it is",
                       cast.preparation.hadamard_size != 0 ? "hadamard_size" : "smoothing",
                       device_text(context.queue.device()).c_str());
  }
  const Tiles tiles = cut_in_tiles(source, targets_of(outputs), cast.preparation);
  TileSumsRequest request{source, quantized, tiles.tile_rows, tiles.tile_columns, nullptr, cast.sums};
  const KernelEntry<TileSumsRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "tile_sums", request, {source.format.id, quantized.format.id}, &kernel));
  if (is_check_only || source.rows == 0 || source.columns == 0) return {};
  std::byte *scratch = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(sums_scratch(request)) * sizeof(double), &scratch));
  request.scratch = reinterpret_cast<double *>(scratch);
  return queue_kernel(context, *kernel, request);
}

}  // namespace lpt
