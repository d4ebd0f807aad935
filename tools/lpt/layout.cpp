#include "layout.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace tool {

namespace {

constexpr int64_t kWordBits = 32;

int64_t divided_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

bool is_element(const lpt_format_description &description, const char *name) {
  return format_name(description.element) == name;
}

bool has_zero_points(lpt_context *context, lpt_format format) {
  const Tensor probe = make_matrix(context, format, 1, 1);
  return part_of(context, probe.get(), LPT_TENSOR_PART_ZERO_POINTS).has_value();
}

bool is_grouped(const lpt_format_description &d) { return d.block_rows == 1 && d.block_columns > 1; }
bool is_row(const lpt_format_description &d) { return d.block_rows == 1 && d.block_columns == LPT_BLOCK_EXTENT_FULL; }
bool is_f32_scaled(const lpt_format_description &d) {
  return (d.block_scale == LPT_FORMAT_F32 && d.tensor_scale == LPT_FORMAT_NONE) ||
         (d.block_scale == LPT_FORMAT_NONE && d.tensor_scale == LPT_FORMAT_F32);
}

std::string convention_of(const Layout &layout) {
  const lpt_format_description &d = layout.description;
  const bool is_mx = d.block_scale == LPT_FORMAT_E8M0FNU && d.tensor_scale == LPT_FORMAT_NONE && d.block_rows == 1 &&
                     d.block_columns == 32;
  const bool is_two_level = d.block_scale == LPT_FORMAT_E4M3FN && d.tensor_scale == LPT_FORMAT_F32 &&
                            (d.block_rows == 1 || d.block_rows == 16) && d.block_columns == 16;
  if (d.element == LPT_FORMAT_E2M1FN)
    return is_two_level ? "nvfp4-pack-quantized" : is_mx ? "mxfp4-pack-quantized" : "";
  if (d.element == LPT_FORMAT_E4M3FN && is_mx) return "mxfp8-quantized";
  if (!is_f32_scaled(d)) return "";
  const bool is_block = d.block_rows > 1 && d.block_columns > 1;
  const bool has_strategy = d.block_scale == LPT_FORMAT_NONE || is_grouped(d) || is_row(d);
  if (d.element == LPT_FORMAT_E4M3FN) return has_strategy || is_block ? "float-quantized" : "";
  if (layout.packing == Packing::kWords) return has_strategy ? "pack-quantized" : "";
  if (d.element == LPT_FORMAT_INT8) return has_strategy ? "int-quantized" : "";
  return "";
}

nlohmann::ordered_json weights_config(const Layout &layout) {
  const lpt_format_description &d = layout.description;
  nlohmann::ordered_json weights;
  weights["num_bits"] = d.element_bits;
  weights["type"] = layout.packing == Packing::kWords || d.element == LPT_FORMAT_INT8 ? "int" : "float";
  weights["symmetric"] = !layout.has_zero_points;
  weights["dynamic"] = false;
  if (!layout.has_block_scales()) {
    weights["strategy"] = "tensor";
  } else if (is_row(d)) {
    weights["strategy"] = "channel";
  } else if (layout.group_columns() > 0 && (d.block_rows == 1 || layout.scale_rows_per_row > 1)) {
    weights["strategy"] = layout.has_tensor_scale() ? "tensor_group" : "group";
    weights["group_size"] = d.block_columns;
  } else {
    weights["strategy"] = "block";
    weights["block_structure"] = {d.block_rows, d.block_columns};
  }
  if (d.block_scale == LPT_FORMAT_E4M3FN) weights["scale_dtype"] = "torch.float8_e4m3fn";
  if (d.block_scale == LPT_FORMAT_E8M0FNU) weights["scale_dtype"] = "torch.uint8";
  if (layout.has_zero_points) weights["zp_dtype"] = "torch.int8";
  return weights;
}

// Returns the layer of a weight.
std::string_view module_of(std::string_view name) {
  constexpr std::string_view kWeight = ".weight";
  if (name.ends_with(kWeight)) name.remove_suffix(kWeight.size());
  return name;
}

}  // namespace

int64_t Layout::group_columns() const {
  return has_block_scales() && description.block_columns > 0 ? description.block_columns : 0;
}

