// Blocks of ggml: 32 elements of a row with their scale, in one piece. Codes of four bits lie in split halves: element i of
// a block in the low half of byte i, element i + 16 in the high half.
#pragma once

#include <string>

#include "src/formats/view.hpp"

namespace lpt {

enum class GgmlType { kQ8_0, kQ4_0, kQ4_1, kMxfp4 };

constexpr int64_t kGgmlBlock = 32;

int64_t ggml_block_bytes(GgmlType type);

// What cannot be said in a block, for a text that goes on "expected …"; empty if all can. Blocks are counted along a row.
std::string unwritable_block(GgmlType type, const MatrixView &view, int64_t row, int64_t block);
std::string unreadable_block(GgmlType type, const uint8_t *source, const Format &format);

// Only for blocks that can be written or read.
void write_ggml_block(GgmlType type, const MatrixView &view, int64_t row, int64_t block, uint8_t *target);
void read_ggml_block(GgmlType type, const uint8_t *source, const MatrixView &view, int64_t row, int64_t block);

}  // namespace lpt
