#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "error.hpp"
#include "name_pattern.hpp"
#include "safetensors.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr const char *kConversionKey = "lpt_conversion";
constexpr const char *kConfigKey = "quantization_config";

// Short names that are common in other tools.
constexpr std::array<std::pair<const char *, const char *>, 7> kShortNames = {{
    {"fp8", "e4m3fn_tensor"},
    {"fp8-row", "e4m3fn_row"},
    {"fp8-block", "e4m3fn_128x128"},
    {"mxfp8", "mxfp8_e4m3"},
    {"mxfp6", "mxfp6_e3m2"},
    {"int8", "int8_row"},
    {"int8-tensor", "int8_tensor"},
}};

bool is_plain_float(const lpt_format_description &description) {
  return description.block_scale == LPT_FORMAT_NONE && description.tensor_scale == LPT_FORMAT_NONE &&
         (description.element == LPT_FORMAT_F64 || description.element == LPT_FORMAT_F32 ||
          description.element == LPT_FORMAT_F16 || description.element == LPT_FORMAT_BF16);
}

// Returns the presets that scale this element, those with group scales first.
std::string scaled_names(lpt_format element) {
  std::string grouped, others;
  for (int64_t i = 0; i < lpt_format_count(); ++i) {
    const lpt_format format = lpt_format_at(i);
    const auto description = try_describe(format);
    if (format == element || description->element != element) continue;
    std::string &names = description->block_columns > 1 ? grouped : others;
    names += (names.empty() ? "" : ", ") + format_name(format);
  }
  if (grouped.empty() && others.empty()) {
    const std::string scaled = format_name(element) + "/1x32/f32";
    lpt_format format = LPT_FORMAT_NONE;
    return lpt_format_from_name(nullptr, scaled.c_str(), &format) == LPT_OK ? scaled : "see lpt formats";
  }
  return grouped + (grouped.empty() || others.empty() ? "" : ", ") + others;
}

// Floats of at least 8 bits with a type in the file format represent weights without scales. Other elements have few values
// near 1, so that weights need a scale.
void check_target(const std::string &name, lpt_format format) {
  const lpt_format_description description = describe(format);
  if (description.block_scale != LPT_FORMAT_NONE || description.tensor_scale != LPT_FORMAT_NONE) return;
  const Dtype *dtype = dtype_of_format(format_name(format));
  if (dtype != nullptr && dtype->is_float) return;
  throw Error(
      fmt::format("--to is {}: an element without scales, which destroys weights: expected a format with scales: {}",
                  name, scaled_names(format)));
}

// Returns the matrices recorded in the metadata of a file that LPT has quantized; none for other files.
std::vector<MatrixGroup> recorded_groups(const Checkpoint &input) {
  const auto found = input.header().metadata.find(kConversionKey);
  if (found == input.header().metadata.end()) return {};
  if (!input.shards().empty()) {
    throw Error(
        fmt::format("{}: lpt convert has quantized one of the shards: expected shards of numbers: run lpt for "
                    "each of them",
                    input.path()));
  }
  // Deeper values than lists of names are discarded by the parser, so that no file can make this tree large or deep.
  const auto is_shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json &) { return depth <= 3; };
  auto value = nlohmann::json::parse(found->second, is_shallow, false);
  if (value.is_object()) value = nlohmann::json::array({value});
  const auto is_valid = [](const nlohmann::json &one) {
    return one.is_object() && one.contains("format") && one["format"].is_string() && one.contains("tensors") &&
           one["tensors"].is_array();
  };
  if (!value.is_array() || value.empty() || !std::all_of(value.begin(), value.end(), is_valid)) {
    throw Error(
        fmt::format("{}: __metadata__: {} is damaged: expected what lpt convert writes", input.path(), kConversionKey));
  }
  std::vector<MatrixGroup> groups;
  std::unordered_set<std::string> names;
  for (const auto &one : value) {
    MatrixGroup &group = groups.emplace_back();
    group.layout = layout_of(find_format(one["format"].get<std::string>()));
    for (const auto &name : one["tensors"]) {
      if (!name.is_string()) {
        throw Error(fmt::format("{}: __metadata__: {} lists something that is no name", input.path(), kConversionKey));
      }
      group.names.push_back(name.get<std::string>());
      if (!names.insert(group.names.back()).second) {
        throw Error(fmt::format("{}: __metadata__: {} lists {} twice", input.path(), kConversionKey,
                                in_quotes(group.names.back())));
      }
    }
  }
  return groups;
}