Layout layout_of(lpt_format format) {
  Layout layout;
  layout.format = format;
  layout.description = describe(format);
  const lpt_format_description &d = layout.description;
  const Context context = make_context(1);
  layout.has_zero_points = has_zero_points(context.get(), format);
  const bool is_int4 = is_element(d, "int4") || is_element(d, "uint4");
  const bool is_int8 = is_element(d, "int8") || is_element(d, "uint8");
  const bool has_groups = d.block_scale == LPT_FORMAT_F32 && (is_grouped(d) || (is_row(d) && is_int4));
  layout.payload = dtype_of_format(format_name(d.element));
  if ((is_int4 || is_int8) && has_groups && d.tensor_scale == LPT_FORMAT_NONE) {
    layout.packing = Packing::kWords;
    layout.payload = find_dtype("I32");
    const bool is_signed = is_element(d, "int4") || is_element(d, "int8");
    layout.flip = !is_signed ? 0x00 : is_int4 ? 0x88 : 0x80;
  } else if (layout.payload == nullptr) {
    layout.packing = Packing::kBytes;
    layout.payload = find_dtype("U8");
  }
  layout.convention = convention_of(layout);
  if (layout.convention == "nvfp4-pack-quantized") layout.scale_rows_per_row = d.block_rows;
  return layout;
}

std::string part_name(const Layout &layout, const std::string &name, Role role) {
  switch (role) {
    case Role::kPayload:
      return layout.packing == Packing::kElements ? name : name + "_packed";
    case Role::kScale:
      return name + "_scale";
    case Role::kGlobalScale:
      return name + "_global_scale";
    case Role::kZeroPoint:
      return name + "_zero_point";
    case Role::kShape:
      return name + "_shape";
  }
  return name;
}

std::vector<StoredPart> stored_parts(const Layout &layout, const std::string &name, int64_t rows, int64_t columns,
                                     int64_t row_bytes) {
  const lpt_format_description &d = layout.description;
  std::vector<StoredPart> parts;
  const auto add = [&](Role role, const Dtype *dtype, std::vector<int64_t> shape) {
    parts.push_back({role, {part_name(layout, name, role), dtype, std::move(shape), 0, 0}});
  };
  const int64_t per_word = kWordBits / d.element_bits;
  const int64_t payload_columns = layout.packing == Packing::kElements ? columns
                                  : layout.packing == Packing::kBytes  ? row_bytes
                                                                       : divided_up(columns, per_word);
  add(Role::kPayload, layout.payload, {rows, payload_columns});
  int64_t scale_rows = 0;
  int64_t scale_columns = 0;
  if (layout.has_block_scales()) {
    scale_rows = d.block_rows == LPT_BLOCK_EXTENT_FULL ? 1 : divided_up(rows, d.block_rows);
    scale_columns = d.block_columns == LPT_BLOCK_EXTENT_FULL ? 1 : divided_up(columns, d.block_columns);
    if (layout.scale_rows_per_row > 1) scale_rows = rows;
    // The convention stores exponents as bytes.
    const Dtype *dtype =
        d.block_scale == LPT_FORMAT_E8M0FNU ? find_dtype("U8") : dtype_of_format(format_name(d.block_scale));
    add(Role::kScale, dtype, {scale_rows, scale_columns});
    if (layout.has_tensor_scale()) add(Role::kGlobalScale, find_dtype("F32"), {1});
  } else if (layout.has_tensor_scale()) {
    add(Role::kScale, find_dtype("F32"), {1});
  }
  if (layout.has_zero_points) add(Role::kZeroPoint, find_dtype("I32"), {divided_up(rows, per_word), scale_columns});
  // The shape is stored if the bytes do not determine the number of columns. Word packing always stores it.
  const bool is_whole = layout.packing == Packing::kBytes && columns * d.element_bits == row_bytes * 8;
  if (layout.packing == Packing::kWords || (layout.packing == Packing::kBytes && !is_whole)) {
    add(Role::kShape, find_dtype("I64"), {2});
  }
  return parts;
}

int64_t payload_row_bytes(lpt_context *context, lpt_format format, int64_t columns) {
  const Tensor row = make_matrix(context, format, 1, columns);
  return static_cast<int64_t>(part_of(context, row.get(), LPT_TENSOR_PART_PAYLOAD)->bytes);
}

std::optional<nlohmann::ordered_json> quantization_config(const std::vector<MatrixGroup> &groups) {
  nlohmann::ordered_json config;
  config["quant_method"] = "compressed-tensors";
  config["format"] = groups.front().layout.convention;
  config["quantization_status"] = "compressed";
  for (size_t i = 0; i < groups.size(); ++i) {
    const Layout &layout = groups[i].layout;
    if (layout.convention.empty()) return std::nullopt;
    if (layout.convention != config["format"]) config["format"] = "mixed-precision";
    nlohmann::ordered_json &group = config["config_groups"][fmt::format("group_{}", i)];
    group["targets"] = nlohmann::ordered_json::array();
    for (const std::string &name : groups[i].names) group["targets"].push_back(module_of(name));
    group["weights"] = weights_config(layout);
    group["input_activations"] = nullptr;
    group["output_activations"] = nullptr;
    group["format"] = layout.convention;
  }
  config["ignore"] = nlohmann::ordered_json::array();
  config["kv_cache_scheme"] = nullptr;
  return config;
}

