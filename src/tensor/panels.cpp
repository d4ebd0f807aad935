#include "src/tensor/panels.hpp"

#include <algorithm>
#include <cstring>

#include "src/formats/packed_codes.hpp"

namespace lpt {
namespace {

int64_t scale_bytes(const Format &format) { return element_bits(format.block_scale) / 8; }

// Reads one code of a view in row layout: the bits of an f32, or the result of load_code().
struct CodeReader {
  const MatrixView &view;
  bool is_f32;
  Element element;

  explicit CodeReader(const MatrixView &rows)
      : view(rows),
        is_f32(rows.format.element == LPT_FORMAT_F32),
        element(is_f32 ? Element{} : element_of(rows.format.element)) {}

  uint32_t operator()(int64_t row, int64_t column) const {
    const int64_t index = row * view.row_stride + column;
    if (!is_f32) return load_code(element, view.data, index);
    uint32_t bits;
    std::memcpy(&bits, static_cast<const uint8_t *>(view.data) + 4 * index, sizeof bits);
    return bits;
  }
};

void put_code(PanelKind kind, uint8_t *panel, int64_t lane, int64_t p, uint32_t code) {
  const PanelPosition place = panel_position(kind, lane, p);
  uint8_t *const to = panel + place.byte;
  if (kind == PanelKind::kNibbles) {
    *to = static_cast<uint8_t>(*to | (code & 15) << place.shift);
  } else if (kind == PanelKind::kHalves) {
    const auto half = static_cast<uint16_t>(code);
    std::memcpy(to, &half, sizeof half);
  } else if (kind == PanelKind::kWords) {
    std::memcpy(to, &code, sizeof code);
  } else {
    *to = static_cast<uint8_t>(code);
  }
}

uint32_t get_code(PanelKind kind, const uint8_t *panel, int64_t lane, int64_t p) {
  const PanelPosition place = panel_position(kind, lane, p);
  const uint8_t *const from = panel + place.byte;
  if (kind == PanelKind::kNibbles) return static_cast<uint32_t>(*from >> place.shift) & 15;
  if (kind == PanelKind::kHalves) {
    uint16_t half;
    std::memcpy(&half, from, sizeof half);
    return half;
  }
  if (kind == PanelKind::kWords) {
    uint32_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  return *from;
}

// The codes of one lane of a panel as runs that are adjacent both in the panel and in a row. Copying runs is much faster than
// copying single codes.
struct LaneRuns {
  int64_t first, step;   // byte offsets in the panel
  int64_t codes, bytes;  // per run; bytes is 0 if a row packs codes more densely than a panel
};

LaneRuns runs_of(PanelKind kind, int32_t bits, int64_t lane) {
  const int64_t first = panel_position(kind, lane, 0).byte;
  switch (kind) {
    case PanelKind::kNibbles:
      return {first, kPanelLineBytes, 4, bits == 4 ? 2 : 0};
    case PanelKind::kBytePairs:
      return {first, kPanelLineBytes, 2, bits == 8 ? 2 : 0};
    case PanelKind::kByteQuads:
      return {first, 2 * kPanelLineBytes, 4, bits == 8 ? 4 : 0};
    case PanelKind::kHalves:
      return {first, 2 * kPanelLineBytes, 2, 4};
    case PanelKind::kWords:
      return {first, 2 * kPanelLineBytes, 1, 4};
  }
  return {};
}

// Four nibbles k, k + 1, … of a row correspond to bytes k, k + 2, k + 1, k + 3 of a panel.
uint32_t spread(uint32_t row) { return (row & 0x0F0F) | (row & 0xF0F0) << 12; }
uint32_t gather(uint32_t panel) { return (panel & 0x0F0F) | (panel & 0x0F0F0000) >> 12; }

// Exchanges bytes k + 1 and k + 2: the order of a row and that of a panel.
uint32_t in_nibble_order(uint32_t bytes) {
  return (bytes & 0xFF0000FF) | (bytes & 0x0000FF00) << 8 | (bytes & 0x00FF0000) >> 8;
}

// Copies the runs of a row that packs codes more densely than a panel, eight codes at a time.
int64_t pack_spread_runs(PanelKind kind, int32_t bits, const LaneRuns &runs, int32_t shift, const uint8_t *row,
                         int64_t k, uint8_t *panel) {
  const int64_t count = k / 8;
  uint8_t *to = panel + runs.first;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bytes = spread_codes(load_eight_codes(row + i * bits, bits), bits);
    for (int64_t run = 0; run < 8 / runs.codes; ++run, to += runs.step, bytes >>= 8 * runs.codes) {
      if (kind == PanelKind::kNibbles) {
        uint32_t line;
        std::memcpy(&line, to, sizeof line);
        line |= in_nibble_order(static_cast<uint32_t>(bytes)) << shift;
        std::memcpy(to, &line, sizeof line);
      } else {
        std::memcpy(to, &bytes, runs.codes == 2 ? 2 : 4);
      }
    }
  }
  return 8 * count;
}

int64_t unpack_spread_runs(PanelKind kind, int32_t bits, const LaneRuns &runs, int32_t shift, const uint8_t *panel,
                           int64_t k, uint8_t *row) {
  const int64_t count = k / 8;
  const uint8_t *from = panel + runs.first;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bytes = 0;
    for (int64_t run = 0; run < 8 / runs.codes; ++run, from += runs.step) {
      uint32_t part = 0;
      std::memcpy(&part, from, runs.codes == 2 ? 2 : 4);
      if (kind == PanelKind::kNibbles) part = in_nibble_order(part >> shift & 0x0F0F0F0F);
      bytes |= uint64_t{part} << 8 * runs.codes * run;
    }
    const uint64_t codes = join_codes(bytes, bits);
    std::memcpy(row + i * bits, &codes, static_cast<size_t>(bits));
  }
  return 8 * count;
}

// Copies the complete runs of a row to its lane. Returns the number of copied codes; the caller copies the others.
int64_t pack_runs(PanelKind kind, int32_t bits, const uint8_t *row, int64_t k, int64_t lane, uint8_t *panel) {
  const LaneRuns runs = runs_of(kind, bits, lane);
  if (runs.bytes == 0) return pack_spread_runs(kind, bits, runs, panel_position(kind, lane, 0).shift, row, k, panel);
  const int64_t count = k / runs.codes;
  const int32_t shift = panel_position(kind, lane, 0).shift;
  uint8_t *to = panel + runs.first;
  for (int64_t i = 0; i < count; ++i, to += runs.step) {
    if (kind == PanelKind::kNibbles) {
      uint16_t codes;
      uint32_t line;
      std::memcpy(&codes, row + 2 * i, sizeof codes);
      std::memcpy(&line, to, sizeof line);
      line |= spread(codes) << shift;
      std::memcpy(to, &line, sizeof line);
    } else {
      std::memcpy(to, row + runs.bytes * i, runs.bytes == 2 ? 2 : 4);
    }
  }
  return count * runs.codes;
}

int64_t unpack_runs(PanelKind kind, int32_t bits, const uint8_t *panel, int64_t k, int64_t lane, uint8_t *row) {
  const LaneRuns runs = runs_of(kind, bits, lane);
  if (runs.bytes == 0) return unpack_spread_runs(kind, bits, runs, panel_position(kind, lane, 0).shift, panel, k, row);
  const int64_t count = k / runs.codes;
  const int32_t shift = panel_position(kind, lane, 0).shift;
  const uint8_t *from = panel + runs.first;
  for (int64_t i = 0; i < count; ++i, from += runs.step) {
    if (kind == PanelKind::kNibbles) {
      uint32_t line;
      std::memcpy(&line, from, sizeof line);
      const auto codes = static_cast<uint16_t>(gather(line >> shift));
      std::memcpy(row + 2 * i, &codes, sizeof codes);
    } else {
      std::memcpy(row + runs.bytes * i, from, runs.bytes == 2 ? 2 : 4);
    }
  }
  return count * runs.codes;
}

// Returns the address of the first byte of a row.
uint8_t *row_of(const MatrixView &rows, int64_t row) {
  return static_cast<uint8_t *>(rows.data) + row * row_bytes(rows.format.element, rows.row_stride);
}

}  // namespace