// Returns the quantized tensors of a file of another tool: those with a payload and a scale with conventional names.
MatrixGroup guessed_group(const Checkpoint &input, lpt_format format) {
  MatrixGroup group{layout_of(format), {}};
  const std::string suffix = part_name(group.layout, "", Role::kPayload);
  for (const StoredTensor &tensor : input.tensors()) {
    if (!tensor.name.ends_with(suffix)) continue;
    const std::string name = tensor.name.substr(0, tensor.name.size() - suffix.size());
    if (input.find(part_name(group.layout, name, Role::kScale)) != nullptr) group.names.push_back(name);
  }
  return group;
}

class Planner {
 public:
  Planner(lpt_context *context, const Checkpoint &input, const ConvertOptions &options)
      : context_(context),
        input_(input),
        options_(options),
        include_("--include", options.include),
        exclude_("--exclude", options.exclude) {
    plan_.format = target_format(options.format);
    check_target(options.format, plan_.format);
  }

  Plan make() {
    check_blocks();
    plan_.metadata = input_.header().metadata;
    plan_.groups = recorded_groups(input_);
    if (!options_.from.empty() && plan_.groups.empty()) {
      plan_.groups.push_back(guessed_group(input_, target_format(options_.from)));
    }
    const bool is_decoding = is_plain_float(describe(plan_.format));
    if (!plan_.groups.empty() && !is_decoding) {
      throw Error(fmt::format("{}: holds {} already: expected numbers; decode it first with --to f32 or --to bf16",
                              input_.path(), format_names(plan_.groups)));
    }
    if (!plan_.groups.empty()) {
      plan_decoding();
    } else {
      plan_.groups.push_back({layout_of(plan_.format), {}});
      for (const StoredTensor &tensor : input_.tensors()) plan_tensor(tensor, is_decoding);
    }
    finish(is_decoding);
    return std::move(plan_);
  }

 private:
  // Values to a format.

  const Layout &target_layout() const { return plan_.groups.front().layout; }

  void plan_tensor(const StoredTensor &tensor, bool is_plain) {
    Item item = item_of(tensor);
    item.reason = is_plain ? why_not_cast(tensor) : why_not_encoded(tensor);
    if (!item.reason.empty()) {
      copy(std::move(item), tensor);
    } else if (is_plain) {
      item.action = Action::kCast;
      fold(item, tensor.shape);
      StoredTensor output = tensor;
      output.dtype = target_layout().payload;
      add_output(item, Role::kPayload, std::move(output));
      plan_.items.push_back(std::move(item));
    } else {
      item.action = Action::kEncode;
      fold(item, tensor.shape);
      item.has_short_group = ends_in_group(item.columns);
      plan_.short_groups += item.has_short_group ? 1 : 0;
      item.row_bytes = payload_row_bytes(context_, plan_.format, item.columns);
      for (StoredPart &part : stored_parts(target_layout(), tensor.name, item.rows, item.columns, item.row_bytes)) {
        add_output(item, part.role, std::move(part.tensor));
      }
      plan_.items.push_back(std::move(item));
    }
  }

  // Returns "" for a tensor that the options select.
  std::string why_not_chosen(const StoredTensor &tensor) const {
    if (!tensor.dtype->is_float) return fmt::format("dtype is {}: expected a float", tensor.dtype->name);
    if (exclude_.is_in(tensor.name)) return "excluded";
    if (include_.is_given() && !include_.is_in(tensor.name)) return "not included";
    return "";
  }

  std::string why_not_cast(const StoredTensor &tensor) const {
    const std::string reason = why_not_chosen(tensor);
    if (!reason.empty()) return reason;
    return tensor.dtype == target_layout().payload ? fmt::format("{} already", tensor.dtype->name) : "";
  }

  std::string why_not_encoded(const StoredTensor &tensor) const {
    if (!tensor.is_matrix()) return fmt::format("rank is {}: expected 2", tensor.shape.size());
    const std::string reason = why_not_chosen(tensor);
    if (!reason.empty()) return reason;
    const int64_t rows = tensor.shape[0];
    const int64_t columns = tensor.shape[1];
    if (rows == 0 || columns == 0) return "empty";
    if (!include_.is_given() && (rows < kLeastExtent || columns < kLeastExtent)) {
      return fmt::format("fewer than {} {}", kLeastExtent, rows < kLeastExtent ? "rows" : "columns");
    }
    if (!options_.has_short_blocks && ends_in_group(columns)) {
      return fmt::format("columns are {}: expected a multiple of {} with --whole-blocks", columns,
                         target_layout().group_columns());
    }
    return "";
  }

  // compressed-tensors supports only full groups: https://github.com/vllm-project/compressed-tensors, strategies group and
  // tensor_group. It does support short blocks of several rows.
  bool ends_in_group(int64_t columns) const {
    const Layout &layout = target_layout();
    const bool has_groups = layout.description.block_rows <= 1 || layout.scale_rows_per_row > 1;
    const int64_t group = has_groups ? layout.group_columns() : 0;
    return !layout.convention.empty() && group > 0 && columns % group != 0;
  }

