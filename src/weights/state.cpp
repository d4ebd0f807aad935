// Serialization of packed weights: format, extents, then all panels as in memory, little-endian. For sparse packed weights,
// the bits of the lines and the stored units replace the panels.
#include <cstring>
#include <memory>
#include <vector>

#include "src/call/operation.hpp"
#include "src/tensor/packed.hpp"
#include "src/tensor/panels.hpp"
#include "src/tensor/sparse_panels.hpp"
#include "src/tensor/tensor.hpp"
#include "src/weights/sparse.hpp"
#include "src/weights/weights.hpp"

namespace lpt {
namespace {

// The header of the panels. Rank and storage share one word, so that the word of dense weights is the rank.
struct Header {
  Format format;
  SparsePacking packing{Layout::kPanels};
  int32_t rank = 0;
  int64_t extents[3] = {};
};

lpt_weights_storage storage_of(Layout layout) {
  if (layout == Layout::kBitmask) return LPT_WEIGHTS_STORAGE_BITMASK;
  return layout == Layout::kBlockSparse ? LPT_WEIGHTS_STORAGE_BLOCK_SPARSE : LPT_WEIGHTS_STORAGE_ALL;
}

size_t header_bytes(const Tensor &packed) {
  return 8 + 4 + 8 * static_cast<size_t>(packed.rank) + (packed.layout == Layout::kBlockSparse ? 8 : 0);
}

void write_header(const Tensor &packed, BlobWriter &writer) {
  writer.i64(packed.format.id);
  writer.u32(static_cast<uint32_t>(packed.rank) | static_cast<uint32_t>(storage_of(packed.layout)) << 8);
  for (int32_t i = 0; i < packed.rank; ++i) writer.i64(packed.extents[i]);
  if (packed.layout != Layout::kBlockSparse) return;
  writer.u32(static_cast<uint32_t>(packed.tile_rows));
  writer.u32(static_cast<uint32_t>(packed.tile_columns));
}

Status read_packing(BlobReader &reader, lpt_weights_storage storage, Header &header) {
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.storage = storage;
  if (storage == LPT_WEIGHTS_STORAGE_BLOCK_SPARSE) {
    options.tile_rows = static_cast<int32_t>(reader.u32());
    options.tile_columns = static_cast<int32_t>(reader.u32());
  }
  const Status status = check_packing(header.format, options, header.packing);
  if (!status.is_ok()) return damaged_state(status.message());
  // Only lpt_weights_options allow 0 for the default side.
  const bool has_sides =
      storage != LPT_WEIGHTS_STORAGE_BLOCK_SPARSE || (options.tile_rows != 0 && options.tile_columns != 0);
  return has_sides ? Status() : damaged_state("a side of tiles is 0");
}

Status read_header(BlobReader &reader, Header &header) {
  const lpt_format id = reader.i64();
  const uint32_t word = reader.u32();
  header.rank = static_cast<int32_t>(word & 0xFF);
  if (!reader.is_ok() || !find_format(id, header.format) || !is_packable(header.format))
    return damaged_state(text("format %lld is none that is packed", static_cast<long long>(id)));
  if (header.rank != 2 && header.rank != 3) return damaged_state(text("rank is %d, expected 2 or 3", header.rank));
  for (int32_t i = 0; i < header.rank; ++i) {
    header.extents[i] = reader.i64();
    if (header.extents[i] < 0 || header.extents[i] > (int64_t{1} << 40)) {
      return damaged_state(text("extent %d is %lld, expected 0 to 2^40", i, number(header.extents[i])));
    }
  }
  return read_packing(reader, static_cast<lpt_weights_storage>(word >> 8), header);
}

// The bits are first, because their count is the number of stored units.
void write_bits(const Tensor &packed, BlobWriter &writer) {
  if (!is_sparse_packed(packed.layout)) return;
  for (int64_t e = 0; e < filled_experts(packed); ++e) {
    const MatrixView view = panels_of(packed, e);
    writer.bytes(view.indices, static_cast<size_t>(sparse_lines(view) * view.index_stride));
  }
}

// The codes of one matrix.
struct Codes {
  std::byte *data;
  size_t bytes;
};

Codes codes_of(const MatrixView &view, const PanelSize &size) {
  auto *const data = static_cast<std::byte *>(view.data);
  if (!is_sparse_packed(view.layout)) return {data, static_cast<size_t>(panels_for(view.rows) * size.payload)};
  return {data + view.starts[0] * sparse_line(view).unit_bytes, stored_bytes(view)};
}

void write_panels(const Tensor &packed, BlobWriter &writer) {
  const PanelSize size = panel_size(packed.format, packed.extents[packed.rank - 1]);
  for (int64_t e = 0; e < filled_experts(packed); ++e) {
    const MatrixView view = panels_of(packed, e);
    const int64_t panels = panels_for(view.rows);
    const Codes codes = codes_of(view, size);
    writer.bytes(codes.data, codes.bytes);
    writer.bytes(view.block_scales, static_cast<size_t>(panels * size.scales));
    writer.bytes(view.zero_points, static_cast<size_t>(panels * size.zero_points));
  }
  if (packed.format.has_tensor_scale()) writer.f32(*packed.tensor_scale);
}

void read_panels(BlobReader &reader, const Tensor &packed) {
  const PanelSize size = panel_size(packed.format, packed.extents[packed.rank - 1]);
  for (int64_t e = 0; e < filled_experts(packed); ++e) {
    const MatrixView view = panels_of(packed, e);
    const int64_t panels = panels_for(view.rows);
    const Codes codes = codes_of(view, size);
    reader.bytes(codes.data, codes.bytes);
    reader.bytes(view.block_scales, static_cast<size_t>(panels * size.scales));
    reader.bytes(view.zero_points, static_cast<size_t>(panels * size.zero_points));
  }
  if (packed.format.has_tensor_scale()) *packed.tensor_scale = reader.f32();
}

// Checks the remaining bytes against the header before it allocates memory.
Status load_dense(Context &context, const Header &header, BlobReader &reader, std::unique_ptr<Tensor> &out_packed) {
  int64_t bytes = 0;
  const bool is_countable = count_panels_bytes(header.format, header.rank, header.extents, bytes);
  if (!reader.is_ok() || !is_countable || bytes != static_cast<int64_t>(reader.left_bytes())) {
    return damaged_state(text("%zu bytes of panels are not what its format and extents take", reader.left_bytes()));
  }
  return create_packed(context, header.format, header.rank, header.extents, out_packed);
}

// Returns whether a bit after the last one of a line is set.
bool has_stray_bits(const uint8_t *bits, int64_t lines, int64_t stride, int64_t count) {
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t i = count; i < 8 * stride; ++i) {
      if (has_bit(bits + line * stride, i)) return true;
    }
  }
  return false;
}

