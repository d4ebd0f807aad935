// The index of a sharded checkpoint, model.safetensors.index.json: the file of each tensor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "header.hpp"

namespace tool {

struct ShardIndex {
  std::vector<std::string> shards;                     // names of files in the directory of the index, sorted
  std::unordered_map<std::string, uint32_t> shard_of;  // the shard of a tensor
};

// `file` is the name of the index in error messages.
ShardIndex parse_shard_index(const std::string &file, std::string_view text, const HeaderMemory &memory = {});

}  // namespace tool
