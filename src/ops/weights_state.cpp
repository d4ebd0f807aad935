// Packed weights as bytes: format, extents, then all panels as they lie in memory (little-endian, as all that runs LPT).
#include <memory>

#include "src/ops/operation.hpp"
#include "src/ops/weights.hpp"
#include "src/ops/weights_panels.hpp"

namespace lpt {
namespace {

Status damaged(std::string why) { return Status(LPT_INVALID_STATE, "saved state: " + why); }

}  // namespace

size_t weights_state_bytes(const Tensor &packed) {
  return kBlobHeaderBytes + 8 + 4 + 8 * static_cast<size_t>(packed.rank) + panels_bytes(packed);
}

BlobWriter save_weights(const Tensor &packed) {
  BlobWriter writer(BlobKind::kWeights);
  writer.i64(packed.format.id);
  writer.u32(static_cast<uint32_t>(packed.rank));
  for (int32_t i = 0; i < packed.rank; ++i) writer.i64(packed.extents[i]);
  const PanelSize size = panel_size(packed.format, packed.extents[packed.rank - 1]);
  const int64_t panels = panels_for(packed.extents[packed.rank - 2]);
  for (int64_t e = 0; e < filled_experts(packed); ++e) {
    const MatrixView view = panels_of(packed, e);
    writer.bytes(view.data, static_cast<size_t>(panels * size.payload));
    writer.bytes(view.block_scales, static_cast<size_t>(panels * size.scales));
    writer.bytes(view.zero_points, static_cast<size_t>(panels * size.zero_points));
  }
  if (packed.format.has_tensor_scale()) writer.f32(*packed.tensor_scale);
  return writer;
}

Status load_weights(Context &context, BlobReader &reader, Tensor **out_packed) {
  const lpt_format id = reader.i64();
  const auto rank = static_cast<int32_t>(reader.u32());
  Format format;
  if (!reader.is_ok() || !find_format(id, format) || !is_packable(format))
    return damaged(text("format %lld is none that is packed", static_cast<long long>(id)));
  if (rank != 2 && rank != 3) return damaged(text("rank is %d, expected 2 or 3", rank));
  int64_t extents[3] = {};
  for (int32_t i = 0; i < rank; ++i) {
    extents[i] = reader.i64();
    if (extents[i] < 0 || extents[i] > (int64_t{1} << 40)) {
      return damaged(text("extent %d is %lld, expected 0 to 2^40", i, static_cast<long long>(extents[i])));
    }
  }
  // What the header announces must be there before memory is taken for it.
  int64_t bytes = 0;
  const bool is_countable = count_panels_bytes(format, rank, extents, bytes);
  if (!reader.is_ok() || !is_countable || bytes != static_cast<int64_t>(reader.left_bytes())) {
    return damaged(text("%zu bytes of panels are not what its format and extents take", reader.left_bytes()));
  }
  std::unique_ptr<Tensor> packed;
  LPT_TRY(create_packed(context, format, rank, extents, packed));
  const PanelSize size = panel_size(format, extents[rank - 1]);
  const int64_t panels = panels_for(extents[rank - 2]);
  for (int64_t e = 0; e < filled_experts(*packed); ++e) {
    const MatrixView view = panels_of(*packed, e);
    reader.bytes(view.data, static_cast<size_t>(panels * size.payload));
    reader.bytes(view.block_scales, static_cast<size_t>(panels * size.scales));
    reader.bytes(view.zero_points, static_cast<size_t>(panels * size.zero_points));
  }
  if (format.has_tensor_scale()) *packed->tensor_scale = reader.f32();
  *out_packed = packed.release();
  return {};
}

}  // namespace lpt