PanelSize panel_size(const Format &format, int64_t k) {
  PanelSize size{panel_bytes(panel_kind(format.element), k), 0, 0};
  const int64_t scales = panel_blocks(format, k) * kPanelLanes;
  if (format.has_block_scale()) size.scales = scales * scale_bytes(format);
  if (format.has_zero_point()) size.zero_points = scales;
  return size;
}

void pack_panel(const MatrixView &rows, const PanelOrder &order, int64_t panel, const MatrixView &panels) {
  const PanelKind kind = panel_kind(rows.format.element);
  const PanelSize size = panel_size(rows.format, rows.columns);
  const int64_t first = panel * kPanelLanes;
  const int64_t lanes = std::min(kPanelLanes, rows.rows - first);
  const CodeReader read(rows);
  const int32_t bits = element_bits(rows.format.element);
  uint8_t *const codes = static_cast<uint8_t *>(panels.data) + panel * size.payload;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t row = order.row(first + lane);
    int64_t p = 0;
    if (order.columns == nullptr && !read.element.is_ternary)
      p = pack_runs(kind, bits, row_of(rows, row), rows.columns, lane, codes);
    for (; p < rows.columns; ++p) put_code(kind, codes, lane, p, read(row, order.column(p)));
  }
  if (!rows.format.has_block_scale()) return;
  const int64_t blocks = panel_blocks(rows.format, rows.columns);
  const auto bytes = static_cast<size_t>(scale_bytes(rows.format));
  auto *const scales = static_cast<uint8_t *>(panels.block_scales) + panel * size.scales;
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t row = order.row(first + lane);
      const int64_t block_row = rows.format.block_rows == LPT_BLOCK_EXTENT_FULL ? 0 : row / rows.format.block_rows;
      const int64_t from = block_row * rows.block_scale_stride + order.block(b);
      const auto to = static_cast<size_t>(b * kPanelLanes + lane);
      std::memcpy(scales + to * bytes,
                  static_cast<const uint8_t *>(rows.block_scales) + static_cast<size_t>(from) * bytes, bytes);
      if (rows.zero_points != nullptr) {
        panels.zero_points[panel * size.zero_points + static_cast<int64_t>(to)] = rows.zero_points[from];
      }
    }
  }
}

