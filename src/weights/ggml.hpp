// Blocks of ggml: 32 elements of a row, adjacent to their scale. 4-bit codes are stored in two halves: element i of a block
// is in the low half of byte i, element i + 16 in the high half.
#pragma once

#include <string>

#include "src/formats/view.hpp"

namespace lpt {

enum class GgmlType { kQ8_0, kQ4_0, kQ4_1, kMxfp4 };

constexpr int64_t kGgmlBlock = 32;

int64_t ggml_block_bytes(GgmlType type);

// Return the part of a block that the other format cannot represent, as text for a message with "expected …". The text is
// empty for a valid block. Blocks are counted along a row.
std::string unwritable_block(GgmlType type, const MatrixView &view, int64_t row, int64_t block);
std::string unreadable_block(GgmlType type, const uint8_t *source, const Format &format);

// The block must be valid.
void write_ggml_block(GgmlType type, const MatrixView &view, int64_t row, int64_t block, uint8_t *target);
void read_ggml_block(GgmlType type, const uint8_t *source, const MatrixView &view, int64_t row, int64_t block);

}  // namespace lpt
