// Expansion of packed weights to f32: panels of codes become panels of dwords. Included by ISA files: all functions have
// internal linkage.
#pragma once

#include "kernels/gemm/operand.hpp"
#include "kernels/gemm/panels.hpp"

namespace lpt {
namespace {

// One panel of b to decode.
struct PanelReader {
  const uint8_t *codes;
  const uint8_t *scales;  // NULL: none along k
  const uint8_t *zeros;   // NULL: none
  lpt_format element, scale_format;
  int64_t scale_bytes;  // bytes of the scales of 32 lanes
  int64_t block_length;
  int64_t k;
  const float *values;  // indexed by code, if codes have at most 8 bits
  uint32_t *to;         // the output slab
  int64_t lane;         // the first lane of the panel in the slab
  Depth depth;          // of the slab

  int64_t block_of(int64_t p) const { return scales == nullptr && zeros == nullptr ? 0 : p / block_length; }
};

// Returns a reader of panel `panel` of the view.
inline PanelReader panel_reader(const MatrixView &view, int64_t panel, int64_t k) {
  const Format &format = view.format;
  const int64_t blocks = panel_blocks(format, k);
  PanelReader reader = {};
  reader.codes = static_cast<const uint8_t *>(view.data) + panel * panel_bytes(panel_kind(format.element), k);
  reader.element = format.element;
  reader.scale_format = format.block_scale;
  reader.k = k;
  reader.block_length = format.block_columns == LPT_BLOCK_EXTENT_FULL ? k : format.block_columns;
  reader.scale_bytes = kPanelLanes * scale_bytes(format.block_scale);
  if (format.has_block_scale() && blocks > 1) {
    reader.scales = static_cast<const uint8_t *>(view.block_scales) + panel * blocks * reader.scale_bytes;
  }
  if (format.has_zero_point()) reader.zeros = view.zero_points + panel * blocks * kPanelLanes;
  return reader;
}

// Returns the address of vector v of the panel in the slab, whose panels have kVectors vectors of kWidth lanes.
template <int kVectors, int kWidth>
float *vector_of(const PanelReader &reader, int64_t v) {
  const int64_t vector = reader.lane / kWidth + v;
  const int64_t panel = vector / kVectors * kVectors * kWidth;
  return reinterpret_cast<float *>(reader.to + panel * reader.depth.count + vector % kVectors * kWidth);
}

// Decodes steps `begin` to `end` of a panel. Decode has one function per panel kind.
template <typename Decode, typename Sink>
[[gnu::always_inline]] inline void decode_panel(const PanelReader &reader, int64_t begin, int64_t end, Sink &sink) {
  switch (panel_kind(reader.element)) {
    case PanelKind::kNibbles:
      return Decode::nibbles(reader, begin, end, sink);
    case PanelKind::kBytePairs:
      return Decode::byte_pairs(reader, begin, end, sink);
    case PanelKind::kByteQuads:
      return Decode::byte_quads(reader, begin, end, sink);
    case PanelKind::kHalves:
      return Decode::halves(reader, begin, end, sink);
    case PanelKind::kWords:
      return Decode::words(reader, begin, end, sink);
  }
}

// Expands a depth of the panels of `lanes` lanes from lane `first`, by the sink Decode::Store. `values` is indexed by
// code. It is a parameter because GCC 12 reads a local table by aligned loads and does not align it under AddressSanitizer.
template <typename Decode>
[[gnu::noinline, gnu::flatten]] void expand_panels(const MatrixView &view, int64_t first, int64_t lanes, int64_t k,
                                                   const Depth &depth, const float *values, uint32_t *to) {
  for (int64_t lane = 0; lane < lanes; lane += kPanelLanes) {
    PanelReader reader = panel_reader(view, (first + lane) / kPanelLanes, k);
    reader.values = values;
    reader.to = to;
    reader.lane = lane;
    reader.depth = depth;
    typename Decode::Store store(reader);
    decode_panel<Decode>(reader, depth.first, depth.first + depth.count, store);
  }
}

// Writes the values of all codes of at most 8 bits.
inline void set_values(lpt_format element, ValueTable &values) {
  const PanelKind kind = panel_kind(element);
  if (kind == PanelKind::kHalves || kind == PanelKind::kWords) return;
  const Element known = element_of(element);
  for (uint32_t code = 0; code < 1u << known.bits; ++code) values[code] = decode(known, code);
}

template <typename Decode>
void expand_panels(const MatrixView &view, int64_t first, int64_t lanes, int64_t k, const Depth &depth, uint32_t *to) {
  ValueTable values = {};
  set_values(view.format.element, values);
  expand_panels<Decode>(view, first, lanes, k, depth, values, to);
}

}  // namespace
}  // namespace lpt
