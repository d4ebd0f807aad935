// The layout of a format in a safetensors file: names, types, shapes and order of its parts.
//
// It is the convention of compressed-tensors, if one exists for the format, so that other libraries can read the file. The
// other formats follow the same pattern and can only be read by LPT.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "handles.hpp"
#include "header.hpp"

namespace tool {

enum class Role { kPayload, kScale, kGlobalScale, kZeroPoint, kShape };
constexpr Role kRoles[] = {Role::kPayload, Role::kScale, Role::kGlobalScale, Role::kZeroPoint, Role::kShape};

enum class Packing {
  kElements,  // NAME has one element each
  kBytes,     // NAME_packed has the bytes of LPT
  kWords      // NAME_packed has 32-bit words, first element lowest, integers offset to begin at zero
};

struct Layout {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  Packing packing = Packing::kElements;
  const Dtype *payload = nullptr;
  uint8_t flip = 0;  // kWords: inverting these bits of each byte makes signed integers begin at zero
  bool has_zero_points = false;
  int64_t scale_rows_per_row = 1;  // copies of a row of block scales: readers require blocks of one row
  std::string convention;          // its name in compressed-tensors, "" if none

  bool has_block_scales() const { return description.block_scale != LPT_FORMAT_NONE; }
  bool has_tensor_scale() const { return description.tensor_scale != LPT_FORMAT_NONE; }
  // Returns the columns of one scale, 0 for all columns. Readers of the convention require full groups.
  int64_t group_columns() const;
};

Layout layout_of(lpt_format format);

std::string part_name(const Layout &layout, const std::string &name, Role role);

struct StoredPart {
  Role role;
  StoredTensor tensor;
};

// Returns the tensors of a matrix called `name`, without offsets. `row_bytes` is that of the payload of LPT.
std::vector<StoredPart> stored_parts(const Layout &layout, const std::string &name, int64_t rows, int64_t columns,
                                     int64_t row_bytes);

int64_t payload_row_bytes(lpt_context *context, lpt_format format, int64_t columns);

// Matrices of a file that have one format.
struct MatrixGroup {
  Layout layout;
  std::vector<std::string> names;
};

// Returns the contents of "quantization_config" in config.json for compressed-tensors; nothing if a format has no convention.
// Names of layers are those of their matrices, without ".weight".
std::optional<nlohmann::ordered_json> quantization_config(const std::vector<MatrixGroup> &groups);

// Converts some rows from bytes of LPT to those of the file, and back. For zero points `rows` is a multiple of those in a word,
// except at the end.
std::vector<std::byte> pack_payload(const Layout &layout, std::span<const std::byte> bytes, int64_t rows,
                                    int64_t columns);
std::vector<std::byte> unpack_payload(const Layout &layout, std::span<const std::byte> bytes, int64_t rows,
                                      int64_t columns, int64_t row_bytes);
std::vector<std::byte> pack_zero_points(const Layout &layout, std::span<const std::byte> points, int64_t rows,
                                        int64_t columns);
std::vector<std::byte> unpack_zero_points(const Layout &layout, std::span<const std::byte> words, int64_t rows,
                                          int64_t columns);

// Repeats each row of block scales as the layout specifies, `rows` in total. The second function keeps one of each.
std::vector<std::byte> repeat_scale_rows(const Layout &layout, std::span<const std::byte> scales, int64_t scale_rows,
                                         int64_t rows);
std::vector<std::byte> unrepeat_scale_rows(const Layout &layout, std::span<const std::byte> scales, int64_t scale_rows,
                                           int64_t rows);

}  // namespace tool
