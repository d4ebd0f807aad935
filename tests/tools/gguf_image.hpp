// GGUF files in memory, valid and invalid, and the values of their blocks by the definitions of ggml.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tool_tests {

// Numbers of enum ggml_type and of enum gguf_metadata_value_type.
enum GgmlNumber : uint32_t { kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ4_1 = 3, kQ8_0 = 8, kQ4_K = 12, kQ6_K = 14 };
enum MoreGgmlNumbers : uint32_t { kIQ2_XXS = 16, kI32 = 26, kF64 = 28, kBF16 = 30, kMxfp4 = 39 };
enum GgufValueNumber : uint32_t { kGgufUint8 = 0, kGgufUint32 = 4, kGgufBool = 7, kGgufString = 8, kGgufArray = 9 };

std::string u32_bytes(uint32_t value);
std::string u64_bytes(uint64_t value);
std::string gguf_text(const std::string &text);
std::string gguf_entry(const std::string &key, uint32_t type, const std::string &value);
std::string gguf_array(uint32_t type, uint64_t count, const std::string &elements);
// `extents` begin with the contiguous one.
std::string gguf_info(const std::string &name, const std::vector<uint64_t> &extents, uint32_t type, uint64_t offset);

// The parts of a file, which need not agree.
struct GgufImage {
  std::vector<std::string> entries;
  std::vector<std::string> infos;
  std::string data;
  uint32_t version = 3;
  uint64_t alignment = 32;
  std::optional<uint64_t> entry_count;
  std::optional<uint64_t> tensor_count;

  std::string bytes() const;
};

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> extents;  // begin with the contiguous one
  uint32_t type = kF32;
  std::string bytes;
};

// A valid file.
GgufImage gguf_image(const std::vector<GgufTensor> &tensors, uint64_t alignment = 32);

// Returns random blocks of a type with finite scales.
std::string random_blocks(uint32_t type, size_t count, uint64_t seed);
std::vector<float> block_values(uint32_t type, const std::string &blocks);

template <typename Number>
std::string bytes_of(const std::vector<Number> &numbers) {
  return {reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(Number)};
}

}  // namespace tool_tests
