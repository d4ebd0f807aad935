// The tensors of a checkpoint: names, types, shapes and places of their bytes, for every kind of file.
//
// No reader trusts a file: it returns only checked data. Each rejection is one line that names the file, the tensor, the value
// and the expectation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dtype.hpp"

namespace tool {

constexpr uint64_t kMostHeaderBytes = 100'000'000;          // limit of the reference reader of safetensors
constexpr size_t kMostExtents = 64;                         // of one tensor
constexpr std::string_view kMetadataName = "__metadata__";  // of the metadata among the tensors of a safetensors header

struct StoredTensor {
  std::string name;
  const Dtype *dtype = nullptr;
  std::vector<int64_t> shape;  // row-major: the last extent is contiguous
  uint64_t begin = 0;          // from the first byte of data of its file
  uint64_t end = 0;
  uint32_t shard = 0;  // index of the file of a sharded checkpoint

  uint64_t bytes() const { return end - begin; }
  bool is_matrix() const { return shape.size() == 2; }
};

// An entry of the metadata of a GGUF file, for output.
struct MetadataEntry {
  std::string key;
  std::string type;    // as "uint32" or "array of string"
  uint64_t count = 0;  // of elements of an array
  std::string value;   // the beginning of a long value
};

struct Header {
  std::vector<StoredTensor> tensors;            // in the order of their bytes
  std::vector<uint32_t> by_name;                // indices of `tensors`, in the order of their names
  std::map<std::string, std::string> metadata;  // of a safetensors file
  std::vector<MetadataEntry> entries;           // of a GGUF file
};

// The header of one file.
struct FileHeader {
  Header header;
  uint64_t data_offset = 0;  // of the first byte of data
  uint64_t held_bytes = 0;   // as counted by HeaderMemory
};

// Limits the memory of the caller for the header.
struct HeaderMemory {
  uint64_t bytes = UINT64_MAX;
  uint64_t per_tensor = 0;  // and per entry of the metadata
  uint64_t per_byte = 0;    // of the header: copies of names
  uint64_t before = 0;      // bytes of the shards that were read before

  uint64_t held(uint64_t header_bytes, uint64_t tensors) const {
    return before + per_byte * header_bytes + per_tensor * tensors;
  }
};

// Throws Error if a header of this many bytes and tensors exceeds the memory.
void check_held(const std::string &file, uint64_t header_bytes, uint64_t tensors, const HeaderMemory &memory);

// Returns the bytes of a shape. Throws an Error that begins with `where`.
uint64_t check_extent(const std::string &where, const Dtype &dtype, const std::vector<int64_t> &shape);

// Sorts the tensors in the order of their bytes.
void sort_places(Header &header);
// Sets `by_name`. Throws Error if two tensors have one name.
void sort_names(const std::string &file, Header &header);

// Begins an error message.
std::string where_of(const std::string &file, const StoredTensor &tensor);

}  // namespace tool
