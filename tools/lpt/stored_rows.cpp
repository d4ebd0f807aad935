#include "stored_rows.hpp"

#include <array>
#include <cstring>

namespace tool {

namespace {

constexpr int64_t kWordBits = 32;

int64_t divided_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

// Returns the bytes of a row of the payload in the file.
int64_t stored_row_bytes(const Layout &layout, const MatrixShape &shape) {
  if (layout.packing != Packing::kWords) return shape.row_bytes;
  return divided_up(shape.columns * layout.description.element_bits, kWordBits) * 4;
}

Part need(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part) {
  const auto found = part_of(context, tensor, part);
  if (!found) throw Error("a tensor lacks a part that its format has: a defect of the library");
  return *found;
}

// The range of scales of some rows, as rows of the scale matrix in the file.
struct ScaleRows {
  int64_t first = 0;
  int64_t count = 0;
};

ScaleRows scale_rows_of(const Layout &layout, int64_t first, int64_t rows) {
  const int32_t block_rows = layout.description.block_rows;
  if (layout.scale_rows_per_row > 1) return {first, rows};
  if (block_rows == LPT_BLOCK_EXTENT_FULL) return {0, 1};
  return {first / block_rows, divided_up(rows, block_rows)};
}

std::span<const std::byte> bytes_of(const Part &part) { return {part.data, part.bytes}; }

void copy_into(const Part &part, std::span<const std::byte> bytes) {
  if (bytes.size() != part.bytes) throw Error("a part's size is not what its format says: a defect of the library");
  if (!bytes.empty()) std::memcpy(part.data, bytes.data(), bytes.size());
}

float inverse_of(std::span<const std::byte> bytes) {
  float value = 0.0f;
  std::memcpy(&value, bytes.data(), sizeof value);
  return 1.0f / value;
}

}  // namespace

void put_rows(lpt_context *context, const Layout &layout, const MatrixShape &shape, int64_t first, int64_t rows,
              const lpt_tensor *tensor, const PutBytes &put) {
  const Part payload = need(context, tensor, LPT_TENSOR_PART_PAYLOAD);
  put(Role::kPayload, static_cast<uint64_t>(first * stored_row_bytes(layout, shape)),
      pack_payload(layout, bytes_of(payload), rows, shape.columns));
  if (layout.has_block_scales()) {
    const Part scales = need(context, tensor, LPT_TENSOR_PART_BLOCK_SCALES);
    const ScaleRows place = scale_rows_of(layout, first, rows);
    const std::vector<std::byte> stored = repeat_scale_rows(layout, bytes_of(scales), scales.rows, rows);
    const int64_t row_bytes = place.count == 0 ? 0 : static_cast<int64_t>(stored.size()) / place.count;
    put(Role::kScale, static_cast<uint64_t>(place.first * row_bytes), stored);
  }
  if (layout.has_tensor_scale() && first == 0) {
    const Part scale = need(context, tensor, LPT_TENSOR_PART_TENSOR_SCALE);
    if (layout.has_block_scales()) {
      const float inverse = inverse_of(bytes_of(scale));
      put(Role::kGlobalScale, 0, std::as_bytes(std::span(&inverse, 1)));
    } else {
      put(Role::kScale, 0, bytes_of(scale));
    }
  }
  if (layout.has_zero_points) {
    const Part points = need(context, tensor, LPT_TENSOR_PART_ZERO_POINTS);
    const int64_t per_word = kWordBits / layout.description.element_bits;
    put(Role::kZeroPoint, static_cast<uint64_t>(first / per_word * points.columns * 4),
        pack_zero_points(layout, bytes_of(points), points.rows, points.columns));
  }
  if (layout.packing != Packing::kElements && first == 0) {
    const std::array<int64_t, 2> extents = {shape.rows, shape.columns};
    put(Role::kShape, 0, std::as_bytes(std::span(extents)));
  }
}

void get_rows(lpt_context *context, const Layout &layout, const MatrixShape &shape, int64_t first, int64_t rows,
              lpt_tensor *tensor, const GetBytes &get) {
  const Part payload = need(context, tensor, LPT_TENSOR_PART_PAYLOAD);
  const int64_t stored_bytes = stored_row_bytes(layout, shape);
  std::vector<std::byte> bytes(static_cast<size_t>(rows * stored_bytes));
  get(Role::kPayload, static_cast<uint64_t>(first * stored_bytes), bytes);
  copy_into(payload, unpack_payload(layout, bytes, rows, shape.columns, shape.row_bytes));
  if (layout.has_block_scales()) {
    const Part scales = need(context, tensor, LPT_TENSOR_PART_BLOCK_SCALES);
    const ScaleRows place = scale_rows_of(layout, first, rows);
    const size_t row_bytes = scales.rows == 0 ? 0 : scales.bytes / static_cast<size_t>(scales.rows);
    bytes.resize(static_cast<size_t>(place.count) * row_bytes);
    get(Role::kScale, static_cast<uint64_t>(place.first) * row_bytes, bytes);
    copy_into(scales, unrepeat_scale_rows(layout, bytes, scales.rows, rows));
  }
  if (layout.has_tensor_scale()) {
    const Part scale = need(context, tensor, LPT_TENSOR_PART_TENSOR_SCALE);
    bytes.resize(sizeof(float));
    get(layout.has_block_scales() ? Role::kGlobalScale : Role::kScale, 0, bytes);
    const float inverse = inverse_of(bytes);
    copy_into(scale,
              layout.has_block_scales() ? std::as_bytes(std::span(&inverse, 1)) : std::span<const std::byte>(bytes));
  }
  if (layout.has_zero_points) {
    const Part points = need(context, tensor, LPT_TENSOR_PART_ZERO_POINTS);
    const int64_t per_word = kWordBits / layout.description.element_bits;
    bytes.resize(static_cast<size_t>(divided_up(rows, per_word) * points.columns * 4));
    get(Role::kZeroPoint, static_cast<uint64_t>(first / per_word * points.columns * 4), bytes);
    copy_into(points, unpack_zero_points(layout, bytes, rows, points.columns));
  }
}

}  // namespace tool
