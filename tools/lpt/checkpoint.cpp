#include "checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "digest.hpp"
#include "error.hpp"
#include "gguf.hpp"
#include "safetensors.hpp"
#include "text.hpp"

namespace tool {

namespace {

// Returns up to three of the names, sorted.
std::string list_text(std::vector<std::string> names) {
  constexpr size_t kMostNames = 3;
  std::sort(names.begin(), names.end());
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : ", ") + shortened(names[i], 60);
  return text + (names.size() > kMostNames ? ", ..." : "");
}

// Returns the index or the only safetensors file of a directory, and the path of a file unchanged.
std::string file_of(const std::string &path) {
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) return path;
  std::vector<std::string> indices, files;
  for (const auto &entry : std::filesystem::directory_iterator(path, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors.index.json")) indices.push_back(name);
    if (name.ends_with(".safetensors")) files.push_back(name);
  }
  if (indices.size() == 1) return (std::filesystem::path(path) / indices.front()).string();
  if (indices.size() > 1) {
    throw Error(fmt::format("{}: is a directory with {} indices: expected one, or the path of one of them: {}", path,
                            indices.size(), list_text(indices)));
  }
  if (files.size() == 1) return (std::filesystem::path(path) / files.front()).string();
  if (files.empty()) {
    throw Error(fmt::format("{}: is a directory without *.safetensors: expected a model in safetensors files", path));
  }
  throw Error(
      fmt::format("{}: is a directory without *.safetensors.index.json: expected an index, or the path of one "
                  "of the {} files that it holds: {}",
                  path, files.size(), list_text(files)));
}

bool is_gguf_file(const File &file) {
  std::array<std::byte, 4> prefix{};
  if (file.size() < prefix.size()) return false;
  file.read(0, prefix);
  return is_gguf(prefix);
}

// An index begins with a brace. As the length of a safetensors header, it would exceed the limit.
bool is_index_file(const File &file) {
  std::array<std::byte, 8> prefix{};
  if (file.size() < prefix.size()) return false;
  file.read(0, prefix);
  uint64_t length = 0;
  std::memcpy(&length, prefix.data(), sizeof length);
  return prefix[0] == std::byte{'{'} && length > kMostHeaderBytes;
}

std::string read_index_text(const File &file, const HeaderMemory &memory) {
  const uint64_t bytes = file.size();
  if (bytes > kMostHeaderBytes) {
    throw Error(fmt::format("{}: is an index of {} bytes: expected at most {}", file.path(), bytes, kMostHeaderBytes));
  }
  check_held(file.path(), bytes, 0, memory);
  std::string text(bytes, '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

Checkpoint::Checkpoint(const std::string &path, const HeaderMemory &memory) : path_(path) {
  File file = File::open_to_read(file_of(path));
  files_.push_back(file.path());
  if (is_index_file(file)) {
    read_shards(file, memory);
  } else {
    read_file(std::move(file), memory);
  }
  for (const Shard &shard : shards_) file_bytes_ += shard.file.size();
  for (const StoredTensor &tensor : header_.tensors) data_bytes_ += tensor.bytes();
}

void Checkpoint::read_file(File file, const HeaderMemory &memory) {
  Digest digest;
  const bool is_gguf = is_gguf_file(file);
  FileHeader read = is_gguf ? read_gguf(file, memory, digest) : read_safetensors(file, memory, digest);
  const GgufPart part = is_gguf ? part_of_gguf(file.path(), read.header) : GgufPart();
  held_bytes_ = read.held_bytes;
  header_ = std::move(read.header);
  shards_.push_back({std::move(file), read.data_offset});
  if (part.count > 1) read_gguf_parts(part, memory, digest);
  header_digest_ = digest.value();
}

void Checkpoint::read_gguf_parts(const GgufPart &first, const HeaderMemory &memory, Digest &digest) {
  const std::string path = files_.front();  // files_ grows
  if (first.number != 0) {
    throw Error(fmt::format("{}: is part {} of {} of a model: expected the path of part 1", path, first.number + 1,
                            first.count));
  }
  HeaderMemory rest = memory;
  for (const std::string &name : names_of_parts(path, first.count)) {
    shard_names_.push_back(std::filesystem::path(name).filename().string());
    if (shard_names_.size() == 1) continue;
    if (!file_exists(name)) {
      throw Error(fmt::format("{}: part {} is missing: expected it in the same directory", path,
                              in_quotes(shard_names_.back())));
    }
    File file = File::open_to_read(name);
    rest.before = held_bytes_;
    FileHeader read = read_gguf(file, rest, digest);
    const GgufPart part = part_of_gguf(name, read.header);
    if (part.number != shards_.size() || part.count != first.count) {
      throw Error(fmt::format("{}: is part {} of {}: expected part {} of {}", name, part.number + 1, part.count,
                              shards_.size() + 1, first.count));
    }
    for (StoredTensor &tensor : read.header.tensors) {
      tensor.shard = static_cast<uint32_t>(shards_.size());
      header_.tensors.push_back(std::move(tensor));
    }
    held_bytes_ = read.held_bytes;
    files_.push_back(name);
    shards_.push_back({std::move(file), read.data_offset});
  }
  sort_names(path, header_);
  if (first.tensors != 0 && first.tensors != header_.tensors.size()) {
    throw Error(fmt::format("{}: the parts have {} tensors: expected {}, split.tensors.count", path,
                            header_.tensors.size(), first.tensors));
  }
}

void Checkpoint::read_shards(const File &index_file, const HeaderMemory &memory) {
  Digest digest;
  const ShardIndex index = [&] {
    const std::string text = read_index_text(index_file, memory);
    digest.add(text);
    return parse_shard_index(index_file.path(), text, memory);
  }();
  const std::filesystem::path folder = std::filesystem::path(index_file.path()).parent_path();
  HeaderMemory rest = memory;
  for (const std::string &name : index.shards) {
    const std::string path = (folder / name).string();
    if (!file_exists(path)) {
      throw Error(fmt::format("{}: shard {} is missing: expected it in the directory of the index", index_file.path(),
                              in_quotes(name)));
    }
    File file = File::open_to_read(path);
    FileHeader read = read_safetensors(file, rest, digest);
    rest.before = read.held_bytes;
    files_.push_back(path);
    add_shard(std::move(file), std::move(read), index);
  }
  held_bytes_ = rest.before;
  header_digest_ = digest.value();
  shard_names_ = index.shards;
  sort_names(index_file.path(), header_);
  check_complete(index);
}

void Checkpoint::add_shard(File file, FileHeader read, const ShardIndex &index) {
  const auto shard = static_cast<uint32_t>(shards_.size());
  for (StoredTensor &tensor : read.header.tensors) {
    const auto listed = index.shard_of.find(tensor.name);
    if (listed == index.shard_of.end()) {
      throw Error(fmt::format("{}: expected only tensors that weight_map of {} lists", where_of(file.path(), tensor),
                              files_.front()));
    }
    if (listed->second != shard) {
      throw Error(fmt::format("{}: expected it only in {}, where weight_map of {} lists it",
                              where_of(file.path(), tensor), in_quotes(index.shards[listed->second]), files_.front()));
    }
    tensor.shard = shard;
    header_.tensors.push_back(std::move(tensor));
  }
  header_.metadata.merge(read.header.metadata);
  shards_.push_back({std::move(file), read.data_offset});
}

void Checkpoint::check_complete(const ShardIndex &index) const {
  if (index.shard_of.size() == header_.tensors.size()) return;
  for (const auto &[name, shard] : index.shard_of) {
    if (find(name) != nullptr) continue;
    throw Error(fmt::format("{}: tensor {} is missing: expected it in {}, where weight_map lists it", files_.front(),
                            in_quotes(name), in_quotes(index.shards[shard])));
  }
}

const StoredTensor *Checkpoint::find(std::string_view name) const {
  const auto &tensors = header_.tensors;
  const auto found =
      std::lower_bound(header_.by_name.begin(), header_.by_name.end(), name,
                       [&](uint32_t index, std::string_view requested) { return tensors[index].name < requested; });
  return found == header_.by_name.end() || tensors[*found].name != name ? nullptr : &tensors[*found];
}

void Checkpoint::read(const StoredTensor &tensor, uint64_t offset, std::span<std::byte> bytes) const {
  const Shard &shard = shards_[tensor.shard];
  shard.file.read(shard.data_offset + tensor.begin + offset, bytes);
}

}  // namespace tool
