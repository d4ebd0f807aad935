// Safetensors files: eight bytes with the length of a JSON header, the header, and the bytes of the tensors.
//
// The reader does not trust the file: it returns only checked data. Each rejection is one line that names the file, the tensor,
// the value and the expectation.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dtype.hpp"
#include "file.hpp"

namespace tool {

constexpr uint64_t kMostHeaderBytes = 100'000'000;  // limit of the reference reader of the format
constexpr size_t kMostExtents = 64;                 // of one tensor

struct StoredTensor {
  std::string name;
  const Dtype *dtype = nullptr;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // from the first byte after the header
  uint64_t end = 0;

  uint64_t bytes() const { return end - begin; }
  bool is_matrix() const { return shape.size() == 2; }
};

struct Header {
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  std::vector<uint32_t> by_name;      // indices of `tensors`, in the order of their names
  std::map<std::string, std::string> metadata;
};

// The checks without a file, so that tests can pass any bytes. `file` is its name in error messages.
uint64_t check_header_length(const std::string &file, uint64_t file_bytes, std::span<const std::byte> prefix);
// Limits the memory of the caller for the header.
struct HeaderMemory {
  uint64_t bytes = UINT64_MAX;
  uint64_t per_tensor = 0;  // and per entry of the metadata
  uint64_t per_byte = 0;    // of the header: copies of names

  uint64_t held(uint64_t header_bytes, uint64_t tensors) const {
    return per_byte * header_bytes + per_tensor * tensors;
  }
};
Header parse_header(const std::string &file, std::string_view text, uint64_t data_bytes,
                    const HeaderMemory &memory = {});
// Throws Error if a header of this many bytes and tensors exceeds the memory.
void check_held(const std::string &file, uint64_t header_bytes, uint64_t tensors, const HeaderMemory &memory);

// Returns the bytes of a shape. Throws an Error that begins with `where`.
uint64_t check_extent(const std::string &where, const Dtype &dtype, const std::vector<int64_t> &shape);

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string &path, const HeaderMemory &memory = {});

  const std::string &path() const { return file_.path(); }
  const Header &header() const { return header_; }
  const std::vector<StoredTensor> &tensors() const { return header_.tensors; }
  const StoredTensor *find(std::string_view name) const;
  uint64_t header_digest() const { return header_digest_; }
  uint64_t held_bytes() const { return held_bytes_; }  // as counted by HeaderMemory
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t data_offset() const { return data_offset_; }

  // Reads a part of the bytes of a tensor, from `offset`.
  void read(const StoredTensor &tensor, uint64_t offset, std::span<std::byte> bytes) const;

 private:
  File file_;
  uint64_t file_bytes_ = 0;
  uint64_t data_offset_ = 0;
  uint64_t header_digest_ = 0;
  uint64_t held_bytes_ = 0;
  Header header_;
};

// Assigns offsets, the widest elements first, so that every tensor is aligned to its element. Tensors of equal width keep their
// order. Sets `begin` and `end` and returns the total bytes.
uint64_t place_tensors(std::vector<StoredTensor> &tensors);

// Returns the bytes before the first tensor: the length and the header, padded with spaces to a multiple of eight bytes.
std::string header_bytes(const std::vector<StoredTensor> &tensors, const std::map<std::string, std::string> &metadata);

}  // namespace tool
