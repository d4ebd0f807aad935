#include "src/cast/device_sums.hpp"

#include "kernels/quantize/cuda_sums.hpp"
#include "src/cast/casting.hpp"
#include "src/call/device.hpp"
#include "src/cast/quantize.hpp"

namespace lpt {
namespace {

Status check_statistics_place(const Context &context, const lpt_statistics &statistics) {
  const Device &here = context.queue.device();
  if (statistics.device == here) return {};
  return invalid("statistics counts on %s: expected one of a context on %s", device_text(statistics.device).c_str(),
                 device_text(here).c_str());
}

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
  // The CPU counts what rotation and smoothing made of the numbers, which the cast has kept for itself.
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
  LPT_TRY(take_on_device(context, static_cast<size_t>(sums_scratch(request)) * sizeof(double), &scratch));
  request.scratch = reinterpret_cast<double *>(scratch);
  return queue_kernel(context, *kernel, request);
}

Status create_statistics(Context &context, lpt_statistics **out_statistics) {
  auto statistics = std::make_unique<lpt_statistics>();
  statistics->device = context.queue.device();
  if (!statistics->device.is_cpu()) {
    LPT_TRY(allocate_uncleared(context.device_allocator, sizeof(CastStatistics), statistics->there));
  }
  LPT_TRY(reset_statistics(context, *statistics));
  *out_statistics = statistics.release();
  return {};
}

Status read_statistics(Context &context, const lpt_statistics &statistics, CastStatistics &out_sums) {
  LPT_TRY(check_statistics_place(context, statistics));
  out_sums = statistics.sums;
  if (statistics.there == nullptr) return {};
  constexpr int64_t kBytes = sizeof out_sums;
  LPT_TRY(context.queue.copy({&out_sums, kBytes, statistics.there.get(), kBytes, kBytes, 1}));
  return context.queue.synchronize();
}

// Zeros of every kind are zero bytes.
Status reset_statistics(Context &context, lpt_statistics &statistics) {
  LPT_TRY(check_statistics_place(context, statistics));
  statistics.sums = {};
  return statistics.there == nullptr ? Status() : context.queue.fill(statistics.there.get(), 0, sizeof(CastStatistics));
}

Status sums_of(const Context &context, lpt_statistics &statistics, CastStatistics **out_sums) {
  LPT_TRY(check_statistics_place(context, statistics));
  const bool is_here = statistics.there == nullptr;
  *out_sums = is_here ? &statistics.sums : reinterpret_cast<CastStatistics *>(statistics.there.get());
  return {};
}

}  // namespace lpt