  static void fold(Item &item, const std::vector<int64_t> &shape) {
    item.columns = shape.empty() ? 1 : shape.back();
    item.rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) item.rows *= shape[i];
  }

  // A format to values.

  void plan_decoding() {
    std::unordered_map<std::string, std::pair<size_t, std::string>> owners;  // part to group and matrix
    for (size_t group = 0; group < plan_.groups.size(); ++group) {
      for (const std::string &name : plan_.groups[group].names) {
        for (const Role role : kRoles) owners[part_name(plan_.groups[group].layout, name, role)] = {group, name};
      }
    }
    std::unordered_set<std::string> planned;
    for (const StoredTensor &tensor : input_.tensors()) {
      const auto owner = owners.find(tensor.name);
      if (owner == owners.end()) {
        Item item = item_of(tensor);
        item.reason = "not quantized";
        copy(std::move(item), tensor);
      } else if (planned.insert(owner->second.second).second) {
        plan_.items.push_back(decoding_item(owner->second.first, owner->second.second));
      }
    }
    for (const MatrixGroup &group : plan_.groups) {
      for (const std::string &name : group.names) {
        if (!planned.contains(name)) {
          throw Error(fmt::format("{}: tensor {} is missing: the file says that it holds it as {}", input_.path(),
                                  in_quotes(name), format_name(group.layout.format)));
        }
      }
    }
  }

  Item decoding_item(size_t group, const std::string &name) {
    const Layout &layout = plan_.groups[group].layout;
    Item item;
    item.action = Action::kDecode;
    item.name = name;
    item.group = group;
    const std::string payload_name = part_name(layout, name, Role::kPayload);
    const StoredTensor &payload = part(layout, payload_name);
    if (!payload.is_matrix()) {
      throw Error(fmt::format("{}: tensor {}: shape is {}: expected a matrix", input_.path(), in_quotes(payload_name),
                              shape_text(payload.shape)));
    }
    item.rows = payload.shape[0];
    item.columns = columns_of(layout, name, payload);
    item.row_bytes = payload_row_bytes(context_, layout.format, item.columns);
    for (const StoredPart &requested : stored_parts(layout, name, item.rows, item.columns, item.row_bytes)) {
      const StoredTensor &there = part(layout, requested.tensor.name);
      if (there.dtype != requested.tensor.dtype || there.shape != requested.tensor.shape) {
        throw Error(fmt::format("{}: tensor {} is {} {}: expected {} {} for {}", input_.path(), in_quotes(there.name),
                                there.dtype->name, shape_text(there.shape), requested.tensor.dtype->name,
                                shape_text(requested.tensor.shape), format_name(layout.format)));
      }
      item.inputs.push_back({requested.role, &there});
    }
    const Dtype *dtype = dtype_of_format(format_name(plan_.format));
    add_output(item, Role::kPayload, {name, dtype, {item.rows, item.columns}, 0, 0});
    return item;
  }

  const StoredTensor &part(const Layout &layout, const std::string &name) const {
    const StoredTensor *tensor = input_.find(name);
    if (tensor == nullptr) {
      throw Error(fmt::format("{}: tensor {} is missing: expected it for {}", input_.path(), in_quotes(name),
                              format_name(layout.format)));
    }
    return *tensor;
  }

  int64_t columns_of(const Layout &layout, const std::string &name, const StoredTensor &payload) const {
    const StoredTensor *shape = input_.find(part_name(layout, name, Role::kShape));
    if (shape != nullptr && layout.packing != Packing::kElements) {
      int64_t extents[2] = {};
      if (shape->bytes() != sizeof extents) {
        throw Error(fmt::format("{}: tensor {} is {} bytes: expected 16", input_.path(), in_quotes(shape->name),
                                shape->bytes()));
      }
      input_.read(*shape, 0, std::as_writable_bytes(std::span(extents)));
      // A malicious number of columns would allocate memory before other checks.
      const bool is_likely =
          extents[0] == payload.shape[0] && extents[1] >= 0 && extents[1] / 64 <= static_cast<int64_t>(payload.bytes());
      if (!is_likely) {
        throw Error(fmt::format("{}: tensor {} holds [{}, {}]: expected the shape of {}", input_.path(),
                                in_quotes(shape->name), extents[0], extents[1], in_quotes(name)));
      }
      return extents[1];
    }
    if (layout.packing == Packing::kElements) return payload.shape[1];
    return payload.shape[1] * payload.dtype->bits / layout.description.element_bits;
  }

  // Both directions.

  static Item item_of(const StoredTensor &tensor) {
    Item item;
    item.name = tensor.name;
    item.inputs = {{Role::kPayload, &tensor}};
    return item;
  }

  // Safetensors has no type for blocks of ggml: f32 holds their values; only a sum with a minimum is rounded.
  void copy(Item item, const StoredTensor &tensor) {
    const bool is_block = tensor.dtype->is_block();
    item.action = is_block ? Action::kCast : Action::kCopy;
    if (is_block) fold(item, tensor.shape);
    StoredTensor output = tensor;
    if (is_block) output.dtype = find_dtype("F32");
    add_output(item, Role::kPayload, std::move(output));
    plan_.items.push_back(std::move(item));
  }

  void check_blocks() const {
    for (const StoredTensor &tensor : input_.tensors()) {
      if (!tensor.dtype->is_block() || tensor.dtype->is_float) continue;
      throw Error(fmt::format("{}: type is {}, which lpt cannot decode: expected F32, F16, BF16, F64, {}",
                              where_of(input_.path(), tensor), tensor.dtype->name, decoded_block_names()));
    }
  }

  void add_output(Item &item, Role role, StoredTensor tensor) {
    if (tensor.name == kMetadataName) {
      throw Error(fmt::format("{}: expected another name, which safetensors does not use for the metadata",
                              where_of(input_.path(), tensor)));
    }
    if (!names_.insert(tensor.name).second) {
      throw Error(fmt::format("{}: tensor {} would stand twice in the output, once for {}: exclude one of them",
                              input_.path(), in_quotes(tensor.name), in_quotes(item.name)));
    }
    item.outputs.push_back({role, plan_.outputs.size()});
    plan_.outputs.push_back(std::move(tensor));
  }

  void finish(bool is_decoding) {
    plan_.metadata.erase(kConversionKey);
    plan_.metadata.erase(kConfigKey);
    if (!is_decoding) describe_conversion();
    const uint64_t data_bytes = place_tensors(plan_.outputs);
    plan_.prefix = header_bytes(plan_.outputs, plan_.metadata);
    plan_.file_bytes = plan_.prefix.size() + data_bytes;
  }

  void describe_conversion() {
    for (const Item &item : plan_.items) {
      if (item.action == Action::kEncode) plan_.groups.front().names.push_back(item.name);
    }
    plan_.metadata.insert(conversion_entry(plan_.groups));
    if (plan_.short_groups > 0) return;
    if (const auto config = quantization_config(plan_.groups)) {
      plan_.metadata[kConfigKey] = config->dump();
      plan_.config = config->dump(2) + "\n";
    }
  }

  lpt_context *context_;
  const Checkpoint &input_;
  const ConvertOptions &options_;
  NamePattern include_;
  NamePattern exclude_;
  std::unordered_set<std::string> names_;
  Plan plan_;
};

}  // namespace