void unpack_panel(const MatrixView &panels, int64_t panel, const MatrixView &rows) {
  const PanelKind kind = panel_kind(rows.format.element);
  const PanelSize size = panel_size(panels.format, panels.columns);
  const int64_t first = panel * kPanelLanes;
  const int64_t lanes = std::min(kPanelLanes, rows.rows - first);
  const bool is_f32 = kind == PanelKind::kWords;
  const int32_t bits = element_bits(rows.format.element);
  const Element element = is_f32 ? Element{} : element_of(rows.format.element);
  const uint8_t *const codes = static_cast<const uint8_t *>(panels.data) + panel * size.payload;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t begin = (first + lane) * rows.row_stride;
    int64_t p = 0;
    if (!element.is_ternary) p = unpack_runs(kind, bits, codes, rows.columns, lane, row_of(rows, first + lane));
    for (; p < rows.columns; ++p) {
      const uint32_t code = get_code(kind, codes, lane, p);
      if (is_f32) {
        std::memcpy(static_cast<uint8_t *>(rows.data) + 4 * (begin + p), &code, sizeof code);
      } else {
        store_code(element, rows.data, begin + p, code);
      }
    }
  }
  if (!rows.format.has_block_scale()) return;
  const int64_t blocks = panel_blocks(rows.format, rows.columns);
  const auto bytes = static_cast<size_t>(scale_bytes(rows.format));
  const auto *const scales = static_cast<const uint8_t *>(panels.block_scales) + panel * size.scales;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t b = 0; b < blocks; ++b) {
      const auto from = static_cast<size_t>(b * kPanelLanes + lane);
      const int64_t to = (first + lane) * rows.block_scale_stride + b;
      std::memcpy(static_cast<uint8_t *>(rows.block_scales) + static_cast<size_t>(to) * bytes, scales + from * bytes,
                  bytes);
      if (rows.zero_points != nullptr) {
        rows.zero_points[to] = panels.zero_points[panel * size.zero_points + static_cast<int64_t>(from)];
      }
    }
  }
}

}  // namespace lpt
