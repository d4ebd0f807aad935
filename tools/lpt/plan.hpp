// The plan of a conversion, made before the first byte is written: the tensors that change, and the layout of the output.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint.hpp"
#include "layout.hpp"

namespace tool {

struct ConvertOptions {
  std::string input;
  std::string output;
  std::string format;   // of the output
  std::string from;     // format of the quantized tensors of the input; "": as recorded in the input
  std::string include;  // regular expression; "": the default selection
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

// A part of the output, as an index of Plan::outputs.
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
  std::string reason;  // why it is copied, or only decoded to F32 if the output has no type for its blocks
  std::vector<InputPart> inputs;
  std::vector<OutputPart> outputs;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_bytes = 0;         // of the payload of LPT
  size_t group = 0;              // of Plan::groups
  bool has_short_group = false;  // rows end within a group: readers of the convention reject it

  const StoredTensor *input(Role role) const;
  uint64_t input_bytes() const;
};

// Smaller matrices are copied unless an option selects them.
constexpr int64_t kLeastExtent = 16;

struct Plan {
  lpt_format format = LPT_FORMAT_NONE;
  std::vector<MatrixGroup> groups;  // the quantized matrices: one of the output, or those of the input to decode
  std::vector<Item> items;
  std::vector<StoredTensor> outputs;  // with their offsets
  std::map<std::string, std::string> metadata;
  std::string config;       // quantization_config as text, "" if none
  size_t short_groups = 0;  // matrices whose rows end within a group: the output follows no convention
  std::string prefix;       // the bytes of the output before its first tensor
  uint64_t file_bytes = 0;

  const Layout &layout_of(const Item &item) const { return groups[item.group].layout; }
};

// Returns the format of a short name: fp8, fp8-row, fp8-block, mxfp8, int8, int4-g128 …, or of any LPT name.
lpt_format target_format(const std::string &name);

bool is_quantized(const Checkpoint &input);  // by lpt convert, as recorded in the metadata of the file

std::string format_names(const std::vector<MatrixGroup> &groups);

// Returns the metadata of a file with quantized matrices, from which a plan decodes them: name and value.
std::pair<std::string, std::string> conversion_entry(const std::vector<MatrixGroup> &groups);

Plan make_plan(lpt_context *context, const Checkpoint &input, const ConvertOptions &options);

}  // namespace tool
