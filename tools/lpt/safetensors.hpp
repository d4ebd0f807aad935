// Safetensors files: eight bytes with the length of a JSON header, the header, and the tensors' bytes.
//
// The reader trusts nothing: what it hands out has been checked, and what it refuses it refuses with one line that
// names the file, the tensor, the value and what was expected.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dtype.hpp"
#include "file.hpp"

namespace tool {

constexpr uint64_t kMostHeaderBytes = 100'000'000;  // as the format's own reader has it

struct StoredTensor {
  std::string name;
  const Dtype *dtype = nullptr;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // from the first byte behind the header
  uint64_t end = 0;

  uint64_t bytes() const { return end - begin; }
  bool is_matrix() const { return shape.size() == 2; }
};

struct Header {
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

// The checks, apart from the file so that they can be fed with anything. `file` is what messages call it.
uint64_t check_header_length(const std::string &file, uint64_t file_bytes, std::span<const std::byte> prefix);
Header parse_header(const std::string &file, std::string_view text, uint64_t data_bytes);

// Bytes of a shape, or an Error that begins with `where`.
uint64_t check_extent(const std::string &where, const Dtype &dtype, const std::vector<int64_t> &shape);

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string &path);

  const std::string &path() const { return file_.path(); }
  const Header &header() const { return header_; }
  const std::vector<StoredTensor> &tensors() const { return header_.tensors; }
  const StoredTensor *find(std::string_view name) const;
  const std::string &header_text() const { return header_text_; }
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t data_offset() const { return data_offset_; }

  // Part of a tensor's bytes, from `offset` on.
  void read(const StoredTensor &tensor, uint64_t offset, std::span<std::byte> bytes) const;

 private:
  File file_;
  uint64_t file_bytes_ = 0;
  uint64_t data_offset_ = 0;
  std::string header_text_;
  Header header_;
  std::unordered_map<std::string, size_t> index_;  // by name
};

// Gives each tensor its place: the widest elements first, so that every tensor is aligned to its element; tensors of
// one width stay in the order they are in. Fills `begin` and `end` and returns the bytes of all.
uint64_t place_tensors(std::vector<StoredTensor> &tensors);

// What stands before the first tensor: the length and the header, padded with spaces to a multiple of eight bytes.
std::string header_bytes(const std::vector<StoredTensor> &tensors, const std::map<std::string, std::string> &metadata);

}  // namespace tool
