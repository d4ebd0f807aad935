// How a format is in a safetensors file: names, types, shapes and order of its parts.
//
// Where compressed-tensors has a convention for a format, this is it, so that others read the file. The remaining
// formats follow the same pattern; only LPT reads them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "handles.hpp"
#include "safetensors.hpp"

namespace tool {

enum class Role { kPayload, kScale, kGlobalScale, kZeroPoint, kShape };
constexpr Role kRoles[] = {Role::kPayload, Role::kScale, Role::kGlobalScale, Role::kZeroPoint, Role::kShape};

enum class Packing {
  kElements,  // NAME holds one element each
  kBytes,     // NAME_packed holds LPT's bytes
  kWords      // NAME_packed holds 32-bit words, first element lowest, integers shifted to begin at zero
};

struct Layout {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  Packing packing = Packing::kElements;
  const Dtype *payload = nullptr;
  uint8_t flip = 0;  // kWords: signed integers begin at zero when these bits of each byte are flipped
  bool has_zero_points = false;
  int64_t scale_rows_per_row = 1;  // a row of block scales is stored so many times: readers know blocks of one row
  std::string convention;          // compressed-tensors' name of it, "" if it has none

  bool has_block_scales() const { return description.block_scale != LPT_FORMAT_NONE; }
  bool has_tensor_scale() const { return description.tensor_scale != LPT_FORMAT_NONE; }
  // Columns that one scale serves, 0 for all of them: readers of the convention want whole groups.
  int64_t group_columns() const;
};

Layout layout_of(lpt_format format);

std::string part_name(const Layout &layout, const std::string &name, Role role);

struct StoredPart {
  Role role;
  StoredTensor tensor;
};

// The tensors that stand for a matrix called `name`, without their places. `row_bytes`: of one row of LPT's payload.
std::vector<StoredPart> stored_parts(const Layout &layout, const std::string &name, int64_t rows, int64_t columns,
                                     int64_t row_bytes);

int64_t payload_row_bytes(lpt_context *context, lpt_format format, int64_t columns);

// What compressed-tensors expects in config.json under "quantization_config"; nothing without a convention. `modules`
// are the names of the layers whose weights are stored so.
std::optional<nlohmann::ordered_json> quantization_config(const Layout &layout,
                                                          const std::vector<std::string> &modules);

// LPT's bytes to the file's, and back, for some rows. `rows` of zero points are a multiple of those in a word, save at
// the end.
std::vector<std::byte> pack_payload(const Layout &layout, std::span<const std::byte> bytes, int64_t rows,
                                    int64_t columns);
std::vector<std::byte> unpack_payload(const Layout &layout, std::span<const std::byte> bytes, int64_t rows,
                                      int64_t columns, int64_t row_bytes);
std::vector<std::byte> pack_zero_points(const Layout &layout, std::span<const std::byte> points, int64_t rows,
                                        int64_t columns);
std::vector<std::byte> unpack_zero_points(const Layout &layout, std::span<const std::byte> words, int64_t rows,
                                          int64_t columns);

// Each row of block scales so many times as the layout says, `rows` in all; and one of each, back.
std::vector<std::byte> repeat_scale_rows(const Layout &layout, std::span<const std::byte> scales, int64_t scale_rows,
                                         int64_t rows);
std::vector<std::byte> unrepeat_scale_rows(const Layout &layout, std::span<const std::byte> scales, int64_t scale_rows,
                                           int64_t rows);

}  // namespace tool
