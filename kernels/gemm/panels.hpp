// Packed weights: the layout in panels that GEMM kernels read fastest.
//
// A panel holds kPanelLanes lanes (rows of an n × k matrix) for all of k, in lines of 64 bytes. A tile then reads one stream
// and decodes it in registers. k is padded to a multiple of kPanelSteps and the lanes to full panels, with code 0. Elements are
// stored as codes, without scales. The position of code (lane, k) depends on the element format only, not on the CPU. With v =
// lane / 16 and l = lane % 16:
//
//   kNibbles    elements of at most 4 bits. Line k / 4; byte 4 · l + {0, 2, 1, 3}[k % 4], nibble v. Words of the line, shifted
//               right by 0, 4, 8 and 12, are pairs of k: (0, 1) of v 0, (0, 1) of v 1, (2, 3) of v 0, (2, 3) of v 1.
//   kBytePairs  floats of 5 to 8 bits. Line k / 2; byte 16 · (l / 4) + 8 · v + 2 · (l % 4) + k % 2. Look-ups of the low and the
//               high bytes of bf16 are interleaved to pairs of k of v 0 and of v 1.
//   kByteQuads  other elements of 5 to 8 bits. Line 2 · (k / 4) + v; byte 4 · l + k % 4.
//   kHalves     elements of 16 bits. Line 2 · (k / 2) + v; word 2 · l + k % 2.
//   kWords      elements of 32 bits. Line 2 · k + v; dword l.
//
// A panel has kPanelLanes block scales and zero points for each block of k.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/formats/view.hpp"

namespace lpt {

constexpr int64_t kPanelLanes = 32;
constexpr int64_t kPanelSteps = 4;
constexpr int64_t kPanelLineBytes = 64;
constexpr int64_t kNibbleOrder[4] = {0, 2, 1, 3};  // of k in a dword; the permutation is its own inverse

enum class PanelKind : uint8_t { kNibbles, kBytePairs, kByteQuads, kHalves, kWords };

static inline PanelKind panel_kind(lpt_format element) {
  if (element == LPT_FORMAT_F32) return PanelKind::kWords;
  const Element known = element_of(element);
  if (known.bits == 16) return PanelKind::kHalves;
  if (known.is_ternary || known.bits <= 4) return PanelKind::kNibbles;
  return known.is_integer || known.levels != nullptr ? PanelKind::kByteQuads : PanelKind::kBytePairs;
}

// Returns the bytes of kPanelSteps steps of k of one panel.
static inline int64_t panel_step_bytes(PanelKind kind) {
  switch (kind) {
    case PanelKind::kNibbles:
      return kPanelLineBytes;
    case PanelKind::kBytePairs:
    case PanelKind::kByteQuads:
      return 2 * kPanelLineBytes;
    case PanelKind::kHalves:
      return 4 * kPanelLineBytes;
    case PanelKind::kWords:
      return 8 * kPanelLineBytes;
  }
  return 0;
}

static inline int64_t panel_bytes(PanelKind kind, int64_t k) {
  return (k + kPanelSteps - 1) / kPanelSteps * panel_step_bytes(kind);
}

// Returns the number of scale blocks along k of a view in panels.
static inline int64_t panel_blocks(const Format &format, int64_t k) {
  if (!format.has_block_scale() || k == 0) return 0;
  if (format.block_columns == LPT_BLOCK_EXTENT_FULL) return 1;
  return (k + format.block_columns - 1) / format.block_columns;
}

// The position of one code in its panel. `shift` is 4 for the upper nibble of a byte.
struct PanelPosition {
  int64_t byte;
  int32_t shift;
};

static inline PanelPosition panel_position(PanelKind kind, int64_t lane, int64_t k) {
  const int64_t v = lane / 16, l = lane % 16;
  switch (kind) {
    case PanelKind::kNibbles:
      return {k / 4 * kPanelLineBytes + 4 * l + kNibbleOrder[k % 4], static_cast<int32_t>(4 * v)};
    case PanelKind::kBytePairs:
      return {k / 2 * kPanelLineBytes + 16 * (l / 4) + 8 * v + 2 * (l % 4) + k % 2, 0};
    case PanelKind::kByteQuads:
      return {(2 * (k / 4) + v) * kPanelLineBytes + 4 * l + k % 4, 0};
    case PanelKind::kHalves:
      return {(2 * (k / 2) + v) * kPanelLineBytes + 2 * (2 * l + k % 2), 0};
    case PanelKind::kWords:
      return {(2 * k + v) * kPanelLineBytes + 4 * l, 0};
  }
  return {0, 0};
}

}  // namespace lpt
