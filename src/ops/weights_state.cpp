// Packed weights as bytes: format, extents, then all panels as they lie in memory (little-endian, as all that runs LPT).
#include <memory>

#include "kernels/gemm/panels.hpp"
#include "src/ops/operation.hpp"
#include "src/ops/weights.hpp"

namespace lpt {
namespace {

// Panels of one matrix; a view of the first rows has fewer than it was cut from.
int64_t panels_of_matrix(const Tensor &packed) {
  return (packed.extents[packed.rank - 2] + kPanelLanes - 1) / kPanelLanes;
}

int64_t experts_of(const Tensor &packed) { return packed.rank == 3 ? packed.extents[0] : 1; }

}  // namespace

size_t weights_state_bytes(const Tensor &packed) {
  const PanelSize size = panel_size(packed.format, packed.extents[packed.rank - 1]);
  const int64_t panels = experts_of(packed) * panels_of_matrix(packed);
  const int64_t head = 8 + 4 + 8 * packed.rank;
  const int64_t bytes = head + panels * (size.payload + size.scales + size.zero_points);
  return kBlobHeaderBytes + static_cast<size_t>(bytes) + (packed.format.has_tensor_scale() ? sizeof(float) : 0);
}

BlobWriter save_weights(const Tensor &packed) {
  BlobWriter writer(BlobKind::kWeights);
  writer.i64(packed.format.id);
  writer.u32(static_cast<uint32_t>(packed.rank));
  for (int32_t i = 0; i < packed.rank; ++i) writer.i64(packed.extents[i]);
  const PanelSize size = panel_size(packed.format, packed.extents[packed.rank - 1]);
  const int64_t panels = panels_of_matrix(packed);
  for (int64_t e = 0; e < experts_of(packed); ++e) {
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
  if (!reader.is_ok() || !find_format(id, format)) return blob_mismatch("format", id, 0);
  if (rank != 2 && rank != 3) return blob_mismatch("rank", rank, 2);
  int64_t extents[3] = {};
  int64_t elements = 1;
  for (int32_t i = 0; i < rank; ++i) {
    extents[i] = reader.i64();
    const int64_t lanes = i == rank - 2 ? (extents[i] + kPanelLanes - 1) / kPanelLanes * kPanelLanes : extents[i];
    if (extents[i] < 0 || extents[i] > (int64_t{1} << 40) || !multiply(elements, lanes, elements)) {
      return blob_mismatch("extent", extents[i], 0);
    }
  }
  // An element takes half a byte at least: what the header says must be there before memory is taken for it.
  if (!reader.is_ok() || elements / 2 > static_cast<int64_t>(reader.left_bytes())) {
    return blob_mismatch("bytes", static_cast<long long>(reader.left_bytes()), elements / 2);
  }
  Tensor *packed = nullptr;
  LPT_TRY(create_packed(context, format, rank, extents, &packed));
  std::unique_ptr<Tensor> owner(packed);
  const PanelSize size = panel_size(format, extents[rank - 1]);
  const int64_t panels = panels_of_matrix(*packed);
  for (int64_t e = 0; e < experts_of(*packed); ++e) {
    const MatrixView view = panels_of(*packed, e);
    reader.bytes(view.data, static_cast<size_t>(panels * size.payload));
    reader.bytes(view.block_scales, static_cast<size_t>(panels * size.scales));
    reader.bytes(view.zero_points, static_cast<size_t>(panels * size.zero_points));
  }
  if (format.has_tensor_scale()) *packed->tensor_scale = reader.f32();
  if (!reader.is_ok()) return blob_mismatch("missing bytes", 0, 1);
  if (reader.left_bytes() != 0) return blob_mismatch("bytes left over", static_cast<long long>(reader.left_bytes()), 0);
  *out_packed = owner.release();
  return {};
}

}  // namespace lpt
