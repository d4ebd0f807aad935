// What a conversion will do, decided before the first byte is written: which tensors change, and what the output looks
// like.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "layout.hpp"
#include "safetensors.hpp"

namespace tool {

struct ConvertOptions {
  std::string input;
  std::string output;
  std::string format;   // what to make
  std::string from;     // what the quantized tensors of the input are; "" : as the input says
  std::string include;  // regular expression; "": the default choice
  std::string exclude;
  std::string report;
  int64_t memory_mebibytes = 512;
  int32_t threads = 0;
  bool has_short_blocks = true;  // false: matrices whose rows end within a block are copied
  bool is_verified = false;
  bool is_restarted = false;
  bool is_forced = false;
  bool is_quiet = false;
};

enum class Action { kCopy, kEncode, kDecode, kCast };
const char *action_text(Action action);

// A place in the output: which of Plan::outputs.
struct OutputPart {
  Role role = Role::kPayload;
  size_t index = 0;
};

struct InputPart {
  Role role = Role::kPayload;
  const StoredTensor *tensor = nullptr;
};

struct Item {
  Action action = Action::kCopy;
  std::string name;    // of the matrix, without the suffixes of its parts
  std::string reason;  // why it is copied
  std::vector<InputPart> inputs;
  std::vector<OutputPart> outputs;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_bytes = 0;         // of LPT's payload
  bool has_short_group = false;  // rows end within a group: readers of the convention reject it

  const StoredTensor *input(Role role) const;
  uint64_t input_bytes() const;
};

// Smaller matrices are copied where no option selects them.
constexpr int64_t kLeastExtent = 16;

struct Plan {
  lpt_format format = LPT_FORMAT_NONE;
  Layout layout;  // of the quantized side: what is made, or what is decoded
  std::vector<Item> items;
  std::vector<StoredTensor> outputs;  // with their places
  std::map<std::string, std::string> metadata;
  std::string config;       // quantization_config as text, "" if there is none to write
  size_t short_groups = 0;  // matrices whose rows end within a group: the output follows no convention
  std::string prefix;       // the output's bytes before its first tensor
  uint64_t file_bytes = 0;
};

// The format that a short name stands for: fp8, fp8-row, fp8-block, mxfp8, int8, int4-g128 …, or any name of LPT's.
lpt_format target_format(const std::string &name);

bool is_quantized(const SafetensorsFile &input);  // by lpt convert, as the file's metadata says

Plan make_plan(lpt_context *context, const SafetensorsFile &input, const ConvertOptions &options);

}  // namespace tool
