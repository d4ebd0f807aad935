// Reads bytes as a file and checks the result independently, for the mutation tests and the fuzzers.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "gguf.hpp"
#include "safetensors.hpp"
#include "shard_index.hpp"

namespace tool_tests {

// Throws tool::Error if the reader rejects the bytes. Aborts the program if the reader returns inconsistent data.
inline void check_soundness(const std::string &bytes) {
  const auto data = std::as_bytes(std::span(bytes));
  const uint64_t length =
      tool::check_header_length("bytes", bytes.size(), data.first(std::min<size_t>(data.size(), 8)));
  const uint64_t data_bytes = bytes.size() - 8 - length;
  const tool::Header header = tool::parse_header("bytes", std::string_view(bytes).substr(8, length), data_bytes);
  std::set<std::string> names;
  uint64_t reached = 0;
  for (const tool::StoredTensor &tensor : header.tensors) {
    long double bits = tensor.dtype->bits;
    for (const int64_t extent : tensor.shape) bits *= static_cast<long double>(extent);
    const bool is_sound = tensor.begin == reached && tensor.end >= tensor.begin && tensor.end <= data_bytes &&
                          bits == 8.0L * static_cast<long double>(tensor.end - tensor.begin) &&
                          names.insert(tensor.name).second;
    if (!is_sound) std::abort();
    reached = tensor.end;
  }
  if (reached != data_bytes) std::abort();
  // The tensors can be written and read back.
  std::vector<tool::StoredTensor> tensors = header.tensors;
  const uint64_t placed = tool::place_tensors(tensors);
  const std::string prefix = tool::header_bytes(tensors, header.metadata);
  const tool::Header again = tool::parse_header("again", std::string_view(prefix).substr(8), placed);
  if (again.tensors.size() != header.tensors.size() || again.metadata != header.metadata) std::abort();
}

// Decodes the blocks that the tool decodes, from memory of their size.
inline void decode_blocks(const tool::Dtype &dtype, std::span<const std::byte> bytes) {
  const auto size = static_cast<size_t>(dtype.bits) / 8;
  std::vector<float> values(static_cast<size_t>(dtype.block));
  for (; dtype.coding != nullptr && !bytes.empty(); bytes = bytes.subspan(size)) {
    const std::vector<std::byte> block(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    dtype.coding->decode(reinterpret_cast<const uint8_t *>(block.data()), values);
  }
}

inline void check_gguf_soundness(const std::string &bytes) {
  const auto data = std::as_bytes(std::span(bytes));
  const auto read = [&](uint64_t offset, std::span<std::byte> requested) {
    if (offset > bytes.size() || requested.size() > bytes.size() - offset) std::abort();
    std::memcpy(requested.data(), bytes.data() + offset, requested.size());
  };
  tool::Digest digest;
  const tool::FileHeader file = tool::parse_gguf("bytes", bytes.size(), read, {}, digest);
  std::set<std::string> names, keys;
  uint64_t reached = 0;
  for (const tool::StoredTensor &tensor : file.header.tensors) {
    long double bits = tensor.dtype->bits;
    for (const int64_t extent : tensor.shape) bits *= static_cast<long double>(extent);
    const long double expected = 8.0L * tensor.dtype->block * static_cast<long double>(tensor.end - tensor.begin);
    const bool is_sound = tensor.begin >= reached && tensor.end >= tensor.begin && bits == expected &&
                          (tensor.end == 0 || file.data_offset + tensor.end <= bytes.size()) &&
                          tensor.shape.size() <= 4 && names.insert(tensor.name).second;
    if (!is_sound) std::abort();
    reached = tensor.end;
    decode_blocks(*tensor.dtype,
                  std::span(data).subspan(tensor.end == 0 ? 0 : file.data_offset + tensor.begin, tensor.bytes()));
  }
  for (const tool::MetadataEntry &entry : file.header.entries) {
    if (entry.value.size() > 1000 || !keys.insert(entry.key).second) std::abort();
  }
}

inline void check_index_soundness(const std::string &bytes) {
  const tool::ShardIndex index = tool::parse_shard_index("bytes", bytes);
  std::set<uint32_t> used;
  for (const auto &[name, shard] : index.shard_of) used.insert(shard);
  for (const std::string &shard : index.shards) {
    if (shard.find('/') != std::string::npos || !shard.ends_with(".safetensors")) std::abort();
  }
  const bool is_sound = used.size() == index.shards.size() && (used.empty() || *used.rbegin() == used.size() - 1) &&
                        std::is_sorted(index.shards.begin(), index.shards.end());
  if (!is_sound) std::abort();
}

}  // namespace tool_tests
