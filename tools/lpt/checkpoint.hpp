// The tensors of a model in a safetensors file. The other parts of the tool read them through this class.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file.hpp"
#include "header.hpp"

namespace tool {

class Checkpoint {
 public:
  explicit Checkpoint(const std::string &path, const HeaderMemory &memory = {});

  const std::string &path() const { return file_.path(); }
  const std::vector<std::string> &files() const { return files_; }  // all that are read
  const Header &header() const { return header_; }
  const std::vector<StoredTensor> &tensors() const { return header_.tensors; }
  const StoredTensor *find(std::string_view name) const;
  uint64_t header_digest() const { return header_digest_; }
  uint64_t held_bytes() const { return held_bytes_; }  // as counted by HeaderMemory
  uint64_t file_bytes() const { return file_.size(); }
  uint64_t data_bytes() const { return data_bytes_; }  // of all tensors

  // Reads a part of the bytes of a tensor, from `offset`.
  void read(const StoredTensor &tensor, uint64_t offset, std::span<std::byte> bytes) const;

 private:
  File file_;
  std::vector<std::string> files_;
  uint64_t data_offset_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t header_digest_ = 0;
  uint64_t held_bytes_ = 0;
  Header header_;
};

}  // namespace tool
