// The tensors of a model: a safetensors file, several of them with an index, a GGUF file, or the parts of one. The other parts of
// the tool read every kind through this class.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file.hpp"
#include "header.hpp"
#include "shard_index.hpp"

namespace tool {

class Digest;
struct GgufPart;

class Checkpoint {
 public:
  // `path` is a file, an index, a directory with one of them, or the first part of a GGUF file.
  explicit Checkpoint(const std::string &path, const HeaderMemory &memory = {});

  const std::string &path() const { return path_; }
  const std::vector<std::string> &files() const { return files_; }  // all that are read, with the index
  const Header &header() const { return header_; }
  const std::vector<StoredTensor> &tensors() const { return header_.tensors; }
  const StoredTensor *find(std::string_view name) const;
  const std::vector<std::string> &shards() const { return shard_names_; }  // names of several files; empty for one file
  uint64_t header_digest() const { return header_digest_; }
  uint64_t held_bytes() const { return held_bytes_; }  // as counted by HeaderMemory
  uint64_t file_bytes() const { return file_bytes_; }  // of the files that hold tensors
  uint64_t data_bytes() const { return data_bytes_; }  // of all tensors

  // Reads a part of the bytes of a tensor, from `offset`.
  void read(const StoredTensor &tensor, uint64_t offset, std::span<std::byte> bytes) const;

 private:
  struct Shard {
    File file;
    uint64_t data_offset = 0;
  };

  void read_file(File file, const HeaderMemory &memory);
  void read_gguf_parts(const GgufPart &first, const HeaderMemory &memory, Digest &digest);
  void read_shards(const File &index_file, const HeaderMemory &memory);
  void add_shard(File file, FileHeader read, const ShardIndex &index);
  void check_complete(const ShardIndex &index) const;

  std::string path_;
  std::vector<std::string> files_;
  std::vector<Shard> shards_;
  std::vector<std::string> shard_names_;
  uint64_t file_bytes_ = 0;
  uint64_t data_bytes_ = 0;
  uint64_t header_digest_ = 0;
  uint64_t held_bytes_ = 0;
  Header header_;
};

}  // namespace tool
