// The element types of safetensors and GGUF files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ggml_blocks.hpp"
#include "lpt.h"

namespace tool {

struct Dtype {
  std::string_view name;
  int32_t bits;                   // of an element, or of a block
  std::string_view format;        // name of the LPT format with equal bytes, or that a block is imported to; "" if none
  bool is_float;                  // a tensor of this type is a matrix of values that can be cast
  int32_t block = 1;              // elements of a row that ggml stores together; safetensors has no type for blocks
  lpt_foreign_layout layout = 0;  // of a block that the library imports; otherwise 0
  const BlockCoding *coding = nullptr;  // of a block that this tool decodes to f32

  bool is_block() const { return block > 1; }
  // `elements` is a multiple of the block.
  uint64_t bytes_of(uint64_t elements) const {
    return elements / static_cast<uint64_t>(block) * static_cast<uint64_t>(bits) / 8;
  }
};

std::span<const Dtype> dtypes();                        // of safetensors
const Dtype *find_dtype(std::string_view name);         // NULL: unknown
const Dtype *find_ggml_dtype(uint32_t number);          // of enum ggml_type; NULL: unknown
std::string decoded_block_names();                      // block types of ggml with values: "Q4_0, Q4_1 …"
const Dtype *dtype_of_format(std::string_view format);  // NULL: no type of safetensors files has these bytes
lpt_format format_of(const Dtype &dtype);               // LPT_FORMAT_NONE if this library has none

}  // namespace tool