std::vector<std::byte> pack_payload(const Layout &layout, std::span<const std::byte> bytes, int64_t rows,
                                    int64_t columns) {
  if (layout.packing != Packing::kWords || rows == 0) return {bytes.begin(), bytes.end()};
  const size_t row_bytes = bytes.size() / static_cast<size_t>(rows);
  const auto stored_bytes = static_cast<size_t>(divided_up(columns * layout.description.element_bits, kWordBits)) * 4;
  std::vector<std::byte> words(static_cast<size_t>(rows) * stored_bytes);
  const bool ends_in_byte = columns * layout.description.element_bits % 8 != 0;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const std::byte *from = bytes.data() + row * row_bytes;
    std::byte *to = words.data() + row * stored_bytes;
    std::transform(from, from + row_bytes, to, [&](std::byte byte) { return byte ^ std::byte{layout.flip}; });
    if (ends_in_byte) to[row_bytes - 1] &= std::byte{0x0F};  // only elements of four bits end in half a byte
  }
  return words;
}

std::vector<std::byte> unpack_payload(const Layout &layout, std::span<const std::byte> bytes, int64_t rows,
                                      int64_t columns, int64_t row_bytes) {
  if (layout.packing != Packing::kWords || rows == 0) return {bytes.begin(), bytes.end()};
  const auto stored_bytes = static_cast<size_t>(divided_up(columns * layout.description.element_bits, kWordBits)) * 4;
  std::vector<std::byte> result(static_cast<size_t>(rows * row_bytes));
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    const std::byte *from = bytes.data() + row * stored_bytes;
    std::transform(from, from + row_bytes, result.data() + row * static_cast<size_t>(row_bytes),
                   [&](std::byte byte) { return byte ^ std::byte{layout.flip}; });
  }
  return result;
}

// The convention packs zero points along columns of the matrix: a word has those of several rows, first row lowest.
std::vector<std::byte> pack_zero_points(const Layout &layout, std::span<const std::byte> points, int64_t rows,
                                        int64_t columns) {
  const int64_t bits = layout.description.element_bits;
  const int64_t per_word = kWordBits / bits;
  std::vector<std::byte> result(static_cast<size_t>(divided_up(rows, per_word) * columns * 4));
  for (int64_t row = 0; row < rows; row += per_word) {
    for (int64_t column = 0; column < columns; ++column) {
      uint32_t word = 0;
      for (int64_t i = 0; i < per_word && row + i < rows; ++i) {
        word |= std::to_integer<uint32_t>(points[static_cast<size_t>((row + i) * columns + column)]) << (i * bits);
      }
      std::memcpy(result.data() + (row / per_word * columns + column) * 4, &word, sizeof word);
    }
  }
  return result;
}

std::vector<std::byte> unpack_zero_points(const Layout &layout, std::span<const std::byte> words, int64_t rows,
                                          int64_t columns) {
  const int64_t bits = layout.description.element_bits;
  const int64_t per_word = kWordBits / bits;
  std::vector<std::byte> points(static_cast<size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      uint32_t word = 0;
      std::memcpy(&word, words.data() + (row / per_word * columns + column) * 4, sizeof word);
      points[static_cast<size_t>(row * columns + column)] =
          static_cast<std::byte>(word >> (row % per_word * bits) & ((uint64_t{1} << bits) - 1));
    }
  }
  return points;
}

std::vector<std::byte> repeat_scale_rows(const Layout &layout, std::span<const std::byte> scales, int64_t scale_rows,
                                         int64_t rows) {
  if (layout.scale_rows_per_row == 1 || scale_rows == 0) return {scales.begin(), scales.end()};
  const size_t row_bytes = scales.size() / static_cast<size_t>(scale_rows);
  std::vector<std::byte> result;
  for (int64_t row = 0; row < rows; ++row) {
    const auto from = scales.begin() + static_cast<ptrdiff_t>(row / layout.scale_rows_per_row * row_bytes);
    result.insert(result.end(), from, from + static_cast<ptrdiff_t>(row_bytes));
  }
  return result;
}

std::vector<std::byte> unrepeat_scale_rows(const Layout &layout, std::span<const std::byte> scales, int64_t scale_rows,
                                           int64_t rows) {
  if (layout.scale_rows_per_row == 1 || rows == 0) return {scales.begin(), scales.end()};
  const size_t row_bytes = scales.size() / static_cast<size_t>(rows);
  std::vector<std::byte> result;
  for (int64_t row = 0; row < scale_rows; ++row) {
    const auto from = scales.begin() + static_cast<ptrdiff_t>(row * layout.scale_rows_per_row * row_bytes);
    result.insert(result.end(), from, from + static_cast<ptrdiff_t>(row_bytes));
  }
  return result;
}

}  // namespace tool