Status load_sparse(Context &context, const Header &header, BlobReader &reader, std::unique_ptr<Tensor> &out_packed) {
  const auto rejected = [&] {
    return damaged_state(
        text("%zu bytes of sparse packed weights are not what its format and extents take", reader.left_bytes()));
  };
  // The checks of dense weights also limit the extents of sparse packed weights.
  int64_t dense_bytes = 0;
  if (!reader.is_ok() || !count_panels_bytes(header.format, header.rank, header.extents, dense_bytes))
    return rejected();
  const int64_t k = header.extents[header.rank - 1];
  const SparsePacking &packing = header.packing;
  const SparseLine line = sparse_line(header.format, packing.layout, k, packing.tile_rows, packing.tile_columns);
  const Tensor shape = sparse_shape(header.format, header.rank, header.extents, packing);
  const bool is_filled = filled_experts(shape) > 0;
  const int64_t lines = is_filled ? all_sparse_lines(shape) : 0, stride = sparse_stride(line);
  int64_t bit_bytes = 0;
  if (!multiply(lines, stride, bit_bytes) || bit_bytes > static_cast<int64_t>(reader.left_bytes())) return rejected();
  std::vector<uint8_t> bits(static_cast<size_t>(bit_bytes));
  reader.bytes(bits.data(), bits.size());
  if (has_stray_bits(bits.data(), lines, stride, line.bits))
    return damaged_state("bits of tiles that are not there are set");
  const int64_t stored = count_bits(bits.data(), bit_bytes);
  const int64_t panels = (header.rank == 3 ? header.extents[0] : 1) * panels_for(header.extents[header.rank - 2]);
  const PanelSize size = panel_size(header.format, k);
  const int64_t rest = (is_filled ? panels * (size.scales + size.zero_points) : 0) +
                       (header.format.has_tensor_scale() ? int64_t{sizeof(float)} : 0);
  int64_t bytes = 0;
  const int64_t left = static_cast<int64_t>(reader.left_bytes()) - rest;  // negative if `rest` is larger
  if (!multiply(stored, line.unit_bytes, bytes) || bytes != left) return rejected();
  LPT_TRY(create_sparse(context, header.format, header.rank, header.extents, packing, stored, out_packed));
  if (!bits.empty()) std::memcpy(out_packed->sparse_indices, bits.data(), bits.size());
  count_starts(*out_packed, 0, lines);
  return {};
}

}  // namespace

size_t weights_state_bytes(const Tensor &packed) {
  return kBlobHeaderBytes + header_bytes(packed) + panels_bytes(packed);
}

BlobWriter save_weights(const Tensor &packed) {
  BlobWriter writer(BlobKind::kWeights);
  write_header(packed, writer);
  write_bits(packed, writer);
  write_panels(packed, writer);
  return writer;
}

Status load_weights(Context &context, BlobReader &reader, Tensor **out_packed) {
  Header header;
  LPT_TRY(read_header(reader, header));
  std::unique_ptr<Tensor> packed;
  LPT_TRY(is_sparse_packed(header.packing.layout) ? load_sparse(context, header, reader, packed)
                                                  : load_dense(context, header, reader, packed));
  read_panels(reader, *packed);
  *out_packed = packed.release();
  return {};
}

}  // namespace lpt