const char *action_text(Action action) {
  constexpr const char *kTexts[] = {"copied", "quantized", "decoded", "cast"};
  return kTexts[static_cast<size_t>(action)];
}

const StoredTensor *Item::input(Role role) const {
  for (const InputPart &part : inputs) {
    if (part.role == role) return part.tensor;
  }
  return nullptr;
}

uint64_t Item::input_bytes() const {
  uint64_t bytes = 0;
  for (const InputPart &part : inputs) bytes += part.tensor->bytes();
  return bytes;
}

lpt_format target_format(const std::string &name) {
  for (const auto &[short_name, long_name] : kShortNames) {
    if (name == short_name) return find_format(long_name);
  }
  // int4-g128 is int4 with one scale per 128 columns. The other integers have names of the same form.
  const size_t group = name.find("-g");
  if (group != std::string::npos && name.find_first_not_of("0123456789", group + 2) == std::string::npos) {
    const std::string element = name.substr(0, group);
    return find_format(
        fmt::format("{}/1x{}/f32{}", element, name.substr(group + 2), element.starts_with("uint") ? "/uint8" : ""));
  }
  return find_format(name);
}

std::string format_names(const std::vector<MatrixGroup> &groups) {
  std::string names;
  for (const MatrixGroup &group : groups) names += (names.empty() ? "" : ", ") + format_name(group.layout.format);
  return names;
}

std::pair<std::string, std::string> conversion_entry(const std::vector<MatrixGroup> &groups) {
  nlohmann::ordered_json entries;
  for (const MatrixGroup &group : groups) {
    entries.push_back({{"format", format_name(group.layout.format)}, {"tensors", group.names}});
  }
  return {kConversionKey, (entries.size() == 1 ? entries.front() : entries).dump()};
}

bool is_quantized(const Checkpoint &input) { return input.header().metadata.contains(kConversionKey); }

Plan make_plan(lpt_context *context, const Checkpoint &input, const ConvertOptions &options) {
  return Planner(context, input, options).make();
}

}  // namespace tool
