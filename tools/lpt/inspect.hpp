// lpt inspect: statistics of the values of a checkpoint, and the errors of several formats for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cast.hpp"
#include "number_stats.hpp"

namespace tool {

struct InspectOptions {
  std::string input;
  std::vector<std::string> formats;  // empty: common ones
  std::string include;
  std::string picture;  // SVG to write; "": none
  int64_t memory_mebibytes = 512;
  int32_t threads = 0;
  bool is_json = false;
  bool is_quiet = false;
};

struct TensorLook {
  std::string name;
  std::string dtype;  // or the format of a matrix that lpt convert has quantized
  std::vector<int64_t> shape;
  uint64_t bytes = 0;        // in the file
  uint32_t shard = 0;        // index of FileLook::shards
  bool has_numbers = false;  // false: not a float type, copied by a conversion
  NumberStats stats;
  std::vector<CastError> errors;  // one per format
};

struct FileLook {
  std::string path;
  uint64_t file_bytes = 0;
  std::vector<std::string> formats;
  std::vector<TensorLook> tensors;
  std::vector<MetadataEntry> metadata;  // of a GGUF file
  std::vector<std::string> shards;      // names of the files of a sharded checkpoint

  int top_exponent() const;  // the largest of all tensors
};

FileLook look_at(const InspectOptions &options);
std::string look_table(const FileLook &look);
std::string look_picture(const FileLook &look);

void inspect(const InspectOptions &options);

}  // namespace tool
